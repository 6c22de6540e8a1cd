import JSON
import Testing

@testable import RestCollections

private func survey(
  _ text: String, _ body: String, headers: [(name: String, value: String)] = [], type: String = "application/json",
  answers304: Bool? = nil
) throws -> PageSurvey {
  let target = try target(text), all = [(name: "Content-Type", value: type)] + headers
  return Array(body.utf8).withUnsafeBytes {
    PageSurvey(
      target, PageAnswer(url: "https://api.example.com/items", headers: all), body: $0, base: "https://api.example.com",
      allowedOrigins: [], answers304: answers304)
  }
}

extension PageSurvey {
  fileprivate var keys: [String] { advice.map { "\($0.key)=\($0.value.text)" } }
  fileprivate func text(_ subject: String) -> String? { findings.first { $0.subject == subject }?.text }
}

/// Ten items in a common format.
private let tenItems = "[" + (1...10).map { #"{"id":\#($0),"name":"n\#($0)"}"# }.joined(separator: ",") + "]"

struct PageSurveyTests {
  @Test func list_thatFits_hasNothingToAdvise() throws {
    let found = try survey(
      #"{"paging":{"style":"link"},"modificationDateField":"at","incremental":{"mode":"etag"}}"#,
      #"[{"id":1,"at":"2026-01-02T03:04:05Z"},{"id":2,"at":"2026-01-02T03:04:06Z"}]"#,
      headers: [("ETag", #""a""#), ("Link", "</items?page=2&token=s>; rel=next")])
    #expect(found.isUsable && found.advice.isEmpty && found.unknown.isEmpty && found.items.count == 2)
    #expect(found.text("items") == "2 in '$'" && found.text("ids") == "'id' in all items, all different")
    #expect(found.text("dates") == "'at' in all items, as iso8601" && found.text("tags") == "the page has an ETag")
    let paging = try #require(found.text("paging"))
    #expect(paging.hasPrefix("'link': the next page is GET https://api.example.com/items?page=2&token="))
    #expect(!paging.hasSuffix("token=s"), "a token may be a secret")
  }

  @Test(arguments: [
    (#"{"data":[{"id":"a"},{"id":"b"}]}"#, "data"), (#"{"a":{"b":[{"id":1},{"id":2}]},"few":[{"id":3}]}"#, "a.b"),
    (#"{"@odata.context":"c","odata.value":[{"id":1}]}"#, "/odata.value"), (#"{"x":{"y":{"z":[{"id":1}]}}}"#, "x.y.z"),
  ])
  func items_elsewhere_areFound(body: String, path: String) throws {
    let found = try survey("{}", body)
    #expect(!found.isUsable && found.keys == ["itemsPath=\"\(path)\""], "\(found.findings)")
  }

  @Test(arguments: [
    (#"[{"_id":"a","v":1},{"_id":"b","v":1}]"#, #"idField="_id""#), (#"[{"Id":"1"},{"Id":"2"}]"#, #"idField="Id""#),
    (#"[{"sys":{"id":"1"}},{"sys":{"id":"2"}}]"#, #"idField="sys.id""#),
    (#"[{"kind":"x","name":"a"},{"kind":"x","name":"b"}]"#, #"idField="name""#),
    (#"[{"noteId":7,"n":1},{"noteId":8,"n":1}]"#, #"idField="noteId""#),
  ])
  func ids_elsewhere_areFound(body: String, advice: String) throws {
    let found = try survey("{}", body)
    #expect(!found.isUsable && found.keys == [advice], "\(found.findings)")
  }

  @Test func ids_thatRepeatOrLack_areTold() throws {
    let repeated = try survey("{}", #"[{"id":1},{"id":1}]"#)
    #expect(repeated.text("ids") == "'id' in all items, only 1 of them different")
    let none = try survey("{}", #"[{"a":1},{"a":1}]"#)
    #expect(none.text("ids") == "'id' is in 0 of 2 items")
    #expect(none.unknown.contains("No member identifies the items: each record needs a unique id in 'idField'."))
  }

  @Test(arguments: [
    (#""updated_at":"2026-01-02T03:04:05Z""#, [#"modificationDateField="updated_at""#]),
    (#""lastModified":1767323045000"#, [#"modificationDateField="lastModified""#, #"dateFormat="epochMs""#]),
    (#""meta":{"updated":1767323045}"#, [#"modificationDateField="meta.updated""#, #"dateFormat="epoch""#]),
    (#""modified":"Sun, 06 Nov 1994 08:49:37 GMT""#, [#"modificationDateField="modified""#, #"dateFormat="rfc1123""#]),
    (#""updated":"soon""#, []), (#""created":"2026-01-02T03:04:05Z""#, []), (#""version":3"#, []),
  ])
  func dates_areFoundWithTheirFormat(member: String, advice: [String]) throws {
    let found = try survey("{}", #"[{"id":1,\#(member)},{"id":2,\#(member)}]"#)
    #expect(found.isUsable && found.keys == advice, "\(found.findings)")
    #expect(found.unknown.contains { $0.hasPrefix("No member looks like a modification date") } == advice.isEmpty)
  }

  @Test func date_ofAnotherFormat_isTold() throws {
    let found = try survey(#"{"modificationDateField":"updated"}"#, #"[{"id":1,"updated":1767323045000}]"#)
    #expect(found.keys == [#"dateFormat="epochMs""#])
    #expect(found.text("dates") == "'updated' is a date of the format iso8601 in 0 of 1 items")
    #expect(!found.isUsable, "no item can be stored")
  }

  @Test(
    arguments: [
      ([("Link", #"<https://api.example.com/items?page=2>; rel="next""#)], "", ["style": "link"]),
      ([("Next-Page", "http://inner/items?token=1")], "", ["style": "header", "nextHeader": "Next-Page"]),
      ([], #","next":"https://api.example.com/items?page=2""#, ["style": "bodyUrl", "nextPath": "next"]),
      ([], #","@odata.nextLink":"/items?s=1""#, ["style": "bodyUrl", "nextPath": "/@odata.nextLink"]),
      ([], #","links":{"next":{"href":"?page=2"}}"#, ["style": "bodyUrl", "nextPath": "links.next.href"]),
      ([], #","next":null"#, nil), ([], "", nil),
    ] as [([(name: String, value: String)], String, JSONObject?)])
  func nextPage_isFoundAndAdvisedOnceItWasRead(
    headers: [(name: String, value: String)], more: String, keys: JSONObject?
  ) throws {
    var found = try survey(#"{"itemsPath":"data"}"#, #"{"data":\#(tenItems)\#(more)}"#, headers: headers)
    #expect(found.nextPageKeys == keys && found.keys == [], "\(found.findings)")
    #expect(found.unknown.contains { $0.hasPrefix("The response does not show whether there are more pages.") } == (keys == nil))
    guard let keys else { return }
    found.confirmNextPage(items: 7)
    #expect(found.keys == keys.map { "paging.\($0.key)=\($0.value.text)" })
  }

  /// No parameter for it is known, so that none is advised.
  @Test func nextPage_tokenWithoutAParameter_isOnlyTold() throws {
    let found = try survey(#"{"itemsPath":"data"}"#, #"{"data":\#(tenItems),"nextPageToken":"abc"}"#)
    #expect(found.keys == [] && found.nextPageKeys == nil)
    #expect(
      found.unknown.contains {
        $0.hasSuffix(#""paging": {"style":"cursor","cursorPath":"nextPageToken","cursorParam":"pageToken"}."#)
      }, "\(found.unknown)")
  }

  @Test(
    arguments: [
      ([("X-Total-Count", "412")], "", #"totalPath="header:X-Total-Count""#),
      ([], #","total_count":412"#, #"totalPath="total_count""#),
      ([], #","meta":{"total":412}"#, #"totalPath="meta.total""#), ([], #","count":3"#, nil),
      ([("X-Total-Count", "many")], "", nil),
    ] as [([(name: String, value: String)], String, String?)])
  func total_isFound(headers: [(name: String, value: String)], more: String, advice: String?) throws {
    let found = try survey(#"{"itemsPath":"data"}"#, #"{"data":\#(tenItems)\#(more)}"#, headers: headers)
    #expect(found.keys.first { $0.hasPrefix("totalPath") } == advice)
  }

  @Test func tags_areToldAndAdvised() throws {
    let weak = try survey("{}", #"[{"id":1,"etag":"x"}]"#, headers: [("ETag", #"W/"a""#)])
    #expect(weak.text("tags") == "the page has a weak ETag" && weak.keys == [], "it was not asked again")
    let up = #"{"up":{"read":{"url":"/i/{id}"},"update":{"url":"/i/{id}","fields":["a"]},"precondition":"ifMatch"}}"#
    // What was not seen to work is not advised.
    for member in ["_rev", "etag", "version"] {
      let tagged = try survey(up, #"[{"id":1,"\#(member)":"3"}]"#)
      #expect(tagged.keys == [] && tagged.unknown.contains { $0.contains("'\(member)'") })
    }
    let tagged = try survey(up, #"[{"id":1,"version":3}]"#, headers: [("ETag", #""a""#)], answers304: true)
    #expect(tagged.keys == [#"incremental.mode="etag""#] && !tagged.unknown.contains { $0.contains("'version'") })
    #expect(try survey(up, #"[{"id":1}]"#, headers: [("ETag", #""a""#)], answers304: false).keys == [])
    #expect(try survey("{}", #"[{"id":1}]"#).text("tags") == "the page has neither ETag nor Last-Modified")
  }

  @Test func answers_thatAreNoLists_areTold() throws {
    let html = try survey("{}", "<html>sign in</html>", type: "text/html")
    #expect(!html.isUsable && html.findings.count == 1 && html.unknown.count == 1 && html.advice.isEmpty)
    #expect(html.text("items")?.contains("Content-Type is 'text/html', not JSON") == true)
    let cut = try survey("{}", #"[{"id":1},"#)
    #expect(!cut.isUsable && cut.text("items")?.contains("not valid JSON") == true)
    let object = try survey("{}", #"{"message":"hello"}"#)
    #expect(!object.isUsable && object.unknown == ["No list of objects was found in the answer."])
    #expect(try survey("{}", "[]").isUsable, "a list may be empty")
    #expect(try !survey("{}", #"["a","b"]"#).isUsable, "items are objects")
    #expect(try survey("{}", "").text("items") != nil)
  }
}
