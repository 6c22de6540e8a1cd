import JSON
import RecordScan
import TestSupport
import Testing

@testable import RestCollections

let jsonType = [(name: "Content-Type", value: "application/json; charset=utf-8")]

func read(
  _ target: RestTarget, _ body: String, url: String = "https://api.example.com/items", status: Int = 200,
  headers: [(name: String, value: String)] = jsonType, page: Int = 1
) throws -> CollectionPage {
  try Array(body.utf8).withUnsafeBytes { bytes in
    try PageReader(target).read(bytes, of: PageAnswer(url: url, status: status, headers: headers), page: page)
  }
}

/// Returns the JSON array for the store.
func stored(_ target: RestTarget, _ body: String) throws -> (text: String, isSlice: Bool) {
  try Array(body.utf8).withUnsafeBytes { bytes in
    let page = try PageReader(target).read(bytes, of: PageAnswer(url: "https://h/", headers: jsonType), page: 1)
    switch page.records(in: bytes) {
    case .slice(let range): return (String(decoding: bytes[range], as: UTF8.self), true)
    case .text(let text): return (String(decoding: text, as: UTF8.self), false)
    }
  }
}

struct PageReaderTests {
  private static let repos = #"""
    [{"id":9007199254740993123,"full_name":"a/b","owner":{"login":"ann","id":1},"updated_at":"2024-01-02T03:04:05Z"},
     {"id":"x","updated_at":null,"mirror_url":null}]
    """#

  @Test func read_workedExample_idsAreText_otherBytesUntouched() throws {
    let target = try target(#"{"modificationDateField":"updated_at"}"#)
    let page = try read(target, Self.repos)
    #expect(page.items.map(\.id) == ["9007199254740993123", "x"] && page.itemCount == 2 && page.isUntouched)
    #expect(page.items.map { $0.date?.position } == [1_704_164_645_000, nil] && page.facts.lacksDate)
    let records = try stored(target, Self.repos)
    #expect(!records.isSlice && records.text == Self.repos.replacing("9007199254740993123", with: "\"9007199254740993123\""))
    let textIds = Self.repos.replacing("9007199254740993123", with: "\"a\""), untouched = try stored(target, textIds)
    #expect(untouched.isSlice && untouched.text == textIds)
  }

  @Test(arguments: [
    ("{\"itemsPath\":\"data.items\"}", "{\"data\":{\"x\":[0],\"items\":[{\"id\":1}]}}", "[{\"id\":\"1\"}]"),
    ("{\"itemsPath\":\"sets.1\"}", "{\"sets\":[[],[{\"id\":2}]]}", "[{\"id\":\"2\"}]"),
    (
      "{\"itemsPath\":\"sets[kind=repo].rows\"}", "{\"sets\":[{\"kind\":\"user\"},{\"kind\":\"repo\",\"rows\":[{\"id\":3}]}]}",
      "[{\"id\":\"3\"}]"
    ),
    ("{\"itemsPath\":\"/@graph\"}", "\u{feff}{\"@graph\":[ {\"id\":4} ]}", "[ {\"id\":\"4\"} ]"),
    ("{\"itemsPath\":\"rows\",\"itemsMissing\":\"empty\"}", "{\"n\":0}", "[]"),
    ("{\"itemsPath\":\"rows\",\"itemsMissing\":\"empty\"}", "{\"rows\":{\"a\":1}}", "[]"),
    ("{\"itemsPath\":\"rows\"}", "{\"rows\":null}", "[]"),
    ("{}", "null", "[]"), ("{}", "[]", "[]"),
    (
      "{\"itemPath\":\"resource\",\"itemsPath\":\"entry\"}", "{\"entry\":[{\"resource\":{\"id\":5}},{\"resource\":{\"id\":6}}]}",
      "[{\"id\":\"5\"},{\"id\":\"6\"}]"
    ),
  ])
  func records_byItemsPath(target text: String, body: String, expected: String) throws {
    #expect(try stored(try target(text), body).text == expected)
  }

  @Test(arguments: [
    (
      "{\"itemsPath\":\"rows\"}", "{\"count\":1,\"data\":[]}",
      "rest target 'api' /items, page 3: 'itemsPath' (rows) has no value; the response is an object with the members count, data"
    ),
    (
      "{\"itemsPath\":\"rows\"}", "{\"rows\":{}}",
      "rest target 'api' /items, page 3: 'itemsPath' (rows) leads to an object, not to an array"
    ),
    (
      "{\"itemsPath\":\"rows\",\"itemsMissing\":\"empty\"}", "{\"rows\":\"x\"}",
      "rest target 'api' /items, page 3: 'itemsPath' (rows) leads to text, not to an array"
    ),
    ("{}", "{\"message\":\"no\"}", "rest target 'api' /items, page 3: 'itemsPath' ($) leads to an object, not to an array"),
    ("{}", "[{\"id\":1}", "rest target 'api' /items, page 3: the body is not valid JSON: the text ends too early at byte 9"),
    ("{}", "", "rest target 'api' /items, page 3: the body is not valid JSON: the text ends too early at byte 0"),
    ("{}", "[{\"id\":NaN}]", "rest target 'api' /items, page 3: the body is not valid JSON: a value cannot start here at byte 7"),
    ("{}", "[1] 2", "rest target 'api' /items, page 3: the body is not valid JSON: unexpected text after the value at byte 4"),
  ])
  func read_wrongBody_namesTargetPageAndKey(target text: String, body: String, complaint: String) throws {
    let target = try target(text)
    do {
      _ = try read(target, body, page: 3)
      Issue.record("taken")
    } catch { #expect("\(error)" == complaint) }
  }

  @Test func read_html_isRefusedWithItsBeginning() throws {
    let target = try target(#"{"url":"/items?api_key=secret"}"#)
    do {
      _ = try read(
        target, "<html>Bad gateway</html>" + String(repeating: "x", count: 5000), headers: [("content-type", "text/html")])
      Issue.record("taken")
    } catch let error as RestPageError {
      #expect(error.code == .notJSON && error.description.utf8.count < 400)
      #expect(
        error.description.hasPrefix(
          "rest target 'api' /items, page 1: Content-Type is 'text/html', not JSON; the body begins with '<html>Bad"))
    }
  }

  @Test(arguments: ["application/geo+json", "Application/JSON", "application/vnd.github+json; x=y"])
  func read_jsonTypes_areTaken(type: String) throws {
    #expect(try read(try target(), "[]", headers: [("Content-Type", type)]).itemCount == 0)
  }

  @Test func read_nestedTooDeeply_isRefused() throws {
    func body(_ depth: Int) -> String {
      "[{\"id\":1,\"x\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}]"
    }
    #expect(try read(try target(), body(98)).items.count == 1)
    #expect(throws: RestPageError.self) { try read(try target(), body(99)) }
    #expect(throws: RestPageError.self) { try read(try target("{\"itemsPath\":\"a\"}"), "{\"a\":" + body(98) + "}") }
  }

  @Test func read_tooManyItems_isRefused() throws {
    let body = "[" + (1...100_001).map { "{\"id\":\($0)}" }.joined(separator: ",") + "]"
    do {
      _ = try read(try target(), body)
      Issue.record("taken")
    } catch let error as RestPageError { #expect(error.code == .tooManyItems) }
  }

  @Test(arguments: [(204, "", false), (202, "", true), (202, "[]", true), (202, "<html>", true), (202, #"{"items":[]}"#, true)])
  func read_answersWithoutABody(status: Int, body: String, isPending: Bool) throws {
    let page = try read(try target(), body, status: status, headers: [])
    #expect(page.itemCount == 0 && page.isPending == isPending)
  }

  @Test func read_badItems_areFlaggedAlone() throws {
    let target = try target(#"{"itemPath":"r","modificationDateField":"d"}"#)
    let page = try read(
      target,
      #"[5,{"r":{"id":1,"d":"2024-01-01"}},{"r":[]},{"q":{}},{"r":{}},{"r":{"id":""}},{"r":{"id":1.5}},{"r":{"id":true}},{"r":{"id":2,"d":"soon"}},{"r":{"id":3,"d":7}},{"r":{"id":4}}]"#
    )
    #expect(page.items.map(\.id) == ["1", "4"] && page.itemCount == 11)
    #expect(page.flagged.map(\.position) == [0, 2, 3, 4, 5, 6, 7, 8, 9] && page.flagged.map(\.id)[7] == "2")
    #expect(page.flagged[0].reason == "the element is a number, not an object")
    #expect(page.flagged[7].reason == "'d' is not a date of the format 'iso8601'")
  }

  @Test func read_duplicates_theLastOneCounts() throws {
    let target = try target(#"{"deletedPath":"gone"}"#)
    let body = #"[{"id":1,"v":1},{"id":2,"v":1},{"id":"1","v":2},{"id":3,"gone":true},{"id":3,"v":9}]"#
    let page = try read(target, body)
    #expect(page.duplicates == 1 && page.removed == ["3"] && page.ids.count == 5)
    #expect(try stored(target, body).text == #"[{"id":"2","v":1},{"id":"1","v":2}]"#)
  }

  @Test func read_where_excludesAndNamesTheIds() throws {
    let target = try target(#"{"where":[{"path":"pull_request","exists":false},{"path":"state","in":["open",null,3,true]}]}"#)
    let page = try read(
      target,
      #"[{"id":1,"state":"open"},{"id":2,"state":"open","pull_request":null},{"id":3},{"id":4,"state":null},{"id":5,"state":3.0},{"id":6,"state":true},{"id":7,"state":"o\u0070en"},{"id":8,"state":"closed"}]"#
    )
    #expect(page.items.map(\.id) == ["1", "4", "5", "6", "7"] && page.excluded == ["2", "3", "8"])
  }

  @Test(
    arguments: [
      (
        "{\"deletedPath\":\"/@removed\"}",
        "[{\"id\":1,\"@removed\":{\"reason\":\"x\"}},{\"id\":2,\"@removed\":null},{\"id\":3,\"@removed\":false},{\"id\":4}]",
        ["1"]
      ),
      (
        "{\"deletedPath\":\"status\",\"deletedValue\":[\"gone\",5]}",
        "[{\"id\":1,\"status\":\"gone\"},{\"id\":2,\"status\":5},{\"id\":3,\"status\":true}]", ["1", "2"]
      ),
      (
        "{\"deletedPath\":\"op\",\"deletedValue\":\"d\",\"itemPath\":\"doc\"}",
        "[{\"op\":\"d\",\"doc\":{\"id\":1}},{\"op\":\"d\",\"id\":2},{\"op\":\"u\",\"doc\":{\"id\":3}}]", ["1", "2"]
      ),
      (
        "{\"deletedPath\":\"deleted\",\"deletedIdPath\":\"key\",\"itemPath\":\"doc\"}",
        "[{\"deleted\":true,\"key\":7},{\"doc\":{\"deleted\":true,\"key\":\"8\",\"id\":9}}]", ["7", "8"]
      ),
      (
        "{\"itemsPath\":\"a\",\"deletedItemsPath\":\"gone\"}", "{\"a\":[{\"id\":1}],\"gone\":[2,\"3\",{\"id\":4},{}]}",
        ["2", "3", "4"]
      ),
      ("{\"deletedPath\":\"gone\"}", "[{\"gone\":1}]", []),
    ] as [(String, String, [String])])
  func read_marksOfDeletion(target text: String, body: String, removed: [String]) throws {
    let page = try read(try target(text), body)
    #expect(page.removed == removed && page.items.allSatisfy { !removed.contains($0.id) })
  }

  @Test(arguments: [
    (
      #"{"map":{"ownerLogin":"owner.login"}}"#, #"{"id":1,"owner":{"login":"a"}}"#,
      #"{"id":"1","owner":{"login":"a"},"ownerLogin":"a"}"#
    ),
    (#"{"map":{"title":"name"}}"#, #"{"id":1, "name" : "\u0041", "x":1.0}"#, #"{"id":"1","x":1.0,"title":"\u0041"}"#),
    (#"{"map":{"title":"name"}}"#, #"{"id":1,"title":"old"}"#, #"{"id":"1","title":"old"}"#),
    (#"{"map":{"title":"name"}}"#, #"{"id":1,"title":"old","name":null}"#, #"{"id":"1","title":null}"#),
    (#"{"map":{"key":"id"}}"#, #"{"id":1}"#, #"{"id":"1","key":1}"#),
    (#"{"map":{"id2":"name","n":"name"}}"#, #"{"name":"a","id":1}"#, #"{"id":"1","id2":"a","n":"a"}"#),
    (
      #"{"map":{"labels":"tags[*].name"}}"#, #"{"id":1,"tags":[{"name":"a"},{"x":1},{"name":null}]}"#,
      #"{"id":"1","tags":[{"name":"a"},{"x":1},{"name":null}],"labels":["a",null]}"#
    ),
    (
      #"{"omit":["secret","owner.mail"]}"#, #"{"secret":"s","id":1,"owner":{"mail":"m","x":{"mail":1}}}"#,
      #"{"id":"1","owner":{"x":{"mail":1}}}"#
    ),
    (#"{"omit":["a","a.b"]}"#, #"{"id":1,"a":{"b":1}}"#, #"{"id":"1"}"#),
    (#"{"omit":["a.b"]}"#, #"{"id":1,"a":{"b":1},"c":{}}"#, #"{"id":"1","a":{},"c":{}}"#),
    (#"{"omit":["zzz"]}"#, #"{ "id" : 1 }"#, #"{ "id" : "1" }"#),
    (#"{"omit":["owner"],"map":{"login":"owner.login"}}"#, #"{"owner":{"login":"a"},"id":1}"#, #"{"id":"1","login":"a"}"#),
    (#"{"omit":["s\u00e9cret","/a.b"]}"#, #"{"id":1,"s\u00E9cret":1,"a.b":2,"a":{"b":3}}"#, #"{"id":"1","a":{"b":3}}"#),
  ])
  func records_mapAndOmit_editBytes(target text: String, item: String, expected: String) throws {
    #expect(try stored(try target(text), "[\(item)]").text == "[\(expected)]")
  }

  @Test func records_oneLargeItem_isNotCopied() throws {
    let item = "{\"id\":\"1\",\"text\":\"" + String(repeating: "é\\n", count: 2_500_000) + "\"}"
    let records = try stored(try target(), "[\(item)]")
    #expect(records.isSlice && records.text.utf8.count == item.utf8.count + 2)
    let edited = try stored(try target(#"{"omit":["nothing"]}"#), "[\(item)]")
    #expect(edited.text.utf8.count == item.utf8.count + 2)
  }

  @Test func facts_fromBodyAndHeaders() throws {
    let target = try target(
      #"{"itemsPath":"d","totalPath":"meta.total","paging":{"style":"cursor","cursorParam":"c","cursorPath":"header:X-Next","hasMorePath":"more","endPath":"end"},"incremental":{"watermarkPath":"header:ETag"}}"#
    )
    let page = try read(
      target, #"{"d":[],"meta":{"total":-1},"more":false,"end":true}"#,
      headers: jsonType + [("x-next", "abc"), ("etag", "\"123\"")])
    #expect(
      page.facts.cursor == .text("abc") && page.facts.total == nil && page.facts.hasMore == false && page.facts.isEnd == true)
    #expect(page.facts.watermark == "\"123\"")
  }

  /// A page with any content is either read or refused, and stored records are valid JSON.
  @Test func read_randomBodies_neverLeaveTheBuffer() throws {
    var random = SeededGenerator(state: 2_024)
    let target = try target(
      #"{"itemsPath":"d","itemPath":"r","map":{"x":"a[*].b","y":"z"},"omit":["q.s"],"deletedPath":"g","deletedItemsPath":"k","where":[{"path":"w","exists":false}],"modificationDateField":"t","dateFormat":"epoch"}"#
    )
    let tokens = [
      "{", "}", "[", "]", ":", ",", "\"d\"", "\"r\"", "\"id\"", "\"a\"", "\"b\"", "1", "null", "true", "\"t\"", "\"q\"", " ",
    ]
    let seeds = [
      #"{"d":[{"r":{"id":1,"t":5,"a":[{"b":1}],"q":{"s":1},"z":"v"}},{"g":1,"r":{"id":2}},{"r":{"id":3,"w":1}}],"k":[4]}"#
    ]
    for _ in 0..<8000 {
      var bytes = Array(Bool.random(using: &random) ? seeds[0].utf8 : "{\"d\":[".utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let i = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes.insert(contentsOf: tokens.randomElement(using: &random)!.utf8, at: i)
        case 1: bytes.removeSubrange(min(i, bytes.count)..<min(bytes.count, i + 5))
        default: if i < bytes.count { bytes[i] = UInt8.random(in: 0...255, using: &random) }
        }
      }
      try bytes.withUnsafeBytes { body in
        guard let page = try? PageReader(target).read(body, of: PageAnswer(url: "https://h/", headers: jsonType), page: 1) else {
          return
        }
        guard case .text(let text) = page.records(in: body) else { return }
        let records = try #require(try JSONValue(parsing: text).arrayValue)
        #expect(records.count == page.items.count && page.items.count + page.duplicates <= page.itemCount)
      }
    }
  }
}
