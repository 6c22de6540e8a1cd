import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests updates that the server executed without an answer, and whose next attempt it refuses.
struct UpdateDoubtWireTests {
  /// The run ends before anything is compared. The next one knows that the new value is its own, although the server trims it.
  @Test(arguments: [412, 409, 422, 404], ["MERGE", "LEAVE_IF_CHANGED"])
  func update_refusedAfterALostAttempt_isNoConflictOfTheNextRun(status: Int, mode: String) async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      let up: JSONObject = ["update": ["url": "/items/{id}", "method": "PUT", "fields": "*"]]
      bench.server.with { state in
        state.takesWrites = true
        state.recordTags = true
        state.normalize = { $0.replacing(with: ["name": .string($0["name"]?.plain.split(separator: " ").joined() ?? "")]) }
      }
      try await bench.down(CollectionBench.upTarget(up))
      try bench.edit(1, ["name": " mine "])
      bench.server.with { state in
        state.onRecord = { request, state in
          switch (request.method, state.writes) {
          case ("PUT", 0):
            _ = CollectionServer.write(request, &state)
            return .closed
          case ("PUT", _): return .json(#"{"message":"no"}"#, status: status)
          case (_, 1...): return .text("<html>Sign in</html>", type: "text/html")
          default: return nil
          }
        }
      }
      let first = try await bench.up(up, mode: mode)
      #expect(bench.server.requests.count { $0.method == "PUT" } == 2, "\(first.error)")
      bench.server.with { $0.onRecord = nil }
      try bench.edit(1, ["description": "mine, too"])
      let state = try await bench.upAgain()
      #expect(state.status == .done && state.counts.conflicting == 0, "\(state.error) \(state.counts)")
      #expect(try bench.manager.conflicts(inSoup: CollectionBench.soup).isEmpty)
      #expect(bench.server.row("1")?["name"] == "mine" && bench.server.row("1")?["description"] == "mine, too")
      #expect(try bench.entry(1)?["__local__"] == false)
    }
  }
}
