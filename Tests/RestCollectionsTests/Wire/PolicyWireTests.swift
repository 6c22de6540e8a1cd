import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Conflicts that the option `resolve` decides.
struct PolicyWireTests {
  private static let options: JSONObject = ["mergeMode": "MERGE", "resolve": ["name": "server", "*": "local"]]

  private func prepare(_ bench: CollectionBench) throws {
    try bench.edit(1, ["name": "mine", "description": "mine"])
    bench.server.with { state in
      state.change(1, ["name": "theirs", "description": "theirs", "updated_at": "2030-01-01T00:00:00Z"])
    }
  }

  @Test func row27_down_eachFieldHasASide_isMerged() async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      #expect(try await bench.down(CollectionBench.upTarget(), Self.options).status == .done)
      try prepare(bench)
      let state = try await bench.again()
      #expect(state.counts.merged == 1 && state.counts.conflicting == 0, "\(state.counts) \(state.error)")
      let entry = try bench.entry(1)
      #expect(entry?["name"] == "theirs" && entry?["description"] == "mine" && entry?["__local__"] == true)
      #expect(try bench.manager.conflicts(inSoup: CollectionBench.soup).isEmpty)
      #expect(try await bench.up(mode: "MERGE").counts.succeeded == 1)
      #expect(bench.server.row("1")?["description"] == "mine" && bench.server.row("1")?["name"] == "theirs")
    }
  }

  @Test func row27_up_eachFieldHasASide_isSent() async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      #expect(try await bench.down(CollectionBench.upTarget()).status == .done)
      try prepare(bench)
      bench.server.with { $0.takesWrites = true }
      let state = try await bench.manager.syncUp(
        target: CollectionBench.upTarget(), options: Self.options, soupName: CollectionBench.soup)
      #expect(state.status == .done && state.counts.succeeded == 1 && state.counts.conflicting == 0, "\(state.counts)")
      #expect(bench.server.row("1")?["description"] == "mine" && bench.server.row("1")?["name"] == "theirs")
      let entry = try bench.entry(1)
      #expect(entry?["name"] == "theirs" && entry?["description"] == "mine" && entry?["__local__"] == false)
    }
  }
}
