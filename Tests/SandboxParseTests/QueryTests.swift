import JSON
import SandboxParse
import Testing

/// Conditions, parameters and includes: section 7.
@Suite struct QueryTests {
  /// Creates five rows, named a to e.
  private func rows(_ client: ParseClient) async throws {
    for (name, n, tags) in [("a", 1, ["x"]), ("b", 2, ["x", "y"]), ("c", 3, []), ("d", 4, ["z"]), ("e", 5, ["y", "z"])] {
      try await client.create(
        "Row",
        [
          "name": .string(name), "n": .integer(Int64(n)), "tags": .array(tags.map { .string($0) }),
          "at": ["__type": "Date", "iso": .string("2024-01-0\(n)T00:00:00.000Z")], "p": pointer("T", "t\(n)"),
        ])
    }
    try await client.create("Row", ["name": "Ünique+ 'quoted\""])
  }

  @Test func plainOperators_findTheirRows() async throws {
    try await withParse { _, client, _ in
      try await rows(client)
      let day: JSONValue = ["__type": "Date", "iso": "2024-01-03T00:00:00.000Z"]
      for (condition, names) in [
        (["name": "a"], "a"), (["name": ["$eq": "a"]], "a"), (["n": ["$gte": 2, "$lt": 4]], "bc"), (["n": ["$gt": 4]], "e"),
        (["n": ["$lte": 1]], "a"), (["n": ["$ne": 1], "at": ["$exists": true]], "bcde"), (["tags": "x"], "ab"),
        (["name": ["$in": ["a", "e", "q"]]], "ae"), (["n": ["$nin": [1, 2, 3]], "tags": ["$exists": true]], "de"),
        (["tags": ["$all": ["x", "y"]]], "b"), (["tags": ["$in": ["z"]]], "de"),
        (["tags": ["$containedBy": ["x", "y"]], "n": ["$exists": true]], "abc"), (["n": ["$exists": false]], "Ü"),
        (["p": pointer("T", "t3")], "c"), (["p": ["$in": [pointer("T", "t1"), pointer("T", "t2")]]], "ab"),
        (["at": ["$gt": day]], "de"), (["at": day], "c"), (["at": ["$gt": "2024-01-03T00:00:00.000Z"]], ""),
        (["name": ["$regex": "^[ab]$"]], "ab"), (["name": ["$regex": "^B$", "$options": "i"]], "b"),
        (["name": ["$regex": #"^\QÜnique+\E"#]], "Ü"), (["name": "Ünique+ 'quoted\""], "Ü"),
        (["$or": [["n": 1], ["n": 5]]], "ae"), (["$and": [["n": ["$gt": 1]], ["tags": "x"]]], "b"),
        (["$nor": [["n": ["$lt": 5]], ["n": ["$exists": false]]]], "e"), (["nothing": 1], ""), (["n": .null], "Ü"),
      ] as [(JSONValue, String)] {
        let found = try await client.find("Row", where: condition)
        #expect(found.column("name").compactMap(\.first) == Array(names), "\(condition.text): \(found.text.prefix(200))")
        let body: JSONValue = ["_method": "GET", "where": condition]
        #expect(try await client.post("/classes/Row", body).text == found.text, "by POST, too")
        let text: JSONValue = ["_method": "GET", "where": .string(condition.text)]
        #expect(try await client.post("/classes/Row", text).text == found.text, "and as text")
      }
    }
  }

  @Test func stamps_compareAsDates() async throws {
    try await withParse { _, client, clock in
      let first = try await client.post("/classes/A", ["n": 1]).json["createdAt"] ?? .null
      clock.advance(by: 1)
      try await client.create("A", ["n": 2])
      let date: JSONValue = ["__type": "Date", "iso": first]
      #expect(try await client.find("A", where: ["updatedAt": ["$gt": date]]).results.map { $0["n"] } == [2])
      #expect(try await client.find("A", where: ["createdAt": date]).results.map { $0["n"] } == [1])
      #expect(try await client.find("A", where: ["updatedAt": ["$gte": first]]).results.isEmpty, "a bare text")
    }
  }

  @Test func subQueries_joinClasses() async throws {
    try await withParse { _, client, _ in
      let one = try await client.create("ISBN", ["value": "978"])
      let two = try await client.create("ISBN", ["value": "979"])
      try await client.create("Book", ["title": "A", "isbn": pointer("ISBN", one), "city": "Oslo"])
      try await client.create("Book", ["title": "B", "isbn": pointer("ISBN", two), "city": "Rome"])
      try await client.create("Team", ["city": "Rome", "wins": 3])
      let inner: JSONValue = ["className": "ISBN", "where": ["value": "978"], "limit": 0, "order": "x"]
      #expect(try await client.find("Book", where: ["isbn": ["$inQuery": inner]]).column("title") == ["A"])
      #expect(try await client.find("Book", where: ["isbn": ["$notInQuery": inner]]).column("title") == ["B"])
      let select: JSONValue = ["query": ["className": "Team", "where": ["wins": ["$gt": 1]]], "key": "city"]
      #expect(try await client.find("Book", where: ["city": ["$select": select]]).column("title") == ["B"])
      #expect(try await client.find("Book", where: ["city": ["$dontSelect": select]]).column("title") == ["A"])
    }
  }

  @Test func refusals_haveTheirCodesAndTexts() async throws {
    try await withParse { _, client, _ in
      try await rows(client)
      for (condition, code, text) in [
        (["n": ["$in": 1]], 107, "bad $in value"), (["n": ["$nin": "a"]], 107, "bad $nin value"),
        (["n": ["$all": 1]], 107, "bad $all value"), (["n": ["$foo": 1]], 107, "bad constraint: $foo"),
        (["n": ["$text": ["$search": ["$term": "x"]]]], 107, "bad constraint: $text"),
        (["n": ["$regex": "a", "$options": "q"]], 102, "Bad $options value for query: q"),
        (["$nor": []], 102, "Bad $nor format - use an array of at least 1 value."),
        (["$or": 1], 102, "Bad $or format - use an array value."),
        (["p": ["$inQuery": ["className": "T"]]], 102, "improper usage of $inQuery"),
        (["p": ["$notInQuery": ["where": [:]]]], 102, "improper usage of $notInQuery"),
        (["p": ["$select": ["query": ["className": "T"], "key": "a", "more": 1]]], 102, "improper usage of $select"),
        (["p": ["$dontSelect": ["key": "a"]]], 102, "improper usage of $dontSelect"), (["ACL": [:]], 102, "Cannot query on ACL."),
        (["a b": 1], 105, "Invalid key name: a b"),
      ] as [(JSONValue, Int, String)] {
        let answer = try await client.find("Row", where: condition)
        #expect(answer.status == 400 && answer.code == code && answer.error == text, "\(condition.text): \(answer.text)")
      }
      let relative = try await client.find("Row", where: ["at": ["$lt": ["$relativeTime": "2 days ago"]]])
      #expect(relative.status == 400 && relative.code == 107)
      let broken = try await client.find("/classes/Row", ["where": "{broken"])
      #expect(broken.status == 500 && broken.text == #"{"code":1,"message":"Internal server error."}"#)
      #expect(try await client.find("Row", where: ["name": ["$regex": "("]]).code == 1)
    }
  }

  @Test func all_withBeginnings_matchesAnElementEach() async throws {
    try await withParse { _, client, _ in
      try await client.create("Row", ["name": "a", "tags": ["red", "round"]])
      try await client.create("Row", ["name": "b", "tags": ["red", "flat"]])
      let red: JSONValue = ["$regex": #"^\Qre\E"#], round: JSONValue = ["$regex": #"^\Qrou\E"#]
      #expect(try await client.find("Row", where: ["tags": ["$all": [red]]]).column("name") == ["a", "b"])
      #expect(try await client.find("Row", where: ["tags": ["$all": [red, round]]]).column("name") == ["a"])
      #expect(try await client.find("Row", where: ["tags": ["$all": [["$regex": #"^\Qe\E"#]]]]).results.isEmpty)
      let mixed = try await client.find("Row", where: ["tags": ["$all": [red, "round"]]])
      #expect(mixed.code == 107 && mixed.error?.hasPrefix("All $all values must be of regex type or none: ") == true)
    }
  }

  // MARK: Parameters

  @Test func unknownParameters_are102() async throws {
    try await withParse { _, client, _ in
      let id = try await client.create("A", ["n": 1])
      let list = try await client.find("/classes/A", ["foo": 1])
      #expect(list.status == 400 && list.code == 102 && list.error == "Invalid parameter for query: foo")
      let one = try await client.find("/classes/A/\(id)", ["limit": 1])
      #expect(one.code == 102 && one.error == "Improper encode of parameter")
      #expect(try await client.find("/classes/A/\(id)", ["keys": "n", "readPreference": "PRIMARY"]).json["n"] == 1)
      let known: [String: JSONValue] = [
        "readPreference": "PRIMARY", "hint": "x", "comment": "c", "includeReadPreference": "PRIMARY",
      ]
      #expect(try await client.find("/classes/A", known).results.count == 1)
    }
  }

  @Test func orderLimitSkipAndCount() async throws {
    try await withParse { server, client, _ in
      try await rows(client)
      func names(_ parameters: [String: JSONValue]) async throws -> String {
        try await client.find("/classes/Row", parameters).column("name").map { String($0.prefix(1)) }.joined()
      }
      #expect(try await names(["order": "-n", "limit": 2]) == "ed")
      #expect(try await names(["order": "-n", "limit": 2, "skip": 1]) == "dc")
      #expect(try await names(["order": "nothing,-name"]) == "Üedcba", "an unknown column is passed over")
      #expect(try await client.find("/classes/Row", ["order": "a b-"]).status == 200)
      #expect(try await client.find("/classes/Row", ["order": "1x"]).code == 105)
      let counted = try await client.find("/classes/Row", ["limit": 0, "count": 1, "where": ["n": ["$gt": 2]]])
      #expect(counted.text == #"{"results":[],"count":3}"#)
      #expect(try await client.find("/classes/Row", ["limit": 1, "count": true]).json["count"] == 6)
      server.settings.maxLimit = 3
      #expect(try await names(["limit": 100]).count == 3)
    }
  }

  @Test func limit_withoutOne_is100() async throws {
    try await withParse(isSeeded: true) { _, client, _ async throws in
      #expect(try await client.get("/classes/Author").results.count == 100)
      #expect(try await client.find("/classes/Author", ["limit": 1_500]).results.count == 1_500)
    }
  }

  @Test func arraysAndCommaLists_meanTheSame() async throws {
    try await withParse { _, client, _ in
      let isbn = try await client.create("ISBN", ["value": "978"])
      for (city, name) in [("Rome", "a"), ("Oslo", "b"), ("Oslo", "c")] {
        try await client.create(
          "Book", ["city": .string(city), "name": .string(name), "isbn": pointer("ISBN", isbn), "n": 1, "o": 2])
      }
      for (list, text) in [
        (["order": ["city", "-name"]], ["order": "city,-name"]), (["include": ["isbn"]], ["include": "isbn"]),
        (["include": ["*"]], ["includeAll": true]), (["keys": ["name", "isbn"]], ["keys": "name,isbn"]),
        (["excludeKeys": ["n", "o"]], ["excludeKeys": "n,o"]),
      ] as [([String: JSONValue], [String: JSONValue])] {
        let a = try await client.find("/classes/Book", list), b = try await client.find("/classes/Book", text)
        #expect(a.text == b.text && a.results.count == 3, "\(list)")
      }
      #expect(try await client.find("/classes/Book", ["order": ["city", "-name"]]).column("name") == ["c", "b", "a"])
      let without = try await client.find("/classes/Book", ["excludeKeys": "n,o,objectId"])
      #expect(without.results[0]["n"] == nil && without.results[0]["objectId"] != nil)
    }
  }

  // MARK: Include

  @Test func include_followsPointersToAnyDepth() async throws {
    try await withParse { _, client, _ in
      let house = try await client.create("House", ["name": "H"])
      let isbn = try await client.create("ISBN", ["value": "978", "x": 1, "house": pointer("House", house)])
      let book = try await client.create(
        "Book", ["isbn": pointer("ISBN", isbn), "list": [pointer("House", house), pointer("House", "gone"), 3]])
      let path = "/classes/Book/\(book)"
      let one = try await client.find(path, ["include": "isbn.house"]).json
      #expect(one["isbn"]?["__type"] == "Object" && one["isbn"]?["className"] == "ISBN" && one["isbn"]?["value"] == "978")
      #expect(one["isbn"]?["house"]?["name"] == "H", "parents are added")
      let all = try await client.find("/classes/Book", ["include": "*"]).results[0]
      #expect(all["isbn"]?["value"] == "978" && all["isbn"]?["house"]?["__type"] == "Pointer")
      #expect(all["list"]?.arrayValue?.count == 2 && all["list"]?.arrayValue?[0]["name"] == "H", "dangling ones disappear")
      let keyed = try await client.find(path, ["keys": "isbn.value"]).json
      #expect(keyed["isbn"]?["value"] == "978" && keyed["isbn"]?["x"] == nil && keyed["list"] == nil)
      _ = try await client.delete("/classes/ISBN/\(isbn)")
      #expect(try await client.find(path, ["include": "isbn"]).json["isbn"] == nil)
      #expect(try await client.get(path).json["isbn"] == pointer("ISBN", isbn))
    }
  }

  @Test func redirect_queriesThePointersClass() async throws {
    try await withParse { _, client, _ in
      let isbn = try await client.create("ISBN", ["value": "978"])
      try await client.create("Book", ["isbn": pointer("ISBN", isbn)])
      let found = try await client.find("/classes/Book", ["redirectClassNameForKey": "isbn"])
      #expect(found.column("value") == ["978"] && found.column("className") == ["ISBN"])
    }
  }

  // MARK: Places

  @Test func places_nearAndInside() async throws {
    try await withParse { _, client, _ in
      func place(_ latitude: Double, _ longitude: Double) -> JSONValue {
        ["__type": "GeoPoint", "latitude": .number(latitude), "longitude": .number(longitude)]
      }
      for (name, latitude, longitude) in [("Rome", 41.9, 12.5), ("Paris", 48.85, 2.35), ("Lille", 50.63, 3.06)] {
        try await client.create("City", ["name": .string(name), "at": place(latitude, longitude)])
      }
      try await client.create(
        "Land", ["name": "square", "area": ["__type": "Polygon", "coordinates": [[40, 0], [40, 10], [50, 10], [50, 0]]]])
      let near = place(50.6, 3.0)
      for (constraint, names) in [
        (["$nearSphere": near], ["Lille", "Paris", "Rome"]), (["$nearSphere": near, "$maxDistance": 0.05], ["Lille", "Paris"]),
        (["$nearSphere": near, "$maxDistanceInKilometers": 50], ["Lille"]),
        (["$nearSphere": near, "$maxDistanceInMiles": 200], ["Lille", "Paris"]),
        (["$within": ["$box": [place(40, 0), place(49, 13)]]], ["Rome", "Paris"]),
        (["$geoWithin": ["$polygon": [place(40, 0), place(40, 20), place(49, 20), place(49, 0)]]], ["Rome", "Paris"]),
        (["$geoWithin": ["$centerSphere": [[2.35, 48.85], 0.001]]], ["Paris"]),
      ] as [(JSONValue, [String])] {
        #expect(try await client.find("City", where: ["at": constraint]).column("name") == names, "\(constraint.text)")
      }
      #expect(
        try await client.find("Land", where: ["area": ["$geoIntersects": ["$point": place(45, 5)]]]).column("name") == ["square"])
      #expect(try await client.find("Land", where: ["area": ["$geoIntersects": ["$point": place(55, 5)]]]).results.isEmpty)
      #expect(try await client.find("City", where: ["at": ["$within": ["$box": [near]]]]).code == 107)
    }
  }

  // MARK: Paging

  @Test func keyset_withTies_bringsEveryRowOnce() async throws {
    try await withParse { server, client, _ in
      try server.faults.add(Fault("tiedStamps"))
      try server.faults.add(Fault("loweredLimit", ["limit": 100]))
      for start in stride(from: 0, to: 250, by: 50) {
        let items = (start..<start + 50).map { n -> JSONValue in
          ["method": "POST", "path": "/parse/classes/A", "body": ["n": .integer(Int64(n))]]
        }
        _ = try await client.post("/batch", ["requests": .array(items)])
      }
      var seen: [String] = []
      var stamps: Set<String> = []
      var condition: JSONValue = [:]
      while true {
        let page = try await client.find("/classes/A", ["order": "updatedAt,objectId", "limit": 500, "where": condition])
        guard let last = page.results.last else { break }
        #expect(page.results.count <= 100)
        seen += page.column("objectId")
        stamps.formUnion(page.column("updatedAt"))
        let date: JSONValue = ["__type": "Date", "iso": last["updatedAt"] ?? .null]
        condition = [
          "$and": [
            [:],
            [
              "$or": [
                ["updatedAt": ["$gt": date]], ["updatedAt": date, "objectId": ["$gt": last["objectId"] ?? .null]],
              ]
            ],
          ]
        ]
      }
      #expect(seen.count == 250 && Set(seen).count == 250 && stamps.count == 1)
    }
  }
}
