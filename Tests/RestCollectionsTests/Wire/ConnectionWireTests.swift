import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests what a connection does for the pages of a list.
struct ConnectionWireTests {
  @Test func pages_carryUserAgentAndAuthorization_401StopsAtOnce() async throws {
    let members: JSONObject = ["auth": ["type": "bearer", "token": "canary-token"], "userAgent": "sync/1"]
    try await CollectionBench.with(rows: 70, members) { bench async throws in
      bench.server.with { state in
        for n in 3...9 { state.answers[n] = .json(#"{"message":"Bad credentials: canary-token"}"#, status: 401) }
      }
      let state = try await bench.down(["headers": ["Accept": "application/vnd.x+json"]])
      #expect(state.status == .failed && state.failure?.status == 401 && bench.server.lists.count == 3, "\(state.error)")
      for request in bench.server.lists {
        #expect(request.header("User-Agent") == "sync/1" && request.header("Authorization") == "Bearer canary-token")
        #expect(request.header("Accept") == "application/vnd.x+json")
      }
      // Nothing stored contains the secret, and another run does not send it again.
      let memory = try bench.memory().text
      #expect(!state.json.text.contains("canary") && !memory.contains("canary"))
      let count = bench.server.requests.count
      #expect(try await bench.again().status == .failed)
      #expect(bench.server.requests.count == count)
      #expect(try bench.ids().count == 60)
    }
  }

  @Test(arguments: [301, 302, 307, 308]) func pages_redirected_nextURLsResolveAgainstTheNewPlace(status: Int) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      bench.server.with { state in
        state.change = { answer, _ in answer = .status(status, headers: [("Location", "/items/sub/list?kept=1")]) }
        state.records["sub/list"] = .json(#"[{"id":10}]"#, headers: [("Link", "<next>; rel=\"next\"")])
        state.records["sub/next"] = .json(#"[{"id":11}]"#)
      }
      #expect(try await bench.down().status == .done)
      #expect(try bench.ids() == ["10", "11"])
      #expect(bench.server.requests.map(\.target) == ["/items", "/items/sub/list?kept=1", "/items/sub/next"])
      #expect(try await bench.again().status == .done)
      // A permanent redirect is remembered.
      #expect(bench.server.lists.count == (status == 301 || status == 308 ? 0 : 1))
    }
  }

  /// A secret in the query is stored neither in the cursor nor with the pages, but is sent with
  /// each page.
  @Test func secretParameter_isInNoStateAndIsSentWithEachPage() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { state in
        state.hasTags = true
        state.answers[3] = .text("no", status: 400)
      }
      let state = try await bench.down(["params": ["api_key": "canary"], "incremental": ["mode": "etag"]])
      #expect(state.status == .failed && !state.error.contains("canary"), "\(state.error)")
      let memory = try bench.memory().text
      #expect(!memory.contains("canary"))
      let id = state.id
      let pages = try bench.store.readBlocking { try $0.syncPages(of: id) }
      #expect(pages.count == 2 && pages.allSatisfy { !$0.key.contains("canary") && !$0.value.contains("canary") })
      try await bench.reopen()
      #expect(try await bench.again().status == .done)
      #expect(bench.server.lists.map(\.query) == ["api_key=canary&page=3"])
      #expect(try await bench.again().counts.stored == 0)
      #expect(bench.server.lists.map(\.query) == ["api_key=canary", "api_key=canary&page=2", "api_key=canary&page=3"])
      #expect(bench.server.lists.allSatisfy { $0.header("If-None-Match") != nil })
    }
  }
}
