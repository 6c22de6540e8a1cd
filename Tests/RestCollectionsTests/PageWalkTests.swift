import JSON
import TestSupport
import Testing

@testable import RestCollections

let base = "https://api.example.com"

/// Makes a page for paging, without bytes.
func page(
  _ ids: [Int], number: Int = 1, url: String = base + "/items", headers: [(name: String, value: String)] = [],
  _ change: (inout PageFacts) -> Void = { _ in }
) -> CollectionPage {
  var page = CollectionPage(number: number, answer: PageAnswer(url: url, headers: headers))
  page.ids = ids.map(String.init)
  page.itemCount = ids.count
  page.facts.after = ids.last.map { .number(String($0)) } ?? .missing
  change(&page.facts)
  return page
}

private func link(_ url: String) -> [(name: String, value: String)] { [("Link", "<\(url)>; rel=\"next\"")] }

private func walk(_ text: String, scope: FirstRequest.Scope = .all, allowed: [String] = []) throws -> PageWalk {
  try PageWalk(target(text), base: base, allowedOrigins: allowed, scope: scope)
}

extension PageWalk.Step {
  /// A description for one-line comparisons.
  var shown: String {
    switch self {
    case .next(let request): "next " + PageWalk.Step.path(request)
    case .pause(let request): "pause " + PageWalk.Step.path(request)
    case .again(let request): "again " + PageWalk.Step.path(request)
    case .restart(let request): "restart " + PageWalk.Step.path(request)
    case .end(let end): "end \(end.completeness.rawValue)"
    case .fail(let error): "fail \(error.code.rawValue)"
    }
  }

  private static func path(_ request: PageRequest) -> String {
    let url = request.url.hasPrefix(base) ? String(request.url.dropFirst(base.count)) : request.url
    return url + (request.isForeign ? " foreign" : "") + (request.body.map { " " + $0.text } ?? "")
      + request.headers.map { " \($0.name)=\($0.value)" }.joined()
  }
}

struct PageWalkTests {
  private static let cursor = #"{"paging":{"style":"cursor","cursorPath":"next","cursorParam":"c"}}"#
  private static let pages = #"{"paging":{"style":"page","pageParam":"p","sizeParam":"n","pageSize":2},"params":{"sort":"id"}}"#

  @Test func link_followsAsGiven_paramsNotAddedAgain_endsWithoutLink() throws {
    var walk = try walk(#"{"paging":{"style":"link"},"params":{"per_page":"2"}}"#)
    #expect(walk.request.url == base + "/items?per_page=2")
    #expect(walk.accept(page([1, 2], headers: link("/items/6?after=abc"))).shown == "next /items/6?after=abc")
    #expect(walk.accept(page([], headers: link("?after=abd"))).shown == "next /items?after=abd")
    #expect(walk.accept(page([3])).shown == "end complete")
    #expect(walk.state.items == 3 && walk.state.pages == 3)
  }

  @Test(arguments: [
    (FactValue.text("/p2?x=a b"), "next /p2?x=a%20b"), (.text("p2"), "next /p2"),
    (.text("https://api.example.com:443/q"), "next :443/q"),
    (.missing, "end complete"), (.null, "end complete"), (.text(""), "end complete"), (.flag(false), "end complete"),
    (.number("2"), "fail wrongShape"),
    (.other, "fail wrongShape"), (.flag(true), "fail wrongShape"), (.text("ftp://x/y"), "fail wrongShape"),
    (.text("http://api.example.com/p2"), "fail foreignOrigin"), (.text("//evil.example/p"), "fail foreignOrigin"),
  ])
  func bodyUrl_next(fact: FactValue, expected: String) throws {
    var walk = try walk(#"{"paging":{"style":"bodyUrl","nextPath":"next"}}"#)
    #expect(walk.accept(page([1]) { $0.next = fact }).shown == expected)
  }

  @Test func bodyUrl_originKeepParamsAndAllowedOrigins() throws {
    var walk = try walk(
      #"{"paging":{"style":"bodyUrl","nextPath":"next","nextOrigin":"connection","keepParams":["f","k","no"]},"params":{"f":"json","k":"1"}}"#
    )
    #expect(walk.accept(page([1]) { $0.next = .text("http://inner:8080/v1/p?k=2") }).shown == "next /v1/p?k=2&f=json")
    var allowed = try PageWalkTests.allowed(#"{"paging":{"style":"bodyUrl","nextPath":"next"}}"#)
    #expect(allowed.accept(page([1]) { $0.next = .text("https://cdn.example/p") }).shown == "next https://cdn.example/p foreign")
    var anywhere = try PageWalkTests.allowed(#"{"paging":{"style":"bodyUrl","nextPath":"next"},"sameOrigin":false}"#)
    #expect(anywhere.accept(page([1]) { $0.next = .text("https://x.example/p") }).shown == "next https://x.example/p foreign")
  }

  private static func allowed(_ text: String) throws -> PageWalk { try walk(text, allowed: ["https://cdn.example"]) }

  @Test func foreignOrigin_errorNamesBothKeys() throws {
    var walk = try walk(#"{"paging":{"style":"link"}}"#)
    guard case .fail(let error) = walk.accept(page([1], headers: link("https://cdn.example.net/p2"))) else {
      Issue.record("followed")
      return
    }
    #expect(
      error.description.contains("'nextOrigin'") && error.description.contains("'allowOrigins'")
        && error.description.contains("page 1"))
  }

  @Test func cursor_tokensAreOpaque_inQueryBodyAndHeader() throws {
    var walk = try walk(Self.cursor)
    #expect(walk.accept(page([]) { $0.cursor = .text("a+b/=é") }).shown == "next /items?c=a%2Bb%2F%3D%C3%A9")
    #expect(
      walk.accept(page([1]) { $0.cursor = .number("12345678901234567890123") }).shown == "next /items?c=12345678901234567890123")
    #expect(walk.accept(page([2]) { $0.cursor = .null }).shown == "end complete")
    var body = try PageWalkTests.started(
      #"{"method":"POST","body":{"q":{"x":1}},"paging":{"style":"cursor","in":"body","cursorPath":"n","cursorParam":"q.after","sizeParam":"size","pageSize":5}}"#
    )
    #expect(body.request.body?.text == #"{"q":{"x":1},"size":5}"#)
    #expect(body.accept(page([1]) { $0.cursor = .number("7") }).shown == #"next /items {"q":{"x":1,"after":7},"size":5}"#)
    #expect(body.accept(page([2]) { $0.cursor = .text("8") }).shown == #"next /items {"q":{"x":1,"after":"8"},"size":5}"#)
    var header = try PageWalkTests.started(
      #"{"paging":{"style":"cursor","in":"header","cursorPath":"n","cursorParam":"X-Continuation"}}"#)
    #expect(header.accept(page([1]) { $0.cursor = .text("t") }).shown == "next /items X-Continuation=t")
  }

  private static func started(_ text: String) throws -> PageWalk { try walk(text) }

  @Test func page_numbersGoOn_shortPagesAreNotTheEnd() throws {
    var walk = try walk(Self.pages)
    #expect(walk.request.url == base + "/items?sort=id&n=2&p=1")
    #expect(walk.accept(page([1])).shown == "next /items?sort=id&n=2&p=2")
    #expect(walk.accept(page([2, 3])).shown == "next /items?sort=id&n=2&p=3")
    #expect(walk.accept(page([])).shown == "end unverified")
    var known = try PageWalkTests.started(#"{"paging":{"style":"page","pageParam":"p","firstPage":0,"totalPagesPath":"last"}}"#)
    #expect(known.accept(page([1]) { $0.totalPages = 1 }).shown == "next /items?p=1")
    #expect(known.accept(page([2]) { $0.totalPages = 1 }).shown == "end unverified")
  }

  @Test func page_serverIgnoresTheParameter_isAnErrorNamingIt() throws {
    var walk = try walk(Self.pages)
    _ = walk.accept(page([1, 2]))
    guard case .fail(let error) = walk.accept(page([1, 2], number: 2)) else {
      Issue.record("went on")
      return
    }
    #expect(error.code == .loop && error.description.contains("'p'"))
  }

  @Test func offset_countsItemsReceived_endsAtTheTotal() throws {
    var walk = try walk(#"{"totalPath":"t","paging":{"style":"offset","offsetParam":"o"}}"#)
    #expect(walk.request.url == base + "/items?o=0")
    #expect(walk.accept(page([1, 2, 3]) { $0.total = 5 }).shown == "next /items?o=3")
    #expect(walk.accept(page([4, 5]) { $0.total = 5 }).shown == "end complete")
    var overlapping = try PageWalkTests.started(#"{"paging":{"style":"offset","offsetParam":"o","overlap":1}}"#)
    #expect(overlapping.accept(page([1, 2, 3])).shown == "next /items?o=2")
    #expect(overlapping.accept(page([3, 4])).shown == "next /items?o=3")
    #expect(overlapping.accept(page([4])).shown == "end unverified")
  }

  @Test func offset_pageThatRepeatsNothing_isShort_andWalkedAgainTwice() throws {
    var walk = try walk(#"{"paging":{"style":"offset","offsetParam":"o","overlap":1}}"#)
    for round in 0..<3 {
      _ = walk.accept(page([1, 2, 3]))
      _ = walk.accept(page([5, 6]))
      #expect(walk.accept(page([6])).shown == (round < 2 ? "restart /items?o=0" : "end incomplete"))
    }
  }

  @Test func keyset_goesOnBehindTheLastItem_endsWithoutANewId() throws {
    var walk = try walk(#"{"paging":{"style":"keyset","afterParam":"starting_after"}}"#)
    #expect(walk.request.url == base + "/items")
    #expect(walk.accept(page([1, 2])).shown == "next /items?starting_after=2")
    #expect(walk.accept(page([2, 3])).shown == "next /items?starting_after=3")
    #expect(walk.accept(page([3])).shown == "end complete")
    var more = try PageWalkTests.started(#"{"paging":{"style":"keyset","afterParam":"a","hasMorePath":"m"}}"#)
    #expect(more.accept(page([1]) { $0.hasMore = false }).shown == "end complete")
  }

  @Test func header_parameterOrURL_emptyEnds() throws {
    var walk = try walk(#"{"paging":{"style":"header","nextHeader":"X-Next-Page","pageParam":"page"}}"#)
    #expect(walk.accept(page([1], headers: [("x-next-page", "2")])).shown == "next /items?page=2")
    #expect(walk.accept(page([2], headers: [("X-NEXT-PAGE", "")])).shown == "end complete")
    var url = try PageWalkTests.started(#"{"paging":{"style":"header","nextHeader":"Next"}}"#)
    #expect(url.accept(page([1], headers: [("next", "/p?x=t1")])).shown == "next /p?x=t1")
  }

  @Test func none_oneRequest_aCutListFails() throws {
    var walk = try walk(#"{"totalPath":"t"}"#)
    #expect(walk.accept(page([1, 2]) { $0.total = 2 }).shown == "end complete")
    var cut = try PageWalkTests.started(#"{"totalPath":"t"}"#)
    #expect(cut.accept(page([1, 2]) { $0.total = 3 }).shown == "fail cutList")
  }

  @Test func hasMoreAndEnd_holdForEveryStyle() throws {
    var more = try walk(#"{"paging":{"style":"cursor","cursorPath":"n","cursorParam":"c","hasMorePath":"m"}}"#)
    #expect(
      more.accept(
        page([1]) {
          $0.cursor = .text("t")
          $0.hasMore = false
        }
      ).shown == "end complete")
    var end = try walk(#"{"paging":{"style":"bodyUrl","nextPath":"n","endPath":"e"}}"#)
    #expect(
      end.accept(
        page([1]) {
          $0.next = .text("/p")
          $0.isEnd = true
        }
      ).shown == "end complete")
    var empty = try walk(#"{"paging":{"style":"bodyUrl","nextPath":"n","endEmpty":true}}"#)
    #expect(empty.accept(page([]) { $0.next = .text("/p") }).shown == "end complete")
    var onwards = try walk(#"{"paging":{"style":"page","pageParam":"p","endEmpty":false}}"#)
    #expect(onwards.accept(page([])).shown == "next /items?p=2")
  }

  @Test(arguments: [["/items", ""], ["/a", "/a"], ["/a", "/b", "/a"], ["/a", "/b", "/c", "/b"]])
  func loop_aNextURLSeenBefore_isAnError(urls: [String]) throws {
    var walk = try walk(#"{"paging":{"style":"bodyUrl","nextPath":"n"}}"#)
    var steps: [String] = []
    for url in urls {
      steps.append(walk.accept(page([1], headers: []) { $0.next = .text(url.isEmpty ? base + "/items" : url) }).shown)
    }
    #expect(steps.last == "fail loop" && steps.filter { $0 == "fail loop" }.count <= 2)
  }

  @Test func loop_emptyReference_isTheResponseItself() throws {
    var walk = try walk(#"{"paging":{"style":"link"},"params":{"per_page":"2"}}"#)
    #expect(walk.accept(page([1], url: walk.request.url, headers: link(""))).shown == "fail loop")
  }

  @Test func loop_acrossRunsOfOnePageEach_isNoticed() throws {
    let target = try target(Self.cursor)
    var walk = try PageWalk(target, base: base, scope: .all), failed = false
    for round in 0..<40 {
      let step = walk.accept(page([round]) { $0.cursor = .text("t\(round % 5)") })
      if case .fail(let error) = step { failed = error.code == .loop }
      guard !failed else { break }
      let state = try #require(WalkState(walk.state.json(target, nowMs: 5), target, nowMs: 6))
      walk = PageWalk(target, base: base, resuming: state)
    }
    #expect(failed)
  }

  @Test(
    arguments: [
      (404, "application/json", false, "restart /items"), (422, "", true, "restart /items"),
      (400, "application/problem+json", false, "restart /items"),
      (410, "text/html", false, nil), (404, "text/plain", false, nil), (500, "application/json", false, nil),
      (403, "application/json", false, nil),
    ] as [(Int, String, Bool, String?)])
  func failed_deadCursor_restartsOnce(status: Int, type: String, isEmpty: Bool, expected: String?) throws {
    var walk = try walk(Self.cursor)
    let answer = PageAnswer(url: base, status: status, headers: type.isEmpty ? [] : [("Content-Type", type)])
    #expect(walk.failed(answer, bodyIsEmpty: isEmpty) == nil)
    _ = walk.accept(page([1]) { $0.cursor = .text("a") })
    #expect(walk.failed(answer, bodyIsEmpty: isEmpty)?.shown == expected)
    _ = walk.accept(page([1]) { $0.cursor = .text("a") })
    #expect(expected == nil || walk.failed(answer, bodyIsEmpty: isEmpty) == nil)
  }

  @Test func failed_endStatus_endsOnAnyPageButTheFirst() throws {
    var walk = try walk(#"{"paging":{"style":"page","pageParam":"p","endStatus":[400,404]}}"#)
    let json = PageAnswer(url: base, status: 400, headers: jsonType)
    #expect(walk.failed(json, bodyIsEmpty: false) == nil)
    _ = walk.accept(page([1]))
    #expect(walk.failed(PageAnswer(url: base, status: 404, headers: [("Content-Type", "text/html")]), bodyIsEmpty: false) == nil)
    #expect(walk.failed(json, bodyIsEmpty: false)?.shown == "end unverified")
  }

  @Test func maxPages_pausesWithTheCursorKept() throws {
    let target = try target(Self.pages)
    var walk = try PageWalk(target, base: base, maxPages: 1, scope: .all)
    #expect(walk.accept(page([1, 2])).shown == "pause /items?sort=id&n=2&p=2")
    let state = try #require(WalkState(walk.state.json(target, nowMs: 0), target, nowMs: 0, ofAnyAge: true))
    var more = PageWalk(target, base: base, maxPages: 2, resuming: state)
    #expect(more.accept(page([3, 4], number: 2)).shown == "next /items?sort=id&n=2&p=3")
    #expect(more.accept(page([5, 6], number: 3)).shown == "pause /items?sort=id&n=2&p=4" && more.state.pages == 3)
  }

  @Test(
    arguments: [
      (#"{"paging":{"style":"link"}}"#, base + "/items?c=x", "next /items?c=x"),
      (#"{"paging":{"style":"page","pageParam":"p"}}"#, base + "/items?p=7", "next /items?p=7"),
      (#"{"paging":{"style":"offset","offsetParam":"o"}}"#, base + "/items?o=60", "next /items?o=60"),
      (#"{"paging":{"style":"cursor","cursorPath":"n","cursorParam":"c"}}"#, base + "/items?c=a%20b", "next /items?c=a%20b"),
      (#"{"paging":{"style":"link"}}"#, nil, "end complete"), (#"{"paging":{"style":"link"}}"#, base + "/items", "fail loop"),
    ] as [(String, String?, String)])
  func unchanged_leadsOnAsInTheLastRun(text: String, next: String?, expected: String) throws {
    var walk = try walk(text)
    let tag = [(name: "ETag", value: "\"a\"")]
    let known = try #require(PageValidator(page(Array(1...30), headers: tag), next: next))
    #expect(walk.acceptUnchanged(known).shown == expected && walk.state.items == 30 && walk.state.pages == 1)
  }

  @Test func token_ofAPage_isACompleteURLWithoutSecrets() throws {
    let target = try target(#"{"params":{"key":"s3cret"},"incremental":{"mode":"token","tokenPath":"t"}}"#)
    let walk = try PageWalk(target, base: base, scope: .firstToken)
    let token = try #require(try walk.token(of: page([1]) { $0.token = "/delta?key=s3cret&d=1" }))
    #expect(!token.contains("s3cret") && token.hasPrefix(base + "/delta?key="))
    #expect(try PageWalk(target, base: base, scope: .token(token)).request.url == base + "/delta?key=s3cret&d=1")
    #expect(try walk.token(of: page([1])) == nil)
    #expect(throws: RestPageError.self) { try walk.token(of: page([1]) { $0.token = "https://evil.example/d" }) }
    let named = try RestCollectionsTests.target(#"{"incremental":{"mode":"token","tokenPath":"t","tokenParam":"s"}}"#)
    #expect(try PageWalk(named, base: base, scope: .firstToken).token(of: page([1]) { $0.token = "CAISEA==" }) == "CAISEA==")
  }

  @Test func pending_isAskedAgain() throws {
    var walk = try walk(Self.pages), pending = page([])
    pending.isPending = true
    #expect(walk.accept(pending).shown == "again /items?sort=id&n=2&p=1" && walk.state.pages == 0)
  }
}

struct CompletenessTests {
  private func run(_ text: String, _ pages: [CollectionPage]) throws -> [String] {
    var walk = try PageWalk(target(text), base: base, scope: .all)
    return pages.map { walk.accept($0).shown }
  }

  @Test func total_allIdsReceived_isSure_fewerIsShort() throws {
    let text = #"{"totalPath":"t","paging":{"style":"page","pageParam":"p"}}"#
    #expect(try run(text, [page([1, 2]) { $0.total = 3 }, page([3]) { $0.total = 3 }, page([])]).last == "end complete")
    #expect(try run(text, [page([1, 2]) { $0.total = 4 }, page([3]) { $0.total = 3 }, page([])]).last == "restart /items?p=1")
    // An id that occurs twice counts once.
    #expect(try run(text, [page([1, 2]) { $0.total = 3 }, page([2]) { $0.total = 3 }, page([])]).last == "restart /items?p=1")
    #expect(try run(text, [page([1, 2]), page([])]).last == "end unverified")
    #expect(
      try run(
        #"{"totalPath":"t","paging":{"style":"page","pageParam":"p","shifts":false}}"#, [page([1]) { $0.total = 9 }, page([])]
      ).last == "end complete")
  }

  @Test(arguments: [
    ("https://h/i?page=2", "https://h/i?page=3", true), ("https://h/i?page=9", "https://h/i?page=10", true),
    ("https://h/i?page=19&n=2", "https://h/i?page=20&n=2", true),
    ("https://h/i?n=2", "https://h/i?n=2&page=2", true), ("https://h/i", "https://h/i?offset=30", true),
    ("https://h/i/1", "https://h/i/2", true),
    ("https://h/i?c=a1b", "https://h/i?c=a2b", false), ("https://h/i?c=abc", "https://h/i?c=abd", false),
    ("https://h/i?c=x1", "https://h/i?c=x2", false),
    ("https://h/i", "https://h/i?c=abc", false), ("https://h/i", "https://h/j?page=2", false),
    ("https://h/i?a=1&b=1", "https://h/i?a=2&b=2", false),
    ("https://h/i?d=2024-01-01T00:00:01Z", "https://h/i?d=2024-01-01T00:00:02Z", false),
  ])
  func shifts_nextURLsThatDifferByANumber(last: String, next: String, shifts: Bool) {
    #expect(NextURL.differsByANumber(last, next) == shifts)
  }

  @Test func link_pageNumbers_areOpen_tokensAreSure() throws {
    let text = #"{"paging":{"style":"link"}}"#
    #expect(try run(text, [page([1], headers: link("/items?page=2")), page([2])]).last == "end unverified")
    #expect(try run(text, [page([1], headers: link("/items?after=Zm9v")), page([2])]).last == "end complete")
  }

  @Test func maxItems_goesOnByDate() throws {
    let text =
      #"{"modificationDateField":"u","paging":{"style":"link","maxItems":4},"params":{"sort":"u"},"incremental":{"mode":"param","order":"ascending","overlapMs":1000,"params":{"since":"{since}"}}}"#
    var walk = try PageWalk(target(text), base: base, scope: .all)
    func dated(_ ids: [Int], _ seconds: Int64, next: String?) -> CollectionPage {
      page(ids, headers: next.map(link) ?? []) { $0.lastDate = ServerDate(position: seconds * 1000) }
    }
    #expect(walk.accept(dated([1, 2], 10, next: "/items?c=a")).shown == "next /items?c=a")
    #expect(walk.accept(dated([3, 4], 20, next: "/items?c=b")).shown == "next /items?sort=u&since=1970-01-01T00%3A00%3A19Z")
    // The server truncates silently: a list that ends exactly at the cap is not complete.
    #expect(walk.accept(dated([4, 5, 6, 7], 30, next: nil)).shown == "next /items?sort=u&since=1970-01-01T00%3A00%3A29Z")
    #expect(walk.accept(dated([7, 8], 40, next: nil)).shown == "end unverified")
    var stuck = try PageWalk(target(text), base: base, scope: .all)
    _ = stuck.accept(dated([1, 2, 3, 4], 10, next: nil))
    guard case .fail(let error) = stuck.accept(dated([1, 2, 3, 4], 10, next: nil)) else {
      Issue.record("went on")
      return
    }
    #expect(error.code == .resultCap && error.description.contains("only 4 items"))
  }

  @Test(
    arguments: [
      ("/items?page=2", "/items?page=7", 70), ("/items?page=2", "/items?page=2", 20), ("/items?page=1", "/items?page=6", 70),
      ("/items?offset=10", "/items?offset=60", 70), ("/items?after=x", "/items?before=y", -1),
    ] as [(String, String, Int64)])
  func totalSize_estimatedFromTheLastPage(next: String, last: String, total: Int64) throws {
    var walk = try PageWalk(target(#"{"paging":{"style":"link"}}"#), base: base, scope: .all)
    _ = walk.accept(page(Array(1...10), headers: [("Link", "<\(next)>; rel=next, <\(last)>; rel=last")]))
    #expect(walk.totalSize == total)
  }

  @Test func totalSize_onePage_isItsItems_unknownIsMinusOne() throws {
    var walk = try PageWalk(target(#"{"paging":{"style":"link"}}"#), base: base, scope: .all)
    #expect(walk.totalSize == -1)
    _ = walk.accept(page([1, 2]))
    #expect(walk.totalSize == 2)
  }
}

struct WalkStateTests {
  private static let text = #"{"totalPath":"t","paging":{"style":"link"},"params":{"api_key":"s3cret","n":"2"}}"#

  @Test func json_hasNoSecret_andResumesWithIt() throws {
    let target = try target(Self.text)
    var walk = try PageWalk(target, base: base, scope: .all)
    _ = walk.accept(page([1], headers: link("/items?api_key=s3cret&page=2&token=p2")) { $0.total = 9 })
    let json = walk.state.json(target, nowMs: 1000)
    #expect(!json.text.contains("s3cret") && json.text.contains("token=p2"))
    let read = try #require(try JSONValue(parsing: json.text).objectValue)
    let state = try #require(WalkState(read, target, nowMs: 2000))
    let resumed = PageWalk(target, base: base, resuming: state)
    #expect(resumed.request.url == base + "/items?api_key=s3cret&page=2&token=p2")
    #expect(resumed.state.pages == 1 && resumed.totalSize == 9 && resumed.state.lacksIds)
  }

  @Test func json_tooOldOrOfAnotherTarget_isNotTaken() throws {
    let target = try target(Self.text), other = try RestCollectionsTests.target(#"{"paging":{"style":"link"}}"#)
    let json = try PageWalk(target, base: base, scope: .all).state.json(target, nowMs: 1000)
    #expect(WalkState(json, target, nowMs: 601_000) != nil && WalkState(json, target, nowMs: 601_001) == nil)
    #expect(WalkState(json, target, nowMs: 9_999_999, ofAnyAge: true) != nil)
    #expect(WalkState(json, other, nowMs: 1000) == nil && WalkState([:], target, nowMs: 1000) == nil)
  }

  @Test func resumed_shiftingWalk_isNeverSure() throws {
    let target = try target(#"{"totalPath":"t","paging":{"style":"page","pageParam":"p"}}"#)
    var walk = try PageWalk(target, base: base, scope: .all)
    _ = walk.accept(page([1, 2]) { $0.total = 2 })
    let state = try #require(WalkState(walk.state.json(target, nowMs: 0), target, nowMs: 0))
    var resumed = PageWalk(target, base: base, resuming: state)
    #expect(resumed.accept(page([])).shown == "end unverified")
  }

  @Test func json_everyPosition_comesBack() {
    let positions: [WalkPosition] = [
      .first, .url("https://h/x", isForeign: true), .token(ParameterValue("12", isNumber: true)), .token(ParameterValue("a")),
      .page(3), .offset(0),
    ]
    for position in positions { #expect(WalkPosition(position.json) == position) }
  }

  /// With random servers a walk always ends, and never requests a page twice in a row.
  @Test func walk_randomPages_alwaysEnds() throws {
    var random = SeededGenerator(state: 5)
    let targets = try [
      #"{"paging":{"style":"link"}}"#, #"{"paging":{"style":"cursor","cursorPath":"c","cursorParam":"c"}}"#,
      #"{"totalPath":"t","paging":{"style":"page","pageParam":"p","totalPagesPath":"l"}}"#,
      #"{"totalPath":"t","paging":{"style":"offset","offsetParam":"o","overlap":2}}"#,
      #"{"paging":{"style":"keyset","afterParam":"a"}}"#,
    ].map { try target($0) }
    for round in 0..<500 {
      let target = targets[round % targets.count]
      var walk = try PageWalk(target, base: base, scope: .all), steps = 0, isOver = false
      while !isOver, steps < 400 {
        let ids = (0..<Int.random(in: 0...3, using: &random)).map { _ in Int.random(in: 0...9, using: &random) }
        let name = Int.random(in: 0...20, using: &random)
        let answer = page(ids, headers: name > 0 ? link("/items?k=\(name)") : []) {
          $0.cursor = name > 0 ? .text("c\(name)") : .null
          $0.total = Int64(name)
          $0.totalPages = 5
        }
        steps += 1
        switch walk.accept(answer) {
        case .end, .fail: isOver = true
        case .next(let request), .restart(let request): #expect(request == walk.request)
        case .again, .pause: Issue.record("nothing is pending")
        }
      }
      #expect(isOver, "\(target.json.text)")
    }
  }
}
