import Database
import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Look-ups by paths that are in no index spec.
struct LookupIndexTests {
  private static let specs: [IndexSpec] = [.string("Id"), .string("__local__"), .integer("__sync_id__")]

  private func plan(_ store: Store) throws -> String {
    try store.readBlocking { snapshot in
      let soup = try snapshot.soup("s")
      let statement = try snapshot.connection.prepare(
        "EXPLAIN QUERY PLAN SELECT id FROM \(soup.table) WHERE \(soup.expression("Parent.Id")) = 'x' ORDER BY id")
      var lines: [String] = []
      while try statement.step() { lines.append(statement.string(3)) }
      return lines.joined(separator: "; ")
    }
  }

  private func hasIndex(_ store: Store) throws -> Bool { try store.readBlocking { try $0.hasLookupIndex("Parent.Id", in: "s") } }

  @Test(.enabled(if: TestEngine.isSQLite, "reads SQLite's query plans"))
  func indexLookups_pathWithoutASpec_isSearchedAndNotScanned() throws {
    let temporary = try TemporaryStore(soup: "s", Self.specs), store = temporary.store
    try store.upsert(#"[{"Id":"a","Parent":{"Id":"x"}},{"Id":"b","Parent":{"Id":"y"}},{"Id":"c"}]"#, into: "s")
    #expect(try plan(store).contains("SCAN") && !hasIndex(store))
    for _ in 0..<2 { try store.writeBlocking(.synced) { try $0.indexLookups(by: "Parent.Id", in: "s") } }
    #expect(try plan(store).contains("SEARCH") && hasIndex(store))
    try store.upsert(#"[{"Id":"d","Parent":{"Id":"x"}}]"#, into: "s")
    #expect(try store.readBlocking { try $0.entryIds(in: "s", where: "Parent.Id", equals: .text("x")) } == [1, 4])
  }

  @Test func indexLookups_pathWithASpec_addsNothing() throws {
    let temporary = try TemporaryStore(soup: "s", Self.specs), store = temporary.store
    let before = try TestEngine.isSQLite ? store.indexNames() : ""
    for path in ["Id", SoupField.entryId, SoupField.lastModified] {
      #expect(try store.readBlocking { try $0.hasLookupIndex(path, in: "s") })
      try store.writeBlocking(.synced) { try $0.indexLookups(by: path, in: "s") }
    }
    if TestEngine.isSQLite { #expect(try store.indexNames() == before) }
  }

  /// The additional index would slow a bulk load down, and an altered soup may have the path in its
  /// specs.
  @Test(.enabled(if: TestEngine.isSQLite, "bulk loads are SQLite's"))
  func indexLookups_loadOrAlteration_dropsIt() throws {
    let temporary = try TemporaryStore(soup: "s", Self.specs), store = temporary.store
    try store.writeBlocking(.synced) { try $0.indexLookups(by: "Parent.Id", in: "s") }
    try store.sync(#"[{"Id":"a"}]"#, into: "s", expecting: 1_000_000)
    #expect(try !hasIndex(store))
    try store.finishBulkLoad("s")
    try store.writeBlocking(.synced) { try $0.indexLookups(by: "Parent.Id", in: "s") }
    #expect(try hasIndex(store))
    try store.alterSoup("s", indexSpecs: Self.specs + [.string("Name")], reIndexData: true)
    #expect(try !hasIndex(store))
  }

  @Test func cleanEntries_bySync_areReadOffTheColumns() throws {
    let temporary = try TemporaryStore(soup: "s", Self.specs), store = temporary.store
    try store.upsert(
      """
      [{"Id":"a","__sync_id__":7,"__local__":false},{"Id":"b","__sync_id__":7,"__local__":true},{"Id":"c","__sync_id__":8},
       {"__sync_id__":7},{"Id":"e","__sync_id__":7}]
      """, into: "s")
    func found(_ candidates: [Int64]?) throws -> [String] {
      try store.readBlocking { snapshot in
        try snapshot.cleanEntries(
          in: "s", where: "__sync_id__", equals: .integer(7), idPath: "Id", among: candidates
        ).map { "\($0.entryId) \($0.recordId)" }
      }
    }
    #expect(try found(nil) == ["1 a", "5 e"])
    #expect(try found([5, 2, 9]) == ["5 e"] && found([]).isEmpty)
  }
}
