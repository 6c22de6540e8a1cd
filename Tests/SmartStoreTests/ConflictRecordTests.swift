import JSON
import TestSupport
import Testing

@testable import SmartStore

/// The store's records of conflicts.
struct ConflictRecordTests {
  /// Creates two entries of a sync, both edited; their ids are 1 and 2.
  private func bench() throws -> TemporaryStore {
    let temporary = try TemporaryStore(soup: "s", [.string("Id"), .string("__local__"), .integer("__sync_id__")])
    try temporary.store.sync(#"[{"Id":"a","x":1},{"Id":"b","x":1}]"#, into: "s", overlay: ["__local__": false])
    try temporary.store.upsert(
      #"[{"Id":"a","x":2,"__local__":true},{"Id":"b","x":2,"__local__":true}]"#, into: "s", by: "Id")
    return temporary
  }

  private func conflict(_ id: Int64, _ server: ConflictRecord.Server = .record(Array(#"{"x":3}"#.utf8))) -> ConflictRecord {
    ConflictRecord(entryId: id, syncId: 7, server: server, idField: "Id", dateField: "Changed", detectedAt: 99)
  }

  private func note(_ conflicts: ConflictRecord..., in store: Store) throws {
    try store.writeBlocking(.synced) { transaction in
      for conflict in conflicts { try transaction.noteConflict(conflict, in: "s") }
    }
  }

  private func conflicts(_ store: Store) throws -> [ConflictRecord] { try store.readBlocking { try $0.conflicts(in: "s") } }

  @Test func note_eachState_isReadBack() throws {
    let temporary = try bench(), store = temporary.store
    try note(conflict(2), conflict(1, .deleted), in: store)
    #expect(try conflicts(store) == [conflict(1, .deleted), conflict(2)])
    try note(conflict(2, .unknown), in: store)
    #expect(try store.readBlocking { try $0.conflict(of: 2, in: "s") } == conflict(2, .unknown))
    #expect(try store.readBlocking { try $0.conflict(of: 3, in: "s") } == nil)
    #expect(try store.readBlocking { try $0.soupsInConflict() } == ["s"])
  }

  @Test func entry_cleanAgain_isInNoConflict() throws {
    let temporary = try bench(), store = temporary.store
    try note(conflict(1), conflict(2), in: store)
    try store.upsert(#"[{"Id":"a","x":2,"__local__":true}]"#, into: "s", by: "Id")
    #expect(try conflicts(store).count == 2, "still dirty")
    try store.upsert(#"[{"Id":"a","x":3,"__local__":false}]"#, into: "s", by: "Id")
    #expect(try conflicts(store) == [conflict(2)])
    try store.sync(#"[{"Id":"b","x":3}]"#, into: "s", overlay: ["__local__": false])
    #expect(try conflicts(store) == [] && store.base(2, in: "s") == nil)
  }

  @Test func entry_withoutBase_losesItsConflictAllTheSame() throws {
    let temporary = try bench(), store = temporary.store
    try store.upsert(#"[{"Id":"c","x":2,"__local__":true}]"#, into: "s", by: "Id")
    try store.upsert(#"[{"Id":"a","__local__":false},{"Id":"b","__local__":false}]"#, into: "s", by: "Id")
    try note(conflict(3), in: store)
    try store.sync(#"[{"Id":"c","x":3}]"#, into: "s", overlay: ["__local__": false])
    #expect(try conflicts(store) == [])
  }

  @Test func entries_removed_takeTheirConflictsAlong() throws {
    let temporary = try bench(), store = temporary.store
    try note(conflict(1), conflict(2), in: store)
    try store.remove([1], from: "s")
    #expect(try conflicts(store) == [conflict(2)])
    try store.clearSoup("s")
    #expect(try conflicts(store) == [])
    #expect(try store.readBlocking { try $0.soupsInConflict() } == [])
  }

  @Test func base_set_isWhatTheNextComparisonStartsFrom() throws {
    let temporary = try bench(), store = temporary.store
    try store.writeBlocking(.synced) { try $0.setBase(of: 1, in: "s", to: Array(#"{"x":3}"#.utf8)) }
    #expect(try store.base(1, in: "s") == #"{"x":3}"#)
    try store.writeBlocking(.synced) { try $0.noteConflict(conflict(1), in: "s") }
    try store.writeBlocking(.synced) { try $0.forgetConflict(of: 1, in: "s") }
    #expect(try conflicts(store) == [] && store.base(1, in: "s") == #"{"x":3}"#)
  }

  @Test func join_ownedOrNot_isNoted() throws {
    let temporary = try bench(), store = temporary.store
    try store.upsert(#"[{"Id":"c","__local__":true}]"#, into: "s", by: "Id")
    try store.writeBlocking(.synced) { transaction in
      for _ in 0..<2 {
        try transaction.join(1, in: "s", owner: 5)
        try transaction.join(3, in: "s", owner: 5)
      }
    }
    #expect(try store.rows("SELECT id, owner FROM {s} ORDER BY id") == "[[1,1],[2,1],[3,5]]")
    #expect(try store.rows("SELECT entry, owner FROM soup_members") == "[[1,5]]")
  }
}
