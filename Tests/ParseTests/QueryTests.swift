import JSON
import RestClient
import Testing

@testable import Parse

struct ConditionTests {
  private static let dune = ParsePointer(className: "Book", objectId: "x1")
  private static let paris = ParsePoint(latitude: 48.5, longitude: 2.5)
  private static let point = #"{"__type":"GeoPoint","latitude":48.5,"longitude":2.5}"#

  @Test(
    arguments: [
      (ParseCondition.equal("name", "Ana"), #"{"name":"Ana"}"#), (.notEqual("n", 1), #"{"n":{"$ne":1}}"#),
      (.all([.atLeast("y", 1960), .less("y", than: 1970)]), #"{"$and":[{"y":{"$gte":1960}},{"y":{"$lt":1970}}]}"#),
      (.atMost("y", 1), #"{"y":{"$lte":1}}"#), (.greater("y", than: 1), #"{"y":{"$gt":1}}"#),
      (.isIn("objectId", ["a", "b"]), #"{"objectId":{"$in":["a","b"]}}"#), (.isNotIn("t", [1]), #"{"t":{"$nin":[1]}}"#),
      (.holdsAll("t", [1]), #"{"t":{"$all":[1]}}"#), (.isContained("t", in: [1]), #"{"t":{"$containedBy":[1]}}"#),
      (.exists("isbn", false), #"{"isbn":{"$exists":false}}"#),
      (.begins("name", with: #"a\Eb"#), #"{"name":{"$regex":"^\\Qa\\E\\\\E\\Qb\\E"}}"#),
      (.related(to: dune, by: "authors"), #"{"$relatedTo":{"object":\#(dune.json.text),"key":"authors"}}"#),
      (
        .isIn("isbn", query: "ISBN", .equal("value", "978")),
        #"{"isbn":{"$inQuery":{"className":"ISBN","where":{"value":"978"}}}}"#
      ),
      (
        .isNotSelected("city", from: "Team", key: "city", .always),
        #"{"city":{"$dontSelect":{"query":{"className":"Team","where":{}},"key":"city"}}}"#
      ),
      (.near("at", paris, within: .radians(0.5)), #"{"at":{"$nearSphere":\#(point),"$maxDistance":0.5}}"#),
      (.near("at", paris, within: .miles(2)), #"{"at":{"$nearSphere":\#(point),"$maxDistanceInMiles":2.0}}"#),
      (.inBox("at", southWest: paris, northEast: paris), #"{"at":{"$within":{"$box":[\#(point),\#(point)]}}}"#),
      (.inPolygon("at", [paris]), #"{"at":{"$geoWithin":{"$polygon":[\#(point)]}}}"#),
      (.inCircle("at", around: paris, radians: 0.5), #"{"at":{"$geoWithin":{"$centerSphere":[\#(point),0.5]}}}"#),
      (.covers("area", paris), #"{"area":{"$geoIntersects":{"$point":\#(point)}}}"#),
      (.all([.always, .equal("a", 1)]), #"{"a":1}"#), (.all([]), "{}"),
      (.any([.equal("a", 1), .equal("b", 2)]), #"{"$or":[{"a":1},{"b":2}]}"#),
    ])
  func condition_inWireForm(condition: ParseCondition, text: String) { #expect(condition.json.text == text) }

  @Test func parts_thatTheServerRefuses_areRefusedHere() throws {
    #expect(try ParseCondition.matches("n", "^Du", options: "i").json.text == #"{"n":{"$regex":"^Du","$options":"i"}}"#)
    #expect(throws: ParseProblem.self) { _ = try ParseCondition.matches("n", "x", options: "q") }
    #expect(try ParseCondition.none([.equal("a", 1)]).json.text == #"{"$nor":[{"a":1}]}"#)
    #expect(throws: ParseProblem.self) { _ = try ParseCondition.none([]) }
  }
}

struct ConditionCheckTests {
  private static let p = #"{"__type":"Pointer","className":"Author","objectId":"a1"}"#

  private func checked(_ text: String) throws -> String {
    let object = try #require(try JSONValue(parsing: text).objectValue)
    return try ConditionCheck(relationFields: ["authors"]).checked(object).text
  }

  @Test(
    arguments: [
      (#"{"authors":{"$eq":\#(p)}}"#, #"{"authors":\#(p)}"#), (#"{"isbn":{"$eq":\#(p)}}"#, #"{"isbn":\#(p)}"#),
      (#"{"$or":[{"$nor":[{"authors":{"$eq":\#(p)}}]}]}"#, #"{"$or":[{"$nor":[{"authors":\#(p)}]}]}"#),
      (
        #"{"isbn":{"$inQuery":{"className":"ISBN","where":{"by":{"$eq":\#(p)}}}}}"#,
        #"{"isbn":{"$inQuery":{"className":"ISBN","where":{"by":\#(p)}}}}"#
      ),
      (#"{"n":{"$eq":1}}"#, #"{"n":{"$eq":1}}"#),
      (
        #"{"isbn":{"$eq":\#(p),"$exists":true},"n":1}"#, #"{"$and":[{"isbn":{"$exists":true}},{"isbn":\#(p),"n":1}]}"#
      ),
      (
        #"{"authors":{"$in":[\#(p)],"$ne":\#(p)}}"#, #"{"authors":{"$in":[\#(p)],"$ne":\#(p)}}"#
      ),
    ])
  func pointers_withEq_becomeBare(given: String, sent: String) throws { #expect(try checked(given) == sent) }

  @Test func relatedTo_besideOrAndAnd_standsApart() throws {
    let related = #""$relatedTo":{"object":\#(Self.p),"key":"k"}"#
    #expect(try checked("{\(related)}") == "{\(related)}")
    #expect(try checked(#"{\#(related),"n":1}"#) == #"{\#(related),"n":1}"#)
    #expect(try checked(#"{"$or":[{"a":1}],\#(related)}"#) == #"{"$and":[{\#(related)},{"$or":[{"a":1}]}]}"#)
    #expect(try checked(#"{\#(related),"$and":[{"a":1}]}"#) == #"{"$and":[{\#(related)},{"$and":[{"a":1}]}]}"#)
  }

  @Test(
    arguments: [
      (#"{"authors":{"$exists":true}}"#, "$exists finds nothing on the relation 'authors'"),
      (#"{"$and":[{"authors":{"$all":[]}}]}"#, "$all finds nothing"), (#"{"authors":{"$eq":5}}"#, "$eq finds nothing"),
      (#"{"authors":"a1"}"#, "a value that is not a Pointer finds nothing"), (#"{"ACL":{}}"#, "'ACL' cannot be queried"),
      (#"{"a b":1}"#, "'a b' is neither a field"),
      (#"{"$if":1}"#, "'$if' is neither a field nor one of $and, $nor, $or, $relatedTo"),
      (#"{"$or":{}}"#, "$or must be a list"), (#"{"$nor":[]}"#, "at least one"), (#"{"$and":[1]}"#, "not of numbers"),
    ])
  func conditions_thatFindNothing_areRefused(given: String, part: String) throws {
    let problem = #expect(throws: ParseProblem.self) { _ = try checked(given) }
    #expect(problem?.description.contains(part) == true, "\(problem?.description ?? "")")
  }

  @Test func bareValues_onARelation_mustBePointers() throws {
    #expect(try checked(#"{"authors":\#(Self.p)}"#) == #"{"authors":\#(Self.p)}"#)
    #expect(throws: ParseProblem.self) {
      _ = try checked(#"{"authors":{"__type":"Date","iso":"2024-05-01T10:20:30.123Z"}}"#)
    }
  }
}

struct ParseQueryTests {
  private let server = try! ServerAddress("http://127.0.0.1:1337/parse/")

  @Test func request_ofAShortQuery_isAGetWithCommaLists() throws {
    var query = try ParseQuery("Book", .equal("title", #"C++ "é""#))
    query.order = ["updatedAt", "-objectId"]
    query.keys = ["title", "isbn"]
    query.include = ["isbn"]
    query.limit = 0
    query.counts = true
    let request = query.request(on: server)
    #expect(request.method == .GET && request.path == "/classes/Book" && request.body == nil && request.isRepeatable)
    #expect(request.query.map(\.name) == ["where", "order", "keys", "include", "limit", "count"])
    #expect(request.query.map(\.value) == [#"{"title":"C++ \"é\""}"#, "updatedAt,-objectId", "title,isbn", "isbn", "0", "1"])
  }

  @Test func request_withoutAnything_hasNoParameters() throws {
    #expect(try ParseQuery("_User").request(on: server).query.isEmpty)
    #expect(try ParseQuery("_User").request(on: server).path == "/users")
  }

  @Test func request_ofALongQuery_isAPostThatSaysGet() throws {
    var query = try ParseQuery("Book", .isIn("objectId", (0..<200).map { .string("id\($0)") }))
    query.limit = 200
    query.keys = ["objectId"]
    let request = query.request(on: server)
    #expect(request.method == .POST && request.query.isEmpty && request.isRepeatable)
    let body = try JSONValue(parsing: request.body ?? [])
    #expect(body["_method"] == "GET" && body["limit"] == 200 && body["keys"] == "objectId")
    #expect(body["where"]?["objectId"]?["$in"]?.arrayValue?.count == 200)
  }

  @Test func request_changesItsForm_atTwoThousandBytes() throws {
    func method(_ letters: Int) throws -> HTTPMethod {
      try ParseQuery("B", .equal("t", .string(String(repeating: "x", count: letters)))).request(on: server).method
    }
    // The URL with its path, then "?where=" and {"t":""} with encoded quotes and braces.
    let fixed = "http://127.0.0.1:1337/parse/classes/B?where=%7B%22t%22%3A%22%22%7D".utf8.count
    #expect(try method(2_000 - fixed) == .GET)
    #expect(try method(2_001 - fixed) == .POST)
  }

  @Test func badClassName_isRefusedBeforeAnyRequest() {
    #expect(throws: ParseProblem.self) { _ = try ParseQuery("Bo ok") }
  }
}

struct KeysetWalkTests {
  private let books = try! ParseQuery("Book", .equal("year", 1965))
  private let last: [JSONObject] = [
    ["objectId": "a", "updatedAt": "2024-05-01T10:20:30.123Z"], ["objectId": "I", "updatedAt": "2024-05-01T10:20:30.124Z"],
  ]

  @Test func pages_byModification_beginBehindTheLastRow() throws {
    let walk = KeysetWalk(books, by: .modification, pageSize: 500)
    let first = walk.page(after: nil)
    #expect(first.condition.json.text == #"{"year":1965}"# && first.order == ["updatedAt", "objectId"] && first.limit == 500)
    let position = try walk.position(after: last)
    let date = #"{"__type":"Date","iso":"2024-05-01T10:20:30.124Z"}"#
    #expect(
      walk.page(after: position).condition.json.text
        == #"{"$and":[{"year":1965},{"$or":[{"updatedAt":{"$gt":\#(date)}},{"updatedAt":\#(date),"objectId":{"$gt":"I"}}]}]}"#)
  }

  @Test func bounds_areInclusive() {
    let walk = KeysetWalk(books, by: .modification, since: 0, until: 1_500, pageSize: 10)
    #expect(
      walk.page(after: nil).condition.json.text
        == #"{"$and":[{"year":1965},{"updatedAt":{"$gte":{"__type":"Date","iso":"1970-01-01T00:00:00.000Z"}}},{"updatedAt":{"$lte":{"__type":"Date","iso":"1970-01-01T00:00:01.500Z"}}}]}"#
    )
  }

  @Test func pages_byId_needNoStamp() throws {
    let walk = KeysetWalk(try ParseQuery("Book"), by: .id, pageSize: 50)
    let position = try walk.position(after: [["objectId": "I"]])
    let page = walk.page(after: position)
    #expect(page.order == ["objectId"] && page.condition.json.text == #"{"objectId":{"$gt":"I"}}"#)
  }

  @Test func related_isNeverBesideOr() throws {
    let owner = ParsePointer(className: "Book", objectId: "x1")
    let walk = KeysetWalk(try ParseQuery("Author", .related(to: owner, by: "authors")), by: .modification, pageSize: 5)
    let page = walk.page(after: try walk.position(after: last))
    #expect(page.condition.json.keys == ["$and"])
    #expect(page.condition.json["$and"]?.arrayValue?.map { $0.objectValue?.keys ?? [] } == [["$relatedTo"], ["$or"]])
  }

  @Test func walk_endsOnAnEmptyPageAlone() throws {
    let walk = KeysetWalk(books, by: .modification, pageSize: 500)
    #expect(try walk.position(after: []) == nil)
    #expect(try walk.position(after: last)?.objectId == "I", "a short page is not the last one")
  }

  @Test func rowWithoutAStamp_isNamed() {
    let walk = KeysetWalk(books, by: .modification, pageSize: 500)
    let problem = #expect(throws: ParseProblem.self) { _ = try walk.position(after: [["objectId": "I"]]) }
    #expect(problem?.description.contains("class Book has no 'updatedAt'") == true)
  }

  /// Every row of a class with equal time stamps arrives once, whatever limit the server applies.
  @Test func walk_overTiedStamps_meetsEachRowOnce() throws {
    let rows: [JSONObject] = (0..<1_001).map {
      ["objectId": .string("id" + String(10_000 + $0)), "updatedAt": .string("2024-05-01T10:20:30.\($0 < 900 ? 123 : 124)Z")]
    }
    let walk = KeysetWalk(try ParseQuery("Book"), by: .modification, pageSize: 500)
    var seen: [String] = [], position: KeysetWalk.Position?
    while true {
      let page = Array(rows.filter { Self.isBehind($0, walk.page(after: position).condition) }.prefix(100))
      guard let next = try walk.position(after: page) else { break }
      seen += page.compactMap { $0["objectId"]?.stringValue }
      position = next
    }
    #expect(seen == rows.compactMap { $0["objectId"]?.stringValue })
  }

  /// Evaluates the condition of a page like a server, as far as walks use conditions.
  private static func isBehind(_ row: JSONObject, _ condition: ParseCondition) -> Bool {
    condition.json.allSatisfy { key, value in
      if key == "$or" { return (value.arrayValue ?? []).contains { isBehind(row, ParseCondition($0.objectValue ?? [:])) } }
      let own = row[key]?.stringValue ?? ""
      if let bound = value["$gt"] { return own > (bound.stringValue ?? bound["iso"]?.stringValue ?? "") }
      return own == value["iso"]?.stringValue
    }
  }
}
