import JSON
import SandboxParse
import Testing

/// Cases from the SDKs' test suites that other tests do not cover.
@Suite struct SuiteTests {
  private func names(_ answer: ParseClient.Answer) -> String { answer.column("name").joined() }

  @Test func box_withAnyTwoCorners_andOverTheDateLine_isTheSameBox() async throws {
    try await withParse { _, client, _ in
      func point(_ latitude: Double, _ longitude: Double) -> JSONValue {
        ["__type": "GeoPoint", "latitude": .number(latitude), "longitude": .number(longitude)]
      }
      try await client.create("Place", ["name": "a", "at": point(5, 5)])
      for corners in [[point(0, 0), point(10, 10)], [point(10, 10), point(0, 0)], [point(0, 10), point(10, 0)]] {
        #expect(names(try await client.find("Place", where: ["at": ["$within": ["$box": .array(corners)]]])) == "a")
      }
      for constraint: JSONValue in [
        ["$geoWithin": ["$polygon": [point(0, 0), point(0, 181), point(10, 10)]]], ["$geoIntersects": ["$point": point(91, 0)]],
      ] {
        let refused = try await client.find("Place", where: ["at": constraint])
        #expect(refused.status == 500 && refused.code == 1, "\(constraint.text)")
      }
    }
  }

  @Test func subQueries_ofRelations_lists_andPathsIntoPointers() async throws {
    try await withParse { _, client, _ in
      let a = try await client.create("Author", ["name": "a"]), b = try await client.create("Author", ["name": "b"])
      let owner = try await client.create(
        "Owner", ["rel": ["__op": "AddRelation", "objects": [pointer("Author", a), pointer("Author", b)]]])
      try await client.create("Book", ["name": "x", "author": pointer("Author", a), "group": [pointer("Author", a)]])
      try await client.create("Book", ["name": "y", "author": pointer("Author", b)])
      let related: JSONValue = ["$relatedTo": ["object": pointer("Owner", owner), "key": "rel"], "name": "b"]
      // SDKs do not know the class of a relation whose owner was not fetched.
      let inner: JSONValue = ["className": "Owner", "redirectClassNameForKey": "rel", "where": related]
      #expect(names(try await client.find("Book", where: ["author": ["$inQuery": inner]])) == "y")
      #expect(names(try await client.find("Book", where: ["author": ["$notInQuery": inner]])) == "x")
      #expect(names(try await client.find("Author", where: ["name": ["$select": ["query": inner, "key": "name"]]])) == "b")
      let books: JSONValue = ["className": "Book", "where": ["name": "x"]]
      func select(_ key: String) -> JSONValue { ["$select": ["query": books, "key": .string(key)]] }
      #expect(names(try await client.find("Author", where: ["objectId": select("author.objectId")])) == "a")
      #expect(names(try await client.find("Book", where: ["author": select("group")])) == "x", "each element of a list")
      let both: JSONValue = [
        "author": [
          "__type": "Pointer", "className": "Author", "objectId": .string(a), "$dontSelect": ["query": books, "key": "author"],
        ]
      ]
      #expect(names(try await client.find("Book", where: both)) == "", "a constraint beside a value")
      #expect(names(try await client.find("Book", where: ["author": ["$in": [.string(a)]]])) == "x", "a bare id")
      let unsaved: JSONValue = ["$relatedTo": ["object": ["__type": "Pointer", "className": "Owner"], "key": "rel"]]
      #expect(try await client.find("Author", where: unsaved).json == ["results": []])
    }
  }

  @Test func columns_ofNull_ofPartsAndOfAllPointers() async throws {
    try await withParse { _, client, _ in
      let inner = try await client.create("Inner", ["a": 1, "b": 2])
      let id = try await client.create("Outer", ["name": "x", "none": .null, "in": pointer("Inner", inner), "c": 3])
      #expect(try await client.get("/classes/Outer/\(id)").json["none"] == .null)
      #expect(try await client.find("Outer", where: ["none": .null]).results.count == 1)
      let without = try await client.find("/classes/Outer", ["excludeKeys": "c,in.b"]).results[0]
      #expect(without["in"]?["a"] == 1 && without["in"]?["b"] == nil && without["c"] == nil && without["name"] == "x")
      let all = try await client.find("/classes/Outer", ["includeAll": true, "keys": "name"]).results[0]
      #expect(all["in"]?["b"] == 2 && all["c"] == nil && all["name"] == "x")
      #expect(try await client.find("/classes/Outer", ["keys": ""]).results[0]["c"] == 3)
      try await client.create("Outer", ["name": "y"])
      #expect(names(try await client.find("/classes/Outer", ["order": "-_created_at"])) == "yx")
    }
  }

  @Test func operation_onAPlaceOfAList_isAnsweredWithTheList() async throws {
    try await withParse { _, client, _ in
      let id = try await client.create("Row", ["items": [["v": "a", "n": 5], ["v": "b", "n": 1]]])
      let answer = try await client.put("/classes/Row/\(id)", ["items.0.n": ["__op": "Increment", "amount": 15]])
      #expect(answer.json["items"] == [["v": "a", "n": 20], ["v": "b", "n": 1]])
    }
  }

  @Test func pattern_withStrayEndOfQuote_isRead() async throws {
    try await withParse { _, client, _ in
      try await client.create("Row", ["name": #"foob\E"#])
      for pattern in [#"foob\E"#, #"^\Qfoob\E\\E"#, #"\Qfoob\E\\E\Q\E"#] {
        #expect(try await client.find("Row", where: ["name": ["$regex": .string(pattern)]]).results.count == 1, "\(pattern)")
      }
      #expect(try await client.find("Row", where: ["name": ["$regex": "foobE"]]).results.isEmpty)
    }
  }

  @Test func users_whateverTheirCase_checkedPasswords_andAccountsThatAreUnlinked() async throws {
    try await withParse { _, client, _ in
      let ada = try await client.post("/users", ["username": "Ada", "password": "p", "email": "Ada@example.org"])
      #expect(try await client.post("/users", ["username": "aDA", "password": "p"]).code == 202)
      #expect(try await client.post("/users", ["username": "x", "password": "p", "email": "ada@EXAMPLE.org"]).code == 203)
      let right = try await client.find("/verifyPassword", ["username": "Ada", "password": "p"])
      #expect(right.json["objectId"]?.stringValue == ada.id && right.json["sessionToken"] == nil)
      #expect(try await client.find("/verifyPassword", ["username": "Ada", "password": "q"]).code == 101)
      let own = client.signedIn(ada.json["sessionToken"]?.stringValue)
      #expect(try await own.put("/users/\(ada.id)", ["emailVerified": true]).code == 119)
      #expect(try await client.master.post("/loginAs", ["userId": ""]).code == 162)
      // Locked out by the master key.
      #expect(try await client.master.put("/users/\(ada.id)", ["ACL": [:]]).status == 200)
      #expect(try await client.post("/login", ["username": "Ada", "password": "p"]).code == 101)
      let guest = try await client.post("/users", ["authData": ["anonymous": ["id": "one"]]])
      let named = client.signedIn(guest.json["sessionToken"]?.stringValue)
      #expect(try await named.get("/sessions/me").json["createdWith"]?["action"] == "login")
      #expect(
        try await named.put("/users/\(guest.id)", ["username": "g", "password": "p", "authData": ["anonymous": .null]]).status
          == 200)
      #expect(try await client.post("/login", ["username": "g", "password": "p"]).json["authData"] == nil)
    }
  }

  @Test func schemas_indexesPermissionsAndWhatIsListed() async throws {
    try await withParse { _, client, _ in
      let master = client.master
      func listed() async throws -> [String] { try await master.get("/schemas").column("className") }
      #expect(try await listed() == ["_Role", "_User"])
      let made = try await master.post(
        "/schemas", ["className": "A", "fields": ["s": ["type": "String"]], "indexes": ["one": ["s": 1]]])
      #expect(made.json["indexes"] == ["one": ["s": 1]])
      #expect(try await master.post("/schemas", ["className": "B", "indexes": [:]]).json["indexes"] == nil)
      let more = try await master.put("/schemas/A", ["indexes": ["two": ["createdAt": 1], "one": ["__op": "Delete"]]])
      #expect(more.json["indexes"] == ["_id_": ["_id": 1], "two": ["createdAt": 1]])
      for indexes: JSONValue in [["two": ["s": 1]], ["three": ["__op": "Delete"]], ["four": ["nothing": 1]]] {
        #expect(try await master.put("/schemas/A", ["indexes": indexes]).code == 102, "\(indexes.text)")
      }
      let open = try await master.put("/schemas/A", ["classLevelPermissions": ["find": ["*": true]]])
      #expect(open.json["classLevelPermissions"]?["protectedFields"] == [:])
      for (permissions, text) in [
        (["find": ["1_2": true]], "'1_2' is not a valid key for class level permissions"),
        (["find": ["*": 1]], "'1' is not a valid value for class level permissions find:*:1"),
        (["get": true], "'true' is not a valid value for class level permissions get - must be an object"),
        (
          ["readUserFields": true],
          "'true' is not a valid value for class level permissions readUserFields - must be an array"
        ),
        (["get": ["pointerFields": [:]]], "'[object Object]' is not a valid value for get[pointerFields] - expected an array."),
        (["writeUserFields": ["s"]], "'s' is not a valid column for class level pointer permissions writeUserFields"),
      ] as [(JSONValue, String)] {
        let refused = try await master.put("/schemas/A", ["classLevelPermissions": permissions])
        #expect(refused.code == 107 && refused.error == text, "\(permissions.text)")
      }
      #expect(try await client.find("A", where: [:]).status == 200, "what was refused changed nothing")
      let relation: JSONValue = ["type": "Relation", "targetClass": "A", "required": true]
      #expect(try await master.put("/schemas/A", ["fields": ["rel": relation]]).code == 111)
      let area: JSONValue = ["__type": "Polygon", "coordinates": [[0, 0], [0, 1], [1, 1]]]
      _ = try await master.put("/schemas/B", ["fields": ["area": ["type": "Polygon", "defaultValue": area]]])
      let closed = try await client.post("/classes/B", [:]).json["area"]?["coordinates"]?.arrayValue
      #expect(closed?.count == 4, "a default value is told as it is kept")
    }
  }
}
