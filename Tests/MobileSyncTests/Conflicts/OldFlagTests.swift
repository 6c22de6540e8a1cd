import JSON
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import SmartStore

/// Files of earlier releases contain flags that are 1 or texts. They mark an edit just like true.
@Suite(.enabled(if: TestEngine.isSQLite, "writes into SQLite's file what an earlier release wrote")) struct OldFlagTests {
  private static let types = [IndexType.string, .integer, .json1], values = ["1", #""1""#, #""true""#]

  @Test(arguments: types, values)
  func sync_editWithFlagsOfAnEarlierRelease_isAConflictAndGoesUp(type: IndexType, value: String) async throws {
    let (bench, id) = try await bench(type)
    try mark(id, ["__local__", "__locally_updated__"], type, value, in: bench)
    try bench.change(id, ["Description": "theirs"])
    let end = try await bench.down(SyncBench.merge)
    #expect(end.counts.conflicting == 1 && end.counts.skipped == 1)
    let conflict = try #require(try bench.conflicts().first)
    #expect(conflict.fields == ["Description"] && conflict.kind == .changed)
    _ = try bench.manager.resolveConflict(inSoup: "accounts", entryId: conflict.entryId, with: .local)
    #expect(try await bench.up(SyncBench.merge).counts.succeeded == 1)
    #expect(try bench.shownOnServer(id) == "A/mine" && bench.dirtyCount() == 0)
    await bench.close()
  }

  @Test(arguments: types, values)
  func syncUp_deletionWithFlagsOfAnEarlierRelease_reachesTheServer(type: IndexType, value: String) async throws {
    let (bench, id) = try await bench(type)
    try mark(id, ["__local__", "__locally_deleted__"], type, value, in: bench)
    try bench.change(id, ["Description": "theirs"])
    _ = try await bench.up(SyncBench.uploadLeave)
    #expect(try bench.conflicts().map(\.kind) == [.deletedHere])
    #expect(try await bench.up().counts.succeeded == 1)
    #expect(try bench.serverNames().isEmpty && bench.row() == nil)
    await bench.close()
  }

  /// Creates an account that was edited here, in a soup with an index of this type on `__local__`.
  private func bench(_ type: IndexType) async throws -> (SyncBench, id: String) {
    let bench = try await SyncBench()
    try bench.store.removeSoup("accounts")
    try bench.store.registerSoup(
      "accounts", indexSpecs: [IndexSpec(path: "Id", type: .string), IndexSpec(path: "__local__", type: type)])
    let id = try bench.addAccount("A", "base")
    _ = try await bench.down()
    var entry = try #require(try bench.row())
    entry["Description"] = "mine"
    entry["__local__"] = true
    try bench.save(entry)
    return (bench, id)
  }

  private func mark(
    _ id: String, _ flags: [String], _ type: IndexType, _ value: String, in bench: SyncBench
  ) throws {
    let table = try bench.store.readBlocking { try #require($0 as? SQLiteSnapshot).soup("accounts").table }
    let members = flags.map { ", '$.\($0)', json('\(value)')" }.joined()
    // An integer column holds no text, and json1 has no column.
    let held = type == .string || value == "1" ? "json_extract('[\(value)]', '$[0]')" : "NULL"
    let column = type == .json1 ? "" : ", \(table)_1 = \(held)"
    try bench.store.executeOnSeparateConnection("UPDATE \(table) SET soup = json_set(soup\(members))\(column)")
  }
}

extension SyncBench {
  /// The only entry of the soup; nil if it is empty.
  fileprivate func row() throws -> JSONObject? {
    let rows = try store.query(.smart("SELECT {accounts:_soup} FROM {accounts}"))
    return try JSONValue(parsing: rows).arrayValue?.first?.arrayValue?.first?.objectValue
  }
}
