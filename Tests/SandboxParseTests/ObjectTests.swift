import JSON
import SandboxParse
import Testing

/// Objects, types and atomic operations: sections 3, 4 and 5.
@Suite struct ObjectTests {
  @Test func create_answersIdStampAndLocation() async throws {
    try await withParse { server, client, _ in
      let made = try await client.post("/classes/Book", ["title": "Dune", "publishingYear": 1965])
      #expect(made.status == 201 && made.json.objectValue?.keys == ["objectId", "createdAt"])
      #expect(made.id.utf8.count == 10 && made.header("location") == "\(server.url)/parse/classes/Book/\(made.id)")
      let read = try await client.get("/classes/Book/\(made.id)").json
      #expect(read["title"] == "Dune" && read["publishingYear"] == 1965 && read["ACL"] == nil)
      #expect(read["createdAt"] == made.json["createdAt"] && read["updatedAt"] == read["createdAt"])
    }
  }

  @Test func stamps_ofWrites_neverTie() async throws {
    try await withParse { _, client, clock in
      var stamps: [String] = []
      for _ in 0..<3 { stamps.append(try await client.post("/classes/A", [:]).json["createdAt"]?.stringValue ?? "") }
      #expect(stamps == ["2026-03-02T09:00:00.000Z", "2026-03-02T09:00:00.001Z", "2026-03-02T09:00:00.002Z"])
      clock.set(1_772_441_000)
      let late = try await client.post("/classes/A", [:])
      #expect(late.json["createdAt"] == "2026-03-02T09:00:00.003Z", "stamps do not go back with the clock")
      #expect(late.header("date") == "Mon, 02 Mar 2026 08:43:20 GMT")
    }
  }

  @Test func stamps_haveTheMillisecondsOfTheClock() async throws {
    try await withParse { _, client, clock async throws in
      clock.advance(milliseconds: 345)
      #expect(try await client.post("/classes/A", [:]).json["createdAt"] == "2026-03-02T09:00:00.345Z")
      clock.advance(milliseconds: 1_700)
      #expect(try await client.post("/classes/A", [:]).json["createdAt"] == "2026-03-02T09:00:02.045Z")
    }
  }

  @Test func update_isPartialAndMovesUpdatedAt() async throws {
    try await withParse { _, client, clock in
      let id = try await client.create("A", ["a": 1, "b": 2])
      clock.advance(by: 5)
      #expect(try await client.put("/classes/A/\(id)", ["a": 3]).text == #"{"updatedAt":"2026-03-02T09:00:05.000Z"}"#)
      let read = try await client.get("/classes/A/\(id)").json
      #expect(read["a"] == 3 && read["b"] == 2 && read["createdAt"] == "2026-03-02T09:00:00.000Z")
      clock.advance(by: 5)
      #expect(try await client.put("/classes/A/\(id)", [:]).text == #"{"updatedAt":"2026-03-02T09:00:10.000Z"}"#, "an empty one")
    }
  }

  @Test func missingObject_is101() async throws {
    try await withParse { _, client, _ in
      try await client.create("A", [:])
      for answer in [
        try await client.get("/classes/A/none"), try await client.put("/classes/A/none", ["a": 1]),
        try await client.delete("/classes/A/none"),
      ] {
        #expect(answer.status == 404 && answer.text == #"{"code":101,"error":"Object not found."}"#)
      }
      let id = try await client.create("A", [:])
      #expect(try await client.delete("/classes/A/\(id)").text == "{}")
      #expect(try await client.get("/classes/A/\(id)").code == 101)
    }
  }

  @Test func objectId_inABody_isRefusedUnlessItIsThePaths() async throws {
    try await withParse { server, client, _ in
      #expect(try await client.post("/classes/A", ["objectId": "mine"]).code == 105)
      let id = try await client.create("A", ["n": 1])
      #expect(try await client.put("/classes/A/\(id)", ["objectId": .string(id), "n": 2]).status == 200)
      #expect(try await client.put("/classes/A/\(id)", ["objectId": "other"]).code == 105)
      server.settings.allowCustomObjectId = true
      #expect(try await client.create("A", ["objectId": "mine"]) == "mine")
      #expect(try await client.post("/classes/A", ["objectId": "mine"]).code == 137)
      #expect(try await client.post("/classes/A", ["objectId": ""]).code == 104)
    }
  }

  @Test func serverStamps_inABody() async throws {
    try await withParse { _, client, _ in
      #expect(try await client.post("/classes/A", ["createdAt": "2020-01-01T00:00:00.000Z"]).code == 111)
      let id = try await client.create("A", [:])
      let date: JSONValue = ["__type": "Date", "iso": "2020-01-01T00:00:00.000Z"]
      #expect(try await client.put("/classes/A/\(id)", ["createdAt": date, "updatedAt": date]).status == 200)
      let read = try await client.get("/classes/A/\(id)").json
      #expect(read["createdAt"] == "2020-01-01T00:00:00.000Z" && read["updatedAt"] == "2026-03-02T09:00:00.001Z")
    }
  }

  @Test func names_thatAreBad() async throws {
    try await withParse { _, client, _ in
      for name in ["1a", "a b", "_x", "length", "className"] {
        let answer = try await client.post("/classes/A", .object(JSONObject([(name, 1)])))
        #expect(answer.code == 105 && answer.error == "Invalid field name: \(name).", "\(name): \(answer.text)")
      }
      #expect(try await client.get("/classes/1bad").text == #"{"results":[]}"#)
      let bad = try await client.post("/classes/1bad", ["a": 1])
      #expect(bad.code == 107 && bad.error == "schema class name does not revalidate")
      #expect(try await client.post("/classes/A", ["o": ["a.b": 1]]).code == 121)
      #expect(try await client.post("/classes/A", ["o": ["$a": 1]]).code == 121)
      #expect(try await client.post("/classes/A", ["o": [["constructor": 1]]]).code == 105)
      #expect(try await client.post("/classes/A", ["__proto__": [:]]).code == 105)
    }
  }

  @Test func types_ofTheFirstValue_hold() async throws {
    try await withParse { _, client, _ in
      let id = try await client.create("A", ["s": .null, "n": 1, "p": pointer("B", "b1")])
      #expect(try await client.put("/classes/A/\(id)", ["s": "text"]).status == 200, "null has no type")
      let wrong = try await client.put("/classes/A/\(id)", ["s": 1])
      #expect(wrong.status == 400 && wrong.code == 111)
      #expect(wrong.error == "schema mismatch for A.s; expected String but got Number")
      let target = try await client.put("/classes/A/\(id)", ["p": pointer("C", "c1")])
      #expect(target.error == "schema mismatch for A.p; expected Pointer<B> but got Pointer<C>")
      let unknown = try await client.put("/classes/A/\(id)", ["x": ["__type": "Thing"]])
      #expect(unknown.code == 111 && unknown.error == "This is not a valid Thing")
      let whole = try await client.put("/classes/A/\(id)", ["p": ["__type": "Object", "className": "B", "objectId": "b1"]])
      #expect(whole.code == 111 && whole.error == "This is not a valid Object")
      #expect(try await client.put("/classes/A/\(id)", ["ACL": "x"]).status == 200, "a bad ACL is passed over")
      #expect(try await client.put("/classes/A/\(id)", ["p": .null]).status == 200)
      #expect(try await client.get("/classes/A/\(id)").json["p"] == nil, "a null pointer is left out")
    }
  }

  @Test func valuesOfEveryType_comeBackInWireForm() async throws {
    try await withParse { server, client, _ in
      let id = try await client.create(
        "A",
        [
          "text": "é", "number": 1.5, "whole": 5.0, "big": 9_007_199_254_740_993, "flag": true, "list": [1, "a", .null],
          "map": ["a": ["b": 1]],
          "date": ["__type": "Date", "iso": "2024-05-01T12:20:30.123+02:00"], "point": pointer("B", "b1"),
          "place": ["__type": "GeoPoint", "latitude": 48.85, "longitude": 2.35],
          "area": ["__type": "Polygon", "coordinates": [[0, 0], [0, 10], [10, 10]]],
          "file": ["__type": "File", "name": "x_a.txt"], "bytes": ["__type": "Bytes", "base64": "aGk="],
        ])
      let read = try await client.get("/classes/A/\(id)")
      let json = read.json
      #expect(json["date"] == ["__type": "Date", "iso": "2024-05-01T10:20:30.123Z"])
      #expect(json["area"]?["coordinates"] == [[0, 0], [0, 10], [10, 10], [0, 0]])
      #expect(json["file"]?["url"] == .string("\(server.url)/parse/files/library/x_a.txt"))
      #expect(json["point"] == pointer("B", "b1") && json["bytes"]?["base64"] == "aGk=" && json["place"]?["latitude"] == 48.85)
      #expect(json["big"] == 9_007_199_254_740_992 && read.text.contains(#""whole":5,"#), "numbers are JavaScript's")
      #expect(json["list"] == [1, "a", .null] && json["map"] == ["a": ["b": 1]] && json["flag"] == true)
    }
  }

  @Test func valuesThatCannotBe_areRefused() async throws {
    try await withParse { _, client, _ in
      let place: JSONValue = ["__type": "GeoPoint", "latitude": 1, "longitude": 2]
      #expect(try await client.post("/classes/A", ["a": place, "b": place]).code == 111)
      #expect(try await client.post("/classes/A", ["a": place]).status == 201)
      #expect(try await client.post("/classes/A", ["b": place]).status == 201, "only one object is looked at")
      #expect(try await client.post("/classes/B", ["x": ["__type": "Bytes", "base64": ""]]).code == 111)
      #expect(try await client.post("/classes/B", ["x": ["__type": "Date", "iso": "soon"]]).code == 111)
      let flat = try await client.post("/classes/B", ["x": ["__type": "Polygon", "coordinates": [[0, 0], [1, 1], [0, 0]]]])
      #expect(flat.status == 500 && flat.code == 1)
    }
  }

  @Test func unknownClass_byCreationAndKey() async throws {
    try await withParse { server, client, _ in
      #expect(try await client.get("/classes/A").results.isEmpty)
      #expect(try await client.get("/classes/A/x").code == 101)
      #expect(try await client.put("/classes/A/x", [:]).code == 101)
      #expect(try await client.delete("/classes/A/x").code == 101)
      server.settings.allowClientClassCreation = false
      let text = "This user is not allowed to access non-existent class: A"
      for answer in [
        try await client.get("/classes/A"), try await client.get("/classes/A/x"), try await client.put("/classes/A/x", [:]),
        try await client.post("/classes/A", ["n": 1]),
      ] {
        #expect(answer.status == 400 && answer.code == 119 && answer.error == text)
      }
      #expect(try await client.delete("/classes/A/x").code == 101)
      #expect(try await client.master.post("/classes/A", ["n": 1]).status == 201)
      #expect(try await client.post("/classes/A", ["n": 1]).status == 201, "it is there now")
    }
  }

  // MARK: Operations

  @Test func operations_onUpdate_tellTheirOutcome() async throws {
    try await withParse { _, client, _ in
      let id = try await client.create("A", ["n": 1, "l": ["a", "b"], "s": "x"])
      let path = "/classes/A/\(id)"
      #expect(try await client.put(path, ["n": ["__op": "Increment", "amount": -3]]).json["n"] == -2)
      #expect(try await client.put(path, ["m": ["__op": "Increment", "amount": 1.5]]).json["m"] == 1.5)
      #expect(try await client.put(path, ["l": ["__op": "Add", "objects": ["a", "c"]]]).json["l"] == ["a", "b", "a", "c"])
      #expect(try await client.put(path, ["l": ["__op": "Remove", "objects": ["a"]]]).json["l"] == ["b", "c"])
      #expect(try await client.put(path, ["l": ["__op": "AddUnique", "objects": ["c", "d"]]]).json["l"] == ["b", "c", "d"])
      #expect(try await client.put(path, ["s": ["__op": "Delete"]]).json.objectValue?.keys == ["updatedAt"])
      #expect(try await client.get(path).json["s"] == nil)
    }
  }

  @Test func operations_onCreate_collapse() async throws {
    try await withParse { _, client, _ in
      let id = try await client.create(
        "A",
        [
          "n": ["__op": "Increment", "amount": 4], "l": ["__op": "Add", "objects": ["a"]],
          "u": ["__op": "AddUnique", "objects": ["a"]], "r": ["__op": "Remove", "objects": ["a"]], "d": ["__op": "Delete"],
        ])
      let read = try await client.get("/classes/A/\(id)").json
      #expect(read["n"] == 4 && read["l"] == ["a"] && read["u"] == ["a"] && read["r"] == [] && read["d"] == nil)
    }
  }

  @Test func operations_thatCannotBe() async throws {
    try await withParse { _, client, _ in
      let id = try await client.create("A", ["s": "x", "n": 1])
      let path = "/classes/A/\(id)"
      #expect(try await client.put(path, ["s": ["__op": "Increment", "amount": 1]]).code == 111)
      #expect(try await client.put(path, ["n": ["__op": "Add", "objects": [1]]]).code == 111)
      #expect(try await client.put(path, ["n": ["__op": "Increment"]]).status == 200)
      let unknown = try await client.put(path, ["n": ["__op": "Double"]])
      #expect(unknown.status == 500 && unknown.text == #"{"code":1,"message":"Internal server error."}"#)
      #expect(try await client.get(path).json["n"] == 1)
    }
  }

  @Test func dottedKeys_reachPartsOfObjects() async throws {
    try await withParse { _, client, _ in
      let id = try await client.create("A", ["o": ["a": 7, "k": 1], "s": "x", "l": [["q": 1]], "new.deep.part": 3])
      let path = "/classes/A/\(id)"
      #expect(try await client.get(path).json["new"] == ["deep": ["part": 3]])
      let told = try await client.put(path, ["o.a": ["__op": "Increment", "amount": 2]])
      #expect(told.json["o"] == ["a": 9] && told.json["updatedAt"] != nil)
      #expect(try await client.put(path, ["o.x.y": 5]).json.objectValue?.keys == ["updatedAt"])
      #expect(try await client.put(path, ["o.k": ["__op": "Delete"]]).status == 200)
      #expect(try await client.get(path).json["o"] == ["a": 9, "x": ["y": 5]])
      #expect(try await client.put(path, ["l.0.q": 2]).status == 200)
      #expect(try await client.get(path).json["l"] == [["q": 2]])
      #expect(try await client.put(path, ["s.a": 1]).code == 111)
      #expect(try await client.put(path, ["o.0": 1]).code == 111, "digits mean a list")
    }
  }

  @Test func dottedOperations_onCreateAndAtAnyDepth() async throws {
    try await withParse { _, client, _ in
      let id = try await client.create(
        "A",
        [
          "o.a.b": ["__op": "Increment", "amount": 2], "o.l": ["__op": "Add", "objects": ["x"]], "o.gone": ["__op": "Delete"],
        ])
      let path = "/classes/A/\(id)"
      #expect(try await client.get(path).json["o"] == ["a": ["b": 2], "l": ["x"]])
      let told = try await client.put(
        path, ["o.a.b": ["__op": "Increment", "amount": 3], "o.a.c.d": ["__op": "Increment", "amount": 1], "o.plain": true])
      #expect(told.json["o"] == ["a": ["b": 5, "c": ["d": 1]]], "only what operations made is told")
      #expect(try await client.put(path, ["o.a.c.d": ["__op": "Delete"]]).json["o"] == nil)
      #expect(try await client.get(path).json["o"] == ["a": ["b": 5, "c": [:]], "l": ["x"], "plain": true])
      let wrong = try await client.post("/classes/A", ["o": "text"])
      #expect(wrong.error == "schema mismatch for A.o; expected Object but got String")
    }
  }

  @Test func dottedKeys_inQueries() async throws {
    try await withParse { _, client, _ in
      for n in [2, 1, 3] { try await client.create("A", ["o": ["n": .integer(Int64(n)), "x": "y"], "s": "t"]) }
      let list = try await client.find("/classes/A", ["where": ["o.n": ["$gt": 1]], "order": "-o.n", "keys": "o.n"])
      #expect(list.results.map { $0["o"] } == [["n": 3], ["n": 2]])
      #expect(list.results.allSatisfy { $0["s"] == nil && $0["objectId"] != nil && $0["updatedAt"] != nil })
    }
  }
}
