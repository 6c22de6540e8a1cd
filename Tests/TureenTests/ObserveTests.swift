import JSON
import SmartStore
import TestSupport
import Testing
import Tureen

/// Tests `smartstore.observe` from scripts through all layers.
@Suite struct ObserveTests {
  private func change(
    _ soup: String, created: [JSONValue] = [], updated: [JSONValue] = [], removed: [JSONValue] = [], all: Bool = false
  ) -> JSONValue {
    [
      "soupName": .string(soup), "created": .array(created), "updated": .array(updated), "removed": .array(removed),
      "all": .bool(all),
    ]
  }

  /// Runs a script with a soup `s` and a listener that records each change.
  private func run(_ body: String) async throws -> (runner: ScriptRunner, outcome: String) {
    let runner = try await ScriptRunner(contacts: 3)
    let outcome = try await runner.run(
      """
      local function heard(change) note("change", change) end
      smartstore.registerSoup("s", SPECS)
      \(body)
      """)
    await runner.server.stop()
    return (runner, "\(outcome)")
  }

  @Test func observe_commits_areHeardBeforeTheirAnswers() async throws {
    let (runner, outcome) = try await run(
      """
      local order = {}
      smartstore.observe("s", function(change)
        heard(change)
        order[#order + 1] = "change"
      end)
      local function answered() order[#order + 1] = "answer" note("order", order) end
      smartstore.upsertSoupEntries("s", { { Id = "a" }, { Id = "b" } }, function()
        answered()
        smartstore.upsertSoupEntries("s", { { _soupEntryId = 2, Id = "c" } }, function()
          answered()
          smartstore.removeFromSoup("s", { 1 }, answered)
        end)
      end)
      """)
    #expect(outcome == "done")
    #expect(
      runner.noted("change") == [change("s", created: [1, 2]), change("s", updated: [2]), change("s", removed: [1])])
    #expect(runner.noted("order").last == ["change", "answer", "change", "answer", "change", "answer"])
  }

  @Test func observe_notPolledMeanwhile_isOneEvent() async throws {
    let (runner, _) = try await run(
      """
      smartstore.observe("s", heard)
      for i = 1, 20 do smartstore.upsertSoupEntries("s", { { Id = tostring(i) } }) end
      smartstore.removeFromSoup("s", { 2 })
      -- A call about all stores runs when the store's own have: now everything waits.
      local done
      smartstore.getAllStores(function() done = true end)
      while not done do
        while tureen.pending() > 0 and not done do tureen.poll(1000) end
      end
      """)
    var created: [Int64: Int] = [:]
    for event in runner.noted("change") {
      for id in event["created"]?.arrayValue ?? [] { created[id.integerValue ?? 0, default: 0] += 1 }
    }
    #expect(created.keys.filter { $0 != 2 }.sorted() == [1] + Array(3...20))
    #expect(created.values.allSatisfy { $0 == 1 })
  }

  @Test func run_openObserver_endsAllTheSame() async throws {
    let (runner, outcome) = try await run(
      """
      smartstore.observe("s", heard)
      smartstore.soupExists("s", function() note("pending", tureen.pending()) end)
      """)
    #expect(outcome == "done")
    #expect(runner.noted("pending") == [0])
    #expect(runner.noted("change") == [])
  }

  @Test func observe_syncDown_tellsItsRecords() async throws {
    let (runner, _) = try await run(
      """
      smartstore.observe("s", heard)
      mobilesync.syncDown(CONTACTS, "s", OVERWRITE)
      """)
    #expect(runner.noted("change").flatMap { $0["created"]?.arrayValue ?? [] } == [1, 2, 3])
  }

  @Test func close_inTheCallback_isTheLastThatIsHeard() async throws {
    let (runner, outcome) = try await run(
      """
      local observer
      observer = smartstore.observe("s", function(change)
        heard(change)
        observer:close()
        observer:close()
      end)
      for i = 1, 5 do smartstore.upsertSoupEntries("s", { { Id = tostring(i) } }) end
      """)
    #expect(outcome == "done")
    #expect(runner.noted("change").count == 1)
  }

  @Test func close_eachWay_endsIt() async throws {
    let (runner, outcome) = try await run(
      """
      do
        local scoped <close> = smartstore.observe("s", heard)
      end
      local by_function = smartstore.observe("s", heard)
      smartstore.closeObserver(by_function, function(answer) note("closed", answer) end)
      smartstore.closeObserver(by_function, function(answer) note("closed", answer) end)
      smartstore.upsertSoupEntries("s", { { Id = "a" } })
      note("misuse", select(2, pcall(smartstore.closeObserver, {})).message)
      """)
    #expect(outcome == "done")
    #expect(runner.noted("change") == [])
    #expect(runner.noted("closed") == ["OK", "OK"])
    #expect(runner.noted("misuse") == ["closeObserver: argument 1 'observer' must be an observer, got table"])
  }

  @Test func observe_handleNotKept_isHeardAllTheSame() async throws {
    let (runner, _) = try await run(
      """
      smartstore.observe("s", heard)
      collectgarbage()
      smartstore.upsertSoupEntries("s", { { Id = "a" } }, collectgarbage)
      """)
    #expect(runner.noted("change").count == 1)
  }

  @Test func observe_callbackRaises_isReportedAndTheNextComes() async throws {
    let (runner, _) = try await run(
      """
      tureen.onerror = function(err) note("error", tostring(err):match("oh no")) end
      smartstore.observe("s", function(change) heard(change) error("oh no") end)
      smartstore.upsertSoupEntries("s", { { Id = "a" } }, function()
        smartstore.upsertSoupEntries("s", { { Id = "b" } })
      end)
      """)
    #expect(runner.noted("error") == ["oh no", "oh no"])
    #expect(runner.noted("change").count == 2)
  }

  @Test func observe_whatIsNotThere_failsOnce() async throws {
    let (runner, _) = try await run(
      """
      local function failed(err) note("error", err.domain .. "/" .. err.code .. " " .. err.source) end
      smartstore.observe("nowhere", heard, failed)
      smartstore.observe(smartstore.buildSmartQuerySpec("SELECT {x:y} FROM {x}", 1), heard, failed)
      smartstore.observe(smartstore.buildExactQuerySpec("Id", "a", 1), heard, failed)
      local ok, err = pcall(smartstore.observe, 7, heard)
      note("misuse", err.message)
      """)
    let source = " com.salesforce.smartstore:pgObserve"
    #expect(
      runner.noted("error") == [
        .string("smartstore/noSuchSoup" + source), .string("smartstore/noSuchSoup" + source),
        .string("smartstore/invalidQuerySpec" + source),
      ])
    #expect(
      runner.noted("misuse") == [
        "observe: argument 1 'soupNameOrQuerySpec' must be a soup name or a query spec, got number"
      ])
  }

  @Test func observe_smartQuery_hearsWhatChangesItsResult() async throws {
    let (runner, outcome) = try await run(
      """
      smartstore.registerSoup("t", SPECS)
      smartstore.upsertSoupEntries("t", { { Id = "a" } })
      local is_heard
      smartstore.observe(smartstore.buildSmartQuerySpec("SELECT count(*) FROM {t}", 1), function(change)
        heard(change)
        is_heard = true
      end)
      smartstore.upsertSoupEntries("s", { { Id = "a" } })
      smartstore.upsertSoupEntries("t", { { Id = "b" } })
      repeat tureen.poll(1000) until is_heard
      """)
    #expect(outcome == "done")
    #expect(runner.noted("change") == [change("t", created: [2])])
  }

  @Test func observe_storeRemoved_failsWithStoreClosed() async throws {
    let (runner, _) = try await run(
      """
      smartstore.observe("s", heard, function(err) note("error", err.code) end)
      smartstore.removeStore({ isGlobalStore = false })
      """)
    #expect(runner.noted("error") == ["storeClosed"])
  }
}
