import Foundation
import Glibc
import LuaBridge
import Testing

@Suite struct BridgeTests {
  private static let prelude = """
    local tureen = require "tureen"
    local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync
    local function check(ok, what) if not ok then error(what or "check failed", 2) end end

    """

  private func run(_ text: String, host: FakeHost = FakeHost(), capacity: Int = 1000) throws -> ScriptState.Outcome {
    try ScriptState(bridge: Bridge(host: host, mailboxCapacity: capacity)).run(text: Self.prelude + text)
  }

  private func message(_ outcome: ScriptState.Outcome) -> String {
    switch outcome {
    case .done: "done"
    case .failed(let message), .notRunnable(let message), .limitReached(_, let message): message
    case .exited(let status): "exited with \(status)"
    }
  }

  @Test func call_mailboxFull_isRefusedThroughTheErrorCallback() throws {
    let outcome = try run(
      """
      local good, refused = 0, nil
      for i = 1, 3 do
        smartstore.soupExists("s", function() good = good + 1 end, function(err) refused = err end)
      end
      check(refused == nil, "refused inside the call")
      check(tureen.run())
      check(good == 2, good)
      check(refused.code == "mailboxFull" and refused.retryable, tostring(refused))
      check(refused.source == "com.salesforce.smartstore:pgSoupExists")
      smartstore.soupExists("s", function() good = good + 1 end)
      check(tureen.run())
      check(good == 3, good)
      """, capacity: 2)
    #expect(outcome == .done)
  }

  @Test func callbackError_withoutHandler_failsTheRun() throws {
    let outcome = try run(
      """
      smartstore.soupExists("s", function() error("an error left to the default handler, on purpose") end)
      local second = false
      smartstore.soupExists("s", function() second = true end)
      local ok, err = tureen.run()
      check(ok == false and tostring(err):find("on purpose"), err)
      check(second)
      check(tureen.run(), "reported twice")
      """)
    #expect(outcome == .failed(message: ""))
  }

  @Test func failure_withoutErrorCallback_failsTheRun() throws {
    let outcome = try run(
      """
      smartstore.soupExists("fail")
      local ok, err = tureen.run()
      check(ok == false and err.code == "noSuchSoup", tostring(err))
      check(tureen.run(), "reported twice")
      """)
    #expect(outcome == .failed(message: ""))
  }

  @Test(arguments: [
    ("error('broken')", 1), ("error({})", 1), ("return false", 1), ("return 75", 75), ("return nil, 'no luck'", 1),
    ("smartstore.soupExists('fail')", 1), ("tureen.await(smartstore.soupExists, 's') error('later')", 1),
  ])
  func main_failing_endsTheScriptWithItsStatus(body: String, status: Int32) throws {
    let outcome = try run("tureen.main(function() \(body) end) error('not reached')")
    #expect(outcome == .exited(status: status))
  }

  @Test(arguments: ["", "return 0", "return true", "return 'anything'", "return tureen.await(smartstore.soupExists, 's')"])
  func main_goingWell_letsTheScriptGoOn(body: String) throws {
    let outcome = try run("local went = false tureen.main(function() \(body) end) went = true check(went)")
    #expect(outcome == .done)
  }

  @Test func main_thatFailed_leavesTheNextScriptOfTheStateAlone() throws {
    let state = try ScriptState(host: FakeHost())
    #expect(state.run(text: Self.prelude + "tureen.main(function() return 3 end)") == .exited(status: 3))
    #expect(state.run(text: Self.prelude + "tureen.main(function() return 0 end)") == .done)
  }

  @Test(arguments: [
    ("error { domain = 'network', code = 'notAuthenticated', reason = 'denied' }", "network", "notAuthenticated", "denied"),
    ("smartstore.soupExists('fail')", "store", "noSuchSoup", ""),
    ("assert(tureen.await(smartstore.soupExists, 'x'))", "bridge", "invalidArguments", ""),
    ("tureen.async(function() assert(tureen.await(smartstore.soupExists, 'fail')) end)", "store", "noSuchSoup", ""),
    ("tureen.main(function() return tureen.await(smartstore.soupExists, 'fail') end)", "store", "noSuchSoup", ""),
    ("tureen.main(function() smartstore.soupExists(7) end)", "bridge", "invalidArguments", ""),
  ])
  func failure_ofAnErrorThatNothingCaught_saysItsKind(script: String, domain: String, code: String, reason: String) throws {
    let state = try ScriptState(host: FakeHost())
    let outcome = state.run(text: Self.prelude + script)
    #expect(outcome != .done)
    let failure = try #require(state.failure, "\(outcome)")
    #expect([failure.domain, failure.code, failure.reason] == [domain, code, reason], "\(outcome)")
    #expect(state.run(text: "return 1") == .done && state.failure == nil)
  }

  @Test(arguments: [
    "error 'text'", "error { domain = 'a/b', code = 'c' }", "error(setmetatable({}, { __index = function() error 'x' end }))",
    "tureen.main(function() return 1 end)",
    "tureen.onerror = function() end tureen.main(function() error { domain = 'network', code = 'notAuthenticated' } end)",
  ])
  func failure_ofOtherErrors_isNotThere(script: String) throws {
    let state = try ScriptState(host: FakeHost())
    #expect(state.run(text: Self.prelude + script) != .done)
    #expect(state.failure == nil)
  }

  @Test func main_misuse_raises() throws {
    let text = message(try run("tureen.main('x')"))
    #expect(text.contains("main: argument 1 'main' must be a function, got string"))
    let status = message(try run("tureen.main(function() return 300 end)"))
    #expect(status.contains("main: an exit status must be from 0 to 255, got 300"))
    let inside = message(
      try run("smartstore.soupExists('s', function() tureen.main(function() end) end) local ok, err = tureen.run() error(err)"))
    #expect(inside.contains("main: must not be called from a callback that poll is running"))
  }

  @Test func logger_lines_doNotFailTheRun() throws {
    #expect(try run("require('tureen.logger').logToConsole('a line of the log, on purpose')") == .done)
  }

  @Test func script_raising_failsWithItsMessageAndTraceback() throws {
    let text = message(try run("local function inner() error('broken') end\ninner()"))
    #expect(text.contains("broken"))
    #expect(text.contains("inner"))
    let misuse = message(try run("smartstore.soupExists(12)"))
    #expect(misuse.contains("soupExists: argument 1 'soupName' must be a string, got number"))
  }

  @Test func script_withSyntaxError_isNotRunnable() throws {
    guard case .notRunnable(let text) = try run("local = 3") else {
      Issue.record("it ran")
      return
    }
    #expect(text.contains("script:4:"))
  }

  @Test func script_thatCannotBeRead_isNotRunnable() throws {
    let script = try ScriptState(host: FakeHost())
    guard case .notRunnable(let text) = script.run(file: "/no/such/file.lua") else {
      Issue.record("it ran")
      return
    }
    #expect(text.contains("/no/such/file.lua"))
  }

  @Test func run_file_getsItsArguments() throws {
    let path = NSTemporaryDirectory() + "tureen-\(UUID().uuidString).lua"
    defer { unlink(path) }
    try "#!/usr/bin/lua\nassert(arg[1] == 'a b' and arg[2] == '' and select('#', ...) == 2 and arg[0])"
      .write(toFile: path, atomically: true, encoding: .utf8)
    let script = try ScriptState(host: FakeHost())
    #expect(script.run(file: path, arguments: ["a b", ""]) == .done)
    #expect(message(script.run(file: path)).contains("assertion failed"))
  }

  @Test func run_text_empty_isDone() throws {
    #expect(try ScriptState(host: FakeHost()).run(text: "") == .done)
  }

  @Test func close_withCallsInFlight_dropsThemAndShutsDownOnce() throws {
    let host = FakeHost()
    let script = try ScriptState(host: host)
    let outcome = script.run(
      text: Self.prelude + """
        local function never()
          io.stderr:write("close delivered an answer")
          os.exit(99)
        end
        for i = 1, 100 do smartstore.upsertSoupEntries("last words", { { i = i } }, never, never) end
        mobilesync.syncDown({}, "s", {}, "held", never, never)
        local started = false
        smartstore.soupExists({ isGlobalStore = true }, "s", function() started = true end)
        error("leave without polling", 0)
        """)
    #expect(message(outcome).hasPrefix("leave without polling"))
    script.close()
    script.close()
    #expect(host.shutdowns == 1)
    #expect(host.log.filter { $0.hasSuffix("last words") }.count == 100)
    for update in host.heldUpdates { update(.finished([])) }
    #expect(script.run(text: "") == .notRunnable(message: "the state is closed"))
  }

  @Test func finalizer_afterTheBridgeClosed_getsAnError() throws {
    let script = try ScriptState(host: FakeHost())
    // Created before the bridge is used, but finalizers run in reverse order of their marking; both orders must be safe.
    let outcome = script.run(
      text: Self.prelude + """
        leftover = setmetatable({}, { __gc = function()
          -- While the bridge is still open the call is as good as any other, and may be answered at once.
          pcall(smartstore.soupExists, "s", function() end)
          pcall(tureen.poll, 0)
          pcall(tureen.fd)
        end })
        """)
    #expect(outcome == .done)
    script.close()
  }

  @Test func fd_isReadableWhenPollWouldDeliver() throws {
    let host = FakeHost()
    let bridge = try Bridge(host: host)
    let script = try ScriptState(bridge: bridge)
    let shown = message(script.run(text: Self.prelude + "error(tostring(tureen.fd()), 0)"))
    let descriptor = try #require(Int32(shown.prefix { $0.isNumber }))
    // getAllStores runs after all other calls, so one readable descriptor is not enough: poll(2) until its answer has arrived.
    let outcome = script.run(
      text: Self.prelude + """
        check(tureen.poll(0) == 0)
        smartstore.soupExists("s")
        error("not polled", 0)
        """)
    #expect(message(outcome).hasPrefix("not polled"))
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    #expect(poll(&entry, 1, 600_000) == 1)
    #expect(script.run(text: Self.prelude + "check(tureen.poll(0) == 1)") == .done)
    #expect(poll(&entry, 1, 0) == 0)
  }

  @Test func syncProgress_notPolledMeanwhile_isCoalesced() throws {
    let host = FakeHost()
    let script = try ScriptState(host: host)
    _ = script.run(
      text: Self.prelude + """
        seen = {}
        local steps = { "RUNNING:0", "RUNNING:10", "RUNNING:20", "RUNNING:30", "DONE:100", "DONE:99" }
        mobilesync.syncDown({ steps = steps }, "s", {}, function(state) seen[#seen + 1] = state.progress end)
        smartstore.getAllStores()
        error("not polled", 0)
        """)
    host.atRest.wait()
    let outcome = script.run(
      text: Self.prelude + """
        while tureen.pending() > 0 do tureen.poll(1000) end
        check(table.concat(seen, " ") == "0 30 100", table.concat(seen, " "))
        """)
    #expect(outcome == .done)
  }

  @Test func interrupt_endsWaiting_refusesSyncs_letsStoreCallsThrough() throws {
    let host = FakeHost()
    let bridge = try Bridge(host: host)
    host.onInterrupt = { bridge.interrupt() }
    let script = try ScriptState(bridge: bridge)
    let outcome = script.run(
      text: Self.prelude + """
        smartstore.soupExists("interrupt")
        local ok, err = tureen.run()
        check(ok == false and err.code == "interrupted", tostring(err))
        local refused, stored
        mobilesync.syncDown({}, "s", {}, nil, function() check(false) end, function(e) refused = e.code end)
        smartstore.soupExists("s", function() stored = true end)
        while tureen.pending() > 0 do tureen.poll(1000) end
        check(refused == "interrupted" and stored)
        local raised, why = pcall(tureen.poll, 1000)
        check(not raised and why.code == "interrupted", tostring(why))
        """)
    #expect(message(outcome).contains("interrupted"))
  }

  @Test func twoStates_onTwoThreads_areIndependent() async throws {
    let text =
      Self.prelude + """
        local count, done = 0, 0
        tureen.on("sync", function(detail) count = count + 1 end)
        for i = 1, 200 do
          smartstore.upsertSoupEntries("s" .. i, { { n = i } }, function(echo)
            check(echo.arguments.soupName == "s" .. i)
            done = done + 1
          end)
        end
        mobilesync.syncDown({ steps = { "RUNNING", "DONE" } }, "s", {})
        check(tureen.run())
        check(done == 200 and count == 2, done)
        """
    let outcomes = await withTaskGroup(of: ScriptState.Outcome?.self) { group in
      for _ in 0..<2 { group.addTask { try? ScriptState(host: FakeHost()).run(text: text) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes == [.done, .done])
  }

  @Test func storeCalls_ofOneStore_neverOverlap() throws {
    let host = FakeHost()
    let outcome = try run(
      """
      for i = 1, 300 do
        smartstore.soupExists({ isGlobalStore = false, storeName = "n" .. i % 3 }, "s" .. i)
        if i % 50 == 0 then smartstore.getAllStores() end
      end
      """, host: host)
    #expect(outcome == .done)
    #expect(host.overlaps == 0)
    for name in ["n0", "n1", "n2"] {
      let order = host.log.filter { $0.hasPrefix(name + ":") }
        .compactMap { Int($0.split(separator: ":")[2].dropFirst()) }
      #expect(order.count == 100)
      #expect(order == order.sorted())
    }
  }

  @Test func requiringTwice_keepsTheOneBridge() throws {
    let outcome = try run(
      """
      package.loaded["tureen"] = nil
      check(require "tureen" == tureen)
      """)
    #expect(outcome == .done)
  }
}
