import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests rows with local changes, and the server's version of them.
struct MergeWireTests {
  /// Tombstones among the rows, found by `deletedPath`.
  private static let target: JSONObject = ["deletedPath": "gone", "modificationDateField": "updated_at"]

  /// Row 1 is unchanged on the server, row 2 has a different changed field, row 3 the same changed
  /// field, row 4 is deleted; row 5 is clean and deleted. Row 6 was deleted locally.
  private func prepare(_ bench: CollectionBench, _ mode: String) async throws {
    #expect(try await bench.down(Self.target, ["mergeMode": .string(mode)]).status == .done)
    for id in 1...4 { try bench.edit(id, ["name": .string("mine\(id)")]) }
    try bench.edit(6, ["__locally_updated__": false, "__locally_deleted__": true])
    bench.clock.advance(60)
    let date = JSONValue.string(bench.clock.date)
    bench.server.with { state in
      state.change(2, ["description": "theirs", "updated_at": date])
      state.change(3, ["name": "theirs", "updated_at": date])
      state.change(4, ["gone": true])
      state.change(5, ["gone": true])
    }
  }

  @Test func leaveIfChanged_dirtyRows_stayAndConflictsAreTold() async throws {
    try await CollectionBench.with(rows: 10) { bench async throws in
      try await prepare(bench, "LEAVE_IF_CHANGED")
      let state = try await bench.again()
      #expect(state.status == .done && state.counts.removed == 1, "\(state.error)")
      #expect(try bench.values("name") == ["mine1", "mine2", "mine3", "mine4", "r6", "r7", "r8", "r9", "r10"])
      #expect(try bench.entries().filter { $0["__local__"] == true }.count == 5)
      #expect(try bench.entry(2)?["description"] == .some(.null))
      #expect(state.counts.conflicting == 3, "2, 3, and 4, which is deleted there: \(state.counts.conflicting)")
      let conflicts = try bench.manager.conflicts(inSoup: CollectionBench.soup)
      #expect(conflicts.count == 3, "\(conflicts)")
      // Known conflicts are not reported again.
      #expect(try await bench.again().status == .done)
      #expect(try bench.manager.conflicts(inSoup: CollectionBench.soup).count == 3)
      #expect(try bench.values("name").prefix(4) == ["mine1", "mine2", "mine3", "mine4"])
    }
  }

  @Test func merge_dirtyRows_areMergedFieldByField() async throws {
    try await CollectionBench.with(rows: 10) { bench async throws in
      try await prepare(bench, "MERGE")
      let state = try await bench.again()
      #expect(state.status == .done && state.counts.removed == 1, "\(state.error)")
      #expect(try bench.values("name") == ["mine1", "mine2", "mine3", "mine4", "r6", "r7", "r8", "r9", "r10"])
      #expect(try bench.entry(2)?["description"] == "theirs")
      #expect(state.counts.merged == 1 && state.counts.conflicting == 2, "\(state.counts)")
      #expect(try bench.entries().filter { $0["__local__"] == true }.count == 5)
    }
  }

  @Test func overwrite_dirtyRows_areTheServers() async throws {
    try await CollectionBench.with(rows: 10) { bench async throws in
      try await prepare(bench, "OVERWRITE")
      let state = try await bench.again()
      #expect(state.status == .done && state.counts.removed == 2, "\(state.error)")
      #expect(try bench.entry(3)?["name"] == "theirs")
      #expect(try bench.entry(3)?["__local__"] == false)
      #expect(try bench.entry(4) == nil)
    }
  }

  /// An unchanged page is not read, so later local changes stay in every mode.
  @Test(arguments: ["OVERWRITE", "LEAVE_IF_CHANGED", "MERGE"]) func unchangedPage_dirtyRows_stay(mode: String) async throws {
    try await CollectionBench.with(rows: 40) { bench async throws in
      bench.server.with { $0.hasTags = true }
      #expect(try await bench.down(["incremental": ["mode": "etag"]], ["mergeMode": .string(mode)]).status == .done)
      try bench.edit(1, ["name": "mine"])
      let state = try await bench.again()
      #expect(state.status == .done && state.counts.stored == 0, "\(state.error)")
      #expect(try bench.entry(1)?["name"] == "mine")
    }
  }

  @Test func fullRun_nothingChanged_countsAndWritesNothing() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      #expect(try await bench.down(["map": ["login": "owner.login"]]).status == .done)
      let before = try bench.entries()
      bench.clock.advance(60)
      let state = try await bench.again()
      #expect(state.status == .done && state.counts.fetched == 0 && state.counts.stored == 0 && state.totalSize == 0)
      #expect(try bench.entries() == before)
      bench.server.with { $0.change(9, ["name": "new"]) }
      let next = try await bench.again()
      #expect(next.counts.fetched == 1 && next.counts.stored == 1 && next.totalSize == 1)
    }
  }

  /// Two overlapping lists fill one soup at the same time.
  @Test func twoSyncs_ofOneSoup_atOnce_bringAllRowsOnce() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      async let first = bench.down([:], name: "a")
      async let second = bench.down(["params": ["per_page": "7"]], name: "b")
      let states = try await [first, second]
      #expect(states.allSatisfy { $0.status == .done })
      #expect(try bench.ids() == bench.server.ids)
    }
  }
}
