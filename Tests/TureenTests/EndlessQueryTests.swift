import Dispatch
import JSON
import LuaBridge
import Synchronization
import TestSupport
import Testing
import Tureen

/// Tests endless queries of scripts on the real bridge: they must not block anything else.
@Suite struct EndlessQueryTests {
  /// A host that reports when a query has reached it. The service `query` then answers `running`.
  private final class ToldHost: ForwardingHost {
    let wrapped: any BridgeHost
    private let reached = DispatchSemaphore(value: 0)
    /// Called when a query has reached the host.
    let onQuery = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ host: Host) {
      wrapped = host
      host.plugins.add("query", isSafe: true) { [reached] _, _ in
        reached.wait()
        return true
      }
    }

    /// Makes the service `query` answer once more.
    func signalReached() { reached.signal() }

    func smartStore(_ action: SmartStoreAction, _ call: ActionCall) throws -> [UInt8] {
      if action.isQuery {
        reached.signal()
        onQuery.withLock { $0 }?()
      }
      return try wrapped.smartStore(action, call)
    }

    func observe(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
      reached.signal()
      try wrapped.observe(call, onUpdate: onUpdate)
    }
  }

  private static let prelude = """
    local tureen = require "tureen"
    local smartstore = tureen.smartstore
    local SQL = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) AS id FROM c"
    local ENDLESS = smartstore.buildSmartQuerySpec(SQL, 1)
    local SPECS = { { path = "k", type = "string" } }
    local function note(name, value) tureen.exec(nil, nil, "test", name, { value = value }) end
    local function check(value, err) if value == nil then error(tostring(err)) end return value end
    local function running()
      check(tureen.await(function(success, failure) tureen.exec(success, failure, "query", "running", {}) end))
    end
    local function outcome(name)
      return function() note(name, "answered") end, function(err) note(name, err.code) end
    end

    """

  private final class Notes: Sendable {
    let list = Mutex<[(name: String, value: JSONValue)]>([])

    func take(_ name: String, _ arguments: JSONObject) -> JSONValue? {
      list.withLock { $0.append((name, arguments["value"] ?? .null)) }
      return "OK"
    }

    subscript(_ name: String) -> [JSONValue] { list.withLock { $0.filter { $0.name == name }.map(\.value) } }
  }

  private let home: TemporaryFolder
  private let notes = Notes()

  init() throws { home = try TemporaryFolder() }

  private func makeHost() -> ToldHost {
    var settings = HostSettings()
    settings.home = home.path
    settings.configDirectory = home.path
    settings.services["test"] = { [notes] name, arguments in notes.take(name, arguments) }
    return ToldHost(Host(settings: settings))
  }

  /// Runs a script to its end and closes its state, which shuts down its host.
  private func run(
    _ body: String, limits: ScriptLimits = ScriptLimits(),
    before: @escaping @Sendable (ScriptState, ToldHost) -> Void = { _, _ in }
  ) async throws -> ScriptState.Outcome {
    let host = makeHost()
    return try await withCheckedThrowingContinuation { continuation in
      Thread.start {
        continuation.resume(
          with: Result {
            let state = try ScriptState(host: host, limits: limits)
            defer { state.close() }
            before(state, host)
            return state.run(text: Self.prelude + body)
          })
      }
    }
  }

  @Test func cancel_runningAndWaitingQueries_areAnsweredWithCancelled() async throws {
    let outcome = try await run(
      """
      tureen.async(function()
        check(tureen.await(smartstore.registerSoup, true, "s", SPECS))
        local first = smartstore.runSmartQuery(true, ENDLESS, outcome "running")
        running()
        local second = smartstore.runSmartQuery(true, ENDLESS, outcome "waiting")
        tureen.cancel(second)
        tureen.cancel(first)
        note("after", check(tureen.await(smartstore.soupExists, true, "s")))
        local third = smartstore.removeFromSoup(true, "s", ENDLESS, outcome "removal")
        running()
        tureen.cancel(third)
        local fourth = tureen.exec(function() end, select(2, outcome "observer"), "com.salesforce.smartstore", "pgObserve",
          { isGlobalStore = true, observerId = 99, querySpec = ENDLESS })
        running()
        tureen.cancel(fourth)
      end)
      """)
    #expect(outcome == .done)
    #expect(notes["running"] == ["cancelled"])
    #expect(notes["waiting"] == ["cancelled"])
    #expect(notes["after"] == [true])
    #expect(notes["removal"] == ["cancelled"])
    #expect(notes["observer"] == ["cancelled"])
  }

  /// Calls on other stores, and of other hosts on the same store, do not wait.
  @Test func otherCalls_whileQueriesRun_areAnswered() async throws {
    let outcome = try await run(
      """
      tureen.async(function()
        local ids = {}
        for i = 1, 10 do  -- more stores than there are threads
          ids[i] = smartstore.runSmartQuery({ isGlobalStore = true, storeName = "endless" .. i }, ENDLESS, outcome "query")
          running()
        end
        local other = { isGlobalStore = true, storeName = "other" }
        check(tureen.await(smartstore.registerSoup, other, "s", SPECS))
        check(tureen.await(smartstore.upsertSoupEntries, other, "s", { { k = "a" } }))
        note("found", check(tureen.await(smartstore.runSmartQuery, other,
          smartstore.buildSmartQuerySpec("SELECT {s:k} FROM {s}", 10))).currentPageOrderedEntries)
        for _, id in ipairs(ids) do tureen.cancel(id) end
      end)
      """)
    #expect(outcome == .done)
    #expect(notes["found"] == [[["a"]]])
    #expect(notes["query"] == Array(repeating: "cancelled", count: 10))
  }

  private static let writeAndRead: [(String, JSONObject)] = [
    ("pgUpsertSoupEntries", ["isGlobalStore": true, "soupName": "s", "entries": [["k": "a"]], "externalIdPath": "k"]),
    (
      "pgQuerySoup",
      ["isGlobalStore": true, "soupName": "s", "querySpec": ["queryType": "exact", "indexPath": "k", "matchKey": "a"]]
    ),
  ]

  @Test func otherHost_onTheStoreOfAnEndlessQuery_readsAndWrites() async throws {
    let beside = makeHost(), answered = Mutex<[Bool]>([])
    let outcome = try await run(
      """
      tureen.async(function()
        check(tureen.await(smartstore.registerSoup, true, "s", SPECS))
        local id = smartstore.runSmartQuery(true, ENDLESS, outcome "query")
        running()
        running()  -- the other host's calls have ended
        tureen.cancel(id)
      end)
      """,
      before: { state, host in
        let bridge = try? Bridge(host: beside)
        host.onQuery.withLock {
          $0 = {
            Thread.start {
              for (action, arguments) in Self.writeAndRead {
                let reply = bridge?.perform(service: "com.salesforce.smartstore", action: action, arguments: arguments)
                if case .success? = reply { answered.withLock { $0.append(true) } }
              }
              bridge?.close()
              host.signalReached()
            }
          }
        }
      })
    #expect(outcome == .done)
    #expect(answered.withLock { $0 } == [true, true])
    #expect(notes["query"] == ["cancelled"])
  }

  @Test func close_whileAQueryRuns_returns() async throws {
    let outcome = try await run(
      """
      smartstore.runSmartQuery(true, ENDLESS, outcome "query")
      smartstore.runSmartQuery(true, ENDLESS, outcome "query")
      local isRunning = false
      tureen.exec(function() isRunning = true end, error, "query", "running", {})
      while not isRunning do tureen.poll(1000) end
      error("the script ends here")
      """)
    guard case .failed(let message) = outcome else { return #expect(Bool(false), "\(outcome)") }
    #expect(message.contains("the script ends here"))
  }

  @Test func close_removalThatEnds_isCarriedOut() async throws {
    _ = try await run(
      """
      local isFilled = false
      smartstore.registerSoup(true, "s", SPECS)
      smartstore.upsertSoupEntries(true, "s", { { k = "a" }, { k = "b" } }, function() isFilled = true end)
      while not isFilled do tureen.poll(1000) end
      smartstore.removeFromSoup(true, "s", smartstore.buildSmartQuerySpec("SELECT {s:_soupEntryId} FROM {s}", 10))
      smartstore.removeFromSoup(true, "s", ENDLESS)
      error("the script ends here")
      """)
    let again = try await run(
      """
      tureen.async(function()
        local rows = check(tureen.await(smartstore.runSmartQuery, true,
          smartstore.buildSmartQuerySpec("SELECT count(*) FROM {s}", 1)))
        note("left", rows.currentPageOrderedEntries)
      end)
      """)
    #expect(again == .done)
    #expect(notes["left"] == [[[0]]])
  }

  @Test func timeLimit_whileAQueryRuns_endsTheScript() async throws {
    var limits = ScriptLimits()
    limits.timeMs = 300
    let outcome = try await run(
      "smartstore.runSmartQuery(true, ENDLESS, outcome 'query') tureen.run()", limits: limits)
    guard case .limitReached(.time, _) = outcome else { return #expect(Bool(false), "\(outcome)") }
  }

  @Test func interrupt_whileAQueryRuns_endsIt() async throws {
    _ = try await run(
      "smartstore.runSmartQuery(true, ENDLESS, outcome 'query') tureen.run()",
      before: { state, host in
        let bridge = state.bridge
        host.onQuery.withLock { $0 = { bridge.interrupt() } }
      })
    #expect(notes["query"] == ["cancelled"])
  }
}
