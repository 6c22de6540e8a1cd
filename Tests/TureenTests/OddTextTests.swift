import JSON
import SmartStore
import TestSupport
import Testing
import Tureen

/// Tests how scripts read entries that strict JSON decoders refuse.
@Suite struct OddTextTests {
  /// Reads pages with such an entry among valid ones, as tables and as lazy records.
  private static let script = """
    tureen.async(function()
      local function check(value, err) if value == nil then error(tostring(err)) end return value end
      local function names(entries)
        local result = {}
        for i, entry in ipairs(entries) do result[i] = entry.k end
        return result
      end
      local spec = smartstore.buildAllQuerySpec("n", "ascending", 10)
      note("page", names(check(tureen.await(smartstore.querySoup, true, "s", spec)).currentPageOrderedEntries))
      spec.lazy = true
      local cursor = check(tureen.await(smartstore.querySoup, true, "s", spec))
      note("lazy", names(cursor.currentPageOrderedEntries))
      note("entries", names(check(tureen.await(smartstore.retrieveSoupEntries, true, "s", { 1, 2, 3 }))))
      local rows = smartstore.buildSmartQuerySpec("SELECT {s:_soup}, {s:k} FROM {s} ORDER BY {s:n}", 10)
      local result = {}
      for i, row in ipairs(check(tureen.await(smartstore.runSmartQuery, true, rows)).currentPageOrderedEntries) do
        result[i] = { row[1].k, row[2] }
      end
      note("rows", result)
      local large = check(tureen.await(smartstore.retrieveSoupEntries, true, "s", { 2 }))[1].large
      note("large", large == math.huge)
    end)
    """

  /// Writes the store's file as an early release did, which stored such text unchanged.
  private func prepare(_ runner: ScriptRunner) throws {
    let store = try Store(
      name: "defaultStore", isGlobal: true, path: runner.home + "/global/stores/defaultStore/store.sqlite")
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: [IndexSpec(path: "n", type: .integer), IndexSpec(path: "k", type: .string)])
    try store.upsert(#"[{"n":1,"k":"one"},{"n":2,"k":"_ud800two","large":1e400},{"n":3,"k":"three"}]"#, into: "s")
    try store.executeOnSeparateConnection(#"UPDATE TABLE_1 SET soup = replace(soup, '_u', '\u')"#)
  }

  @Test func pages_halfASurrogatePairFromAnEarlierRelease_areRead() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    try prepare(runner)
    #expect(try await runner.run(OddTextTests.script) == .done)
    await runner.server.stop()
    let names: JSONValue = ["one", "\u{fffd}two", "three"]
    for page in ["page", "lazy", "entries"] { #expect(runner.noted(page) == [names], "\(page)") }
    #expect(runner.noted("rows") == [[["one", "one"], ["\u{fffd}two", "_ud800two"], ["three", "three"]]])
    #expect(runner.noted("large") == [true])
  }

  /// An entry may have the store's maximum depth: the page around it does not count.
  @Test func pages_entryAsDeepAsTheStoreTakesIt_areRead() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    let store = try Store(
      name: "defaultStore", isGlobal: true, path: runner.home + "/global/stores/defaultStore/store.sqlite")
    try store.registerSoup("s", indexSpecs: [IndexSpec(path: "n", type: .integer), IndexSpec(path: "k", type: .string)])
    var levels = 1000, deepest = 0
    while deepest == 0, levels > 900 {
      let list = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
      let entry = #"[{"n":2,"k":"deep","large":1e999,"list":\#(list)}]"#
      if (try? store.upsert(Array(#"[{"n":1,"k":"one"}]"#.utf8), into: "s")) != nil,
        (try? store.upsert(Array(entry.utf8), into: "s")) != nil
      {
        deepest = levels
      }
      if deepest == 0 { try store.clearSoup("s") }
      levels -= 1
    }
    #expect(deepest >= 990)
    try store.executeOnSeparateConnection("UPDATE TABLE_1 SET id = id - (SELECT min(id) FROM TABLE_1) + 1")
    store.close()
    #expect(try await runner.run(OddTextTests.script) == .done)
    await runner.server.stop()
    for page in ["page", "lazy", "entries"] { #expect(runner.noted(page) == [["one", "deep"]], "\(page)") }
    #expect(runner.noted("rows") == [[["one", "one"], ["deep", "deep"]]])
  }
}
