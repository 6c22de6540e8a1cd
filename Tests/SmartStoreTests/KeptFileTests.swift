import Database
import Foundation
import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Store files of earlier builds in `Tests/Fixtures`: later builds must open them and find
/// everything.
///
/// `scripts/dev/fixture` writes a new file, named after the schema version; the files of older
/// versions stay.
@Suite(.enabled(if: TestEngine.isSQLite, "reads files of earlier releases"), .ownThreads)
struct KeptFileTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures").path
  /// Set only by `scripts/dev/fixture`.
  static let target = ProcessInfo.processInfo.environment["TUREEN_WRITE_FIXTURE"]

  private static let specs: [IndexSpec] = [
    .string("Id"), .integer("n"), .floating("f"), .json1("Owner.Name"),
    IndexSpec(path: "note", type: .fullText),
  ]

  private static let conflict = ConflictRecord(
    entryId: 2, syncId: 1, server: .record(Array(#"{"Id":"b","n":3}"#.utf8)), idField: "Id", dateField: "LastModifiedDate",
    detectedAt: 1234)

  private static let update = UploadRecord(
    entryId: 2, version: 2, syncId: 1, operation: .update, state: .inDoubt, sentAt: 1234)
  private static let create = UploadRecord(
    entryId: 1, version: 2, syncId: 1, fence: 3, operation: .create, sentAt: 1234, clockOffset: -600_000, resendAt: 5678,
    sent: Array(#"{"type":"Contact","fields":{"Id":"a"}}"#.utf8))

  /// Fills a store with a little of everything.
  private func fill(_ store: Store) throws {
    try store.registerSoup("contacts", indexSpecs: Self.specs)
    try store.registerSoup("123 any + name!?", indexSpecs: [.json1("j")])
    try store.sync(
      #"[{"Id":"a","n":1,"note":"The quick fox"},{"Id":"b","n":2,"f":2.5},{"Id":"gone"}]"#, into: "contacts", owner: 1)
    try store.sync(#"[{"Id":"a","n":1,"note":"The quick fox"}]"#, into: "contacts", owner: 2)
    try store.upsert(
      #"[{"Id":"b","n":9007199254740993,"f":5,"Owner":{"Name":"Göktuğ"},"tags":[{"t":"x"},{"t":"y"}],"__local__":true}]"#,
      into: "contacts", by: "Id")
    try store.remove([3], from: "contacts")
    try store.upsert(#"[{"j":null},{"j":"\u0001한글"}]"#, into: "123 any + name!?")
    try store.writeBlocking(.synced) { transaction in
      try transaction.journal([Self.create, Self.update], in: "contacts")
      try transaction.noteArrivals([2], in: "contacts")
      try transaction.noteConflict(Self.conflict, in: "contacts")
      _ = try transaction.acquireLease("sync:1", owner: "nobody", now: 1, duration: 1, takeover: { _ in false })
    }
  }

  @Test(.enabled(if: target != nil)) func fixture_whenAskedFor_isWritten() throws {
    let path = try #require(Self.target)
    let store = try Store(name: "fixture", isGlobal: false, path: path, key: nil)
    try fill(store)
    store.close()
  }

  /// The names of all fixture files.
  static let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasPrefix("store-") && $0.hasSuffix(".sqlite") }.sorted()

  private func copy(_ file: String) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: "\(Self.folder)/\(file)", toPath: folder.path + "/store.sqlite")
    return folder
  }

  @Test(arguments: files) func open_keptFile_findsEntriesAndIndexes(_ file: String) throws {
    let folder = try copy(file)
    let store = try Store(name: "kept", isGlobal: false, path: folder.path + "/store.sqlite", key: nil)
    defer { store.close() }
    #expect(try store.soupNames() == ["123 any + name!?", "contacts"])
    #expect(try store.indexSpecs(ofSoup: "contacts") == Self.specs)
    #expect(
      try store.rows(
        "SELECT {contacts:_soupEntryId}, {contacts:Id}, {contacts:n}, {contacts:f}, {contacts:Owner.Name}, {contacts:tags[1].t}, version FROM {contacts}"
      ) == #"[[1,"a",1,null,null,null,2],[2,"b",9007199254740993,5.0,"Göktuğ","y",2]]"#)
    let entry = try #require(JSONValue(parsing: store.retrieve([2], from: "contacts")).arrayValue?.first)
    #expect(entry["tags"] == [["t": "x"], ["t": "y"]])
    #expect((entry["_soupLastModifiedDate"]?.integerValue ?? 0) > 1_600_000_000_000)
    #expect(try store.rows("SELECT {123 any + name!?:j} FROM {123 any + name!?} ORDER BY 1") == #"[[null],["\u0001한글"]]"#)
    let match = #"{"queryType":"match","indexPath":"note","matchKey":"QUICK","selectPaths":["Id"]}"#
    #expect(try store.found(match, in: "contacts") == #"[["a"]]"#)
  }

  @Test(arguments: files) func open_keptFile_findsWhatSyncsNeed(_ file: String) throws {
    let folder = try copy(file)
    let store = try Store(name: "kept", isGlobal: false, path: folder.path + "/store.sqlite", key: nil)
    defer { store.close() }
    #expect(try store.base(2, in: "contacts")?.contains(#""n":2,"f":2.5"#) == true, "as the server had it")
    #expect(try store.rows("SELECT owner FROM {contacts} ORDER BY id") == "[[1],[1]]")
    #expect(try store.rows("SELECT entry, owner FROM soup_members") == "[[1,2]]")
    let uploads = try store.readBlocking { try $0.unsettledUploads(in: "contacts") }
    // Version 1 had no conflicts, and version 2 did not store what a create sent.
    let isThird = !["store-1.sqlite", "store-2.sqlite"].contains(file)
    #expect(uploads == (isThird ? [Self.create, Self.update] : [Self.update]))
    #expect(try store.readBlocking { try $0.arrivals(in: "contacts") } == (isThird ? [2] : []))
    #expect(try store.readBlocking { try $0.conflicts(in: "contacts") } == (file == "store-1.sqlite" ? [] : [Self.conflict]))
    #expect(try store.readBlocking { try $0.lease("sync:1") } == Lease(name: "sync:1", owner: "nobody", fence: 1, expiresAt: 2))
  }

  /// Up to version 4, one table had the uploads in flight and what the server has after earlier ones,
  /// leases held counters and assigned ids, and a negative owner was the creating sync.
  @Test func open_fileOfVersionFour_sortsTheUploadsOut() throws {
    let folder = try copy("store-4.sqlite"), path = folder.path + "/store.sqlite"
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      DELETE FROM outbox;
      INSERT INTO outbox (soup, entry, version, sync, fence, operation, sentAt, resendAt, sent)
        VALUES (1, 1, 2, 0, 7, 'echo', 5, 1234, NULL), (1, 9, 0, 0, 8, 'echo', 0, NULL, 'gone');
      INSERT INTO outbox (soup, entry, version, sync, fence, operation, sentAt, inDoubt, sent)
        VALUES (1, 2, 2, 3, 4, 'customCreate', 5, 0, '{"key":{"token":"t"}}'), (2, 1, 1, 3, 4, 'customCreate', 6, 0, NULL);
      INSERT INTO leases VALUES ('uploads written back', '', 8, 0), ('id of 1 local_a b', '003A', 0, 12), ('id of 12 x', 'y', 0, 13);
      INSERT INTO soup_members VALUES (1, 1, -5);
      UPDATE soup_attrs SET loading = 'boot:1:2 a b' WHERE id = 2;
      """)
    connection.close()
    let store = try Store(name: "kept", isGlobal: false, path: path, key: nil)
    defer { store.close() }
    try store.readBlocking { snapshot in
      #expect(try snapshot.uploaded(of: [1, 9], in: "contacts") == [1: UploadedRecord(stamp: 1234), 9: UploadedRecord()])
      #expect(try snapshot.uploads(in: "contacts", idPath: "Id", since: 6) == ["a": 1, "gone": 9])
      let uploads = try snapshot.unsettledUploads(in: "contacts")
      #expect(uploads.map(\.operation) == [.create] && uploads.map(\.state) == [.repeatable])
      #expect(try snapshot.unsettledUploads(in: "123 any + name!?").map(\.operation) == [.customCreate])
      #expect(try snapshot.uploadSequence() == 8)
      #expect(try snapshot.assignedId(for: "local_a b", in: "contacts") == "003A")
      #expect(try snapshot.leases().map(\.name) == ["sync:1"])
    }
    #expect(try store.rows("SELECT soup, localId, id, arrivedAt FROM assigned_ids WHERE soup = 12") == #"[[12,"x","y",13]]"#)
    #expect(try store.rows("SELECT entry, sync FROM soup_creators") == "[[1,5]]")
    #expect(try store.rows("SELECT entry, owner FROM soup_members") == "[[1,2]]")
    #expect(try store.rows("SELECT loading FROM soup_attrs WHERE id = 2") == #"[["boot:1:2 - a b"]]"#)
  }

  @Test(arguments: files) func write_keptFile_goesOnWhereItWas(_ file: String) throws {
    let folder = try copy(file)
    let store = try Store(name: "kept", isGlobal: false, path: folder.path + "/store.sqlite", key: nil)
    defer { store.close() }
    #expect(try store.ids(store.upsert(#"[{"Id":"a","note":"slow"},{"Id":"new"}]"#, into: "contacts", by: "Id")) == [1, 4])
    #expect(try store.version(1, in: "contacts") == 3)
    let match = #"{"queryType":"match","indexPath":"note","matchKey":"quick OR slow","selectPaths":["note"]}"#
    #expect(try store.found(match, in: "contacts") == #"[["slow"]]"#)
    try store.alterSoup("contacts", indexSpecs: [.string("Id"), .string("f")], reIndexData: true)
    #expect(
      try store.rows("SELECT {contacts:Id}, {contacts:f} FROM {contacts} ORDER BY 1") == #"[["a",null],["b","5"],["new",null]]"#)
  }

  @Test func keptFiles_ofThisSchema_areThere() { #expect(Self.files.contains("store-\(Schema.version).sqlite")) }

  /// The stock `sqlite3` tool can read a file without extensions or functions of ours.
  @Test(arguments: files) func read_keptFile_withTheStockTool(_ file: String) throws {
    let folder = try copy(file)
    let ended = try ChildProcess.run([
      "/usr/bin/sqlite3", "-readonly", folder.path + "/store.sqlite",
      """
      PRAGMA integrity_check;
      SELECT soupName, path, columnName, columnType FROM soup_index_map WHERE path = 'Owner.Name';
      SELECT id, TABLE_1_0, json_extract(soup, '$.Owner.Name') FROM TABLE_1 ORDER BY id;
      SELECT rowid FROM TABLE_1_fts WHERE TABLE_1_fts MATCH 'fox';
      """,
    ])
    #expect(ended.status == 0)
    #expect(
      ended.output == "ok\ncontacts|Owner.Name|json_extract(soup, '$.Owner.Name')|json1\n1|a|\n2|b|Göktuğ\n1\n")
  }
}
