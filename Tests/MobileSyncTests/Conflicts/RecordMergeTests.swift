import JSON
import Testing

@testable import MobileSync
@testable import Salesforce

/// The rules for merging the three versions of one record.
@Suite struct RecordMergeTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let base: String?
    let local: String
    let server: String
    var mine: [String] = []
    var theirs: [String] = []
    var both: [String] = []
    let merged: String
    var isSettled = false

    var testDescription: String { name }
  }

  private static func object(_ text: String) throws -> JSONObject {
    try #require(try JSONValue(parsing: text).objectValue)
  }

  /// The id and the date may be within a member that is sent as a whole.
  @Test func merge_dateWithinAMember_isNoChange() throws {
    let fields = TargetFields(id: "sys.id", modificationDate: "sys.at", others: ["sys.v"])
    let base = try Self.object(#"{"sys":{"id":"1","at":"2020-01-01T00:00:00Z","v":1,"space":"s"},"name":"a"}"#)
    let server = try Self.object(#"{"sys":{"id":"1","at":"2020-01-02T00:00:00Z","v":2,"space":"s"},"name":"a"}"#)
    let mine = base.replacing(with: ["name": "b"])
    let merge = RecordMerge(base: base, local: mine, server: server, fields: fields)
    #expect(merge.localChanges == ["name"] && merge.remoteChanges.isEmpty && merge.conflicts.isEmpty && !merge.isSettled)
    #expect(merge.merged == server.replacing(with: ["name": "b"]))

    let moved = server.replacing(with: ["sys": ["id": "1", "at": "2020-01-02T00:00:00Z", "v": 2, "space": "t"]])
    let other = RecordMerge(base: base, local: mine, server: moved, fields: fields)
    #expect(other.remoteChanges == ["sys"] && other.conflicts.isEmpty && other.merged["sys"] == moved["sys"])
    let edited = base.replacing(with: ["sys": ["id": "1", "at": "2020-01-01T00:00:00Z", "v": 1, "space": "u"]])
    let both = RecordMerge(base: base, local: edited, server: moved, fields: fields)
    #expect(both.conflicts == ["sys"])
    #expect(both.merged["sys"] == ["id": "1", "at": "2020-01-02T00:00:00Z", "v": 2, "space": "u"])
  }

  static let rows: [Row] = [
    Row(
      name: "nothing changed", base: #"{"Name":"a","Phone":"1"}"#, local: #"{"Name":"a","Phone":"1"}"#,
      server: #"{"Name":"a","Phone":"1"}"#, merged: #"{"Name":"a","Phone":"1"}"#, isSettled: true),
    Row(
      name: "each side its own field", base: #"{"Name":"a","Phone":"1"}"#, local: #"{"Name":"b","Phone":"1"}"#,
      server: #"{"Name":"a","Phone":"2"}"#, mine: ["Name"], theirs: ["Phone"], merged: #"{"Name":"b","Phone":"2"}"#),
    Row(
      name: "only theirs", base: #"{"Name":"a"}"#, local: #"{"Name":"a"}"#, server: #"{"Name":"b"}"#, theirs: ["Name"],
      merged: #"{"Name":"b"}"#, isSettled: true),
    Row(
      name: "only mine", base: #"{"Name":"a"}"#, local: #"{"Name":"b"}"#, server: #"{"Name":"a"}"#, mine: ["Name"],
      merged: #"{"Name":"b"}"#),
    Row(
      name: "the same change", base: #"{"Name":"a"}"#, local: #"{"Name":"b"}"#, server: #"{"Name":"b"}"#, mine: ["Name"],
      theirs: ["Name"], merged: #"{"Name":"b"}"#, isSettled: true),
    Row(
      name: "different changes", base: #"{"Name":"a","Phone":"1"}"#, local: #"{"Name":"b","Phone":"1"}"#,
      server: #"{"Name":"c","Phone":"2"}"#, mine: ["Name"], theirs: ["Name", "Phone"], both: ["Name"],
      merged: #"{"Name":"b","Phone":"2"}"#),
    Row(
      name: "emptied here", base: #"{"Name":"a"}"#, local: #"{"Name":null}"#, server: #"{"Name":"a"}"#, mine: ["Name"],
      merged: #"{"Name":null}"#),
    Row(
      name: "emptied there", base: #"{"Name":"a"}"#, local: #"{"Name":"a"}"#, server: #"{"Name":null}"#, theirs: ["Name"],
      merged: #"{"Name":null}"#, isSettled: true),
    Row(
      name: "emptied here, changed there", base: #"{"Name":"a"}"#, local: #"{"Name":null}"#, server: #"{"Name":"b"}"#,
      mine: ["Name"], theirs: ["Name"], both: ["Name"], merged: #"{"Name":null}"#),
    Row(
      name: "left out here is no change", base: #"{"Name":"a","Phone":"1"}"#, local: #"{"Name":"a"}"#,
      server: #"{"Name":"a","Phone":"2"}"#, theirs: ["Phone"], merged: #"{"Name":"a","Phone":"2"}"#, isSettled: true),
    Row(
      name: "left out there is no change", base: #"{"Name":"a","Phone":"1"}"#, local: #"{"Name":"a","Phone":"2"}"#,
      server: #"{"Name":"a"}"#, mine: ["Phone"], merged: #"{"Name":"a","Phone":"2"}"#),
    Row(
      name: "left out there and as it was here", base: #"{"Name":"a","Phone":"1"}"#, local: #"{"Name":"a","Phone":"1"}"#,
      server: #"{"Name":"a"}"#, merged: #"{"Name":"a","Phone":"1"}"#, isSettled: true),
    Row(
      name: "new field on both sides", base: "{}", local: #"{"Phone":"1"}"#, server: #"{"Phone":"2"}"#, mine: ["Phone"],
      theirs: ["Phone"], both: ["Phone"], merged: #"{"Phone":"1"}"#),
    Row(
      name: "numbers in other spellings", base: #"{"n":1,"x":2.50}"#, local: #"{"n":1.0,"x":2.5}"#, server: #"{"n":1e0,"x":2.5}"#,
      merged: #"{"n":1e0,"x":2.5}"#, isSettled: true),
    Row(
      name: "whole numbers beyond doubles", base: #"{"n":9007199254740992}"#, local: #"{"n":9007199254740993}"#,
      server: #"{"n":9007199254740992}"#, mine: ["n"], merged: #"{"n":9007199254740993}"#),
    Row(
      name: "instants in other notations", base: #"{"At":"2020-01-02T03:04:05.000+0000"}"#,
      local: #"{"At":"2020-01-02T03:04:05Z"}"#, server: #"{"At":"2020-01-02T04:04:05.000+01:00"}"#,
      merged: #"{"At":"2020-01-02T04:04:05.000+01:00"}"#, isSettled: true),
    Row(
      name: "an empty text is null", base: #"{"Phone":null}"#, local: #"{"Phone":""}"#, server: #"{"Phone":"1"}"#,
      theirs: ["Phone"], merged: #"{"Phone":"1"}"#, isSettled: true),
    Row(
      name: "a blank is a text", base: #"{"Name":"a"}"#, local: #"{"Name":"a "}"#, server: #"{"Name":"a"}"#, mine: ["Name"],
      merged: #"{"Name":"a "}"#),
    Row(
      name: "a number is no text", base: #"{"n":1}"#, local: #"{"n":"1"}"#, server: #"{"n":1}"#, mine: ["n"],
      merged: #"{"n":"1"}"#),
    Row(
      name: "texts that look alike", base: "{\"Name\":\"\u{e9}\"}", local: "{\"Name\":\"e\u{301}\"}",
      server: "{\"Name\":\"\u{e9}\"}", mine: ["Name"], merged: "{\"Name\":\"e\u{301}\"}"),
    Row(
      name: "nested records in another order", base: #"{"Owner":{"attributes":{"url":"/1"},"Name":"o","Age":1}}"#,
      local: #"{"Owner":{"Age":1.0,"Name":"o"}}"#, server: #"{"Owner":{"attributes":{"url":"/2"},"Name":"o","Age":1}}"#,
      merged: #"{"Owner":{"attributes":{"url":"/2"},"Name":"o","Age":1}}"#, isSettled: true),
    Row(
      name: "nested records are taken whole", base: #"{"Owner":{"Name":"o","Age":1}}"#,
      local: #"{"Owner":{"Name":"p","Age":1}}"#, server: #"{"Owner":{"Name":"o","Age":2}}"#, mine: ["Owner"],
      theirs: ["Owner"], both: ["Owner"], merged: #"{"Owner":{"Name":"p","Age":1}}"#),
    Row(
      name: "a relationship moves with its field", base: #"{"OwnerId":"1","Owner":{"Name":"o"}}"#,
      local: #"{"OwnerId":"1","Owner":{"Name":"o"},"Phone":"9"}"#, server: #"{"OwnerId":"2","Owner":{"Name":"p"},"Phone":null}"#,
      mine: ["Phone"], theirs: ["OwnerId", "Owner"], merged: #"{"OwnerId":"2","Owner":{"Name":"p"},"Phone":"9"}"#),
    Row(
      name: "lists are one value", base: #"{"Tags":["a","b"]}"#, local: #"{"Tags":["a","b","c"]}"#,
      server: #"{"Tags":["a","b"]}"#, mine: ["Tags"], merged: #"{"Tags":["a","b","c"]}"#),
    Row(
      name: "no base and no difference", base: nil, local: #"{"Name":"a","Phone":""}"#, server: #"{"Name":"a","Phone":null}"#,
      merged: #"{"Name":"a","Phone":null}"#, isSettled: true),
    Row(
      name: "no base and a difference", base: nil, local: #"{"Name":"a"}"#, server: #"{"Name":"b","Phone":"1"}"#,
      mine: ["Name"], theirs: ["Name", "Phone"], both: ["Name"], merged: #"{"Name":"a","Phone":"1"}"#),
    Row(
      name: "id, date and attributes follow the server",
      base: #"{"Id":"1","LastModifiedDate":"2020-01-01T00:00:00Z","SystemModstamp":"x","attributes":{"url":"a"},"Name":"a"}"#,
      local: #"{"Id":"1","LastModifiedDate":"2020-01-01T00:00:00Z","SystemModstamp":"x","attributes":{"url":"a"},"Name":"b"}"#,
      server: #"{"Id":"1","LastModifiedDate":"2021-01-01T00:00:00Z","SystemModstamp":"y","attributes":{"url":"b"},"Name":"a"}"#,
      mine: ["Name"],
      merged:
        #"{"Id":"1","LastModifiedDate":"2021-01-01T00:00:00Z","SystemModstamp":"y","attributes":{"url":"b"},"Name":"b"}"#),
    Row(
      name: "flags are the entry's own",
      base: #"{"_soupEntryId":3,"__local__":false,"__locally_updated__":false,"__sync_id__":1,"Name":"a"}"#,
      local: #"{"_soupEntryId":3,"_soupLastModifiedDate":9,"__local__":true,"__sync_id__":2,"__last_error__":"e","Name":"b"}"#,
      server: #"{"__local__":false,"__sync_id__":7,"Name":"a"}"#, mine: ["Name"],
      merged: #"{"_soupEntryId":3,"_soupLastModifiedDate":9,"__local__":true,"__sync_id__":2,"__last_error__":"e","Name":"b"}"#),
  ]

  @Test(arguments: rows)
  func merge_table(row: Row) throws {
    let merge = RecordMerge(
      base: try row.base.map(Self.object), local: try Self.object(row.local), server: try Self.object(row.server),
      fields: .salesforce)
    #expect(merge.localChanges == row.mine)
    #expect(merge.remoteChanges == row.theirs)
    #expect(merge.conflicts == row.both)
    #expect(JSONValue.object(merge.merged).text == JSONValue.object(try Self.object(row.merged)).text)
    #expect(merge.isSettled == row.isSettled)
  }

  @Test func merge_ownIdAndDateFields_areNoFields() throws {
    let merge = RecordMerge(
      base: ["Key": "1", "Changed": "2020-01-01T00:00:00Z", "Id": "x"], local: ["Key": "1", "Changed": "old", "Id": "y"],
      server: ["Key": "1", "Changed": "2021-01-01T00:00:00Z", "Id": "x"],
      fields: TargetFields(id: "Key", modificationDate: "Changed"))
    #expect(merge.localChanges == ["Id"] && merge.remoteChanges == [])
    #expect(merge.merged == ["Key": "1", "Changed": "2021-01-01T00:00:00Z", "Id": "y"])
  }

  /// A comparison that goes both ways at each level would need 2^900 steps.
  @Test func same_deepValues_areComparedOnce() {
    func nested(_ leaf: JSONValue) -> JSONValue { (0..<900).reduce(leaf) { value, _ in ["a": value, "b": nil] } }
    #expect(RecordMerge.same(nested(1), nested(1.0)) && !RecordMerge.same(nested(1), nested(2)))
    #expect(RecordMerge.same(["a": nil, "b": 1], ["b": 1, "c": ""]) && !RecordMerge.same(["b": 1], ["b": 1, "c": 2]))
  }

  @Test func base_afterMerge_isWhatTheServerHas() {
    let next = RecordMerge.base(
      ["Name": "a", "note": "own", "__local__": false], after: ["Name": "b", "Phone": nil, "_soup": 1])
    #expect(next == ["Name": "b", "note": "own", "__local__": false, "Phone": nil])
  }
}
