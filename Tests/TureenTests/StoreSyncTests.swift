import JSON
import LuaBridge
import Testing
import Tureen

/// Tests syncs in all kinds of stores.
@Suite struct StoreSyncTests {
  /// Acceptance rows D16, U19 and J3.
  @Test func syncUp_eachStore_saysWhichOneInItsEvents() async throws {
    let runner = try await ScriptRunner(contacts: 3)
    let outcome = try await runner.run(
      """
      local UP = { fieldlist = { "LastName" }, mergeMode = "OVERWRITE" }
      tureen.document.addEventListener("sync", function(event)
        local d = event.detail
        if d.status == "DONE" then note("event", { d.type, d.isGlobalStore, d.storeName }) end
      end)
      local function round(config, name)
        tureen.await(smartstore.registerSoup, config, "contacts", SPECS)
        tureen.await(mobilesync.syncDown, config, CONTACTS, "contacts", OVERWRITE, "down")
        local page = tureen.await(smartstore.querySoup, config, "contacts",
          { queryType = "range", indexPath = "LastName", order = "ascending", pageSize = 10 })
        local entry = page.currentPageOrderedEntries[1]
        entry.LastName, entry.__local__, entry.__locally_updated__ = name, true, true
        tureen.await(smartstore.upsertSoupEntries, config, "contacts", { entry })
        local sync = tureen.await(mobilesync.syncUp, config, {}, "contacts", UP, "up")
        note("up", { sync.status, sync.totalSize, sync.succeeded, sync.type, sync.name, sync.target.type })
      end
      tureen.async(function()
        round({ isGlobalStore = true }, "1 global")
        round({ isGlobalStore = true, storeName = "named" }, "2 named global")
        round({ isGlobalStore = false, storeName = "named" }, "3 named")
      end)
      """)
    #expect(outcome == .done)
    #expect(runner.noted("up") == Array(repeating: ["DONE", 1, 1, "syncUp", "up", "collection"], count: 3))
    let stores: [(JSONValue, JSONValue)] = [(true, "defaultStore"), (true, "named"), (false, "named")]
    #expect(runner.noted("event") == stores.flatMap { [["syncDown", $0.0, $0.1], ["syncUp", $0.0, $0.1]] as [JSONValue] })
    let names = try runner.server.query("SELECT LastName FROM Contact ORDER BY LastName")["records"]?.arrayValue
    #expect(names?.contains { $0["LastName"] == "3 named" } ?? false)
  }
}
