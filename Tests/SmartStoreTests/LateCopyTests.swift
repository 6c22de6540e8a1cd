import JSON
import SmartStore
import TestSupport
import Testing

/// Stale copies: entries that were read before the server assigned an id to their record, and are
/// saved afterwards.
struct LateCopyTests {
  private static let new = #""__local__":true,"__locally_created__":true"#

  /// Returns an entry that was read at a certain time.
  private static func copy(_ stamp: Int64, _ members: String) -> String {
    #"[{"_soupEntryId":1,"_soupLastModifiedDate":\#(stamp),\#(members)}]"#
  }

  /// Creates an entry that was read when it was new, and whose row an upload has written since.
  private func store(_ specs: [IndexSpec] = [.string("Id"), .string("__local__")]) throws -> (TemporaryStore, Int64) {
    let temporary = try TemporaryStore(soup: "s", specs), store = temporary.store
    let made = try store.upsert(
      #"[{"Id":"local_1","Key":"local_1","__local__":true,"__locally_created__":true}]"#, into: "s")
    let stamp = try #require(made.first?["_soupLastModifiedDate"]?.integerValue)
    try store.writeBlocking(.synced) { transaction in
      _ = try transaction.patch(
        1, in: "s", setting: ["Id": "001A", "Key": "001A", "__local__": false, "__locally_created__": false])
    }
    return (temporary, stamp)
  }

  private func shown(_ entry: JSONValue?) -> String {
    ["Id", "__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"].map { key in
      entry?[key].map { $0.stringValue ?? $0.text } ?? "-"
    }.joined(separator: " ")
  }

  @Test(arguments: [
    (#""Id":"local_1","__local__":true,"__locally_created__":true"#, "001A true false true -"),
    (#""Id":"local_1","__local__":true,"__locally_created__":true,"__locally_deleted__":true"#, "001A true false - true"),
    (#""Id":"local_1","__local__":true,"__locally_updated__":true"#, "001A true - true -"),
    // The server's id with outdated flags.
    (#""Id":"001A","__local__":true,"__locally_created__":true"#, "001A true false true -"),
    // Another id, from before the record was created again.
    (#""Id":"0019","__local__":true,"__locally_created__":true"#, "001A true false true -"),
    // A change that a script makes on purpose.
    (#""Id":"001B","__local__":true,"__locally_updated__":true"#, "001B true - true -"),
  ])
  func upsert_copyFromBeforeAnUpload_keepsWhatTheUploadWrote(members: String, expected: String) throws {
    let (temporary, stamp) = try store(), store = temporary.store
    let saved = try store.upsert(Self.copy(stamp - 1, members), into: "s")
    #expect(shown(saved.first) == expected)
    #expect(try JSONValue(parsing: store.retrieve([1], from: "s")).arrayValue == saved)
    #expect(try store.rows("SELECT {s:Id} FROM {s}") == #"[["\#(expected.prefix(4))"]]"#)
  }

  @Test func upsert_copyByItsOldId_findsTheRow() throws {
    let (temporary, stamp) = try store(), store = temporary.store
    let text = Self.copy(stamp - 1, #""Id":"local_1",\#(Self.new)"#)
    #expect(shown(try store.upsert(text, into: "s", by: "Id").first) == "001A true false true -")
    #expect(try store.count(of: "s") == 1)
  }

  /// A copy with an id of its own is a new entry, whatever row it was copied from, and so is one
  /// without an entry id.
  @Test func upsert_newEntryMadeFromACopy_isNew() throws {
    let (temporary, _) = try store(), store = temporary.store
    let current = try #require(JSONValue(parsing: store.retrieve([1], from: "s")).arrayValue?.first)
    let stamp = try #require(current["_soupLastModifiedDate"]?.integerValue)
    let text = """
      [{"_soupEntryId":1,"_soupLastModifiedDate":\(stamp),"Id":"local_2","__local__":true,"__locally_created__":true},
       {"Id":"local_3","__local__":true,"__locally_created__":true}]
      """
    #expect(try store.upsert(text, into: "s", by: "Id").map(shown) == ["local_2 true true - -", "local_3 true true - -"])
    #expect(try store.count(of: "s") == 3)
  }

  @Test func upsert_entryThatIsStillNew_isSavedAsItIs() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("Id"), .string("__local__")]), store = temporary.store
    let new = #""Id":"local_1",\#(Self.new)"#
    try store.upsert("[{\(new)}]", into: "s")
    #expect(shown(try store.upsert(Self.copy(5, new), into: "s").first) == "local_1 true true - -")
  }

  /// The id field need not be named `Id`.
  @Test func upsert_copyInASoupWithAnotherIdField_keepsIt() throws {
    let (temporary, stamp) = try store([.string("Key"), .string("__local__")]), store = temporary.store
    let text = Self.copy(stamp - 1, #""Key":"local_1",\#(Self.new)"#)
    let saved = try store.upsert(text, into: "s").first
    #expect(saved?["Key"] == "001A" && saved?["__locally_created__"] == false)
    // In a clean record, the id may refer to another new record while that exists.
    try store.registerSoup("others", indexSpecs: [.string("Id")])
    try store.upsert(#"[{"Id":"local_9"}]"#, into: "others")
    let moved = Self.copy(stamp - 1, #""Key":"local_9","__local__":true,"__locally_updated__":true"#)
    #expect(try store.upsert(moved, into: "s").first?["Key"] == "local_9")
  }

  /// A reference to a record that got its id by the same upload is updated; one to a new record
  /// stays.
  @Test func upsert_copyThatNamesARecordByItsOldId_followsIt() throws {
    let temporary = try TemporaryStore(soup: "parents", [.string("Id")]), store = temporary.store
    try store.registerSoup("s", indexSpecs: [.string("Id"), .string("Parent"), .string("__local__")])
    try store.upsert(#"[{"Id":"local_9"}]"#, into: "parents")
    let made = try store.upsert(#"[{"Id":"local_1","Parent":"local_2",\#(Self.new)}]"#, into: "s")
    let stamp = try #require(made.first?["_soupLastModifiedDate"]?.integerValue)
    try store.writeBlocking(.synced) { transaction in
      _ = try transaction.patch(
        1, in: "s", setting: ["Id": "003A", "Parent": "001P", "__local__": false, "__locally_created__": false])
    }
    for (parent, expected) in [("local_2", "001P"), ("local_9", "local_9")] {
      let copy = Self.copy(stamp - 1, #""Id":"local_1","Parent":"\#(parent)",\#(Self.new)"#)
      let saved = try store.upsert(copy, into: "s").first
      #expect(saved?["Id"] == "003A" && saved?["Parent"] == .string(expected))
    }
  }

  /// The base of a copy is unknown if a sync down has written the row since.
  @Test func upsert_copyFromBeforeADown_hasAnEmptyBase() throws {
    let (temporary, stamp) = try store(), store = temporary.store
    let copy = Self.copy(stamp - 1, #""Id":"local_1",\#(Self.new)"#)
    try store.upsert(copy, into: "s")
    #expect(try store.base(1, in: "s")?.contains("001A") == true)
    try store.sync(#"[{"Id":"001A"}]"#, into: "s", overlay: ["__local__": false, "__sync_id__": 7])
    try store.upsert(copy, into: "s")
    #expect(try store.base(1, in: "s") == "{}")
  }
}
