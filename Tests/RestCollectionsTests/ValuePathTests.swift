import JSON
import RecordScan
import TestSupport
import Testing

@testable import RestCollections

/// Returns the JSON text at a path; nil if there is none.
func evaluate(_ path: String, in text: String) throws -> String? {
  try Array(text.utf8).withUnsafeBytes { bytes in
    var walker = JSONWalker(bytes)
    let value = try walker.skipValue(depth: 0)
    var out: [UInt8] = []
    let root = ScannedValue(kind: value.kind, start: value.start, count: value.count)
    let isThere = try ValuePath(path, taking: [.each]).appendJSON(from: root, in: bytes, to: &out)
    return isThere ? String(decoding: out, as: UTF8.self) : nil
  }
}

struct ValuePathTests {
  private static let page = #"""
    {"a":{"b":{"c":1},"n":null},"list":[{"x":"first"},{"x":"second","rel":"next","href":"/p2"},7],"@odata.nextLink":"u","$":5,
     "d":{"@links":{"next":[{"uri":"v"}]}},"7":"seven","esc\u0061pe":"\u0041","m~n":1,"s/t":2,"":3,"dup":1,"dup":{"k":2},
     "links":[{"rel":"self","href":"/p1"},{"rel":"n\u0065xt","href":"/p2"},{"rel":"next","href":"/p9"}],
     "labels":[{"name":"bug"},{},{"name":null},3],"id":9007199254740993123}
    """#

  @Test(
    arguments: [
      ("a.b.c", "1"), ("a.n", "null"), ("a.missing", nil), ("a.n.x", nil), ("a.b", "{\"c\":1}"), ("list.1.x", "\"second\""),
      ("list.2", "7"), ("list.3", nil), ("list.01", nil), ("list[rel=next].href", "\"/p2\""), ("list[rel=last].href", nil),
      ("links[rel=next].href", "\"/p2\""), ("/@odata.nextLink", "\"u\""), ("@odata.nextLink", nil), ("/$", "5"),
      ("d.@links.next.0.uri", "\"v\""), ("7", "\"seven\""), ("/7", "\"seven\""), ("escape", "\"\\u0041\""), ("/m~0n", "1"),
      ("/s~1t", "2"), ("/", "3"), ("dup.k", "2"), ("/list/0/x", "\"first\""), ("/list/-1", nil),
      ("labels[*].name", "[\"bug\",null]"),
      ("labels[*]", "[{\"name\":\"bug\"},{},{\"name\":null},3]"), ("a[*].b", nil), ("id", "9007199254740993123"),
      ("$.a.b.c", "1"), ("list.0.x.y", nil), ("list[x=second].rel", "\"next\""), ("$.links[rel=self].href", "\"/p1\""),
    ] as [(String, String?)])
  func value_ofPath(path: String, expected: String?) throws { #expect(try evaluate(path, in: Self.page) == expected) }

  @Test(arguments: [("$", "[1,[2]]"), ("1.0", "2"), ("[a=b].c", nil), ("$.0", "1"), ("/1/0", "2")] as [(String, String?)])
  func value_rootIsAnArray(path: String, expected: String?) throws {
    #expect(try evaluate(path, in: " [1,[2]] ") == expected)
  }

  @Test(arguments: [
    ("", "is empty; '$' is the root"), ("a..b", "has an empty step"), (".a", "has an empty step"), ("a.", "has an empty step"),
    ("a[0]", "has '[0]', which is neither '[key=value]' nor '[*]'; an index is written '.0'"), ("a[b", "has a '[' without ']'"),
    ("a]b", "has a ']' without '['"), ("a[k=v]b", "lacks a dot after ']'"),
    ("a[=v]", "has '[=v]', which is neither '[key=value]' nor '[*]'; an index is written '.0'"),
    ("/a~2", "has a '~' that is neither '~0' nor '~1'"), ("header:", "has no valid header name after 'header:'"),
    ("header:a b", "has no valid header name after 'header:'"), ("a[*].b[*]", "has '[*]' twice"),
  ])
  func path_wrong_isRefused(text: String, complaint: String) {
    #expect(throws: ValuePath.Problem(complaint)) { try ValuePath(text, taking: [.header, .each]) }
  }

  @Test(arguments: [".", "/"]) func path_tooManySteps_isRefused(separator: String) {
    let path = String(repeating: separator + "a", count: 100_000).dropFirst(separator == "." ? 1 : 0)
    #expect(throws: ValuePath.Problem("has more than 1000 steps")) { try ValuePath(String(path)) }
  }

  @Test func path_headerAndEach_onlyWhereTheKeyTakesThem() throws {
    #expect(throws: ValuePath.Problem("cannot be a header: it is read from the body")) { try ValuePath("header:ETag") }
    #expect(throws: ValuePath.Problem.self) { try ValuePath("a[*].b", taking: .header) }
    #expect(try ValuePath("header:Next-Page", taking: .header).headerName == "Next-Page")
  }

  @Test func pathSet_findsWhatEachPathFindsAlone() throws {
    let texts = [
      "a.b.c", "a.n", "list.1.x", "links[rel=next].href", "$", "d.@links.next.0.uri", "id", "missing.x", "7", "dup.k", "list.x",
    ]
    let paths = try texts.map { try ValuePath($0) }
    let set = PathSet(paths.map { $0 } + [nil])
    try Array(Self.page.utf8).withUnsafeBytes { bytes in
      var scanner = RecordScanner(plan: set.plan)
      try scanner.scanObject(bytes)
      let root = ScannedValue(kind: .object, start: 0, count: bytes.count)
      for (i, text) in texts.enumerated() {
        let value = try set.value(i, scanned: set.scanned(i, record: 0, by: scanner), root: root, in: bytes)
        var out: [UInt8] = []
        if value.kind != .missing { value.appendJSON(from: bytes, to: &out) }
        #expect(
          (value.kind == .missing ? nil : String(decoding: out, as: UTF8.self)) == (try evaluate(text, in: Self.page)), "\(text)")
      }
      #expect(try set.value(texts.count, scanned: .missing, root: root, in: bytes) == .missing)
    }
  }

  @Test func path_randomText_neverCrashes_andKeepsItsText() throws {
    var random = SeededGenerator(state: 6901)
    let pool = Array("ab.[]=*/~01$:é header:X".utf8) + [0xff]
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...14, using: &random)).map { _ in pool.randomElement(using: &random)! }
      let text = String(decoding: bytes, as: UTF8.self)
      guard let path = try? ValuePath(text, taking: [.each, .header]) else { continue }
      #expect(path.text == text)
      if path.headerName == nil { _ = try evaluate(text, in: Self.page) }
    }
  }

  /// Paths of keys and indexes yield the same values as a full parse.
  @Test func value_generatedTexts_matchAFullParse() throws {
    var random = SeededGenerator(state: 99)
    for _ in 0..<2000 {
      let value = randomValue(depth: 0, &random)
      let steps = (0..<Int.random(in: 1...4, using: &random)).map { _ in ["a", "b", "0", "1"].randomElement(using: &random)! }
      var expected: JSONValue? = value
      for step in steps {
        switch expected {
        case .object(let object): expected = object[step]
        case .array(let elements): expected = Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : Optional.none }
        default: expected = nil
        }
      }
      let path = steps.joined(separator: "."), found = try evaluate(path, in: value.text)
      #expect(found == expected?.text, "\(path) of \(value.text)")
      #expect(try evaluate("/" + steps.joined(separator: "/"), in: value.text) == found)
    }
  }

  private func randomValue(depth: Int, _ random: inout SeededGenerator) -> JSONValue {
    switch Int.random(in: depth == 0 ? 3...4 : depth < 4 ? 0...4 : 0...2, using: &random) {
    case 0: return .integer(Int64.random(in: -9...9, using: &random))
    case 1: return .string("é\"")
    case 2: return .null
    case 3: return .array((0..<Int.random(in: 0...2, using: &random)).map { _ in randomValue(depth: depth + 1, &random) })
    default:
      var object = JSONObject()
      for key in ["a", "b", "0"] where Bool.random(using: &random) { object[key] = randomValue(depth: depth + 1, &random) }
      return .object(object)
    }
  }
}
