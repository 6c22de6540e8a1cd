import RecordScan
import Testing

struct GrammarTests {
  @Test(arguments: [
    "0", "-0", "1", "-1", "10", "9007199254740993", "0.5", "-0.5", "1e5", "1E+5", "1e-05", "123.456e+7", "0e0",
    "true", "false", "null", "\"\"", "\"a\"", "{}", "[]", "[[]]", "{\"\":{}}", "[1,2]", "{\"a\":1,\"a\":2}",
    " \t\r\n 1 \n", "[ 1 , 2 ]", "{ \"a\" : [ ] , \"b\" : { } }", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"", "\"\\ud800\"",
    "\"\\uD834\\uDD1E\"", "\"\u{7f}\"", "\"\u{2028}\"", "\"12345678\"", "\"1234567\u{e9}\"", "\"👩‍👩‍👧 Göktuğ 한글\"",
  ])
  func walk_validText_isAccepted(_ text: String) { #expect(refusal(text) == nil) }

  /// Each text with the offset of the first invalid byte.
  @Test(arguments: [
    ("", 0), ("  ", 2), ("+1", 0), (".5", 0), ("01", 1), ("-", 1), ("-a", 1), ("1.", 2), ("1.e5", 2), ("1e", 2), ("1e+", 3),
    ("0x10", 1), ("1 2", 2), ("NaN", 0), ("Infinity", 0), ("-Infinity", 1), ("tru", 3), ("trua", 3), ("True", 0), ("nul", 3),
    ("nulll", 4), ("[", 1), ("[1", 2), ("[1,", 3), ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3), ("[1}", 2), ("]", 0),
    ("{", 1), ("{\"a\"", 4), ("{\"a\":", 5), ("{\"a\":1", 6), ("{\"a\":1,", 7), ("{\"a\":1,}", 7), ("{a:1}", 1), ("{'a':1}", 1),
    ("{\"a\" 1}", 5), ("{1:1}", 1), ("{,}", 1), ("{\"a\":1]", 6), ("\"", 1), ("\"abc", 4), ("\"a\nb\"", 2), ("\"a\u{0}\"", 2),
    ("\"\\", 2), ("\"\\x\"", 2), ("\"\\u12\"", 5), ("\"\\u12g4\"", 5), ("\"\\'\"", 2), ("// c", 0), ("1/*c*/", 1),
    ("\u{feff}1", 0), ("\"1234567\t\"", 8), ("\"12345678\u{1f}9\"", 9),
  ])
  func walk_invalidText_isRefusedAtTheOffset(_ text: String, _ offset: Int) {
    #expect(refusal(text)?.offset == offset)
  }

  /// Invalid UTF-8: stray and missing continuation bytes, overlong forms, surrogates, values beyond
  /// U+10FFFF.
  @Test(arguments: [
    [0x80], [0xbf], [0xc3], [0xc3, 0x41], [0xc0, 0x80], [0xc1, 0xbf], [0xe0, 0x80, 0x80], [0xe0, 0x9f, 0xbf], [0xe2, 0x82],
    [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf], [0xf0, 0x80, 0x80, 0x80], [0xf0, 0x9f, 0x98], [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80], [0xfe], [0xff], [0xe2, 0x28, 0xa1],
  ])
  func walk_malformedUTF8_isRefusedWhereItStarts(_ sequence: [UInt8]) {
    for padding in 0..<9 {
      let text = [0x22] + [UInt8](repeating: 0x61, count: padding) + sequence + [0x22]
      #expect(refusal(text)?.offset == 1 + padding, "behind \(padding) letters")
    }
  }

  @Test func walk_everyScalarBoundary_isAccepted() {
    for scalar: UInt32 in [0x20, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff] {
      #expect(refusal("\"\(UnicodeScalar(scalar)!)\"") == nil)
    }
  }

  @Test func walk_quoteAtEveryAlignment_isFound() {
    for length in 0..<40 {
      let letters = String(repeating: "x", count: length)
      #expect(refusal("\"\(letters)\"") == nil)
      #expect(refusal("\"\(letters)\\\"\(letters)\"") == nil)
      #expect(refusal("\"\(letters)\u{1}\(letters)\"")?.offset == 1 + length)
      #expect(refusal("\"\(letters)")?.offset == 1 + length)
    }
  }

  @Test func walk_nesting_endsAtTheLimit() {
    let limit = JSONWalker.maximumDepth
    func nested(_ depth: Int, _ open: String, _ close: String) -> String {
      String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
    }
    #expect(refusal(nested(limit, "[", "]")) == nil)
    #expect(refusal(nested(limit, "{\"a\":", "}")) == nil)
    #expect(refusal(nested(limit + 1, "[", "]"))?.offset == limit)
    #expect(refusal(nested(200_000, "[", "]")) != nil)
  }

  @Test func walk_everyPrefixOfAnArray_isRefused() {
    let text = Array(#"[{"a":"x\u00e9\n","b":[1.5e3,true,null,{}]},-7]"#.utf8)
    for length in 0..<text.count { #expect(refusal(Array(text[..<length])) != nil, "\(length) bytes") }
    #expect(refusal(text) == nil)
  }

  @Test(arguments: [
    (#""\ud800""#, #""\ufffd""#), (#""\uDFFFx""#, #""\ufffdx""#), (#""\ud83d\ude00""#, nil), (#""\\ud800""#, nil),
    (#""\\\ud800""#, #""\\\ufffd""#), (#""\ud83d\ud83d\ude00""#, #""\ufffd\ud83d\ude00""#),
    (#""\ude00\ud83d""#, #""\ufffd\ufffd""#),
    (#"{"\ud800":["\n\udc00"]}"#, #"{"\ufffd":["\n\ufffd"]}"#), (#""\ud83d\nde00""#, #""\ufffd\nde00""#), (#""ud800""#, nil),
  ])
  func replaceLoneSurrogates_text_changesThemAlone(_ text: String, _ expected: String?) {
    var bytes = Array(text.utf8)
    let isFound = bytes.withUnsafeBytes { raw in
      var walker = JSONWalker(raw)
      return (try? walker.skipValue(depth: 0)) != nil && walker.hasLoneSurrogate
    }
    #expect(isFound == (expected != nil))
    bytes.withUnsafeMutableBytes { JSONStringContents.replaceLoneSurrogates(in: $0) }
    #expect(String(decoding: bytes, as: UTF8.self) == expected ?? text)
  }

  @Test func unescape_everyEscape_givesTheTextMeant() {
    func meaning(_ contents: String) -> String {
      var out: [UInt8] = []
      Array(contents.utf8).withUnsafeBufferPointer { JSONStringContents.append($0, to: &out) }
      return String(decoding: out, as: UTF8.self)
    }
    #expect(meaning(#"a\"\\\/\b\f\n\r\tz"#) == "a\"\\/\u{8}\u{c}\n\r\tz")
    #expect(meaning(#"\u0041\u00e9\u20AC\ud834\udd1e"#) == "Aé€𝄞")
    #expect(meaning(#"\ud834x\udd1e"#) == "\u{fffd}x\u{fffd}")
    #expect(meaning(#"\ud800\ud834\udd1e"#) == "\u{fffd}𝄞")
    #expect(meaning(#"\u0000"#) == "\u{0}")
  }
}
