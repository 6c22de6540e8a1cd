import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Comparison of records that a server sends again with the stored ones.
struct StoredTextTests {
  private static let overlay: JSONObject = ["__sync_id__": 7, "__local__": false]

  /// Returns which records of a page are stored unchanged, by position.
  private func stored(_ records: String, in store: Store, overlay: JSONObject = overlay) throws -> [Bool] {
    try store.readBlocking { snapshot in
      let plan = try snapshot.pagePlan(soup: "s", idPath: "Id", ownedKeys: ["__local__", "__sync_id__"])
      let page = try plan.scan(ByteArrayPage(Array(records.utf8)), recordsKey: nil)
      return try snapshot.areStored(Array(0..<page.count), on: page, in: "s", by: "Id", overlay: overlay)
    }
  }

  private func make() throws -> TemporaryStore {
    let temporary = try TemporaryStore(soup: "s", [.string("Id"), .string("v")])
    try temporary.store.sync(
      #"[{"Id":"a","v":"1"},{"Id":"b","v":"\u00e9\n","o":{"x":[1]}},{"Id":"c"},{"Id":5,"v":"n"}]"#, into: "s",
      overlay: Self.overlay, owner: 7)
    return temporary
  }

  @Test func isStored_sameBytes_isTrueForThemAlone() throws {
    let temporary = try make(), store = temporary.store
    let same = #"[{"Id":"a","v":"1"},{"Id":"b","v":"\u00e9\n","o":{"x":[1]}},{"Id":"c"}]"#
    #expect(try stored(same, in: store) == [true, true, true])
    let others = #"[{"Id":"a","v":"2"},{"v":"1","Id":"a"},{"Id":"b","v":"é\n","o":{"x":[1]}},{"Id":"c","v":null},{"Id":"new"}]"#
    #expect(try stored(others, in: store) == [false, false, false, false, false])
    let unclear = #"[{"Id":5,"v":"n"},{"v":"1"},{},{"Id":"a","v":"1","__local__":false}]"#
    #expect(try stored(unclear, in: store) == [false, false, false, false])
  }

  @Test func isStored_otherSyncOrEditedHere_isFalse() throws {
    let temporary = try make(), store = temporary.store, record = #"[{"Id":"a","v":"1"}]"#
    #expect(try stored(record, in: store, overlay: ["__sync_id__": 8, "__local__": false]) == [false])
    #expect(try stored(record, in: store, overlay: ["__local__": false]) == [false])
    try store.upsert(#"[{"Id":"a","__sync_id__":7,"__local__":true,"v":"1"}]"#, into: "s", by: "Id")
    #expect(try stored(record, in: store) == [false])
  }

  @Test func isStored_severalEntriesWithTheId_isFalse() throws {
    let temporary = try make(), store = temporary.store
    try store.upsert(#"[{"Id":"a"}]"#, into: "s")
    #expect(try stored(#"[{"Id":"a","v":"1"},{"Id":"c"}]"#, in: store) == [false, true])
  }

  /// Text that merely resembles the store's own members does not count as them.
  @Test(.enabled(if: TestEngine.isSQLite, "writes into SQLite's file"))
  func isStored_memberBetweenTheStoresOwnAndTheOverlay_isFalse() throws {
    let temporary = try make(), store = temporary.store
    try store.executeOnSeparateConnection(
      #"UPDATE TABLE_1 SET soup = replace(soup, ',"__sync_id__"', ',"more":1,"__sync_id__"')"#)
    #expect(try stored(#"[{"Id":"a","v":"1"}]"#, in: store) == [false])
  }

  /// Records that differ from the stored ones in ever-changing columns.
  @Test(.enabled(if: TestEngine.isSQLite, "counts the statements of SQLite"))
  func update_manySetsOfColumns_keepsFewStatements() throws {
    let paths = (0..<10).map { "c\($0)" }
    let temporary = try TemporaryStore(soup: "s", [.string("Id")] + paths.map { .string($0) }), store = temporary.store
    func record(_ round: Int) -> String {
      let members = paths.enumerated().map { i, path in #""\#(path)":"\#(round >> i & 1 == 1 ? "v\(round)" : "same")""# }
      return #"[{"Id":"a",\#(members.joined(separator: ","))}]"#
    }
    for round in 0..<1024 { try store.sync(record(round), into: "s") }
    let count = try store.writeBlocking(.synced) { try $0.connection.statementCount }
    #expect(count < Tuning.updateStatements + 40, "\(count) statements")
    #expect(try store.rows("SELECT {s:c0}, {s:c9} FROM {s}") == #"[["v1023","v1023"]]"#)
  }
}
