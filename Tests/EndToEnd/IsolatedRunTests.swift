import Foundation
import Glibc
import Testing

/// `tureen run --isolated`: scripts with an org and stores behind the process boundary.
@Suite(.enabled(if: !Built.isSanitized, "a sanitizer needs more of the system than a worker has"))
struct IsolatedRunTests {
  private func run(_ text: String, _ options: [String] = [], in place: Workplace) async throws -> Child.Ended {
    try await place.runScript(try place.write(text, to: "script.lua"), options: ["--isolated"] + options)
  }

  @Test func run_syncsBothWaysAndQueries_asInProcess() async throws {
    let place = try Workplace()
    let script = """
      local tureen = require "tureen"
      local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync
      tureen.document.addEventListener("sync", function(event) last = event.detail.status end)
      tureen.main(function()
        assert(tureen.await(smartstore.registerSoup, "c", { { path = "Id", type = "string" }, { path = "LastName", type = "string" },
          { path = "__local__", type = "string" } }))
        local down = assert(tureen.await(mobilesync.syncDown,
          { type = "soql", query = "SELECT Id, LastName, LastModifiedDate FROM Contact LIMIT 4100" }, "c", {}))
        local spec = smartstore.buildAllQuerySpec("LastName", "ascending", 2000)
        local cursor = assert(tureen.await(smartstore.querySoup, "c", spec))
        local entry = cursor.currentPageOrderedEntries[1]
        entry.LastName, entry.__local__, entry.__locally_updated__ = "Isolated", true, true
        assert(tureen.await(smartstore.upsertSoupEntries, "c", tureen.array { entry }))
        local up = assert(tureen.await(mobilesync.syncUp, {}, "c", { fieldlist = tureen.array { "LastName" } }))
        local answer = assert(tureen.await(tureen.network.sendRequest, "",
          "/services/data/v62.0/query?q=SELECT+count()+FROM+Contact+WHERE+LastName='Isolated'"))
        print(down.status, down.totalSize, #cursor.currentPageOrderedEntries, up.status, answer.totalSize, last)
      end)
      """
    let isolated = try await run(script, in: place)
    #expect(
      isolated.status == 0 && isolated.output == "DONE\t4100\t2000\tDONE\t1\tDONE\n", "\(isolated.output) \(isolated.errors)")
    let other = try Workplace()
    let inProcess = try await other.runScript(try other.write(script, to: "script.lua"))
    #expect(inProcess.output == isolated.output)
  }

  /// The sync engine asks functions in the worker.
  @Test func run_customTargetAndResolver_areAsked() async throws {
    let place = try Workplace()
    let ended = try await run(
      """
      local tureen = require "tureen"
      local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync
      mobilesync.registerTarget("tasks", {
        startFetch = function() return tureen.array { { Id = "1", Name = "a" }, { Id = "2", Name = "b" } }, { totalSize = 2 } end,
      })
      tureen.main(function()
        assert(tureen.await(smartstore.registerSoup, "t", { { path = "Id", type = "string" } }))
        local sync, err = tureen.await(mobilesync.syncDown, { type = "custom", luaImpl = "tasks" }, "t", {})
        if not sync then error(err) end
        print(sync.status, sync.totalSize)
      end)
      """, in: place)
    #expect(ended.status == 0 && ended.output == "DONE\t2\n", "\(ended.output) \(ended.errors)")
  }

  @Test func run_statusOfEachEnd() async throws {
    let place = try Workplace()
    for (text, options, status) in [
      ("error 'no'", [], 1), ("x =", [], 1), ("require('tureen').main(function() return 9 end)", [], 9),
      ("while true do end", ["--time-limit", "0.3"], 77),
      ("local t = {} while true do t[#t + 1] = {} end", ["--memory-limit", "8M"], 77),
      ("local _ = io.open", [], 1), ("require('tureen').configure {}", [], 1),
    ] as [(String, [String], Int32)] {
      let ended = try await run(text, options, in: place)
      #expect(ended.status == status, "\(text): \(ended.status) \(ended.errors)")
    }
    let missing = try await place.run(Built.tureen, ["run", "--isolated", "missing.lua"])
    #expect(missing.status == 66)
    let alone = try await place.run(Built.tureen, ["run", "--without-seccomp", "script.lua"])
    #expect(alone.status == 64 && alone.errors.contains("--isolated"))
  }

  @Test func run_json_keepsStandardOutputForEvents() async throws {
    let place = try Workplace()
    let ended = try await run(
      """
      local tureen = require "tureen"
      print "said"
      tureen.main(function()
        assert(tureen.await(tureen.smartstore.registerSoup, "c", { { path = "Id", type = "string" } }))
        assert(tureen.await(tureen.mobilesync.syncDown, { type = "soql", query = "SELECT Id FROM Contact LIMIT 5" }, "c", {}))
      end)
      """, ["--json"], in: place)
    #expect(ended.status == 0 && ended.errors.contains("said\n"))
    #expect(ended.output.split(separator: "\n").allSatisfy { $0.hasPrefix("{\"") } && ended.output.contains("\"DONE\""))
  }

  /// The children of a process. The kernel lists them under the thread that started them.
  private func children(of id: pid_t) throws -> [pid_t] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task").flatMap { thread in
      let text = (try? String(contentsOfFile: "/proc/\(id)/task/\(thread)/children", encoding: .utf8)) ?? ""
      return text.split(separator: " ").compactMap { pid_t($0) }
    }
  }

  /// Whether a process is there and has not ended: one that nobody waits for stays as a zombie.
  private func isAlive(_ id: pid_t) -> Bool {
    guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8) else { return false }
    return text.split(separator: ")").last?.split(separator: " ").first != "Z"
  }

  @Test func run_workerKilled_saysWhyAndTheNextScriptRuns() async throws {
    let place = try Workplace()
    let script = try place.write(
      "print 'ready' while true do require('tureen').poll(1000) end", to: "a.lua")
    let child = try place.startScript(script, options: ["--isolated"])
    #expect(await child.prints("ready\n"))
    let worker = try #require(children(of: child.processID).first)
    kill(worker, SIGSEGV)
    let ended = await child.ended()
    #expect(ended.status == 70 && ended.errors.contains("signal 11 ended it (segmentation fault)"), "\(ended.errors)")
    #expect(try await run("print 'next'", in: place).output == "next\n")
  }

  @Test func run_commandKilled_takesTheWorkerWithIt() async throws {
    let place = try Workplace()
    let script = try place.write("print 'ready' while true do end", to: "a.lua")
    let child = try place.startScript(script, options: ["--isolated"])
    #expect(await child.prints("ready\n"))
    let worker = try #require(children(of: child.processID).first)
    child.send(SIGKILL)
    _ = await child.ended()
    // It is no child of ours that could be waited for.
    let end = ContinuousClock.now + .seconds(600)
    while isAlive(worker), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(10)) }
    #expect(!isAlive(worker), "the worker goes on")
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func interrupt_endlessScript_exits130(number: Int32) async throws {
    let place = try Workplace()
    let script = try place.write("print 'ready'\nwhile true do pcall(error) end", to: "a.lua")
    let child = try place.startScript(script, options: ["--isolated"])
    #expect(await child.prints("ready\n"))
    child.send(number)
    let ended = await child.ended()
    #expect(ended.status == 130 && ended.errors.contains("interrupted"), "\(ended.status) \(ended.errors)")
  }

  @Test func interrupt_inTheMiddleOfASync_savesItStopped() async throws {
    let place = try Workplace(), org = try PagedOrg(holdsFrom: 2)
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.async(function()
        assert(tureen.await(tureen.smartstore.registerSoup, "c", { { path = "Id", type = "string" } }))
        local _, err = tureen.await(tureen.mobilesync.syncDown,
          { type = "soql", query = "SELECT Id, LastName, LastModifiedDate FROM Contact" }, "c", {}, "down")
        print("failed with " .. err.code)
      end)
      """, to: "script.lua")
    let child = try place.startScript(script, options: ["--isolated", "--json"], environment: org.environment)
    #expect(await child.prints(#""progress":20"#))
    child.send(SIGINT)
    let ended = await child.ended()
    #expect(ended.status == 130 && ended.output.contains(#""status":"STOPPED""#))
    #expect(ended.errors.contains("failed with stopped\n"), "\(ended.errors)")
  }

  // MARK: Calls that a stranger chose

  /// Each of these crashed or kept the host, whose stores and session they must not touch.
  @Test(arguments: [
    #"call("tureen.parse", "findInSoup", { className = "R", places = { R = { soup = "s" } }, where = { a = { ["$regex"] = "[" .. ("a&&"):rep(4000) .. "a]" } } })"#,
    #"call("com.salesforce.smartstore", "pgAlterSoup", { soupName = "s", indexes = { { path = ("a."):rep(160000) .. "a", type = "string" } } })"#,
    #"call("com.salesforce.mobilesync", "syncUp", { soupName = "s", target = { idFieldName = ("a."):rep(160000) .. "a" }, options = { fieldlist = { ("a."):rep(160000) .. "a" } } })"#,
    #"call("com.salesforce.smartstore", "pgRegisterSoup", { soupName = "t", indexes = { { path = "a", type = ("x"):rep(10000000) } } })"#,
  ])
  func run_argumentsOfAStranger_doNoHarm(statement: String) async throws {
    let place = try Workplace()
    let ended = try await run(
      """
      local tureen = require "tureen"
      tureen.main(function()
        local function call(service, action, arguments)
          return tureen.await(function(success, failure) tureen.exec(success, failure, service, action, arguments) end)
        end
        local store = tureen.smartstore
        assert(tureen.await(store.registerSoup, "s", { { path = "a", type = "string" }, { path = "__local__", type = "string" } }))
        local entry = { a = "x", __local__ = true, __locally_created__ = true, attributes = { type = "Account" } }
        assert(tureen.await(store.upsertSoupEntries, "s", { entry }))
        \(statement)
        assert(tureen.await(store.upsertSoupEntries, "s", { entry }))
        print "alive"
      end)
      """, ["--time-limit", "300"], in: place)
    #expect(ended.status == 0 && ended.output == "alive\n", "\(ended.status) \(ended.errors.prefix(1000))")
  }

  /// The rows of the syncs are entries that an unrestricted script can write.
  @Test(arguments: [
    "row.maxTimeStamp, row.status = math.mininteger, 'STOPPED'",
    "row.maxTimeStamp, row.coveredTimeStamp = math.maxinteger, math.mininteger",
    "row.startTime, row.endTime = math.maxinteger, math.mininteger",
    "row.progress, row.totalSize = math.mininteger, math.maxinteger",
    "for key, value in pairs(row) do if math.type(value) == 'integer' and key ~= '_soupEntryId' then row[key] = math.mininteger end end",
    "for key, value in pairs(row) do if math.type(value) == 'integer' and key ~= '_soupEntryId' then row[key] = math.maxinteger end end",
  ])
  func run_syncRowsOfAStranger_areReadWithinBounds(change: String) async throws {
    let place = try Workplace()
    let writer = try place.write(
      """
      local tureen = require "tureen"
      local store, sync, await = tureen.smartstore, tureen.mobilesync, tureen.await
      tureen.main(function()
        await(store.registerSoup, "c", { { path = "Id", type = "string" }, { path = "__local__", type = "string" },
          { path = "__sync_id__", type = "integer" } })
        local made = assert(await(sync.syncDown, { type = "soql", query = "SELECT Id, LastModifiedDate FROM Contact LIMIT 3" }, "c", {}, "d"))
        local row = await(store.retrieveSoupEntries, "syncs_soup", { made.syncId })[1]
        \(change)
        assert(await(store.upsertSoupEntries, "syncs_soup", { row }))
      end)
      """, to: "writer.lua")
    let written = try await place.runScript(writer)
    #expect(written.status == 0, "\(written)")
    let ended = try await run(
      """
      local tureen = require "tureen"
      tureen.main(function()
        tureen.await(tureen.mobilesync.reSync, "d")
        tureen.await(tureen.mobilesync.cleanResyncGhosts, "d")
        print "alive"
      end)
      """, in: place)
    #expect(ended.status == 0 && ended.output == "alive\n", "\(ended.status) \(ended.errors)")
    for command in [["status"], ["syncs"], ["sync", "d"]] {
      let listed = try await place.run(Built.tureen, [command[0], "--home", place.home] + command.dropFirst())
      #expect(listed.status < 128, "\(command): \(listed)")
    }
  }

  /// The command ends although what the script has called goes on.
  @Test(arguments: [
    #"smartstore.runSmartQuery(smartstore.buildSmartQuerySpec("SELECT replace(hex(zeroblob(50000000)), '0', 'a') LIKE '%" .. ("a"):rep(990) .. "b'", 1), print)"#,
    #"for i = 1, 4000 do smartstore.reIndexSoup("s", { "a" }, print) end"#,
    #"smartstore.removeFromSoup("s", smartstore.buildSmartQuerySpec("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id FROM c WHERE x < 0", 1), print)"#,
  ])
  func run_callsWithoutEnd_endWithTheTimeLimit(statement: String) async throws {
    let place = try Workplace()
    // Filling the soup takes its time on a busy machine, and has no limit.
    let filled = try await run(
      """
      local tureen = require "tureen"
      local smartstore = tureen.smartstore
      tureen.main(function()
        assert(tureen.await(smartstore.registerSoup, "s", { { path = "a", type = "string" } }))
        local entries = tureen.array {}
        for i = 1, 4000 do entries[i] = { a = "x" .. i, b = ("y"):rep(200) } end
        assert(tureen.await(smartstore.upsertSoupEntries, "s", entries))
      end)
      """, in: place)
    #expect(filled.status == 0, "\(filled)")
    let ended = try await run(
      """
      local tureen = require "tureen"
      local smartstore = tureen.smartstore
      tureen.main(function()
        \(statement)
        print "called"
      end)
      """, ["--time-limit", "20"], in: place)
    #expect(ended.status == 77 && ended.output.hasPrefix("called\n"), "\(ended.status) \(ended.output) \(ended.errors)")
    #expect(ended.errors.contains("time limit of 20 s"))
    #expect(try await run("print 'next'", in: place).output == "next\n", "the stores are free again")
  }

  @Test func interrupt_removalWithoutEnd_exits130() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      local smartstore = tureen.smartstore
      tureen.main(function()
        assert(tureen.await(smartstore.registerSoup, "s", { { path = "a", type = "string" } }))
        smartstore.soupExists("s", function() print "ready" end)
        local _, err = tureen.await(smartstore.removeFromSoup, "s", smartstore.buildSmartQuerySpec(
          "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id FROM c WHERE x < 0", 1))
        print(err.code)
      end)
      """, to: "a.lua")
    let child = try place.startScript(script, options: ["--isolated"])
    #expect(await child.prints("ready\n"))
    child.send(SIGINT)
    let ended = await child.ended()
    #expect(ended.status == 130 && ended.output == "ready\ncancelled\n", "\(ended)")
  }

  @Test func run_messagesWithLineBreaks_areOneLineOfTheLog() async throws {
    let place = try Workplace()
    let ended = try await place.runScript(
      try place.write(
        """
        local tureen = require "tureen"
        local evil = "a\\nFORGED critical tureen.host : all is well"
        tureen.mobilesync.registerTarget("t", { startFetch = function() error("boom\\nFORGED", 0) end })
        tureen.main(function()
          tureen.await(tureen.smartstore.registerSoup, "c", { { path = "Id", type = "string" } })
          tureen.await(tureen.mobilesync.syncDown, { type = "custom", luaImpl = "t" }, "c", {}, evil)
        end)
        """, to: "script.lua"), options: ["--isolated"], environment: ["TUREEN_LOG": "debug"])
    #expect(ended.errors.contains("FORGED"), "\(ended.errors)")
    #expect(!ended.errors.split(separator: "\n").contains { $0.hasPrefix("FORGED") }, "\(ended.errors)")
  }

  @Test func run_installed_findsItsWorker() async throws {
    let place = try Workplace(), installed = try await Installed.shared()
    let script = try place.write("print 'installed'", to: "script.lua")
    let ended = try await place.run(installed.path + "/bin/tureen", ["run", "--isolated", "--home", place.home, script])
    #expect(ended.output == "installed\n", "\(ended.errors)")
  }
}
