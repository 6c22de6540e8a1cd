import Foundation
import JSON
import LuaBridge
import Testing
import Tureen

/// Tests syncs of several stores from scripts (acceptance rows D16, U19, J3 and K1).
@Suite struct SyncStoreTests {
  private func run(_ runner: ScriptRunner, _ body: String) async throws {
    let outcome = try await runner.run("local function main()\n\(body)\nend\ntureen.async(main)")
    #expect(outcome == .done)
  }

  @Test func syncDown_globalAndNamedStore_touchOnlyThatOne() async throws {
    let runner = try await ScriptRunner(contacts: 7)
    try await run(
      runner,
      """
      local stores = { { isGlobalStore = true }, { isGlobalStore = false, storeName = "named" }, { isGlobalStore = false } }
      for _, store in ipairs(stores) do tureen.await(smartstore.registerSoup, store, "contacts", SPECS) end
      local function count(store)
        local spec = smartstore.buildSmartQuerySpec("select count(*) from {contacts}", 1)
        local cursor = tureen.await(smartstore.runSmartQuery, store, spec)
        return cursor.currentPageOrderedEntries[1][1]
      end
      tureen.on("sync", function(sync)
        if sync.status == "DONE" then note("event", { sync.isGlobalStore, sync.storeName, sync.totalSize }) end
      end)
      for n = 1, 2 do
        tureen.await(mobilesync.syncDown, stores[n], CONTACTS, "contacts", OVERWRITE, "down")
        note("counts", { count(stores[1]), count(stores[2]), count(stores[3]) })
      end
      """)
    #expect(runner.noted("counts") == [[7, 0, 0], [7, 7, 0]])
    #expect(runner.noted("event") == [[true, "defaultStore", 7], [false, "named", 7]])
  }

  /// Acceptance row U19.
  @Test func syncUp_globalAndNamedStore_sendOnlyTheirOwn() async throws {
    let runner = try await ScriptRunner(contacts: 2)
    try await run(
      runner,
      """
      local stores = { { isGlobalStore = true }, { isGlobalStore = false, storeName = "named" } }
      for n, store in ipairs(stores) do
        tureen.await(smartstore.registerSoup, store, "contacts", SPECS)
        tureen.await(mobilesync.syncDown, store, CONTACTS, "contacts", OVERWRITE, "down")
        local spec = smartstore.buildAllQuerySpec("LastName", "ascending", 10)
        local entry = tureen.await(smartstore.querySoup, store, "contacts", spec).currentPageOrderedEntries[n]
        entry.FirstName, entry.__local__, entry.__locally_updated__ = "Store " .. n, true, true
        tureen.await(smartstore.upsertSoupEntries, store, "contacts", { entry })
      end
      tureen.on("sync", function(sync)
        if sync.status == "DONE" then note("event", { sync.isGlobalStore, sync.storeName, sync.totalSize }) end
      end)
      for _, store in ipairs(stores) do
        local up = tureen.await(mobilesync.syncUp, store, "contacts", { fieldlist = { "FirstName" } }, "up")
        note("end", { up.status, up.succeeded })
      end
      """)
    #expect(runner.noted("end") == [["DONE", 1], ["DONE", 1]])
    #expect(runner.noted("event") == [[true, "defaultStore", 1], [false, "named", 1]])
    let records = try runner.server.query("SELECT FirstName FROM Contact ORDER BY FirstName")["records"]?.arrayValue ?? []
    #expect(records.compactMap { $0["FirstName"]?.stringValue } == ["Store 1", "Store 2"])
  }

  @Test func syncUp_fromAScript_answersAndTells() async throws {
    let runner = try await ScriptRunner(contacts: 3)
    try await run(
      runner,
      """
      tureen.await(smartstore.registerSoup, "contacts", SPECS)
      tureen.await(mobilesync.syncDown, CONTACTS, "contacts", OVERWRITE, "down")
      local cursor = tureen.await(smartstore.querySoup, "contacts", smartstore.buildAllQuerySpec("LastName", "ascending", 1))
      local entry = cursor.currentPageOrderedEntries[1]
      entry.LastName, entry.__local__, entry.__locally_updated__ = "Changed", true, true
      tureen.await(smartstore.upsertSoupEntries, "contacts", { entry })
      tureen.on("sync", function(sync)
        if sync.status == "DONE" then note("event", { sync.type, sync.progress, sync.isGlobalStore }) end
      end)
      local first
      local up = tureen.await(function(success, failure)
        mobilesync.syncUp("contacts", { fieldlist = { "LastName" } }, "up", function(sync)
          first = first or sync.status
          if sync.status == "DONE" then success(sync) end
        end, failure)
      end)
      note("end", { first, up.status, up.progress, up.succeeded })
      """)
    #expect(runner.noted("end") == [["RUNNING", "DONE", 100, 1]])
    #expect(runner.noted("event") == [["syncUp", 100, false]])
  }

  @Test func configuration_globalSyncs_appearInTheGlobalStore() async throws {
    let runner = try await ScriptRunner(contacts: 2)
    let syncs = """
      {"syncs":[
        {"syncName":"down","syncType":"syncDown","soupName":"contacts",
         "target":{"type":"soql","query":"SELECT Id, LastName FROM Contact"},"options":{"mergeMode":"OVERWRITE"}},
        {"syncName":"up","syncType":"syncUp","soupName":"contacts","target":{},
         "options":{"fieldlist":["LastName"],"mergeMode":"LEAVE_IF_CHANGED"}}]}
      """
    try Data(syncs.utf8).write(to: URL(fileURLWithPath: runner.configDirectory + "/globalsyncs.json"))
    try await run(
      runner,
      """
      for _, name in ipairs { "down", "up" } do
        local sync = tureen.await(mobilesync.getSyncStatus, true, name)
        note(name, { sync.type, sync.status, sync.progress, sync.target.type, sync.options.mergeMode, sync.soupName })
        note("user", tureen.await(mobilesync.getSyncStatus, name))
      end
      """)
    #expect(runner.noted("down") == [["syncDown", "NEW", 0, "soql", "OVERWRITE", "contacts"]])
    #expect(runner.noted("up") == [["syncUp", "NEW", 0, "collection", "LEAVE_IF_CHANGED", "contacts"]])
    #expect(runner.noted("user") == [.null, .null])
  }
}
