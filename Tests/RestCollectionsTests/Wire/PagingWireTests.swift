import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests every paging style, and how a list ends.
struct PagingWireTests {
  typealias Style = CollectionServer.Style

  /// Returns a target with the `paging` of a style and the matching `itemsPath`.
  static func target(_ style: Style, _ paging: JSONObject = [:]) -> JSONObject {
    let own: JSONObject =
      switch style {
      case .link, .linkTokens: ["style": "link"]
      case .bodyUrl: ["style": "bodyUrl", "nextPath": "next"]
      case .cursor: ["style": "cursor", "cursorPath": "next_cursor", "cursorParam": "cursor"]
      case .page: ["style": "page", "pageParam": "page"]
      case .offset: ["style": "offset", "offsetParam": "offset"]
      case .keyset: ["style": "keyset", "afterParam": "after"]
      case .headerURL: ["style": "header", "nextHeader": "Next-Page"]
      case .headerNumber: ["style": "header", "nextHeader": "X-Next", "pageParam": "page"]
      case .none: ["style": "none"]
      }
    let hasEnvelope = [.bodyUrl, .cursor, .page, .offset, .keyset].contains(style)
    return ["paging": .object(own.replacing(with: paging)), "itemsPath": hasEnvelope ? "items" : "$"]
  }

  /// The server returns 7 or 10 items per page although 50 are requested.
  @Test(arguments: Style.allCases, [7, 10, 100])
  func walk_eachStyle_bringsAllRowsOnce(style: Style, largest: Int) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { state in
        state.style = style
        state.largestSize = style == .none ? 100 : largest
      }
      let state = try await bench.down(Self.target(style, ["sizeParam": "per_page", "pageSize": style == .none ? 100 : 50]))
      #expect(state.status == .done, "\(state.error)")
      #expect(state.counts.fetched == 70 && state.counts.stored == 70 && state.totalSize == 70)
      #expect(try bench.ids() == bench.server.ids)
      #expect(Set(bench.server.lists.map(\.target)).count == bench.server.lists.count)
    }
  }

  @Test(arguments: Style.allCases)
  func walk_serverIgnoresTheSize_bringsAllRowsOnce(style: Style) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { state in
        state.style = style
        state.ignoresSize = true
        state.size = style == .none ? 70 : 30
      }
      let state = try await bench.down(Self.target(style, ["sizeParam": "per_page", "pageSize": 5]))
      #expect(state.status == .done && state.counts.fetched == 70, "\(state.error)")
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test(arguments: [Style.cursor, .page, .offset, .keyset], ["query", "body", "header"])
  func walk_parameterInBodyOrHeader_bringsAllRowsOnce(style: Style, place: String) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.style = style }
      var target = Self.target(style, ["in": .string(place), "sizeParam": "per_page", "pageSize": 20])
      if place == "body" { target = target.replacing(with: ["method": "POST", "body": ["filter": ["a": 1]]]) }
      let state = try await bench.down(target)
      #expect(state.status == .done && state.counts.fetched == 70, "\(state.error)")
      #expect(try bench.ids() == bench.server.ids)
      guard place == "body" else { return }
      let bodies = bench.server.lists.map(\.text)
      #expect(bodies.count >= 4 && bodies.allSatisfy { $0.contains(#""filter":{"a":1}"#) && $0.contains(#""per_page":20"#) })
    }
  }

  @Test func none_totalAboveTheItems_failsBecauseTheListWasCut() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.style = .keyset }
      let state = try await bench.down(["paging": ["style": "none"], "itemsPath": "items", "totalPath": "total"])
      #expect(state.status == .failed && state.error.contains("'totalPath' says 70"), "\(state.error)")
      #expect(try bench.ids().count == 30)
    }
  }

  // MARK: Next URLs in headers

  @Test func nextInAHeader_byPathAndByStyle_bringsAllRows() async throws {
    for target: JSONObject in [
      ["paging": ["style": "bodyUrl", "nextPath": "header:Next-Page"]], Self.target(.headerURL), Self.target(.headerNumber),
    ] {
      try await CollectionBench.with(rows: 70) { bench async throws in
        bench.server.with { $0.style = target["paging"]?["pageParam"] == nil ? .headerURL : .headerNumber }
        let state = try await bench.down(target)
        #expect(state.status == .done && state.counts.pages == 3, "\(state.error)")
        #expect(try bench.ids() == bench.server.ids)
      }
    }
  }

  @Test(arguments: [
    ("links.1.href", #"{"links":[{"rel":"self","href":"/x"},{"rel":"next","href":"/items/2"}],"items":[{"id":1}]}"#),
    ("links[rel=next].href", #"{"links":[{"rel":"next","href":"/items/2"},{"rel":"self","href":"/x"}],"items":[{"id":1}]}"#),
    ("/@odata.nextLink", #"{"@odata.nextLink":"/items/2","items":[{"id":1}]}"#),
    ("data.@links.next.0.uri", #"{"data":{"@links":{"next":[{"uri":"/items/2"}]}},"items":[{"id":1}]}"#),
    ("header:X-Next-URL", #"{"items":[{"id":1}]}"#),
  ])
  func nextPath_eachForm_isFollowed(path: String, body: String) async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.answers[1] = .json(body, headers: path.hasPrefix("header") ? [("x-next-url", "/items/2")] : [])
        state.records["2"] = .json(#"{"items":[{"id":2}]}"#)
      }
      let state = try await bench.down(["paging": ["style": "bodyUrl", "nextPath": .string(path)], "itemsPath": "items"])
      #expect(state.status == .done, "\(state.error)")
      #expect(try bench.ids() == ["1", "2"])
    }
  }

  @Test(arguments: [
    ("nextPath", "a..b"), ("nextPath", "header:"), ("nextPath", "links[rel"),
    ("nextPath", "a[*].b"),
  ])
  func path_wrong_isAnErrorWhenTheTargetIsRead(key: String, path: String) async throws {
    try await CollectionBench.with { bench async throws in
      let error = try await refusal {
        try await bench.down(["paging": .object(JSONObject([("style", "bodyUrl"), (key, .string(path))]))])
      }
      #expect(error.code == "invalidTarget" && error.message.contains("'\(key)'"), "\(error.message)")
      #expect(bench.server.requests.isEmpty)
    }
  }

  // MARK: Empty pages and ends

  @Test(arguments: [Style.link, .linkTokens, .bodyUrl, .cursor, .headerURL, .headerNumber])
  func emptyPage_inTheMiddle_isNotTheEnd(style: Style) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { state in
        state.style = style
        state.size = 10
        state.emptyPages = [3]
      }
      let state = try await bench.down(Self.target(style))
      #expect(state.status == .done && state.counts.pages == 7, "\(state.error)")
      #expect(try bench.ids().count == 60)
    }
  }

  @Test(arguments: [Style.page, .offset, .keyset])
  func emptyPage_ofNumbersOffsetsAndKeys_isTheEnd(style: Style) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { state in
        state.style = style
        state.size = 10
        state.emptyPages = [3]
      }
      let state = try await bench.down(Self.target(style))
      #expect(state.status == .done && state.counts.pages == 3, "\(state.error)")
      #expect(try bench.ids().count == 20)
    }
  }

  @Test(arguments: [404, 400])
  func pastTheEnd_byStatus_endsTheWalk(status: Int) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { state in
        state.style = .page
        state.answers[4] = .json(#"{"detail":"Invalid page."}"#, status: status)
      }
      // 404 is the default of the style.
      let paging: JSONObject = status == 404 ? [:] : ["endStatus": [400]]
      let state = try await bench.down(Self.target(.page, paging))
      #expect(state.status == .done && state.counts.pages == 3, "\(state.error)")
      #expect(try bench.ids() == bench.server.ids && bench.server.lists.count == 4)
    }
  }

  @Test(arguments: [404, 400]) func pastTheEnd_onPageOne_fails(status: Int) async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.style = .page
        state.answers[1] = .json(#"{"detail":"Invalid page."}"#, status: status)
      }
      let state = try await bench.down(Self.target(.page, ["endStatus": [400, 404]]))
      #expect(state.status == .failed && state.failure?.status == status, "\(state.error)")
    }
  }

  @Test func pastTheEnd_html404_failsAndKeepsTheCursor() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { state in
        state.style = .page
        state.answers[3] = .text("<html>not found</html>", status: 404, type: "text/html")
      }
      let state = try await bench.down(Self.target(.page))
      #expect(state.status == .failed && state.failure?.status == 404)
      #expect(try bench.ids().count == 60)
      #expect(try bench.hasCursor)
    }
  }

  @Test func end_byHasMoreOrEndPath_asksForNothingFurther() async throws {
    for (key, path, body) in [
      ("hasMorePath", "has_more", #"{"items":[{"id":1}],"next_cursor":"never-null","has_more":false}"#),
      ("endPath", "meta.end", #"{"items":[{"id":1}],"next_cursor":"never-null","meta":{"end":true}}"#),
    ] {
      try await CollectionBench.with { bench async throws in
        bench.server.with { $0.answers[1] = .json(body) }
        let state = try await bench.down(Self.target(.cursor, JSONObject([(key, .string(path))])))
        #expect(state.status == .done && bench.server.lists.count == 1, "\(state.error)")
      }
    }
  }

  /// Some servers end a list at their cap, others refuse requests beyond it.
  @Test(arguments: [false, true]) func resultCap_listBeyondIt_goesOnByDate(refuses: Bool) async throws {
    try await CollectionBench.with(rows: 2500) { bench async throws in
      bench.server.with { state in
        state.style = .offset
        state.cap = 1000
        state.size = 100
        if refuses {
          state.change = { answer, request in
            guard URLQuery.value(of: "offset", in: request.target) == "1000" else { return }
            answer = .json(#"{"message":"Only the first 1000 search results are available"}"#, status: 422)
          }
        }
        // Three rows per minute.
        for i in state.rows.indices { state.rows[i]["updated_at"] = .string(Repository.date(1_600_000_000 + i / 3 * 60)) }
      }
      let state = try await bench.down(
        Self.target(.offset, ["maxItems": 1000, "endStatus": [422]]).replacing(with: [
          "modificationDateField": "updated_at", "params": ["sort": "updated"],
          "incremental": ["mode": "param", "order": "ascending", "params": ["since": "{since}"]],
        ]))
      #expect(state.status == .done, "\(state.error) \(bench.server.lists.map(\.target).suffix(8))")
      #expect(try bench.ids() == bench.server.ids)
      #expect(try bench.ids().count == 2500)
    }
  }

  @Test func resultCap_allOfOneDate_failsAndNamesTheCap() async throws {
    try await CollectionBench.with(rows: 300) { bench async throws in
      bench.server.with { state in
        (state.style, state.cap, state.size) = (.offset, 100, 50)
        for i in state.rows.indices { state.rows[i]["updated_at"] = "2020-01-01T00:00:00Z" }
      }
      let state = try await bench.down(
        Self.target(.offset, ["maxItems": 100]).replacing(with: [
          "modificationDateField": "updated_at",
          "incremental": ["mode": "param", "order": "ascending", "params": ["since": "{since}"]],
        ]))
      #expect(
        state.status == .failed && state.error.contains("only 100 items") && state.error.contains("'maxItems'"), "\(state.error)")
    }
  }
}

/// Returns the error of a call that must fail.
func refusal(_ body: () async throws -> some Any) async throws -> SyncError {
  do {
    _ = try await body()
  } catch let error as SyncError {
    return error
  }
  throw WireFailure("the call succeeded")
}
