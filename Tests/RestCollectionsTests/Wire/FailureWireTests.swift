import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests what stops a walk, what is kept, and how the next run continues.
struct FailureWireTests {
  // MARK: Loops and other servers

  @Test(arguments: ["/items?page=1", "?page=2", ""])
  func nextURL_seenBefore_failsAfterThePageIsStored(next: String) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with {
        $0.change = { answer, request in
          guard request.query.contains("page=2") else { return }
          answer.headers = [("Content-Type", "application/json"), ("Link", "<\(next)>; rel=\"next\"")]
        }
      }
      let state = try await bench.down(["params": ["page": "1"]])
      #expect(state.status == .failed && state.error.contains("form a loop") && state.error.contains("page 2"), "\(state.error)")
      #expect(state.error.contains("/items") && state.failure?.code == "unexpectedAnswer")
      #expect(try bench.ids().count == 60)
      #expect(bench.server.lists.count == 2)
    }
  }

  @Test func nextURL_itself_failsAfterPageOne() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.nextURL = { _ in "" } }
      let state = try await bench.down()
      #expect(state.status == .failed && state.error.contains("form a loop"), "\(state.error)")
      #expect(try bench.ids().count == 30)
    }
  }

  /// A run of one page never sees the whole loop: the cursor keeps enough to detect it, and a page
  /// without a next URL does not pause.
  @Test func nextURL_circleOverRunsOfOnePage_fails() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with {
        $0.change = { answer, request in
          guard request.query.contains("page=3") else { return }
          answer.headers = [("Content-Type", "application/json"), ("Link", "</items?page=2>; rel=\"next\"")]
        }
      }
      var state = try await bench.down([:], ["maxPages": 1])
      for _ in 0..<10 where state.status == .stopped { state = try await bench.manager.more(.name("s")) }
      #expect(state.status == .failed && state.error.contains("form a loop"), "\(state.status) \(state.error)")
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test func server_ignoresThePageParameter_failsNamingIt() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.style = .keyset }
      let state = try await bench.down(PagingWireTests.target(.page))
      #expect(state.status == .failed && state.error.contains("does the server know the parameter 'page'?"), "\(state.error)")
      #expect(try bench.ids().count == 30)
    }
  }

  @Test func nextURL_otherOrigin_isRefusedNamingBothKeys() async throws {
    let other = try CollectionServer(rows: [Repository.row(900)])
    defer { other.stop() }
    try await CollectionBench.with(rows: 70) { bench async throws in
      let url = other.url
      bench.server.with { $0.nextURL = { _ in url + "/items" } }
      let state = try await bench.down()
      #expect(state.status == .failed, "\(state.error)")
      #expect(state.error.contains("'nextOrigin'") && state.error.contains("'allowOrigins'") && state.error.contains("page 1"))
      #expect(try bench.ids().count == 30)
      #expect(other.requests.isEmpty)
    }
  }

  @Test func nextURL_allowedOrigin_isFollowedWithoutCredentials() async throws {
    let other = try CollectionServer(rows: [Repository.row(900)])
    defer { other.stop() }
    let members: JSONObject = [
      "auth": ["type": "bearer", "token": "canary-token"],
      "allowOrigins": [.string(other.url)],
    ]
    try await CollectionBench.with(rows: 70, members.replacing(with: ["headers": ["X-Open": "1"]])) { bench async throws in
      let url = other.url
      bench.server.with { $0.nextURL = { _ in url + "/items" } }
      let state = try await bench.down(["headers": ["X-Target": "t"]])
      #expect(state.status == .done, "\(state.error)")
      #expect(bench.server.requests[0].header("Authorization") == "Bearer canary-token")
      #expect(other.requests.count == 1 && other.requests[0].header("Authorization") == nil)
      #expect(other.requests[0].headers.allSatisfy { !$0.value.contains("canary") })
      #expect(try bench.entry(900) != nil)
    }
  }

  @Test func nextURL_innerHostBlanksAndMissingParameters_areRepaired() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { state in
        state.style = .bodyUrl
        state.change = { answer, request in
          // The server drops `f` and does not encode blanks and letters.
          let text = String(decoding: answer.body, as: UTF8.self)
          let next = "\"next\":\"http://inner:9/items?q=ä b&page=2\""
          answer.body = Array(
            (request.query.contains("page=2")
              ? #"{"items":[{"id":99}],"next":null}"# : text.replacing("\"next\":\"/items?f=json&page=2\"", with: next)).utf8)
        }
      }
      let state = try await bench.down(
        PagingWireTests.target(.bodyUrl, ["nextOrigin": "connection", "keepParams": ["f"]]).replacing(with: [
          "params": ["f": "json"]
        ]))
      #expect(state.status == .done, "\(state.error)")
      #expect(bench.server.lists.map(\.target) == ["/items?f=json", "/items?q=%C3%A4%20b&page=2&f=json"])
      #expect(try bench.entry(99) != nil)
    }
  }

  // MARK: Expired cursors

  @Test(arguments: [400, 404, 410, 422]) func deadCursor_once_startsAgain(status: Int) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { state in
        state.style = .cursor
        state.answers[2] = .json(#"{"error":"iterator expired"}"#, status: status)
      }
      let state = try await bench.down(PagingWireTests.target(.cursor))
      #expect(state.status == .done && state.counts.fetched == 70 && state.counts.stored == 70, "\(state.error)")
      #expect(try bench.ids() == bench.server.ids && bench.server.lists.count == 5)
    }
  }

  @Test(arguments: [400, 422]) func deadCursor_twice_failsAndALaterRunBeginsAgain(status: Int) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      let dead = ScriptedAnswer.json(#"{"error":"iterator expired"}"#, status: status)
      bench.server.with { state in
        state.style = .cursor
        state.answers = [2: dead, 4: dead]
      }
      let state = try await bench.down(PagingWireTests.target(.cursor))
      #expect(state.status == .failed && state.failure?.status == status && bench.server.lists.count == 4)
      #expect(try bench.ids().count == 30)
      #expect(try bench.hasCursor)
      // The stored cursor has also expired: it may restart the walk once in this run, too.
      bench.server.forgetRequests()
      bench.server.with { $0.answers[1] = dead }
      let next = try await bench.manager.more(.name("s"))
      #expect(next.status == .done, "\(next.error)")
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  // MARK: Failures

  private static let failures: [(name: String, answer: ScriptedAnswer)] = [
    ("html 502", .text("<html>Bad Gateway</html>", status: 502, type: "text/html")),
    ("json cut off", .json(#"[{"id":31,"name":"r3"#)),
    ("body cut off", .json(#"[{"id":31,"name":"r31"}]"#, delivery: .closeAfter(bytes: 9))),
    ("time-out", .never), ("no answer", .closed), ("html 200", .text("<html>Sign in</html>", type: "text/html")),
    ("unauthorized", .json(#"{"message":"Bad credentials"}"#, status: 401)),
  ]

  @Test(arguments: ["html 502", "json cut off", "body cut off", "time-out", "no answer", "html 200", "unauthorized"])
  func failure_onPageTwo_keepsRowsAndCursor_andGoesOnThere(name: String) async throws {
    let answer = try #require(Self.failures.first { $0.name == name }).answer
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { state in for n in 2...6 { state.answers[n] = answer } }
      if name == "time-out" { bench.patience.end(requestsWith: "page=2") }
      let state = try await bench.down()
      bench.patience.end(requestsWith: nil)
      #expect(state.status == .failed && !state.error.isEmpty && state.failure != nil, "\(state.status)")
      #expect(try bench.ids().count == 30)
      #expect(try bench.hasCursor)
      if name == "unauthorized" { #expect(bench.server.lists.count == 2) }
      if name == "html 502" { #expect(bench.server.lists.count == 6 && state.failure?.status == 502) }
      // A 401 stops a connection until its secret changes; after other failures, the next run
      // continues.
      guard name != "unauthorized" else { return }
      let next = try await bench.again()
      #expect(next.status == .done && bench.server.lists.first?.query.contains("page=2") == true, "\(next.error)")
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test func cursor_olderThanTenMinutes_beginsAgain_moreDoesNot() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.answers[3] = .text("down", status: 400) }
      #expect(try await bench.down().status == .failed)
      bench.clock.advance(601)
      bench.server.forgetRequests()
      bench.server.with { $0.answers[1] = .text("down", status: 400) }
      #expect(try await bench.manager.more(.name("s")).status == .failed)
      #expect(bench.server.lists.map(\.query) == ["page=3"])
      let state = try await bench.again()
      #expect(state.status == .done && bench.server.lists.count == 3 && bench.server.lists[0].query.isEmpty)
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test func rateLimit_beyondMaxWait_stopsAndResumesAtThePage() async throws {
    try await CollectionBench.with(rows: 70, ["maxWaitS": 10]) { bench async throws in
      let reset = bench.clock.seconds + 300
      bench.server.with {
        $0.answers[2] = .json("{}", status: 403, headers: [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", String(reset))])
      }
      let state = try await bench.down()
      #expect(state.status == .stopped && state.resumeAt == Int64(reset + 1) * 1000, "\(state.status) \(state.resumeAt)")
      #expect(try bench.ids().count == 30)
      #expect(try bench.hasCursor)
      bench.clock.advance(302)
      let next = try await bench.again()
      #expect(next.status == .done && next.resumeAt == 0 && bench.server.lists[0].query == "page=2")
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test func rateLimit_withinMaxWait_waitsOnTheClock() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      let reset = bench.clock.seconds + 2
      bench.server.with {
        $0.answers[2] = .json("{}", status: 403, headers: [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", String(reset))])
      }
      #expect(try await bench.down().status == .done)
      #expect(bench.clock.slept == [3] && bench.server.lists.count == 4)
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test func pending_isAskedAgain_atMostSoOften() async throws {
    try await CollectionBench.with(rows: 20) { bench async throws in
      bench.server.with { $0.answers = [1: .status(202), 2: .status(202, headers: [("Retry-After", "7")])] }
      #expect(try await bench.down().status == .done)
      #expect(bench.clock.slept == [1, 7] && bench.server.lists.count == 3)
      bench.server.forgetRequests()
      bench.server.with { state in for n in 1...20 { state.answers[n] = .status(202) } }
      let state = try await bench.manager.reSync(.name("s"))
      #expect(state.status == .failed && state.error.contains("still computing"), "\(state.error)")
      #expect(try bench.ids().count == 20)
    }
  }
}
