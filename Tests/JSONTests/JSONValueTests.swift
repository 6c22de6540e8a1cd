import JSON
import Testing

struct JSONValueTests {
  @Test(arguments: [
    "null", "true", "false", "0", "-1", "5.0", "0.1", "-0.0", "1e+300", "9007199254740993", "9223372036854775807",
    "-9223372036854775808", "\"\"", "\"a\\\"\\\\b\"", "\"\\n\\t\\b\\f\\r\"", "\"\\u0001\\u001f\"", "\"Göktuğ 한글 👩‍👧\"", "[]", "{}",
    "[[],[{}]]", "{\"b\":1,\"a\":[null,{\"z\":0.5,\"y\":\"\"}]}",
  ])
  func parse_canonicalText_comesBackTheSame(_ text: String) throws {
    #expect(try JSONValue(parsing: text).text == text)
  }

  @Test func parse_numbers_keepIntegersApartFromReals() throws {
    #expect(try JSONValue(parsing: "9007199254740993") == .integer(9_007_199_254_740_993))
    #expect(try JSONValue(parsing: "9223372036854775807") == .integer(.max))
    #expect(try JSONValue(parsing: "-9223372036854775808") == .integer(.min))
    for number in [Int64.min, -10, -1, 0, 9, 10, 101, .max] { #expect(JSONValue.integer(number).text == "\(number)") }
    #expect(try JSONValue(parsing: "9223372036854775808") == .number(0x1p63))
    #expect(try JSONValue(parsing: "-9223372036854775809") == .number(-0x1p63))
    #expect(try JSONValue(parsing: "5.0") == .number(5))
    #expect(try JSONValue(parsing: "5e0") == .number(5))
    #expect(JSONValue.number(5).text == "5.0")
    #expect(JSONValue.number(1e100).text == "1e+100")
    #expect(JSONValue.number(5e-324).text == "5e-324")
    #expect(try JSONValue(parsing: JSONValue.number(0.1 + 0.2).text) == .number(0.1 + 0.2))
  }

  @Test(arguments: [
    "18446744073709551615", "9007199254740993.0", "-9223372036854775809", "1.10", "1e3", "1E+2", "0.1000000000000000055",
    "12345678901234567.89", "-0", "0.00001", "100000000000000000000.5", "1e400", "-1E-400", "0.0", "1.5", "-12.25", "0e0",
  ])
  func parse_number_keepsItsText(_ text: String) throws {
    #expect(try JSONValue(parsing: text).text == text)
    #expect(try JSONValue(parsing: #"{"a":[\#(text),{"b":\#(text)}]}"#).text == #"{"a":[\#(text),{"b":\#(text)}]}"#)
    #expect(try JSONValue(parsing: text).doubleValue == Double(text))
  }

  @Test(arguments: [
    ("18446744073709551615", "18446744073709551614", false), ("18446744073709551615", "18446744073709551615.0", true),
    ("1e3", "1000", true), ("1.10", "1.1", true), ("1e400", "1e401", false), ("-0", "0", true), ("0.10e1", "1", true),
    ("123e-2", "1.23", true), ("9223372036854775808", "9223372036854775807", false), ("1e99999999999999999999", "1e400", false),
  ])
  func equality_ofNumbersWithText_isThatOfTheirDigits(_ a: String, _ b: String, areEqual: Bool) throws {
    #expect((try JSONValue(parsing: a) == JSONValue(parsing: b)) == areEqual)
    #expect((try JSONValue(parsing: b) == JSONValue(parsing: a)) == areEqual)
  }

  @Test(arguments: [
    ("\u{E9}", "e\u{301}"), ("\u{2126}", "\u{3A9}"), ("\u{212B}", "\u{C5}"), ("\u{212A}", "K"), ("\u{37E}", ";"),
  ])
  func equality_ofTexts_isThatOfTheirBytes(_ a: String, _ b: String) throws {
    #expect(JSONValue.string(a) != .string(b) && JSONValue.array([.string(a)]) != [.string(b)])
    #expect(JSONValue.object([a: 1]) != .object([b: 1]) && JSONObject([(a, 1), (b, 2)]).count == 2)
    #expect(try JSONValue(parsing: #"{"\#(a)":1,"\#(b)":2}"#)[b] == 2)
  }

  @Test func serialize_notANumber_isNull() { #expect(JSONValue.array([.number(.nan)]).text == "[null]") }

  @Test func number_tooLargeForADouble_staysOneAndIsNeverNull() throws {
    let read = try JSONValue(parsing: "[1e400,-1E+999,1\(String(repeating: "0", count: 400))]")
    #expect(read == [.number(.infinity), .number(-.infinity), .number(.infinity)])
    #expect(read.text == "[1e400,-1E+999,1\(String(repeating: "0", count: 400))]")
    #expect(JSONValue.array([.number(.infinity), .number(-.infinity)]).text == "[1e999,-1e999]")
    #expect(try JSONValue(parsing: read.text) == read)
  }

  @Test func parse_escapes_giveTheText() throws {
    #expect(try JSONValue(parsing: #""\u00e9\/\ud83d\ude00\u0000""#) == .string("é/😀\u{0}"))
    #expect(JSONValue.string("\u{0}\u{7f}é/\"").text == "\"\\u0000\u{7f}é/\\\"\"")
  }

  @Test func parse_keys_stayInOrder() throws {
    let object = try #require(try JSONValue(parsing: #"{"z":1,"a":2,"m":3,"a":4}"#).objectValue)
    #expect(object.keys == ["z", "a", "m"])
    #expect(object["a"] == 4)
  }

  @Test func parse_keysThatOnlyLookAlike_stayApart() throws {
    let text = "{\"\u{e9}\":1,\"e\u{301}\":2}"
    let object = try #require(try JSONValue(parsing: text).objectValue)
    #expect(object.count == 2)
    #expect(object["\u{e9}"] == 1)
    #expect(object["e\u{301}"] == 2)
    #expect(JSONValue.object(object).text == text)
  }

  @Test func object_settingAndRemoving_keepsPlaces() {
    var object: JSONObject = ["a": 1, "b": 2, "c": 3]
    object["b"] = "new"
    object["a"] = nil
    object["d"] = .null
    object["gone"] = nil
    #expect(object.text == #"{"b":"new","c":3,"d":null}"#)
    #expect(object == ["d": nil, "c": 3, "b": "new"])
    #expect(object != ["d": nil, "c": 3, "b": "other"])
    #expect(object.map(\.key) == ["b", "c", "d"])
  }

  @Test func accessors_otherKinds_giveNil() {
    #expect(JSONValue.number(10).integerValue == 10)
    #expect(JSONValue.number(10.5).integerValue == nil)
    #expect(JSONValue.number(1e300).integerValue == nil)
    #expect(JSONValue.number(.infinity).integerValue == nil)
    #expect(JSONValue.integer(3).doubleValue == 3)
    #expect(JSONValue.string("3").integerValue == nil)
    #expect(JSONValue.bool(true).integerValue == nil)
    #expect(JSONValue.array([])["a"] == nil)
    #expect(JSONValue.object(["a": nil])["a"] == .null)
    #expect(JSONValue.null.isNull)
  }

  @Test func parse_bad_namesThePlace() {
    func place(_ text: String) -> String {
      do {
        return try JSONValue(parsing: text).text
      } catch {
        let place = error.position(in: Array(text.utf8))
        return "\(place.line):\(place.column)"
      }
    }
    #expect(place("{\n  \"a\": 1,\n  \"b\" 2\n}") == "3:7")
    #expect(place("[1,\n2,\n]") == "3:1")
    #expect(place("x") == "1:1")
    #expect(place("") == "1:1")
    #expect(place("\n\n[1") == "3:3")
    #expect(place("{} {}") == "1:4")
  }

  @Test func parse_invalidUTF8_isRefused() {
    #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xc3, 0x28, 0x22]) }
    #expect(throws: JSONError.self) { try JSONValue(parsing: [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) }
  }

  @Test func parse_deep_worksToTheLimitAndIsRefusedBeyond() throws {
    func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
    #expect(try JSONValue(parsing: nested(1000)).text == nested(1000))
    #expect(throws: JSONError.self) { try JSONValue(parsing: nested(1001)) }
    #expect(throws: JSONError.self) { try JSONValue(parsing: nested(100_000)) }
    let object = String(repeating: #"{"a":"#, count: 1001) + "1" + String(repeating: "}", count: 1001)
    #expect(throws: JSONError.self) { try JSONValue(parsing: object) }
  }

  @Test func parse_manyKeys_isNotQuadratic() throws {
    let text = "{" + (0..<20_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}"
    #expect(try JSONValue(parsing: text).objectValue?.count == 20_000)
  }

  @Test func file_problems_nameFileLineAndKey() throws {
    let file = try JSONFile(name: "userstore.json", text: Array("{\n \"soups\": 3\n}".utf8))
    #expect(file.problem(key: "soups", "must be an array").description == "userstore.json:2: 'soups' must be an array")
    let problem = #expect(throws: JSONFile.Problem.self) { try JSONFile(name: "b.json", text: Array("{\n".utf8)) }
    #expect(problem?.description == "b.json:2:1: not valid JSON: the text ends too early")
  }

  @Test func equality_manyMembersInAnyOrder() {
    let members = (0..<3000).map { ("k\($0)", JSONValue.integer(Int64($0))) }
    let object = JSONObject(members)
    #expect(object == JSONObject(members) && object == JSONObject(members.reversed()))
    #expect(object != JSONObject(members.dropLast() + [("k", 0)]))
    #expect(object != object.replacing(with: ["k2999": 0]))
    #expect((["é": 1] as JSONObject) != (["e\u{301}": 1] as JSONObject))
  }

  /// A large object has an index, which has to follow each change.
  @Test func object_manyMembers_behavesAsASmallOne() throws {
    var random = SystemRandomNumberGenerator(), object = JSONObject(), model: [(String, JSONValue)] = []
    for step in 0..<20_000 {
      let key = ["k", "é", "e\u{301}"].randomElement(using: &random)! + String(Int.random(in: 0..<100, using: &random))
      let place = model.firstIndex { Array($0.0.utf8) == Array(key.utf8) }
      if Int.random(in: 0..<5, using: &random) == 0 {
        object[key] = nil
        if let place { model.remove(at: place) }
      } else {
        object[key] = .integer(Int64(step))
        if let place { model[place].1 = .integer(Int64(step)) } else { model.append((key, .integer(Int64(step)))) }
      }
      if step % 500 == 0 { object = object.filtered { $0.value.integerValue! % 3 != 0 } }
      if step % 500 == 0 { model.removeAll { $0.1.integerValue! % 3 == 0 } }
      #expect(object[key] == model.first { Array($0.0.utf8) == Array(key.utf8) }?.1)
      guard object.count == model.count else { return #expect(Bool(false), "step \(step)") }
    }
    #expect(JSONValue.object(object).text == JSONValue.object(JSONObject(model)).text)
    #expect(try JSONValue(parsing: JSONValue.object(object).text) == .object(object))
  }
}
