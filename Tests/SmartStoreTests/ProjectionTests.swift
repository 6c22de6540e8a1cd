import JSON
import SmartStore
import TestSupport
import Testing

struct ProjectionTests {
  /// Entry, path, projection; nil if the path has no value.
  @Test(arguments: [
    (#"{"a":{"b":[{"c":"xx"},{"c":"xy"},{"d":[{"e":1},{"e":2}]},{"d":[{"e":3},{"e":4}]}]}}"#, "a.b.c", #"["xx","xy"]"#),
    (
      #"{"a":{"b":[{"c":"xx"},{"c":"xy"},{"d":[{"e":1},{"e":2}]},{"d":[{"e":3},{"e":4}]}]}}"#, "a.b.d",
      #"[[{"e":1},{"e":2}],[{"e":3},{"e":4}]]"#
    ),
    (#"{"a":{"b":[{"c":"xx"},{"c":"xy"},{"d":[{"e":1},{"e":2}]},{"d":[{"e":3},{"e":4}]}]}}"#, "a.b.d.e", "[[1,2],[3,4]]"),
    (#"{"c":[{"cc":"cc1"},{"cc":2},{"cc":[1,2,3]},{},{"cc":{"cc5":5}}]}"#, "c.cc", #"["cc1",2,[1,2,3],{"cc5":5}]"#),
    (#"{"c":[{"cc":"cc1"},{"cc":2},{"cc":[1,2,3]},{},{"cc":{"cc5":5}}]}"#, "c.cc.cc5", "[5]"),
    (#"{"a":null}"#, "a", "null"), (#"{"a":null}"#, "a1", nil), (#"{"a":[{"b":1},{"b":null},{}]}"#, "a.b", "[1,null]"),
    (#"{"a":[{},1]}"#, "a.b", nil), (#"{"a":"text"}"#, "a.b", nil), (#"{"a.b":1}"#, "a.b", nil), (#"{"a":1}"#, "", #"{"a":1}"#),
  ])
  func project_path_followsObjectsAndArrays(_ entry: String, _ path: String, _ result: String?) throws {
    #expect(SoupPath.project(try JSONValue(parsing: entry), path)?.text == result)
  }

  /// A value with its columns under string, integer, floating and json1 indexes.
  @Test(arguments: [
    ("null", "null,null,null,null"), (#""abc""#, #""abc",null,null,"abc""#), (#""12""#, #""12",null,null,"12""#),
    (#""""#, #""",null,null,"""#),
    ("7", #""7",7,7.0,7"#), ("1.9", #""1.9",1,1.9,1.9"#), ("-1.9", #""-1.9",-1,-1.9,-1.9"#), ("2.0", #""2.0",2,2.0,2.0"#),
    ("1e10", #""10000000000.0",10000000000,10000000000.0,10000000000.0"#), ("true", #""true",1,null,1"#),
    ("false", #""false",0,null,0"#),
    (#"[1, "a/b"]"#, #""[1,\"a\\/b\"]",null,null,"[1,\"a/b\"]""#), (#"{"k": {}}"#, #""{\"k\":{}}",null,null,"{\"k\":{}}""#),
    ("9007199254740993", #""9007199254740993",9007199254740993,9007199254740992.0,9007199254740993"#),
    ("9223372036854775807", #""9223372036854775807",9223372036854775807,9.223372036854776e+18,9223372036854775807"#),
    ("-9223372036854775808", #""-9223372036854775808",-9223372036854775808,-9.223372036854776e+18,-9223372036854775808"#),
    ("5e-324", #""5e-324",0,5e-324,5e-324"#), ("1e300", #""1e+300",9223372036854775807,1e+300,1e+300"#),
    (#""\u00e9\n\"\\""#, #""é\n\"\\",null,null,"é\n\"\\""#),
  ])
  func index_value_keepsWhatItsTypeKeeps(_ value: String, _ columns: String) throws {
    let temporary = try TemporaryStore(soup: "s", [.string("v"), .integer("o.v"), .floating("p.v"), .json1("q.v")])
    try temporary.store.upsert(#"[{"v":\#(value),"o":{"v":\#(value)},"p":{"v":\#(value)},"q":{"v":\#(value)}}]"#, into: "s")
    #expect(try temporary.store.rows("SELECT {s:v}, {s:o.v}, {s:p.v}, {s:q.v} FROM {s}") == "[[\(columns)]]")
    guard TestEngine.isSQLite else { return }
    #expect(
      try temporary.store.rows("SELECT typeof({s:o.v}) IN ('null','integer'), typeof({s:p.v}) IN ('null','real') FROM {s}")
        == "[[1,1]]")
  }

  @Test func index_missingAndArrayPaths_areProjected() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a.b"), .integer("a.c"), .json1("a.d"), .string("gone")])
    try temporary.store.upsert(#"[{"a":[{"b":"x","c":1,"d":1},{"b":"y"}]},{"a":{"b":"z","c":2,"d":3}}]"#, into: "s")
    #expect(
      try temporary.store.rows("SELECT {s:a.b}, {s:a.c}, {s:a.d}, {s:gone} FROM {s}")
        == #"[["[\"x\",\"y\"]",null,null,null],["z",2,3,null]]"#)
  }

  /// Rebuilt text can be many times longer than the record: it must not move while the row is
  /// bound.
  @Test func index_textThatGrows_leavesOtherColumnsAlone() throws {
    let specs: [IndexSpec] = [.string("a"), .string("b"), .string("b.c"), .string("d")]
    let temporary = try TemporaryStore(soup: "s", specs), store = temporary.store
    let many = (0..<20_000).map { _ in #"{"c":1e15}"# }.joined(separator: ",")
    try store.upsert(#"[{"a":"first\n","b":[\#(many)],"d":"last\t"}]"#, into: "s")
    #expect(
      try store.rows("SELECT {s:a}, {s:d}, length({s:b}), length({s:b.c}) FROM {s}") == #"[["first\n","last\t",500001,380001]]"#)
  }

  @Test func index_onTheStoresOwnFields_followsThem() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("_soupEntryId"), .string("a")]), store = temporary.store
    try store.upsert(#"[{"a":"x"},{"a":"y"}]"#, into: "s")
    #expect(
      try store.found(#"{"queryType":"exact","indexPath":"_soupEntryId","matchKey":2,"selectPaths":["a"]}"#, in: "s")
        == #"[["y"]]"#)
  }
}
