import Foundation
import JSON
import Testing

/// Tests exit statuses and the messages on stderr.
@Suite struct ExitStatusTests {
  @Test(arguments: [
    (["run"], "<script>"), (["run", "--colour", "x.lua"], "--colour"), (["sandbox", "--port", "99999"], "--port"),
    (
      ["walk"],
      "unknown command 'walk'; known: run, sync, status, dirty, conflicts, discard, explain, runs, plan, apply, verify, inspect, "
        + "query, soups, syncs, export, import, init, exec, repl, job, worker, sandbox, store, cache, doctor, rest, spec, login, "
        + "orgs, whoami, logout, version"
    ),
    (["rum", "x.lua"], "unknown command 'rum'; did you mean 'run'?"),
    (["store", "reky"], "unknown command 'reky'; did you mean 'rekey'?"),
  ])
  func command_wrongUsage_is64AndNamesIt(arguments: [String], named: String) async throws {
    let ended = try await Workplace().run(Built.tureen, arguments)
    #expect(ended.status == 64)
    #expect(ended.errors.contains(named))
  }

  @Test func version_isPrinted() async throws {
    let ended = try await Workplace().run(Built.tureen, ["version"])
    #expect(ended.status == 0)
    #expect(ended.output.hasPrefix("tureen "))
  }

  @Test(arguments: [["run", "x.lua"], ["sandbox"], ["version"], ["exec", "smartstore", "getAllStores"]])
  func command_unknownLogLevel_is78(arguments: [String]) async throws {
    let ended = try await Workplace().run(Built.tureen, arguments, environment: ["TUREEN_LOG": "inof"])
    #expect(ended.status == 78 && ended.output == "")
    #expect(ended.errors == "tureen: TUREEN_LOG: 'inof' is not a level; did you mean 'info'?\n")
  }

  @Test func run_logLevelInfo_logsALineForEachSync() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.smartstore.registerSoup("c", { { path = "Id", type = "string" } })
      local target = { type = "soql", query = "SELECT Id FROM Contact LIMIT 5" }
      tureen.mobilesync.syncDown(target, "c", {}, "first")
      tureen.mobilesync.syncDown(target, "c", {}, "second")
      """, to: "script.lua")
    let ended = try await place.runScript(script, environment: ["TUREEN_LOG": "info"])
    let lines = ended.errors.split(separator: "\n").filter { $0.contains("sync done") }
    #expect(ended.status == 0 && lines.count == 2, "\(ended)")
    #expect(
      lines.contains { $0.contains("sync=first") && $0.contains("fetched=5") } && lines.contains { $0.contains("sync=second") })
    #expect(try await place.runScript(script, environment: ["TUREEN_LOG": "notice"]).errors.contains("sync done") == false)
  }

  @Test func run_modulesBesideTheScript_areFoundFirst() async throws {
    let place = try Workplace()
    try FileManager.default.createDirectory(atPath: place.path + "/jobs/deep", withIntermediateDirectories: true)
    try place.write("return 'elsewhere'", to: "helper.lua")
    try place.write("return 'beside'", to: "jobs/helper.lua")
    try place.write("return 'package'", to: "jobs/deep/init.lua")
    let script = try place.write(
      "print(require 'helper', require 'deep', (os.getenv 'LUA_PATH_5_4')) print(pcall(require, 'other'))", to: "jobs/script.lua")
    let ended = try await place.runScript(script, environment: ["LUA_PATH": place.path + "/?.lua"])
    #expect(ended.status == 0 && ended.output.hasPrefix("beside\tpackage\tnil\nfalse\t"), "\(ended)")
    #expect(ended.output.contains("'\(place.path)/other.lua'"), "what the environment says counts, too: \(ended.output)")
  }

  @Test func run_json_keepsWhatTheScriptPrintsApart() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      print("from print")
      io.write("from write\\n")
      os.execute("echo from a program")
      tureen.smartstore.registerSoup("c", { { path = "Id", type = "string" } })
      tureen.mobilesync.syncDown({ type = "soql", query = "SELECT Id FROM Contact LIMIT 5" }, "c", {}, "down")
      """, to: "script.lua")
    let ended = try await place.runScript(script, options: ["--json"])
    #expect(ended.status == 0)
    let events = try ended.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(events.count >= 2 && events.allSatisfy { $0["event"] == "sync" }, "\(ended.output)")
    #expect(ended.errors == "from print\nfrom write\nfrom a program\n")
  }

  @Test func run_noSuchScript_is66() async throws {
    let ended = try await Workplace().runScript("missing.lua")
    #expect(ended.status == 66)
    #expect(ended.errors.contains("missing.lua"))
  }

  @Test(arguments: [
    ("local x = = 1", "script.lua:1:"), ("local a\nerror('went wrong')", "script.lua:2: went wrong"),
    ("error({ domain = 'mine', code = 'odd', message = 'a table' })", ""), ("error()", ""),
    ("require 'tureen'.async(function() error('in a coroutine') end)", "in a coroutine"),
    ("require 'tureen'.smartstore.registerSoup(1, {})", "registerSoup: argument 1 'soupName' must be a string, got number"),
    ("os.exit(1)", ""),
  ])
  func run_failingScript_is1AndSaysWhy(text: String, expected: String) async throws {
    let place = try Workplace()
    let ended = try await place.runScript(try place.write(text, to: "script.lua"))
    #expect(ended.status == 1)
    if !expected.isEmpty { #expect(ended.errors.contains(expected), "got: \(ended.errors)") }
  }

  @Test(arguments: [
    ("local function deep() error('boom') end deep()", 1, ["script.lua:1: boom", "in local 'deep'"]),
    ("error(select(2, tureen.await(tureen.smartstore.getSoupIndexSpecs, 'x')), 0)", 1, ["x does not exist", "script.lua:1:"]),
    ("tureen.smartstore.getSoupIndexSpecs('y', print)", 1, ["y does not exist", "called at", "script.lua:1 without an error"]),
    ("return 75", 75, []), ("return false", 1, []),
  ])
  func main_thatFails_endsWithItsStatusAndSaysWhere(body: String, status: Int32, expected: [String]) async throws {
    let place = try Workplace()
    let text = "local tureen = require 'tureen' tureen.main(function() \(body) end)\nprint 'not reached'"
    let ended = try await place.runScript(try place.write(text, to: "script.lua"))
    #expect(ended.status == status && ended.output == "", "\(ended)")
    for part in expected { #expect(ended.errors.contains(part), "got: \(ended.errors)") }
  }

  @Test func run_linesOfTheLogger_commandNoTerminalAndFailNothing() async throws {
    let place = try Workplace()
    let script = try place.write("require('tureen.logger').logToConsole('\\27[2Jcleared')", to: "script.lua")
    let ended = try await place.runScript(script)
    #expect(ended.status == 0 && ended.errors == "info: \\x1b[2Jcleared\n", "\(ended)")
  }

  @Test func run_failedCallWithoutErrorCallback_is1AndSaysWhereItWasMade() async throws {
    let place = try Workplace()
    let script = try place.write(
      "local tureen = require 'tureen'\ntureen.smartstore.getSoupIndexSpecs('nowhere')\n", to: "script.lua")
    let ended = try await place.runScript(script)
    #expect(ended.status == 1)
    #expect(ended.errors.contains("nowhere does not exist"), "got: \(ended.errors)")
    #expect(ended.errors.contains("script.lua:2 without an error callback"), "got: \(ended.errors)")
  }

  /// A query with LIMIT fetches only so many records in each run; a warning says so once.
  @Test func run_limitedQuery_warnsOnceOnStderr() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.async(function()
        tureen.await(tureen.smartstore.registerSoup, "contacts", { { path = "Id", type = "string" } })
        local target = { type = "soql", query = "SELECT Id, LastModifiedDate FROM Contact LIMIT 25" }
        tureen.await(tureen.mobilesync.syncDown, target, "contacts", { mergeMode = "OVERWRITE" }, "tutorial")
        for _ = 1, 2 do
          local sync = tureen.await(tureen.mobilesync.reSync, "tutorial")
          print(sync.status, #sync.warnings)
        end
      end)
      """, to: "script.lua")
    let ended = try await place.runScript(script)
    #expect(ended.status == 0 && ended.output == "DONE\t1\nDONE\t1\n", "\(ended)")
    let lines = ended.complaints.split(separator: "\n")
    let expected = "tureen: warning: sync 'tutorial': a re-sync of a query with LIMIT"
    #expect(lines.count == 1 && lines[0].hasPrefix(expected), "\(lines)")
    let quiet = try await place.runScript(script, options: ["--quiet"])
    #expect(quiet.errors == "", "\(quiet.errors)")
  }

  @Test func run_callbackThatThrows_is1AndTheOtherCallbacksStillRun() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local smartstore = require "tureen".smartstore
      smartstore.soupExists("a", function() error("the first one broke") end)
      smartstore.soupExists("b", function(exists) print("second", exists) end)
      """, to: "script.lua")
    let ended = try await place.runScript(script)
    #expect(ended.status == 1)
    #expect(ended.output == "second\tfalse\n")
    #expect(ended.errors.contains("script.lua:2: the first one broke"))
    #expect(ended.errors.contains("stack traceback"))
  }

  @Test func run_taskThatWaitsForNothing_is1AndSaysWhere() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.async(function()
        tureen.sleep(1)
        tureen.await(function(success) print(type(success)) end)
        print("not reached")
      end)
      """, to: "script.lua")
    let ended = try await place.runScript(script)
    #expect(ended.status == 1)
    #expect(ended.output == "function\n")
    #expect(ended.errors.contains("script.lua:4, which has not called its callbacks"), "got: \(ended.errors)")
    #expect(ended.errors.contains("script.lua:4: in function"), "got: \(ended.errors)")
  }

  @Test func run_argumentsBehindTheScript_reachIt() async throws {
    let place = try Workplace()
    let script = try place.write("print(arg[1], arg[2], select('#', ...))", to: "script.lua")
    let ended = try await place.run(Built.tureen, ["run", "--home", place.home, script, "--json", "two words"])
    #expect(ended.status == 0)
    #expect(ended.output == "--json\ttwo words\t2\n")
  }

  @Test(arguments: [
    ("bootconfig.json", "{\n  \"appName\": \"x\",\n  \"wrongKey\": 1\n}", 3, "wrongKey"),
    ("bootconfig.json", "{\n  \"apiVersion\": 66\n}", 2, "apiVersion"),
    (
      "userstore.json",
      "{ \"soups\": [\n { \"soupName\": \"a\", \"indexes\": [ { \"path\": \"Id\", \"type\": \"strin\" } ] } ] }", 2, "strin"
    ),
    ("globalstore.json", "{ \"soups\": [\n { \"soupName\": 5, \"indexes\": [] } ] }", 2, "soupName"),
    ("usersyncs.json", "{ \"syncs\": [\n { \"syncName\": \"a\", oops } ] }", 2, "JSON"),
    (
      "usersyncs.json",
      """
      {"syncs": [
        {"syncName": "up", "syncType": "syncUp", "soupName": "c",
         "target": {"createFieldList": ["Name"]}, "options": {"fieldlist": ["Name"]}}]}
      """, 3, "'createFieldList' is not known here; did you mean 'createFieldlist'?"
    ),
    (
      "globalsyncs.json",
      "{\"syncs\": [{\"syncName\": \"d\", \"syncType\": \"syncDown\",\n\"soupName\": \"c\",\n"
        + "\"target\": {\"type\": \"sqol\", \"query\": \"SELECT Id FROM Account\"}}]}", 3, "did you mean 'soql'?"
    ),
  ])
  func run_wrongConfigurationFile_is78AndNamesFileLineAndKey(
    file: String, text: String, line: Int, key: String
  ) async throws {
    let place = try Workplace()
    try place.write(text, to: file)
    let ended = try await place.runScript(try place.write("print('not reached')", to: "script.lua"))
    #expect(ended.status == 78)
    #expect(ended.output == "")
    #expect(ended.errors.contains("\(file):\(line)"), "got: \(ended.errors)")
    #expect(ended.errors.contains(key), "got: \(ended.errors)")
  }

  /// A folder of strangers may hold anything under these names.
  @Test(arguments: ["bootconfig.json", "userstore.json", "usersyncs.json"], ["pipe", "device", "folder", "huge"])
  func run_configurationThatIsNoFile_is78(file: String, kind: String) async throws {
    let place = try Workplace(), path = place.path + "/" + file
    switch kind {
    case "pipe": #expect(mkfifo(path, 0o600) == 0)
    case "device": #expect(symlink("/dev/zero", path) == 0)
    case "folder": #expect(mkdir(path, 0o700) == 0)
    default:
      try place.write("{", to: file)
      #expect(truncate(path, 3 << 30) == 0)
    }
    let ended = try await place.runScript(try place.write("print('not reached')", to: "script.lua"))
    #expect(ended.status == 78 && ended.output == "", "\(ended)")
    #expect(ended.errors.contains("\(file): " + (kind == "huge" ? "is larger than 8 MiB" : "cannot be read")), "\(ended)")
  }
}
