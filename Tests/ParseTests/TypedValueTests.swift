import JSON
import Testing

@testable import Parse

struct TypedValueTests {
  private func read(_ text: String) throws -> TypedValue? { try TypedValue.read(try JSONValue(parsing: text)) }

  private static let point = ParsePoint(latitude: 48.85, longitude: 2.35)

  @Test(
    arguments: [
      (#"{"__type":"Date","iso":"2024-05-01T10:20:30.123Z"}"#, TypedValue.date(1_714_558_830_123)),
      (
        #"{"__type":"Pointer","className":"ISBN","objectId":"Ab3dE6gH9k"}"#,
        .pointer(ParsePointer(className: "ISBN", objectId: "Ab3dE6gH9k"))
      ),
      (#"{"__type":"Relation","className":"Author"}"#, .relation(className: "Author")),
      (
        #"{"__type":"Object","className":"ISBN","objectId":"i1","value":"978"}"#,
        .included(ParsePointer(className: "ISBN", objectId: "i1"), ["value": "978"])
      ),
      (#"{"__type":"GeoPoint","latitude":48.85,"longitude":2.35}"#, .point(point)),
      (
        #"{"__type":"Polygon","coordinates":[[0.0,0.0],[0.0,1.0],[1.0,1.0]]}"#,
        .polygon([(0, 0), (0, 1), (1, 1)].map { ParsePoint(latitude: $0.0, longitude: $0.1) })
      ),
      (#"{"__type":"File","name":"0a_photo.jpg","url":"http://h/f"}"#, .file(name: "0a_photo.jpg", url: "http://h/f")),
      (#"{"__type":"Bytes","base64":"aGk="}"#, .bytes(Array("hi".utf8))),
    ])
  func read_eachType_isWrittenBackUnchanged(text: String, value: TypedValue) throws {
    #expect(try read(text) == value)
    #expect(value.json.text == text)
  }

  @Test func read_dateWithAnOffset_isTheSameMomentInUTC() throws {
    #expect(
      try read(#"{"__type":"Date","iso":"2024-05-01T12:20:30+02:00"}"#)?.json.text
        == #"{"__type":"Date","iso":"2024-05-01T10:20:30.000Z"}"#)
  }

  @Test func read_plainValues_haveNoType() throws {
    for text in ["null", "1", #""x""#, "[1]", #"{"a":1}"#] { #expect(try read(text) == nil) }
  }

  @Test(
    arguments: [
      (#"{"__type":"Dat","iso":"2024-05-01T10:20:30.123Z"}"#, #"__type "Dat" is not known; known: Date, Pointer, Object"#),
      (#"{"__type":5}"#, "__type 5 is not known"), (#"{"__type":"Date","iso":"soon"}"#, "needs 'iso', a date such as"),
      (#"{"__type":"Pointer","className":"ISBN","objectId":""}"#, "needs 'className' and 'objectId'"),
      (#"{"__type":"GeoPoint","latitude":"48"}"#, "needs 'latitude' and 'longitude', both numbers"),
      (#"{"__type":"Polygon","coordinates":[[0,0],[0,1],[0,0]]}"#, "at least three different pairs"),
      (#"{"__type":"Polygon","coordinates":[[0,0,1],[0,1],[1,1]]}"#, "at least three different pairs"),
      (#"{"__type":"File","url":"http://h/f"}"#, "needs 'name'"),
      (#"{"__type":"Bytes","base64":""}"#, "needs 'base64', which is not empty"),
      (#"{"__type":"Bytes","base64":"a?"}"#, "needs 'base64'"), (#"{"__type":"Relation"}"#, "needs 'className'"),
    ])
  func read_brokenType_isRefusedWithWhatItNeeds(text: String, part: String) throws {
    let problem = #expect(throws: ParseProblem.self) { _ = try read(text) }
    #expect(problem?.description.contains(part) == true, "\(problem?.description ?? "")")
  }
}

struct ParseNamesTests {
  @Test func classes_thatTheServerTakes() throws {
    for name in ["Book", "b2_", "_User", "_Role", "_Session", "_Installation"] { try ParseNames.checkClass(name) }
    for name in ["", "2b", "a b", "_Book", "Bücher", "a.b"] {
      #expect(throws: ParseProblem.self, "\(name)") { try ParseNames.checkClass(name) }
    }
  }

  @Test func fields_withADotOrAReservedName_areRefused() throws {
    try ParseNames.checkField("publishingYear", of: "Book")
    for name in ["length", "className", "_x", "a-b", ""] {
      #expect(throws: ParseProblem.self, "\(name)") { try ParseNames.checkField(name, of: "Book") }
    }
    let dotted = #expect(throws: ParseProblem.self) { try ParseNames.checkField("o.a", of: "Book") }
    #expect(
      dotted?.description
        == "field name 'o.a' of class Book is not valid: the server would read it as a path into an Object column")
  }

  @Test func path_ofBuiltInClasses_isTheirOwn() {
    #expect(ParseNames.path(of: "Book", id: "x1") == "/classes/Book/x1")
    #expect(ParseNames.path(of: "_User") == "/users" && ParseNames.path(of: "_Installation", id: "i") == "/installations/i")
  }
}
