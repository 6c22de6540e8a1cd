import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Creates that are found again after a lost answer: the entry gets the server's record and is counted.
struct FoundCreateWireTests {
  enum Way: CaseIterable, Sendable {
    case ownId, uniqueField, lookup

    var create: JSONObject {
      switch self {
      case .ownId:
        ["create": ["url": "/items/{id}", "method": "PUT", "merges": true, "fields": ["name"], "newId": "uuid"]]
      case .uniqueField:
        [
          "create": [
            "url": "/items", "fields": ["name"], "uniqueField": "code",
            "lookup": ["url": "/items", "params": ["code": "{code}"], "waitMs": 0],
          ]
        ]
      case .lookup:
        [
          "create": [
            "url": "/items", "fields": ["name"], "lookup": ["url": "/items", "params": ["name": "{name}"], "waitMs": 0],
          ]
        ]
      }
    }
  }

  /// The server completes records with members of its own, and the answer to the create is lost.
  private static func loseFirst(_ bench: CollectionBench) {
    bench.server.with { state in
      state.takesWrites = true
      state.onRecord = { request, state in
        guard ["POST", "PUT"].contains(request.method), state.writes == 0 else { return nil }
        _ = CollectionServer.write(request, &state)
        state.rows[state.rows.count - 1]["state"] = "open"
        return .closed
      }
    }
  }

  @Test(arguments: Way.allCases, ["OVERWRITE", "LEAVE_IF_CHANGED", "MERGE"])
  func lostAnswer_recordIsFound_isStoredAndCounted(way: Way, mode: String) async throws {
    try await CollectionBench.with { bench async throws in
      Self.loseFirst(bench)
      try bench.make("local_1", ["name": "new"])
      #expect(try await bench.up(way.create, mode: mode).status == .failed)
      let state = try await bench.upAgain()
      #expect(state.status == .done && state.counts.succeeded == 1 && state.totalSize == 1, "\(state.counts) \(state.error)")
      let row = bench.server.with { $0.rows[0] }, entry = try #require(try bench.entries().first)
      #expect(bench.server.with { $0.rows.count } == 1 && entry.id == row.id)
      #expect(entry["__local__"] == false && entry["state"] == "open" && entry["updated_at"] == row["updated_at"])
      try bench.edit(entry, ["name": "next"])
      let next = try await bench.upAgain()
      #expect(next.counts.succeeded == 1 && next.counts.conflicting == 0, "\(next.counts)")
      #expect(bench.server.with { $0.rows[0]["name"] } == "next")
    }
  }

  /// The edit made since goes up as an update, and a change by another client is kept.
  @Test(arguments: Way.allCases) func lostAnswer_editedSince_keepsBothSidesChanges(way: Way) async throws {
    try await CollectionBench.with { bench async throws in
      Self.loseFirst(bench)
      try bench.make("local_1", ["name": "new"])
      #expect(try await bench.up(way.create, mode: "MERGE").status == .failed)
      let entry = try #require(try bench.entries().first)
      try bench.edit(entry, ["description": "mine"])
      bench.server.with { $0.rows[0]["state"] = "closed" }
      let state = try await bench.upAgain()
      #expect(state.counts.succeeded == 1 && state.counts.conflicting == 0, "\(state.counts)")
      let row = bench.server.with { $0.rows[0] }
      #expect(row["description"] == "mine" && row["name"] == "new" && row["state"] == "closed")
      #expect(try bench.entries().map { $0["__local__"] } == [false])
    }
  }
}

extension CollectionBench {
  /// Changes an entry as a script does.
  func edit(_ entry: JSONObject, _ changes: JSONObject) throws {
    let edited = entry.replacing(with: changes).replacing(with: ["__local__": true, "__locally_updated__": true])
    try store.upsert(JSONValue.array([.object(edited)]).text, into: CollectionBench.soup)
  }
}
