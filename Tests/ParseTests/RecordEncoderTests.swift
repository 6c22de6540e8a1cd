import JSON
import Testing

@testable import Parse

struct RecordEncoderTests {
  private let books = try! RecordEncoder(
    className: "Book", createFields: ["title", "year", "isbn", "authors", "objectId", "at", "cover"],
    updateFields: ["title", "year", "isbn", "authors", "updatedAt"], clientKeyField: "clientKey")

  private func record(_ text: String) throws -> JSONObject { try #require(try JSONValue(parsing: text).objectValue) }

  @Test func create_sendsListedFieldsAndTheClientKeyAlone() throws {
    let write = try books.create(
      record(
        #"""
        {"_soupEntryId":4,"__local__":true,"objectId":"local_1","createdAt":"2024-05-01T10:20:30.123Z","title":"Dune","other":1,
         "clientKey":"k1","authors":{"__type":"Relation","className":"Author"},
         "cover":{"__type":"File","name":"0a_c.jpg","url":"http://h/old"},
         "isbn":{"__type":"Object","className":"ISBN","objectId":"i1","value":"978"}}
        """#))
    #expect(
      write.body.text
        == #"{"title":"Dune","isbn":{"__type":"Pointer","className":"ISBN","objectId":"i1"},"cover":{"__type":"File","name":"0a_c.jpg"},"clientKey":"k1"}"#
    )
    #expect(write.waitsFor.isEmpty)
  }

  @Test func create_withPointersToLocalObjects_waitsForEachOnce() throws {
    let pointer = #"{"__type":"Pointer","className":"ISBN","objectId":"local_7"}"#
    let write = try books.create(record(#"{"isbn":\#(pointer),"title":[\#(pointer),{"deep":\#(pointer)}]}"#))
    #expect(write.waitsFor == [ParsePointer(className: "ISBN", objectId: "local_7")])
  }

  @Test func update_withoutABase_deletesWhatTheRecordLacks() throws {
    let write = try books.update(record(#"{"title":null,"updatedAt":"x"}"#), from: nil)
    #expect(
      write?.body.text == #"{"title":null,"year":{"__op":"Delete"},"isbn":{"__op":"Delete"},"authors":{"__op":"Delete"}}"#)
  }

  @Test func update_withABase_sendsDifferencesAlone() throws {
    let base = try record(
      #"{"title":"Dune","year":1965,"isbn":{"__type":"Pointer","className":"ISBN","objectId":"i1"},"authors":{"__type":"Relation","className":"Author"}}"#
    )
    var edited = base
    edited["title"] = "Dune (1965)"
    #expect(try books.update(edited, from: base)?.body.text == #"{"title":"Dune (1965)"}"#)
    edited = base
    edited["year"] = nil
    #expect(try books.update(edited, from: base)?.body.text == #"{"year":{"__op":"Delete"}}"#)
  }

  @Test func update_withNothingDifferent_isNotSent() throws {
    let base = try record(#"{"title":"Dune","year":1965,"isbn":{"__type":"Pointer","className":"ISBN","objectId":"i1"}}"#)
    let same = try record(
      #"{"title":"Dune","year":1965.0,"isbn":{"__type":"Object","className":"ISBN","objectId":"i1","value":"978"}}"#)
    #expect(try books.update(same, from: base) == nil)
  }

  @Test func update_ofAHiddenColumn_deletesNothing() throws {
    #expect(try books.update(record(#"{"title":"Dune"}"#), from: record(#"{"title":"Dune"}"#)) == nil)
  }

  @Test(
    arguments: [
      (#"{"title":{"a.b":1}}"#, "field 'title' of class Book cannot be sent: key 'a.b' inside an object"),
      (#"{"title":[{"$x":1}]}"#, "key '$x'"), (#"{"title":{"constructor":1}}"#, "key 'constructor'"),
      (#"{"title":{"r":{"__type":"Relation","className":"A"}}}"#, "a relation is nested in another value"),
      (#"{"title":{"__type":"Moon"}}"#, #"__type "Moon" is not known"#),
      (
        #"{"title":{"__type":"GeoPoint","latitude":1,"longitude":2},"at":{"__type":"GeoPoint","latitude":1,"longitude":2}}"#,
        "the GeoPoints 'title' and 'at'"
      ),
    ])
  func create_withWhatTheServerRefuses_isRefusedHere(text: String, part: String) throws {
    let problem = #expect(throws: ParseProblem.self) { _ = try books.create(record(text)) }
    #expect(problem?.description.contains(part) == true, "\(problem?.description ?? "")")
  }

  @Test func encoder_withADottedOrSystemField_isRefused() {
    for field in ["o.a", "_x", "length"] {
      #expect(throws: ParseProblem.self, "\(field)") {
        _ = try RecordEncoder(className: "Book", createFields: [], updateFields: [field])
      }
    }
  }

  @Test func types_surviveAnEditOfAnotherField() throws {
    let encoder = try RecordEncoder(className: "Thing", createFields: ["all", "x"], updateFields: ["all", "x"])
    let values =
      #"[{"__type":"Date","iso":"2024-05-01T10:20:30.123Z"},{"__type":"GeoPoint","latitude":1,"longitude":2.50},{"__type":"Polygon","coordinates":[[0,0],[0,1],[1,1],[0,0]]},{"__type":"Bytes","base64":"aGk="},{"__type":"File","name":"n"}]"#
    let base = try record(#"{"all":\#(values),"x":1}"#)
    #expect(try encoder.create(base).body["all"] == JSONValue(parsing: values))
    var edited = base
    edited["x"] = 2
    #expect(try encoder.update(edited, from: base)?.body.text == #"{"x":2}"#)
  }
}

struct RelationChangeTests {
  @Test func operation_isPlainForOneKindAndABatchForTwo() {
    let adds = RelationChange(field: "authors", className: "Author", from: [], to: ["a2", "a1"])
    let pointers = ["a1", "a2"].map { ParsePointer(className: "Author", objectId: $0).json }
    #expect(adds.operation == ["__op": "AddRelation", "objects": .array(pointers)])
    let both = RelationChange(field: "authors", className: "Author", from: ["a1", "a3"], to: ["a2", "a3"])
    #expect(
      both.operation == [
        "__op": "Batch",
        "ops": [["__op": "AddRelation", "objects": [pointers[1]]], ["__op": "RemoveRelation", "objects": [pointers[0]]]],
      ])
  }

  @Test func operation_namesNoIdTwice() {
    var change = RelationChange(field: "authors", className: "Author")
    change.link("a1")
    change.unlink("a1")
    change.unlink("a2")
    change.link("a2")
    #expect(change.added == ["a2"] && change.removed == ["a1"])
  }

  @Test func body_withoutAChange_isNotSent() {
    let same = RelationChange(field: "authors", className: "Author", from: ["a1"], to: ["a1"])
    #expect(same.operation == nil && RelationChange.body([same]) == nil)
    let local = RelationChange(field: "publishers", className: "Publisher", from: [], to: ["local_3"])
    #expect(local.waiting == ["local_3"] && RelationChange.body([same, local]) == nil)
  }

  @Test func body_holdsAllRelationsOfTheOwner() {
    let changes = ["authors", "publishers"].map { RelationChange(field: $0, className: "X", from: [], to: ["x1", "local_2"]) }
    let body = RelationChange.body(changes)
    #expect(body?.keys == ["authors", "publishers"] && body?["publishers"]?["objects"]?.arrayValue?.count == 1)
  }

  @Test func bodies_withIncrementOrAdd_areNotRepeatable() {
    for (operation, isRepeatable) in [
      (FieldOperation.increment(1), false), (.add(["a"]), false), (.addUnique(["a"]), true), (.remove(["a"]), true),
      (.delete, true),
    ] as [(FieldOperation, Bool)] {
      #expect(FieldOperation.isRepeatable(["title": "x", "f": operation.json]) == isRepeatable, "\(operation)")
    }
    #expect(FieldOperation.isRepeatable(["f": ["__op": "Batch", "ops": [["__op": "AddRelation"]]]]))
    #expect(!FieldOperation.isRepeatable(["f": ["__op": "Batch", "ops": [["__op": "Add"]]]]))
    #expect(!FieldOperation.isRepeatable(["f": ["__op": "Frob"]]))
  }
}
