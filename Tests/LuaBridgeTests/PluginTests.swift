import Foundation
import JSON
import LuaBridge
import Synchronization
import TestSupport
import Testing

/// Tests plug-ins in Swift, which scripts call through a bridge with a fake host.
@Suite struct PluginTests {
  private struct Echo: Plugin {
    var service = "com.acme.echo"
    var actions: [String: PluginAction]
    var spec: PluginSpec?
  }

  private struct Odd: Error {}

  private final class Warnings: Sendable {
    let list = Mutex<[String]>([])
    var all: [String] { list.withLock { $0 } }
    @Sendable func add(_ text: String) { list.withLock { $0.append(text) } }
  }

  private static let prelude = """
    local tureen = require "tureen"
    local await = tureen.await
    local echo = tureen.service "com.acme.echo"
    local function same(a, b) if a ~= b then error(tostring(a) .. " is not " .. tostring(b), 2) end end

    """

  /// Runs a function's body as a task. The tasks of plug-ins need the pool's threads.
  private func run(_ body: String, on host: FakeHost) async throws -> ScriptState.Outcome {
    try await onOwnThreads {
      let script = try ScriptState(host: host)
      defer { script.close() }
      return script.run(
        text: "\(Self.prelude) local ok, err = tureen.run(function() \(body) end) if not ok then error(err) end")
    }
  }

  @Test func call_ofASwiftPlugin_answersAfterItsProgress() async throws {
    let host = FakeHost()
    let turn = DispatchSemaphore(value: 0)
    host.plugins.add("turn", isSafe: true) { _, _ in
      turn.signal()
      return true
    }
    try host.plugins.register(
      Echo(actions: [
        "say": { call in
          call.progress(["step": 1])
          await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
              turn.wait()
              continuation.resume()
            }
          }
          return .object(["service": .string(call.service), "action": .string(call.action), "given": .object(call.arguments)])
        }
      ]))
    let outcome = try await run(
      """
      local step
      local answer = assert(await(echo.say, { a = 1, storeName = "s" }, function(value)
        step = value.step
        tureen.exec(nil, nil, "turn", "go")
      end))
      same(step, 1)
      same(answer.service .. answer.action, "com.acme.echosay")
      same(answer.given.a, 1)
      same(answer.given.storeName, "s")
      """, on: host)
    #expect(outcome == .done)
  }

  @Test func call_thatThrows_reachesTheScriptWithDomainAndCode() async throws {
    let host = FakeHost()
    try host.plugins.register(
      Echo(actions: [
        "own": { _ in throw BridgeError(domain: "printer", code: "empty", message: "no paper", isRetryable: true) },
        "odd": { _ in throw Odd() }, "gone": { _ in throw CancellationError() },
      ]))
    let outcome = try await run(
      """
      for action, wanted in pairs { own = "printer/empty/true", odd = "com.acme.echo/failed/false", gone = "bridge/cancelled/false" } do
        local _, err = await(echo[action])
        same(("%s/%s/%s"):format(err.domain, err.code, err.retryable), wanted)
      end
      local _, err = await(echo.goen)
      same(err.message, "unknown action 'goen' of service 'com.acme.echo'; did you mean 'gone'?")
      """, on: host)
    #expect(outcome == .done)
  }

  @Test func call_thatIsCancelled_cancelsItsTask() async throws {
    let host = FakeHost()
    try host.plugins.register(
      Echo(actions: [
        "wait": { _ in
          try await Task.sleep(for: .seconds(600))
          return .null
        }
      ]))
    let outcome = try await run(
      """
      local task = tureen.async(function() return await(echo.wait) end)
      tureen.sleep(1)
      task:cancel()
      local _, err = await(task)
      same(err.code, "cancelled")
      local ended
      local id = echo.wait(nil, nil, function(failure) ended = failure.code end)
      tureen.cancel(id)
      while not ended do tureen.sleep(1) end
      same(ended, "cancelled")
      """, on: host)
    #expect(outcome == .done)
  }

  @Test func call_withASpec_isCheckedBeforeThePluginHearsOfIt() async throws {
    let host = FakeHost()
    let spec = try PluginSpec(parsing: #"{"actions": {"say": {"arguments": {"text": {"type": "string", "required": true}}}}}"#)
    try host.plugins.register(Echo(actions: ["say": { $0.arguments["text"] ?? .null }], spec: spec))
    let outcome = try await run(
      """
      same(await(echo.say, { text = "hi" }), "hi")
      local _, err = await(echo.say, { text = 1 })
      same(err.code .. err.message, "invalidArgumentsargument 'text' must be a string, got number")
      """, on: host)
    #expect(outcome == .done)
  }

  /// A type with eight members of its own type would describe 8^15 values.
  @Test func spec_typesThatMultiply_isRefused() throws {
    let member: JSONValue = ["type": "T"]
    let fields = JSONObject((0..<8).map { ("f\($0)", member) })
    let spec: JSONValue = [
      "types": ["T": ["fields": .object(fields)]], "actions": ["a": ["arguments": ["x": member]]],
    ]
    let error = #expect(throws: BridgeError.self) { try PluginSpec(spec) }
    #expect(error?.message.contains("more than 10000 values") == true, "\(String(describing: error))")
    let long: JSONValue = .object([String(repeating: "n", count: 10_000_000): member])
    #expect(throws: BridgeError.self) { try PluginSpec(["actions": ["a": ["arguments": long]]]) }
    let once: JSONValue = ["types": ["T": ["fields": ["next": member]]], "actions": ["a": ["arguments": ["x": member]]]]
    #expect(throws: Never.self) { try PluginSpec(once) }
  }

  @Test func register_wrongNamesAndSpecs_isRefused() throws {
    let plugins = Plugins()
    for name in ["", "echo", "com.salesforce.x", "tureen.x", "com..x", "com.\u{e4}.x"] {
      #expect(throws: BridgeError.self) { try plugins.register(Echo(service: name, actions: [:])) }
    }
    let spec = try PluginSpec(["actions": ["say": [:]]])
    #expect(throws: BridgeError.self) { try plugins.register(Echo(actions: [:], spec: spec)) }
    try plugins.register(Echo(actions: [:]))
    #expect(throws: BridgeError.self) { try plugins.register(Echo(actions: [:])) }
    #expect(plugins.unregister("com.acme.echo") && !plugins.unregister("com.acme.echo"))
    try plugins.register(Echo(actions: [:]))
  }

  @Test func restrictedCaller_reachesOnlyWhatIsMarkedAsSafe() async throws {
    let host = FakeHost(isRestricted: true)
    try host.plugins.register(Echo(actions: ["say": { _ in 1 }]))
    try host.plugins.register(Echo(service: "com.acme.safe", actions: ["say": { _ in 2 }]), isSafe: true)
    let outcome = try await run(
      """
      local _, err = await(echo.say)
      same(err.domain .. "/" .. err.code, "bridge/restricted")
      same(await(tureen.service("com.acme.safe").say), 2)
      tureen.plugin("com.acme.own", { say = function() return 3 end })
      same(await(tureen.service("com.acme.own").say), 3)
      local names = table.concat(assert(await(tureen.sdkinfo.getInfo)).forcePluginsAvailable, " ")
      assert(names:find("com.acme.own com.acme.safe", 1, true) and not names:find("acme.echo", 1, true), names)
      """, on: host)
    #expect(outcome == .done)
  }

  @Test func interrupt_endsCallsOfPluginsThatDoNotAnswer() async throws {
    let host = FakeHost()
    try host.plugins.register(
      Echo(actions: ["never": { _ in await withUnsafeContinuation { (_: UnsafeContinuation<JSONValue, Never>) in } }]))
    let outcome = try await onOwnThreads {
      let script = try ScriptState(host: host)
      defer { script.close() }
      let bridge = script.bridge
      host.plugins.add("stop", isSafe: true) { _, _ in
        bridge.interrupt()
        return true
      }
      return script.run(
        text: Self.prelude + """
          tureen.plugin("com.acme.silent", { never = function(_, success) end })
          local codes = {}
          local function note(err) codes[#codes + 1] = err.code end
          echo.never(nil, nil, note)
          tureen.service("com.acme.silent").never(nil, nil, note)
          tureen.exec(nil, nil, "stop", "now")
          local ok, err = tureen.run()
          same(ok, false)
          same(err.code, "interrupted")
          same(table.concat(codes, " "), "interrupted interrupted")
          error "got to its end"
          """)
    }
    guard case .failed(let message) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(message.contains("got to its end"), "\(message)")
  }

  @Test func close_namesPluginsThatNeverAnswered() throws {
    let warnings = Warnings()
    let host = FakeHost(warn: warnings.add)
    let script = try ScriptState(host: host)
    _ = script.run(
      text: Self.prelude + """
        tureen.plugin("com.acme.silent", { never = function(_, success) end, once = function(_, success) success(1) success(2) end })
        local silent = tureen.service "com.acme.silent"
        silent.once()
        tureen.run()
        for _ = 1, 2 do silent.never() end
        tureen.poll(1000)
        error "ends here"
        """)
    script.close()
    #expect(warnings.all.count == 2)
    #expect(warnings.all.first?.contains("an answer to call 1 is dropped") == true)
    #expect(warnings.all.last == "plug-in 'com.acme.silent' has not answered 'never' 2 times; the host is closed")
  }

  @Test func callsAndEvents_mailboxFull_areRefused() async throws {
    let host = FakeHost()
    try host.plugins.register(Echo(actions: ["say": { _ in 1 }]))
    let outcome = try await onOwnThreads {
      try ScriptState(bridge: Bridge(host: host, mailboxCapacity: 5)).run(
        text: Self.prelude + """
          local codes = {}
          local function ok() codes[#codes + 1] = "ok" end
          for _ = 1, 3 do echo.say(nil, ok, function(err) codes[#codes + 1] = err.code end) end
          assert(tureen.run())
          table.sort(codes)
          same(table.concat(codes, " "), "mailboxFull ok ok")
          """)
    }
    #expect(outcome == .done)
  }
}
