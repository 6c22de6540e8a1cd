import JSON
import LuaBridge
import SandboxOrg
import Testing
import Tureen

/// Tests the main use case from a script.
@Suite struct MainJobTests {
  @Test func script_syncsDownEditsSyncsUpAndReSyncs() async throws {
    let runner = try await ScriptRunner()
    let outcome = try await runner.run(
      """
      tureen.async(function()
        assert(tureen.await(smartstore.registerSoup, "contacts", SPECS))
        local down = assert(tureen.await(mobilesync.syncDown, CONTACTS, "contacts", OVERWRITE, "down"))
        note("down", { down.status, down.totalSize, down.progress })
        local cursor = assert(tureen.await(smartstore.querySoup, "contacts",
          smartstore.buildAllQuerySpec("Id", "ascending", 10)))
        local first, second = cursor.currentPageOrderedEntries[1], cursor.currentPageOrderedEntries[2]
        first.LastName, first.__local__, first.__locally_updated__ = "Changed", true, true
        second.__local__, second.__locally_deleted__ = true, true
        local new = { Id = "local_1", attributes = { type = "Contact" }, FirstName = "Nora", LastName = "New",
          __local__ = true, __locally_created__ = true, __locally_updated__ = false, __locally_deleted__ = false }
        assert(tureen.await(smartstore.upsertSoupEntries, "contacts", { first, second, new }))
        local up = assert(tureen.await(mobilesync.syncUp, {}, "contacts",
          { fieldlist = tureen.array { "FirstName", "LastName" }, mergeMode = "OVERWRITE" }))
        note("up", { up.status, up.totalSize, up.succeeded })
        local again = assert(tureen.await(mobilesync.reSync, "down"))
        note("again", { again.status, again.totalSize })
        note("dirty", assert(tureen.await(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(
          "select count(*) from {contacts} where {contacts:__local__} = 'true'", 1))).currentPageOrderedEntries)
      end)
      """)
    #expect(outcome == .done)
    #expect(runner.noted("down") == [["DONE", 30, 100]])
    #expect(runner.noted("up") == [["DONE", 3, 3]])
    #expect(runner.noted("again") == [["DONE", 0]])
    #expect(runner.noted("dirty") == [[[0]]])
    let server = try runner.server.query("SELECT LastName FROM Contact WHERE LastName IN ('Changed', 'New') ORDER BY LastName")[
      "records"]
    #expect(server?.arrayValue?.compactMap { $0["LastName"] } == ["Changed", "New"])
    let count = try runner.server.query("SELECT Id FROM Contact")["records"]?.arrayValue?.count
    #expect(count == 30)
    await runner.server.stop()
  }

  @Test func reSync_afterServerChange_bringsExactlyThat() async throws {
    let runner = try await ScriptRunner()
    try await runner.run(
      """
      tureen.async(function()
        assert(tureen.await(smartstore.registerSoup, "contacts", SPECS))
        assert(tureen.await(mobilesync.syncDown, CONTACTS, "contacts", OVERWRITE, "down"))
      end)
      """)
    let id = try runner.server.query("SELECT Id FROM Contact LIMIT 1")["records"]?.arrayValue?.first?["Id"]?.stringValue
    try runner.server.update("Contact", id: try #require(id), fields: ["LastName": "Elsewhere"])
    try await runner.run(
      """
      tureen.async(function()
        local again = assert(tureen.await(mobilesync.reSync, "down"))
        note("again", { again.totalSize, again.fetched })
        note("names", assert(tureen.await(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(
          "select {contacts:Id} from {contacts} where {contacts:LastName} = 'Elsewhere'", 10))).currentPageOrderedEntries)
      end)
      """)
    #expect(runner.noted("again") == [[1, 1]])
    #expect(runner.noted("names") == [[[.string(try #require(id))]]])
    await runner.server.stop()
  }

  @Test func reSync_ownUploadChangedByOthersSince_isNews() async throws {
    let runner = try await ScriptRunner()
    try await runner.run(
      """
      tureen.async(function()
        assert(tureen.await(smartstore.registerSoup, "contacts", SPECS))
        assert(tureen.await(mobilesync.syncDown, CONTACTS, "contacts", OVERWRITE, "down"))
        local entries = {}
        for i = 1, 2 do
          entries[i] = { Id = "local_" .. i, attributes = { type = "Contact" }, FirstName = "Nora", LastName = "New" .. i,
            __local__ = true, __locally_created__ = true, __locally_updated__ = false, __locally_deleted__ = false }
        end
        assert(tureen.await(smartstore.upsertSoupEntries, "contacts", entries))
        assert(tureen.await(mobilesync.syncUp, {}, "contacts",
          { fieldlist = tureen.array { "FirstName", "LastName" }, mergeMode = "OVERWRITE" }))
      end)
      """)
    let id = try runner.server.query("SELECT Id FROM Contact WHERE LastName = 'New1'")["records"]?.arrayValue?.first?["Id"]
    try runner.server.update("Contact", id: try #require(id?.stringValue), fields: ["FirstName": "Norma"])
    try await runner.run(
      """
      tureen.async(function()
        local again = assert(tureen.await(mobilesync.reSync, "down"))
        note("again", { again.totalSize, again.fetched, again.stored })
        note("names", assert(tureen.await(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(
          "select {contacts:FirstName} from {contacts} where {contacts:LastName} like 'New%' order by {contacts:LastName}",
          10))).currentPageOrderedEntries)
      end)
      """)
    #expect(runner.noted("again") == [[1, 1, 1]])
    #expect(runner.noted("names") == [[["Norma"], ["Nora"]]])
    await runner.server.stop()
  }

  @Test func syncDown_callbacksAndEvents_comeInTheModelsOrder() async throws {
    let runner = try await ScriptRunner()
    try await runner.run(
      """
      local trace = {}
      tureen.document.addEventListener("sync", function(event)
        local d = event.detail
        trace[#trace + 1] = ("event %s %d/%d %s"):format(d.status, d.progress, d.totalSize, d.storeName)
      end)
      smartstore.registerSoup("contacts", SPECS)
      mobilesync.syncDown(CONTACTS, "contacts", OVERWRITE, function(sync)
        trace[#trace + 1] = ("success %s %d/%d"):format(sync.status, sync.progress, sync.totalSize)
        if sync.status == "DONE" then note("trace", tureen.array(trace)) end
      end)
      """)
    let trace = try #require(runner.noted("trace").first?.arrayValue).compactMap(\.stringValue)
    // The event of an update follows its success callback, so the last event came after the note was taken.
    #expect(
      trace == [
        "success RUNNING 0/-1", "event RUNNING 0/-1 defaultStore", "success RUNNING 0/30",
        "event RUNNING 0/30 defaultStore", "success DONE 100/30",
      ])
    await runner.server.stop()
  }

  @Test func script_thatIgnoresCallbacks_seesItsOwnWrites() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    try await runner.run(
      """
      smartstore.registerSoup("notes", { { path = "n", type = "integer" } })
      for i = 1, 20 do smartstore.upsertSoupEntries("notes", { { n = i } }) end
      smartstore.querySoup("notes", smartstore.buildAllQuerySpec("n", "descending", 3), function(cursor)
        local seen = {}
        for i, entry in ipairs(cursor.currentPageOrderedEntries) do seen[i] = entry.n end
        note("seen", { cursor.totalEntries, seen })
      end)
      """)
    #expect(runner.noted("seen") == [[20, [20, 19, 18]]])
    await runner.server.stop()
  }
}
