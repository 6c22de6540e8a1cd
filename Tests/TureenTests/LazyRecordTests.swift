import JSON
import TestSupport
import Testing
import Tureen

/// Tests lazy records of queries on real stores.
@Suite struct LazyRecordTests {
  @Test func lazyQuery_everyPage_givesRecordsThatCanBeSavedAgain() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    try await runner.run(
      """
      tureen.async(function()
        local function check(value, err) if value == nil then error(tostring(err)) end return value end
        check(tureen.await(smartstore.registerSoup, "contacts", SPECS))
        check(tureen.await(smartstore.upsertSoupEntries, "contacts",
          { { Id = "1", LastName = "Ann" }, { Id = "2", LastName = "Bob" }, { Id = "3", LastName = "Cy" } }))
        local spec = smartstore.buildAllQuerySpec("LastName", "ascending", 2)
        spec.lazy = true
        local cursor = check(tureen.await(smartstore.querySoup, "contacts", spec))
        local first = cursor.currentPageOrderedEntries
        note("names", { first[1].LastName, first[2].LastName })
        note("kinds", { type(first[1]), type(first[1]:table()) })
        local second = check(tureen.await(smartstore.moveCursorToNextPage, cursor)).currentPageOrderedEntries
        note("second", { type(second[1]), second[1].LastName })
        local id = second[1]._soupEntryId
        check(tureen.await(smartstore.upsertSoupEntries, "contacts", { second[1] }))
        local saved = check(tureen.await(smartstore.retrieveSoupEntries, "contacts", { id }))
        note("saved", saved[1].LastName)
        local rows = smartstore.buildSmartQuerySpec("SELECT {contacts:Id}, {contacts:_soup} FROM {contacts}", 1)
        rows.lazy = true
        local row = check(tureen.await(smartstore.runSmartQuery, rows)).currentPageOrderedEntries[1]
        note("row", { row[1], row[2].LastName })
      end)
      """)
    #expect(runner.noted("names") == [["Ann", "Bob"]])
    #expect(runner.noted("kinds") == [["userdata", "table"]])
    #expect(runner.noted("second") == [["userdata", "Cy"]])
    #expect(runner.noted("saved") == ["Cy"])
    #expect(runner.noted("row") == [["1", "Ann"]])
    await runner.server.stop()
  }
}
