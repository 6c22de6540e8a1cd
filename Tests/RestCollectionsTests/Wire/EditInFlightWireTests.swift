import JSON
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests entries that are edited while their upload is under way, on a server that counts the writes of each record.
struct EditInFlightWireTests {
  /// Uploads an edit of the name; `meanwhile` runs before the server answers.
  private func upload(_ bench: CollectionBench, mode: String, _ meanwhile: @escaping @Sendable () throws -> Void) async throws {
    let isFirst = Mutex(true)
    bench.server.with { state in
      for place in state.rows.indices { state.rows[place]["writes"] = 0 }
      state.onRecord = { request, state in
        guard request.method == "PATCH" else { return nil }
        state.rows[0]["writes"] = .integer((state.rows[0]["writes"]?.integerValue ?? 0) + 1)
        if isFirst.withLock({ isFirst in
          defer { isFirst = false }
          return isFirst
        }) {
          try? meanwhile()
        }
        return nil
      }
    }
    try await bench.down(["modificationDateField": "updated_at"])
    try bench.edit(1, ["name": "mine"])
    bench.clock.advance(60)
    #expect(try await bench.up(mode: mode).counts.succeeded == 1)
  }

  private func expectEqual(_ bench: CollectionBench, _ mode: String) throws {
    let entry = try #require(try bench.entry(1)), row = bench.server.with { $0.rows[0] }
    #expect(entry["__local__"] == false, "\(mode): \(JSONValue.object(entry).text)")
    for (key, value) in row { #expect(entry[key]?.plain == value.plain, "\(mode): \(key)") }
    #expect(try bench.manager.conflicts(inSoup: CollectionBench.soup).isEmpty)
  }

  @Test(arguments: ["MERGE", "LEAVE_IF_CHANGED", "OVERWRITE"])
  func up_editedMeanwhile_hasWhatTheServerSetAndSendsTheEdit(mode: String) async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      try await upload(bench, mode: mode) { try bench.edit(1, ["name": "newer"]) }
      let entry = try #require(try bench.entry(1))
      #expect(entry["name"] == "newer" && entry["__local__"] == true && entry["writes"] == 1)
      #expect(try await bench.upAgain().counts.succeeded == 1)
      try expectEqual(bench, mode)
    }
  }

  /// Nothing is left to send, and what the server set is no edit of ours.
  @Test(arguments: ["MERGE", "LEAVE_IF_CHANGED", "OVERWRITE"])
  func up_savedUnchangedMeanwhile_isCleanAfterTheNext(mode: String) async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      try await upload(bench, mode: mode) { try bench.edit(1, ["name": "mine"]) }
      let up = try await bench.upAgain()
      #expect(up.status == .done && up.counts.skipped == 0, "\(up.counts)")
      // The date comes with the record.
      try await bench.again()
      try expectEqual(bench, mode)
    }
  }

  /// A member that is edited meanwhile and that the server sets, too, keeps the edit.
  @Test func up_editOfWhatTheServerSets_staysAndIsNamed() async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      try await upload(bench, mode: "MERGE") { try bench.edit(1, ["writes": 70]) }
      #expect(try bench.entry(1)?["writes"] == 70)
      let up = try await bench.upAgain()
      #expect(up.counts.skipped == 1 && up.counts.succeeded == 0, "\(up.counts)")
      #expect(try bench.lastError(bench.entry(1))["fields"] == ["writes"])
    }
  }
}
