import Foundation
import Glibc
import JSON
import Testing

/// Tests what people try in their first hour and what they read when something fails at night.
@Suite struct NewcomerTests {
  private func shell(_ command: String, in place: Workplace) async throws -> Child.Ended {
    try await Child(
      "/bin/sh", ["-c", command, Built.tureen, place.home], environment: ["TUREEN_HOME": place.home], in: place.path
    ).ended()
  }

  // MARK: Homes, projects and users

  @Test(arguments: [
    ["soups", "--home", ""], ["exec", "--home=", "smartstore", "getAllStores"], ["status", "--org", ""],
    ["query", "--user", "", "SELECT 1"], ["orgs", "--home", ""], ["store", "list", "--home", ""], ["sandbox", "--home", ""],
    ["login", "--home", ""], ["cache", "list", "--home", ""], ["run", "--home", "", "x.lua"], ["run", "--org=", "x.lua"],
    ["store", "list", "--home="],
  ])
  func emptyOption_isRefusedAndMakesNothing(arguments: [String]) async throws {
    let place = try Workplace()
    let ended = try await place.run(Built.tureen, arguments)
    #expect(ended.status == 64 && ended.errors.contains("it is empty"), "\(ended)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [])
  }

  @Test func execAndRepl_inAProjectFolder_knowItsSyncs() async throws {
    let place = try Workplace()
    try place.write(
      #"{"soups":[{"soupName":"people","indexes":[{"path":"Id","type":"string"}]}]}"#, to: "userstore.json")
    try place.write(
      """
      {"syncs":[{"syncName":"peopleDown","syncType":"syncDown","soupName":"people",
        "target":{"type":"soql","query":"SELECT Id FROM Contact LIMIT 5"},"options":{}}]}
      """, to: "usersyncs.json")
    let exec = try await shell(#""$0" exec mobilesync reSync '{"syncName":"peopleDown"}'"#, in: place)
    #expect(exec.status == 0 && exec.output.contains(#""status":"DONE""#), "\(exec)")
    let repl = try await shell(#"echo 'await(mobilesync.reSync, "peopleDown").status' | "$0" repl"#, in: place)
    #expect(repl.status == 0 && repl.output.contains("\"DONE\""), "\(repl)")
  }

  // MARK: Messages

  @Test(arguments: [
    (["sync"], "tureen sync"), (["exec", "smartstore", "soupExists", "[1]"], "tureen exec"),
    (["login", "--flow", "nope"], "tureen login"),
    (["run", "--log-requests=loud", "x.lua"], "tureen run"), (["exec", "smartstore", "observe"], "tureen exec"),
  ])
  func refusedArguments_printTheUsageOfTheirCommand(arguments: [String], command: String) async throws {
    let place = try Workplace()
    try place.write("print(1)", to: "x.lua")
    let ended = try await place.run(Built.tureen, arguments + (arguments[0] == "exec" ? ["--home", place.home] : []))
    #expect(ended.status == 64 && ended.errors.contains("Usage: \(command)"), "\(ended.errors)")
    #expect(ended.errors.contains("See '\(command) --help' for more information."), "\(ended.errors)")
  }

  /// A missing argument does not hide the option that is wrong.
  @Test(arguments: [
    ("sync --nope", "tureen sync", "'--nope'"), ("sync --alll", "tureen sync", "'--alll'. Did you mean '--all'?"),
    ("query --jsonn", "tureen query", "'--jsonn'. Did you mean"), ("run --restrict", "tureen run", "'--restrict'"),
    ("job add --evry 5m", "tureen job add", "'--evry'. Did you mean '--every'?"),
    ("verify --level ids --repare s", "tureen verify", "'--repare'. Did you mean '--repair'?"),
    ("export --nope=1", "tureen export", "'--nope'"), ("status --nope", "tureen status", "'--nope'"),
    ("--nope", "tureen", "'--nope'"), ("conflicts --home x --nope", "tureen conflicts", "'--nope'"),
  ])
  func unknownOption_isNamed(words: String, command: String, text: String) async throws {
    let place = try Workplace()
    let ended = try await place.run(Built.tureen, words.split(separator: " ").map(String.init))
    #expect(ended.status == 64 && ended.errors.hasPrefix("Error: Unknown option \(text)"), "\(ended.errors)")
    #expect(ended.errors.contains("Usage: \(command)"), "\(ended.errors)")
  }

  @Test func options_ofAScript_areItsOwn() async throws {
    let place = try Workplace()
    try place.write("print(table.concat(arg, ' '))", to: "x.lua")
    let ended = try await place.run(Built.tureen, ["run", "x.lua", "--nope", "--home=", "--log-requests"])
    #expect(ended.status == 0 && ended.output == "--nope --home= --log-requests\n", "\(ended)")
  }

  @Test(arguments: [[], ["--isolated"]])
  func failedSync_isToldOnce(options: [String]) async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        assert(tureen.await(tureen.smartstore.registerSoup, "s", { { path = "Id", type = "string" } }))
        local target = { type = "soql", query = "SELECT Nope FROM Contact" }
        assert(tureen.await(tureen.mobilesync.syncDown, target, "s", {}, "wrong"))
      end)
      """, to: "script.lua")
    let ended = try await place.runScript(script, options: options)
    #expect(ended.status == 1)
    #expect(ended.errors.components(separatedBy: "No such column 'Nope'").count == 2, "\(ended.errors)")
  }

  /// Two syncs fail alike, and the script raises one of them: the other is told, too.
  @Test func twoFailedSyncs_areBothTold() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      local mobilesync, await = tureen.mobilesync, tureen.await
      tureen.main(function()
        assert(await(tureen.smartstore.registerSoup, "s", { { path = "Id", type = "string" } }))
        local function down(name)
          return await(mobilesync.syncDown, { type = "soql", query = "SELECT " .. name .. " FROM Contact" }, "s", {}, name)
        end
        down "Nope1"
        assert(down "Nope2")
      end)
      """, to: "script.lua")
    let ended = try await place.runScript(script)
    #expect(ended.status == 1)
    for name in ["Nope1", "Nope2"] {
      #expect(ended.errors.components(separatedBy: "No such column '\(name)'").count == 2, "\(ended.errors)")
    }
  }

  @Test(arguments: [[], ["--isolated"]])
  func print_toAFullDisk_isAFailure(options: [String]) async throws {
    let place = try Workplace()
    try place.write("print('x') print(('y'):rep(100))", to: "p.lua")
    try place.write("for _ = 1, 1e5 do print('x') end", to: "long.lua")
    for script in ["p.lua", "long.lua"] {
      let words = (["run"] + options + [script]).joined(separator: " ")
      let full = try await shell("\"$0\" \(words) > /dev/full", in: place)
      #expect(full.status == 69 && full.errors.contains("standard output cannot be written"), "\(full)")
      let gone = try await shell("\"$0\" \(words) | head -c 1; true", in: place)
      #expect(gone.errors == "", "\(gone)")
      let kept = try await shell("\"$0\" \(words) > kept.txt", in: place)
      #expect(kept.status == 0 && kept.errors == "", "\(kept)")
    }
  }

  // MARK: Signals

  @Test func ignoredInterrupt_staysIgnored() async throws {
    let place = try Workplace()
    try place.write("io.stdout:write 'up\\n' io.stdout:flush() io.read() print 'read'", to: "wait.lua")
    let child = try Child(
      "/bin/sh", ["-c", "mkfifo p; trap '' INT HUP; exec \"$0\" run wait.lua 0<>p", Built.tureen],
      environment: ["TUREEN_HOME": place.home], in: place.path)
    #expect(await child.prints("up"))
    child.send(SIGINT)
    child.send(SIGHUP)
    let input = try #require(FileHandle(forWritingAtPath: place.path + "/p"))
    try input.write(contentsOf: Data("go on\n".utf8))
    let ended = await child.ended()
    #expect(ended.status == 0 && ended.output.hasSuffix("read\n"), "\(ended)")
  }
}
