import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LuaBridge

/// Scripts in a worker process: what works as everywhere, and what ends the worker and not this process.
@Suite(.enabled(if: Isolation.isSupported), .ownThreads) struct IsolatedScriptTests {
  /// `call`, which can be awaited.
  private static let call = """
    local tureen = require "tureen"
    local function call(service, action, args, success, failure) tureen.exec(success, failure, service, action, args) end
    """

  @Test func run_printsItsArgumentsAndCalls_asAnyScript() throws {
    let result = try IsolatedResult.of(
      """
      #!/usr/bin/env tureen
      \(Self.call)
      print(arg[0], arg[1], ...)
      tureen.async(function()
        local echoed = tureen.await(call, "echo", "any", { list = tureen.array { 1, 2.5 }, text = "\\u{e9}", no = tureen.null })
        print(#echoed.list, echoed.list[2], echoed.text, echoed.no == tureen.null)
        local _, err = tureen.await(tureen.smartstore.soupExists, "fail")
        print(err.domain, err.code, err.retryable, err.hint[1])
        local sync = tureen.await(tureen.mobilesync.syncDown, { type = "soql", query = "q" }, "s", {}, "n")
        print(sync.status, sync.progress)
      end)
      """, arguments: ["one", "two words"])
    #expect(result.outcome == .script(.done), "\(result.outcome) \(result.errors)")
    #expect(
      result.output == """
        test.lua\tone\tone\ttwo words
        2\t2.5\t\u{e9}\ttrue
        store\tnoSuchSoup\ttrue\tx
        DONE\t100

        """)
    #expect(result.errors == "")
  }

  @Test func run_error_comesWithItsTracebackAndKind() throws {
    let raised = try IsolatedResult.of("local function f() error('no luck') end\nf()")
    guard case .script(.failed(let message)) = raised.outcome else { return #expect(Bool(false), "\(raised.outcome)") }
    #expect(message.hasPrefix("test.lua:1: no luck\nstack traceback:") && message.contains("in local 'f'"), "\(message)")

    let uncaught = try IsolatedResult.of(
      """
      local tureen = require "tureen"
      tureen.async(function() error(select(2, tureen.await(tureen.smartstore.soupExists, "fail"))) end)
      """)
    #expect(uncaught.outcome == .script(.failed(message: "")))
    #expect(uncaught.failure?.domain == "store" && uncaught.failure?.code == "noSuchSoup")
    #expect(uncaught.errors.contains("no soup named 'fail'"))

    guard case .script(.notRunnable(let reason)) = try IsolatedResult.of("\nx =").outcome else { return #expect(Bool(false)) }
    #expect(reason == "test.lua:2: unexpected symbol near <eof>")
    #expect(try IsolatedResult.of("require('tureen').main(function() return 7 end)").outcome == .script(.exited(status: 7)))
  }

  @Test func run_whatARestrictedScriptLacks_isNotThere() throws {
    let result = try IsolatedResult.of(
      """
      print(io, debug, package, dofile, loadfile, os.execute, os.exit, os.getenv, string.dump)
      print(load("\\27Lua"), (pcall(require("tureen").configure, {})))
      print(pcall(require, "socket"))
      """)
    #expect(result.outcome == .script(.done))
    #expect(result.output.hasPrefix(Array(repeating: "nil", count: 9).joined(separator: "\t") + "\nnil\tfalse\nfalse\t"))
  }

  /// A plug-in in Lua, called by its own script: answers, progress, an error, cancellation, an event.
  @Test func run_plugin_isCalledAndAnswers() throws {
    let result = try IsolatedResult.of(
      """
      \(Self.call)
      local plugin = tureen.plugin("com.acme.printer", {
        double = function(args, success) success { value = args.value * 2 } end,
        fail = function(_, _, failure) failure { code = "jam", message = "paper jam" } end,
      })
      tureen.async(function()
        print(tureen.await(call, "com.acme.printer", "double", { value = 21 }).value)
        local _, err = tureen.await(call, "com.acme.printer", "fail", {})
        print(err.domain, err.code, err.message)
        local _, unknown = tureen.await(call, "com.acme.scanner", "scan", {})
        print(unknown.code)
        print(select(2, pcall(tureen.plugin, "tureen.mine", {})).code)
      end)
      """)
    #expect(result.outcome == .script(.done), "\(result.outcome) \(result.errors)")
    #expect(result.output == "42\ncom.acme.printer\tjam\tpaper jam\nunknownService\ninvalidArguments\n")
  }

  @Test func run_actionsThatChangeTheSignIn_areRefused() throws {
    let result = try IsolatedResult.of(
      """
      \(Self.call)
      tureen.async(function()
        for _, name in ipairs { "com.salesforce.oauth:logoutCurrentUser", "com.salesforce.sfaccountmanager:switchToUser",
                                "tureen.accounts:startLogin", "com.salesforce.sfaccountmanager:logout" } do
          local service, action = name:match("(.*):(.*)")
          print((select(2, tureen.await(call, service, action, {}))))
        end
      end)
      """)
    #expect(result.output.split(separator: "\n").count == 4)
    #expect(result.output.split(separator: "\n").allSatisfy { $0.contains("is not available to an isolated script") })
  }

  @Test func run_largeArgumentsAndAnswers_crossInPieces() throws {
    let result = try IsolatedResult.of(
      """
      local tureen = require "tureen"
      local text, got = ("0123456789abcdef"):rep(1 << 16), 0
      for i = 1, 12 do
        tureen.exec(function(echoed) got = got + (echoed.text == text and 1 or 0) end, nil, "echo", "any", { text = text })
      end
      assert(tureen.run())
      print(got, select(2, pcall(tureen.exec, nil, nil, "echo", "any", { text = ("x"):rep(65 << 20) })))
      """)
    #expect(result.outcome == .script(.failed(message: "")), "\(result.outcome)")
    #expect(result.output.hasPrefix("12\t") && result.errors.contains("64 MiB at once at most"), "\(result.errors)")
  }

  @Test func run_manyCallsAtOnce_areAllAnswered() throws {
    let result = try IsolatedResult.of(
      """
      local tureen = require "tureen"
      local sum = 0
      for i = 1, 5000 do tureen.exec(function(a) sum = sum + a.i end, nil, "echo", "any", { i = i }) end
      assert(tureen.run())
      print(sum)
      """)
    #expect(result.output == "12502500\n" && result.outcome == .script(.done))
  }

  @Test func run_outputWithoutAReader_isDropped() async {
    await #expect(processExitsWith: .success) {
      signal(SIGPIPE, SIG_IGN)  // in a process of its own
      var ends: [Int32] = [0, 0]
      #expect(pipe(&ends) == 0)
      close(ends[0])
      let result = try IsolatedResult.of("for _ = 1, 50000 do print(('x'):rep(100)) end", { $0.output = ends[1] })
      #expect(result.outcome == .script(.done))
    }
  }

  /// The worker's environment has what it needs to start, so that secrets of ours are not in its memory.
  @Test func run_environmentAndDescriptors_areNotThere() throws {
    #expect(getenv("PATH") != nil)
    let host = FakeHost(isRestricted: true)
    let seen = Mutex<(environment: Data, descriptors: [String], status: String)?>(nil)
    let script = Mutex<IsolatedScript?>(nil)
    host.onInterrupt = {
      guard let id = script.withLock({ $0?.processID }) else { return }
      let files = FileManager.default
      seen.withLock {
        $0 = (
          files.contents(atPath: "/proc/\(id)/environ") ?? Data(),
          (try? files.contentsOfDirectory(atPath: "/proc/\(id)/fd")) ?? [],
          String(decoding: files.contents(atPath: "/proc/\(id)/status") ?? Data(), as: UTF8.self)
        )
      }
    }
    let result = try IsolatedResult.of(
      "require('tureen').smartstore.soupExists('interrupt')", host: host,
      watching: { started in script.withLock { $0 = started } })
    script.withLock { $0 = nil }
    #expect(result.outcome == .script(.done))
    let found = try #require(seen.withLock { $0 })
    let names = String(decoding: found.environment, as: UTF8.self).split(separator: "\0").map { $0.prefix { $0 != "=" } }
    #expect(Set(names).isSubset(of: ["LD_LIBRARY_PATH", "TZ"]), "\(names)")
    #expect(found.descriptors.count <= 9, "\(found.descriptors)")
    #expect(found.status.contains("Seccomp:\t2") && found.status.contains("NoNewPrivs:\t1"))
  }

  /// A worker has the limits of any script, which ``ScriptLimitTests`` tests with every script.
  @Test(arguments: ScriptLimitTests.endlessByTime)
  func run_withoutEnd_isEndedByTheTimeLimitAndTheNextOneRuns(text: String) throws {
    #expect(try IsolatedResult.of(text) { $0.limits.timeMs = 100 }.limit == .time)
    #expect(try IsolatedResult.of("print 'next'").output == "next\n")
  }

  @Test(arguments: [
    "local t = {} while true do t[#t + 1] = {} end", "while true do pcall(string.rep, 'x', 1 << 30) end",
    "local t = {} while true do pcall(function() t[#t + 1] = ('x'):rep(1 << 20) .. #t end) end",
    "local t = {} while true do t[#t + 1] = coroutine.create(print) end",
  ])
  func run_thatEatsMemory_isEndedByTheMemoryLimit(text: String) throws {
    #expect(try IsolatedResult.of(text) { $0.limits.memory = 8 << 20 }.limit == .memory)
    #expect(try IsolatedResult.of(text).limit == .memory, "the limit that every isolated script has")
  }

  @Test func run_instructionLimit_isReached() throws {
    #expect(try IsolatedResult.of("while true do end") { $0.limits.instructions = 100_000 }.limit == .instructions)
  }

  @Test func run_memoryLimitTooSmallForLua_saysSo() throws {
    guard
      case .script(.limitReached(.memory, let message)) = try IsolatedResult.of("", { $0.limits.memory = 10_000 }).outcome
    else { return #expect(Bool(false)) }
    #expect(message.contains("too small for Lua and its modules"))
  }

  /// Another process ends the worker, or its own memory does; the message says which signal.
  @Test(arguments: [SIGSEGV, SIGKILL, SIGABRT, SIGBUS])
  func run_signalInTheMiddle_endsTheWorkerAlone(number: Int32) throws {
    let host = FakeHost(isRestricted: true), script = Mutex<IsolatedScript?>(nil)
    host.onInterrupt = { if let id = script.withLock({ $0?.processID }) { kill(id, number) } }
    let result = try IsolatedResult.of(
      "print 'before' require('tureen').smartstore.soupExists('interrupt') require('tureen').run() while true do end", host: host,
      watching: { started in script.withLock { $0 = started } })
    script.withLock { $0 = nil }
    #expect(result.end?.kind == .killed && result.end?.message.contains("signal \(number) ended it") == true, "\(result.outcome)")
    #expect(result.output == "before\n")
    #expect(try IsolatedResult.of("print 'next'").output == "next\n")
  }

  @Test func interrupt_waitingScript_endsAsInterrupted() throws {
    let host = FakeHost(isRestricted: true), script = Mutex<IsolatedScript?>(nil)
    host.onInterrupt = { script.withLock { $0 }?.interrupt() }
    let result = try IsolatedResult.of(
      "local t = require('tureen') t.smartstore.soupExists('interrupt') t.smartstore.soupExists('x', print) t.run() print 'after'",
      host: host, watching: { started in script.withLock { $0 = started } })
    script.withLock { $0 = nil }
    guard case .script(.failed(let message)) = result.outcome else { return #expect(Bool(false), "\(result.outcome)") }
    #expect(message.contains("interrupted"), "\(message)")
  }

  /// Lua code that does not come back is broken off; a stopped process is killed.
  @Test(arguments: [false, true])
  func interrupt_scriptThatDoesNotComeBack_endsSoon(isStopped: Bool) throws {
    let host = FakeHost(isRestricted: true), script = Mutex<IsolatedScript?>(nil)
    host.onInterrupt = {
      guard let started = script.withLock({ $0 }) else { return }
      if isStopped { started.suspend() }
      started.interrupt()
    }
    let result = try IsolatedResult.of(
      "require('tureen').smartstore.soupExists('interrupt') while true do pcall(error) end", host: host,
      watching: { started in script.withLock { $0 = started } })
    script.withLock { $0 = nil }
    if isStopped {
      #expect(result.end?.kind == .unresponsive, "\(result.outcome)")
    } else if case .script(.failed(let message)) = result.outcome {
      #expect(message.hasPrefix("test.lua:1: interrupted\nstack traceback:"), "\(message)")
    } else {
      Issue.record("\(result.outcome)")
    }
  }

  /// The suites of the bridge's Lua modules, which work unchanged. A restricted script has neither files nor `debug`, so the harness
  /// comes along.
  /// Tests that look at tracebacks or set `__gc`.
  private static let needDebug = [
    "misuse_says_where_in_the_script", "run_reports_a_task_that_waits_for_nothing", "run_with_a_function_waits_for_all_there_is",
    "finalizers_that_read_other_records_disturb_no_reading", "records_in_a_closing_state_do_no_harm",
  ]

  @Test(arguments: ["arguments_test", "async_test", "tasks_test", "timers_test", "lazy_test", "plugin_test"])
  func run_suite_passes(suite: String) throws {
    func text(_ name: String) throws -> String {
      try String(contentsOfFile: "\(LuaSuiteTests.folder)/\(name).lua", encoding: .utf8)
    }
    let result = try IsolatedResult.of(
      """
      debug = { getinfo = function() return { short_src = "?", currentline = 0 } end, traceback = function(m) return m end }
      io = { stderr = { write = function(_, ...) print(...) end } }
      local find, harness = require, nil
      function require(name)
        if name ~= "harness" then return find(name) end
        if harness then return harness end
        harness = assert(load([==[\(text("harness"))]==], "=harness"))()
        local run = harness.run
        function harness.run(tests)
          for _, name in ipairs { "\(Self.needDebug.joined(separator: "\", \""))" } do tests["test_" .. name] = nil end
          run(tests)
        end
        return harness
      end
      \(text(suite))
      """)
    #expect(result.outcome == .script(.done), "\(result.outcome)\n\(result.errors)")
  }

  @Test func run_workerThatIsNotThere_saysSo() throws {
    let result = try IsolatedResult.of("", worker: "/nowhere/tureen-worker")
    #expect(result.end?.kind == .notStarted && result.end?.message.contains("/nowhere/tureen-worker") == true)
  }

  @Test func worker_startedByHand_saysWhoStartsIt() throws {
    let ended = try ChildProcess.run([Isolation.worker])
    #expect(ended.status == 64 && ended.output.contains("tureen run --isolated"))
  }

  /// A call that never ends, as a function of SQLite can, does not keep the program that runs the script.
  @Test func close_callThatDoesNotEnd_returnsAndShutsDownLater() throws {
    let host = FakeHost(isRestricted: true), bridge = try Bridge(host: host)
    let inside = DispatchSemaphore(value: 0), gate = DispatchSemaphore(value: 0)
    host.onInterrupt = {
      inside.signal()
      gate.wait()
    }
    func call(_ soup: String) throws {
      let arguments = Array(#"{"soupName":"\#(soup)"}"#.utf8)
      _ = try "com.salesforce.smartstore".utf8.withContiguousStorageIfAvailable { service in
        try "pgClearSoup".utf8.withContiguousStorageIfAvailable { action in
          try bridge.call(
            service: UnsafeRawBufferPointer(service), action: UnsafeRawBufferPointer(action), store: StoreReference(),
            arguments: arguments)
        }
      }
    }
    try call("interrupt")
    inside.wait()
    for _ in 0..<100 { try call("never begun") }
    let closing = IsolatedClosing(bridge, patienceMs: 50)
    closing.hurry()
    #expect(!closing.close(by: .max) && host.shutdowns == 0)
    gate.signal()
    host.hasShutDown.wait()
    #expect(host.log.count == 1, "the calls that had not begun are dropped")
  }

  /// A script that ended by itself has its calls completed.
  @Test func close_ofAScriptThatEndedByItself_completesItsCalls() throws {
    let host = FakeHost(isRestricted: true)
    let result = try IsolatedResult.of(
      """
      local tureen = require "tureen"
      for i = 1, 500 do tureen.smartstore.clearSoup("s" .. i, print) end
      error "over"
      """, host: host)
    #expect(host.log.count == 500)
    guard case .script(.failed) = result.outcome else { return #expect(Bool(false), "\(result.outcome)") }
  }

  /// Loading Lua's modules counts.
  @Test func run_limitsTooSmallToBegin_areNamed() throws {
    #expect(try IsolatedResult.of("print(1)") { $0.limits.instructions = 1000 }.limit == .instructions)
    #expect(try IsolatedResult.of("print(1)") { $0.limits.memory = 1000 }.limit == .memory)
  }

  @Test func run_callsThatFillThisProcess_areEnded() throws {
    let result = try IsolatedResult.of(
      """
      local tureen = require "tureen"
      local text = ("x"):rep(8 << 20)
      while true do
        for _ = 1, 6 do tureen.exec(print, print, "echo", "any", { text = text }) end
        tureen.sleep(1)
      end
      """
    ) { $0.hostMemory = 1 << 20 }
    #expect(
      result.outcome
        == .script(
          .limitReached(.memory, message: "the script reached its memory limit: its calls need more than 1 MiB outside of it")),
      "\(result.outcome)")
  }

  /// The reader of the output stalls: a script that was ended does not wait for it.
  @Test func run_outputThatIsNotRead_endsAtTheLimit() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let result = try IsolatedResult.of("while true do print(('x'):rep(1000)) end") {
      $0.limits.timeMs = 300
      $0.output = ends[1]
    }
    #expect(result.limit == .time)
    for end in ends { close(end) }
  }

  @Test func interrupt_outputThatIsNotRead_ends() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let reading = ends[0]
    _ = try IsolatedResult.of("for i = 1, 200 do print(('x'):rep(1000)) end") {
      $0.output = ends[1]
    } watching: { script in
      Thread {
        var byte: UInt8 = 0
        _ = read(reading, &byte, 1)
        script.interrupt()
      }.start()
    }
    for end in ends { close(end) }
  }
}
