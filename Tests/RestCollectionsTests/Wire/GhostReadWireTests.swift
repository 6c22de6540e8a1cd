import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests single records that are read before their rows are removed, as uploads read them.
struct GhostReadWireTests {
  private static func target(_ read: JSONObject, _ up: JSONObject = [:]) -> JSONObject {
    ["ghosts": ["mode": "perId"], "up": .object((["read": .object(read)] as JSONObject).replacing(with: up))]
  }

  /// The record is the first of a list, as in PostgREST; an empty list means that it is gone.
  @Test func clean_recordInsideAList_isThere() async throws {
    try await CollectionBench.with(rows: 4) { bench async throws in
      let target = Self.target(["url": "/one", "params": ["id": "eq.{id}"], "itemPath": "0"])
      #expect(try await bench.down(target).status == .done)
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { request, state in
          let id = URLQuery.value(of: "id", in: request.target)
          return .json(JSONValue.array(state.rows.filter { "eq." + $0.id == id }.map { .object($0) }).text)
        }
        state.remove([2])
      }
      #expect(try await bench.cleanGhosts() == 1)
      #expect(try bench.ids() == ["1", "3", "4"])
    }
  }

  /// The headers of `read` are sent.
  @Test func clean_headersOfTheRead_areSent() async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      let read: JSONObject = ["url": "/items/{id}", "headers": ["Accept": "application/vnd.one+json", "X-Name": "{name}"]]
      #expect(try await bench.down(Self.target(read)).status == .done)
      bench.server.with { $0.takesWrites = true }
      #expect(try await bench.cleanGhosts() == 0)
      let sent = bench.server.requests.filter { $0.path.hasPrefix("/items/") }
      #expect(sent.count == 2 && sent.allSatisfy { $0.header("Accept") == "application/vnd.one+json" })
      #expect(Set(sent.compactMap { $0.header("X-Name") }) == ["r1", "r2"])
    }
  }

  /// If uploads use another server, single records are read there, because the list's server would
  /// report all of them as gone.
  @Test func clean_uploadsElsewhere_recordsAreReadThere() async throws {
    let writes = try ScriptedServer { request in
      request.path == "/items/2" ? .json("{}", status: 404) : .json(#"{"id":\#(request.path.last ?? "0")}"#)
    }
    defer { writes.stop() }
    try await CollectionBench.with(rows: 3, others: ["writer": ["baseURL": .string(writes.url)]]) { bench async throws in
      #expect(try await bench.down(Self.target(["url": "/items/{id}"], ["connection": "writer"])).status == .done)
      bench.server.with { $0.rows = [] }
      #expect(try await bench.cleanGhosts() == 1)
      #expect(try bench.ids() == ["1", "3"])
      #expect(writes.requests.count == 3)
    }
  }

  /// A different record or a page says nothing about the requested record.
  @Test(arguments: [
    ScriptedAnswer.json(#"{"id":99}"#), .text("<html>Sign in</html>", type: "text/html"), .json("{"), .text("busy"),
  ])
  func clean_answerOfSomethingElse_removesNothing(answer: ScriptedAnswer) async throws {
    try await CollectionBench.with(rows: 3) { bench async throws in
      #expect(try await bench.down(Self.target(["url": "/items/{id}"])).status == .done)
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { _, _ in answer }
      }
      _ = try? await bench.cleanGhosts(force: true)
      #expect(try bench.ids() == ["1", "2", "3"])
    }
  }
}
