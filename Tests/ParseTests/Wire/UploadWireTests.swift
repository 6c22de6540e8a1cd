import JSON
import SandboxParse
import TestSupport
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Tests uploads of a soup's changes to a class.
struct UploadWireTests {
  static let lists: JSONObject = [
    "createFieldlist": ["title", "year", "isbn", "genre"], "updateFieldlist": ["title", "year", "isbn", "genre"],
  ]

  /// Row 3.
  @Test func create_isStored_andItsIdReplacedWhereverItIsNamed() async throws {
    try await ParseBench.with(soups: ["isbns", "books"]) { bench async throws in
      let books = Self.lists.replacing(with: ["pointers": ["isbn": ["className": "ISBN", "soup": "isbns"]]])
      // The sync of the books is defined before that of the objects they refer to.
      try await bench.up("Book", books, name: "booksUp")
      try bench.make(["objectId": "local_i", "value": "978"], "isbns")
      try bench.make(["objectId": "local_b", "title": "Dune", "isbn": pointer("ISBN", "local_i")])
      let state = try await bench.up(
        "ISBN", ["createFieldlist": ["value"], "updateFieldlist": ["value"]], soup: "isbns", name: "isbnsUp")
      #expect(state.status == .done && state.counts.succeeded == 1)
      let made = try #require(try await bench.objects("ISBN").first), id = try #require(made["objectId"]?.stringValue)
      let entry = try #require(try bench.entry(id, "isbns"))
      #expect(
        entry["createdAt"] == made["createdAt"] && entry["updatedAt"] == made["updatedAt"]
          && entry["updatedAt"] == entry["createdAt"])
      #expect(["__local__", "__locally_created__", "__locally_updated__"].allSatisfy { entry[$0] == false })
      #expect(try bench.entry("local_b")?["isbn"] == pointer("ISBN", id), "in the same transaction")
      #expect(try bench.entry("local_b")?["__locally_created__"] == true)
      try await bench.again("booksUp")
      #expect(try await bench.objects("Book").first?["isbn"] == pointer("ISBN", id))
    }
  }

  /// Row 4.
  @Test func update_sendsChangedListedFieldsAlone_missingOnesAreDeleted() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await bench.create("Book", ["title": "a", "year": 1, "genre": "g", "other": 5])
      try await bench.down()
      try bench.edit(
        id, ["title": "b", "genre": nil, "other": 6, "createdAt": "2020-01-01T00:00:00.000Z", "ACL": ["*": ["read": true]]])
      bench.clock.advance(by: 60)
      bench.forgetRequests()
      let state = try await bench.up("Book", Self.lists)
      #expect(state.status == .done && state.counts.succeeded == 1)
      let puts = bench.requests.filter { $0.method == "PUT" }
      #expect(puts.map(\.body) == [#"{"title":"b","genre":{"__op":"Delete"}}"#])
      let object = try await bench.object("Book", id)
      #expect(object["title"] == "b" && object["genre"] == nil && object["year"] == 1 && object["other"] == 5)
      // The column that no list names stays here.
      let entry = try bench.entry(id)
      #expect(entry?["__local__"] == true && entry?["other"] == 6 && entry?["genre"] == nil)
      #expect(try bench.lastError(entry)["fields"] == ["other", "ACL"] || bench.lastError(entry)["fields"] == ["other"])
    }
  }

  @Test func update_withNothingListedChanged_sendsNothing() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await bench.create("Book", ["title": "a"])
      try await bench.down()
      try bench.edit(id, ["note": "mine"])
      bench.forgetRequests()
      let state = try await bench.up("Book", Self.lists)
      #expect(state.status == .done && state.counts.succeeded == 0 && state.counts.skipped == 1)
      #expect(bench.requests.allSatisfy { $0.method == "GET" })
      #expect(try bench.entry(id)?["__local__"] == true && bench.entry(id)?["note"] == "mine")
    }
  }

  /// Row 5.
  @Test func delete_removesTheRow_alsoWhenTheObjectIsGone() async throws {
    try await ParseBench.with { bench async throws in
      let ids = try await bench.create("Book", count: 3) { ["title": .string("\($0)")] }
      try await bench.down()
      try bench.delete(ids[0])
      try bench.delete(ids[1])
      try await bench.call(.DELETE, "/classes/Book/\(ids[1])")
      let state = try await bench.up("Book", Self.lists)
      #expect(state.status == .done && state.counts.succeeded == 2)
      #expect(try bench.ids() == [ids[2]])
      #expect(try await bench.objects("Book").count == 1)
    }
  }

  @Test func deletedField_isSetInPlaceOfADelete() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await bench.create("Book", ["title": "a"])
      try await bench.down("Book", ["deletedField": "gone"])
      try bench.delete(id)
      try await bench.up("Book", Self.lists.replacing(with: ["deletedField": "gone"]))
      #expect(try bench.entries().isEmpty)
      #expect(try await bench.object("Book", id)["gone"] == true)
    }
  }

  /// Row 6.
  @Test func typedValues_surviveAnEditOfAnotherField() async throws {
    try await ParseBench.with { bench async throws in
      let target = try await bench.create("Author", ["name": "a"])
      let typed: JSONObject = [
        "at": ["__type": "Date", "iso": "2024-05-01T10:20:30.123Z"], "author": pointer("Author", target),
        "place": ["__type": "GeoPoint", "latitude": 48.85, "longitude": 2.35],
        "area": ["__type": "Polygon", "coordinates": [[0, 0], [0, 1], [1, 1], [0, 0]]],
        "bytes": ["__type": "Bytes", "base64": "aGk="], "list": [1, ["a": pointer("Author", target)]],
        "big": 9_007_199_254_740_991,
      ]
      let id = try await bench.create("Book", .object(typed.replacing(with: ["title": "a"])))
      let file = try await bench.connections.connection(named: "admin")
        .send(RestRequest(.POST, "/files/a.txt", body: Array("hi".utf8), contentType: "text/plain", isRepeatable: false))
      let name = try #require(try file.response.json()["name"])
      try await bench.call(.PUT, "/classes/Book/\(id)", ["file": ["__type": "File", "name": name]])
      try await bench.down()
      let before = try await bench.object("Book", id), fields = typed.keys + ["file", "title"]
      for key in typed.keys + ["file"] { #expect(try bench.entry(id)?[key] == before[key], "\(key)") }
      try bench.edit(id, ["title": "b"])
      bench.forgetRequests()
      let names = JSONValue.array(fields.map { .string($0) })
      try await bench.up("Book", ["createFieldlist": names, "updateFieldlist": names])
      #expect(bench.requests.filter { $0.method == "PUT" }.map(\.body) == [#"{"title":"b"}"#])
      try bench.edit(id, ["title": "c", "n": 1])
      try await bench.up("Book", ["createFieldlist": names, "updateFieldlist": names], mode: "OVERWRITE", name: "all")
      let after = try await bench.object("Book", id)
      for key in typed.keys + ["file"] { #expect(after[key] == before[key], "\(key)") }
      #expect(after["title"] == "c")
    }
  }

  /// Row 13.
  @Test func conflict_staysDirty_orIsReplaced() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await bench.create("Book", ["title": "a", "year": 1])
      try await bench.down()
      bench.clock.advance(by: 60)
      try await bench.call(.PUT, "/classes/Book/\(id)", ["title": "theirs"])
      try bench.edit(id, ["title": "mine"])
      let state = try await bench.up("Book", Self.lists)
      #expect(state.status == .done && state.counts.conflicting == 1)
      #expect(try bench.entry(id)?["__local__"] == true && bench.entry(id)?["title"] == "mine")
      #expect(try await bench.object("Book", id)["title"] == "theirs")
      try await bench.up("Book", Self.lists, mode: "OVERWRITE", name: "over")
      #expect(try await bench.object("Book", id)["title"] == "mine")
      #expect(try bench.entry(id)?["__local__"] == false)
    }
  }

  @Test func update_ofADeletedObject_isMadeAnewOrStays() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await bench.create("Book", ["title": "a"])
      try await bench.down()
      try await bench.call(.DELETE, "/classes/Book/\(id)")
      try bench.edit(id, ["title": "mine"])
      let kept = try await bench.up("Book", Self.lists)
      #expect(kept.counts.conflicting == 1)
      #expect(try await bench.objects("Book").isEmpty && bench.entry(id)?["__local__"] == true)
      let made = try await bench.up("Book", Self.lists, mode: "OVERWRITE", name: "over")
      #expect(made.status == .done)
      let object = try #require(try await bench.objects("Book").first)
      #expect(object["title"] == "mine" && object["objectId"]?.stringValue != id)
      #expect(try bench.entries().count == 1 && bench.entries()[0]["objectId"] == object["objectId"])
    }
  }

  /// Rows 2 and 21.
  @Test(arguments: ["/parse", "/1", ""]) func batch_of120_goesAs50And50And20(mount: String) async throws {
    try await ParseBench.with(mount: mount) { bench async throws in
      try bench.server.faults.add(Fault("shuffledBatch"))
      try await bench.create("Book", ["title": "x", "year": 1])
      for n in 0..<120 {
        try bench.make([
          "objectId": .string("local_\(n)"), "title": .string("t\(n)"), "year": n == 70 ? "a text" : .integer(Int64(n)),
        ])
      }
      bench.forgetRequests()
      let state = try await bench.up("Book", Self.lists)
      #expect(state.status == .done && state.counts.succeeded == 119 && state.counts.failed == 1)
      let batches = bench.requests.filter { $0.path == mount + "/batch" }
      #expect(batches.map { $0.body.components(of: #""method":"POST""#) } == [50, 50, 20])
      #expect(bench.requests.count == 3)
      let objects = try await bench.objects("Book"), entries = try bench.entries()
      #expect(objects.count == 120)
      for object in objects where object["title"] != "x" {
        let entry = entries.first { $0["objectId"] == object["objectId"] }
        #expect(entry?["title"] == object["title"] && entry?["__local__"] == false)
      }
      let bad = try #require(entries.first { $0["title"] == "t70" })
      #expect(bad["__local__"] == true && bad["objectId"] == "local_70")
      let error = try bench.lastError(bad)
      #expect(error["code"] == 111 && error["at"] != nil && error["error"]?.stringValue?.contains("schema mismatch") == true)
      bench.forgetRequests()
      try await bench.again("up")
      #expect(bench.requests.isEmpty, "a refused record is not sent again before it is edited")
      try bench.edit("local_70", ["year": 70])
      #expect(try await bench.again("up").counts.succeeded == 1)
      #expect(try await bench.objects("Book").count == 121)
    }
  }

  @Test func creates_sixHundred_take12Requests() async throws {
    try await ParseBench.with { bench async throws in
      let entries = (0..<600).map { n -> JSONValue in
        ["objectId": .string("local_\(n)"), "title": .string("t\(n)"), "__local__": true, "__locally_created__": true]
      }
      try bench.store.upsert(JSONValue.array(entries).text, into: "books")
      let state = try await bench.up("Book", Self.lists)
      #expect(state.status == .done && state.counts.succeeded == 600 && state.counts.requests == 12, "\(state.counts)")
      #expect(try bench.entries().allSatisfy { $0["__local__"] == false })
    }
  }

  /// Row 29.
  @Test func transaction_thatFails_isSentOneByOne_andFlagsTheGuiltyRow() async throws {
    try await ParseBench.with { bench async throws in
      try await bench.create("Book", ["title": "x", "year": 1])
      for n in 0..<4 {
        try bench.make(["objectId": .string("local_\(n)"), "title": .string("t\(n)"), "year": n == 2 ? "a text" : 5])
      }
      bench.forgetRequests()
      let state = try await bench.up("Book", Self.lists.replacing(with: ["transaction": true]))
      #expect(state.status == .done && state.counts.succeeded == 3 && state.counts.failed == 1)
      #expect(bench.requests.first?.body.contains(#""transaction":true"#) == true)
      // Each create is looked up before it is sent alone, because everything may have been stored
      // despite the error.
      let posts = bench.requests.filter { $0.method == "POST" }
      #expect(posts.map(\.path) == ["/parse/batch"] + Array(repeating: "/parse/classes/Book", count: 4))
      #expect(try await bench.objects("Book").count == 4)
      #expect(try bench.lastError(bench.entry("local_2"))["code"] == 111)
    }
  }

  @Test func target_mistakes_areToldBeforeAnyRequest() async throws {
    try await ParseBench.with { bench async throws in
      for (members, part) in [
        (["updateFieldlist": ["a.b"]], "field name 'a.b' of class Book is not valid"),
        (["uniqeBy": []], "'uniqeBy' is not known here"),
        (["uniqueBy": ["name"]], "'uniqueBy' must be a list of lists"), (["onDuplicate": "keep"], "'onDuplicate' must be one of"),
        (["transaction": 1], "'transaction' must be true or false"), (["externalIdFieldName": "a b"], "field name 'a b'"),
        (["where": ["a": 1]], "'where' is not known here"), (["maxBatchSize": 0], "'maxBatchSize' must be a positive integer"),
      ] as [(JSONObject, String)] {
        let error = try await syncError { try await bench.up("Book", Self.lists.replacing(with: members)) }
        #expect(error.code == "invalidTarget" && error.message.contains(part), "\(error.message)")
      }
      #expect(bench.requests.isEmpty)
    }
  }
}

extension String {
  /// Counts the occurrences of a text.
  fileprivate func components(of text: String) -> Int {
    var count = 0, rest = self[...]
    while let found = rest.firstRange(of: text) {
      count += 1
      rest = rest[found.upperBound...]
    }
    return count
  }
}

extension UploadWireTests {
  /// Without its ACL, an object with restricted access would be created, or created again, for
  /// everyone.
  @Test func accessList_goesWithACreate_alsoWithOneAnew() async throws {
    try await ParseBench.with { bench async throws in
      let access: JSONValue = ["u1": ["read": true, "write": true], "*": ["read": true, "write": true]]
      try bench.make(["objectId": "local_1", "title": "a", "ACL": access])
      #expect(try await bench.up("Book", Self.lists).counts.succeeded == 1)
      let id = try #require(try await bench.objects("Book").first?["objectId"]?.stringValue)
      #expect(try await bench.object("Book", id)["ACL"] == access)
      try await bench.down()
      try bench.edit(id, ["title": "b"])
      try await bench.call(.DELETE, "/classes/Book/\(id)")
      try await bench.up("Book", Self.lists, mode: "OVERWRITE", name: "over")
      let anew = try #require(try await bench.objects("Book").first)
      #expect(anew["ACL"] == access && anew["title"] == "b" && anew["objectId"]?.stringValue != id)
    }
  }
}
