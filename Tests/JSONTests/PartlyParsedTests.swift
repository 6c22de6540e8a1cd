import JSON
import Testing

/// An object with one list left as text. The rest equals the result of a full parse.
struct PartlyParsedTests {
  @Test(arguments: [
    (#"{"a":1,"entries":[{"x":[1,"]"]}, {}],"b":"c"}"#, #"{"a":1,"b":"c"}"#, #"[{"x":[1,"]"]}, {}]"#),
    (#" { "entries" : [ ] , "a" : 1 } "#, #"{"a":1}"#, "[ ]"),
    (#"{"\u0065ntries":[{}]}"#, "{}", "[{}]"),
    (#"{"entries":[{}],"entries":[{"b":2}]}"#, "{}", #"[{"b":2}]"#),
    (#"{"entries":{},"entries":[{"b":2}]}"#, "{}", #"[{"b":2}]"#),
    (#"{"x":{"entries":[1]},"entries":[{}]}"#, #"{"x":{"entries":[1]}}"#, "[{}]"),
  ])
  func parse_list_staysText(_ text: String, _ value: String, _ list: String) throws {
    let parsed = try PartlyParsed(parsing: Array(text.utf8), leaving: "entries")
    #expect(parsed.value.text == value)
    let range = try #require(parsed.list?.range)
    #expect(String(decoding: Array(text.utf8)[range], as: UTF8.self) == list)
    #expect(parsed.list?.firstNonObject == nil)
  }

  @Test(arguments: [
    #"{"entries":{"a":1}}"#, #"{"entries":null}"#, #"{"entries":"[]"}"#, "{}", "[1,2]", "7", #"{"entries":[{}],"entries":3}"#,
  ])
  func parse_noList_isParsedWhole(_ text: String) throws {
    let parsed = try PartlyParsed(parsing: Array(text.utf8), leaving: "entries")
    #expect(parsed.list == nil)
    #expect(try parsed.value == JSONValue(parsing: text))
  }

  @Test(arguments: [
    ("[1]", 0, "number"), ("[{},null]", 1, "null"), (#"[{},{},"a",1]"#, 2, "string"), ("[[]]", 0, "array"),
    ("[true]", 0, "boolean"),
    (#"["\n"]"#, 0, "string"),
  ])
  func parse_elementsThatAreNoObjects_areFound(_ list: String, _ position: Int, _ kind: String) throws {
    let parsed = try PartlyParsed(parsing: Array("{\"entries\":\(list)}".utf8), leaving: "entries")
    #expect(parsed.list?.firstNonObject?.position == position)
    #expect(parsed.list?.firstNonObject?.kindName == kind)
  }

  @Test(arguments: [
    "", "{", #"{"entries":[{}"#, #"{"entries":[{},]}"#, #"{"entries":[{"a":}]}"#, #"{"entries":[1 2]}"#, #"{"entries":[]"#,
    #"{"entries":[]} x"#,
    #"{"a":1,}"#, "{\"entries\":[{\"a\":\"\u{1}\"}]}", #"{"entries":[{"a":01}]}"#, "nul",
    "{\"entries\":[" + String(repeating: "[", count: 2000) + "]}",
  ])
  func parse_noJSON_failsWhereTheWholeWould(_ text: String) throws {
    var whole: JSONError?, partly: JSONError?
    do { _ = try JSONValue(parsing: text) } catch { whole = error }
    do { _ = try PartlyParsed(parsing: Array(text.utf8), leaving: "entries") } catch { partly = error }
    #expect(whole != nil)
    #expect(partly == whole)
  }
}
