import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests the worked example of the reference, and next links in every spelling.
struct WorkedExampleWireTests {
  private static let example: JSONObject = [
    "params": ["per_page": "30", "type": "all"], "modificationDateField": "updated_at", "map": ["ownerLogin": "owner.login"],
  ]

  @Test func syncDown_workedExample_bringsThreePagesWithIdsAsText() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      let state = try await bench.down(Self.example)
      #expect(state.status == .done, "\(state.error)")
      #expect(state.totalSize == 70 && state.counts.fetched == 70 && state.counts.stored == 70 && state.counts.pages == 3)
      #expect(state.connection == "api" && state.counts.requests == 3 && bench.server.lists.count == 3)
      let first = try #require(try bench.entry(1))
      #expect(first["id"] == "1" && first["owner"]?["id"] == 7 && first["owner"]?["avatar_url"] == "https://a.example/u/7")
      #expect(first["ownerLogin"] == "acme" && first["description"] == .some(.null) && first["full_name"] == "acme/r1")
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test(arguments: ["link", "Link", "LINK"]) func linkHeader_anyCase_isFollowed(name: String) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.linkName = name }
      #expect(try await bench.down().status == .done)
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  /// The stub writes `next` and `last` on separate lines; here they share one line, in both orders
  /// and with unusual parameters.
  @Test(arguments: [
    "<B?page=2>; rel=\"next\", <B?page=3>; rel=\"last\"", "<B?page=3>; rel=last, <B?page=2>; REL=\"NEXT\"",
    ", ,<B?page=2>;rel=next,", "<B?page=2>; title=\"a, b; rel=x\"; rel=\"prefetch next\"",
    "<?page=2>; rel=next; title*=UTF-8''na%C3%AFve",
  ])
  func linkHeader_oneLine_isFollowed(value: String) async throws {
    try await CollectionBench.with(rows: 60) { bench async throws in
      bench.server.with {
        $0.change = { answer, request in
          answer.headers.removeAll { $0.name == "Link" }
          guard !request.query.contains("page=2") else { return }
          answer.headers.append(
            ("Link", value.split(separator: "B", omittingEmptySubsequences: false).joined(separator: "/items")))
        }
      }
      let state = try await bench.down()
      #expect(state.status == .done && state.counts.pages == 2, "\(state.error)")
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  /// Numeric ids in the path and relative references are followed as given, and our parameters are
  /// not added again.
  @Test(arguments: [
    ("/items", "/items?per_page=30&page=2"), ("?", "/items?per_page=30&page=2"), ("items", "/items?per_page=30&page=2"),
    ("//", "/items?per_page=30&page=2"),
  ])
  func nextURL_relative_isFollowedAsGiven(form: String, second: String) async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      let authority = bench.server.url.dropFirst("http:".count)
      bench.server.with {
        $0.nextURL = { path in
          switch form {
          case "?": String(path.drop { $0 != "?" })
          case "items": String(path.dropFirst())
          case "//": authority + path
          default: path
          }
        }
      }
      let state = try await bench.down(Self.example.replacing(with: ["params": ["per_page": "30"]]))
      #expect(state.status == .done, "\(state.error)")
      #expect(bench.server.lists.map(\.target) == ["/items?per_page=30", second, "/items?per_page=30&page=3"])
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test func nextURL_renamedPath_isFollowedWithoutOurParameters() async throws {
    try await CollectionBench.with(rows: 3) { bench async throws in
      bench.server.with { state in
        state.records["6"] = .json(#"[{"id":10}]"#, headers: [("Link", "</items/7>; rel=\"next\"")])
        state.records["7"] = .json(#"[{"id":11}]"#)
        state.nextURL = { _ in "/items/6" }
        state.size = 2
      }
      let state = try await bench.down(["params": ["type": "all"]])
      #expect(state.status == .done && bench.server.requests.map(\.target) == ["/items?type=all", "/items/6", "/items/7"])
      #expect(try bench.ids() == ["1", "10", "11", "2"])
    }
  }

  @Test func linkHeader_damaged_endsTheListAndIsSaid() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      bench.server.with { $0.nextURL = { $0 + "\u{7f}" } }
      bench.server.with { $0.change = { answer, _ in answer.headers = [("Link", "/items?page=2; rel=\"next\"")] } }
      let state = try await bench.down()
      #expect(state.status == .done && state.counts.pages == 1)
      #expect(state.warnings.contains { $0.contains("Link header is damaged") && $0.contains("/items") })
    }
  }
}
