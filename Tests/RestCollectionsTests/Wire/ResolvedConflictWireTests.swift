import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Conflicts that are resolved with the server's version.
struct ResolvedConflictWireTests {
  /// The entry gets the server's date, so it gets the whole record, also members that were not compared.
  @Test(arguments: ["MERGE", "LEAVE_IF_CHANGED"]) func resolveServer_replacesTheEntryByTheWholeRecord(mode: String) async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "mine"])
      bench.server.with { state in
        state.change(1, ["name": "theirs", "description": "new", "topic": "added", "updated_at": "2030-01-01T00:00:00Z"])
      }
      #expect(try await bench.up(mode: mode).counts.conflicting == 1)
      let conflict = try #require(try bench.manager.conflicts(inSoup: CollectionBench.soup).first)
      try bench.manager.resolveConflict(inSoup: CollectionBench.soup, entryId: conflict.entryId, with: .server)
      let entry = try #require(try bench.entry(1)), row = try #require(bench.server.row("1"))
      #expect(entry["__local__"] == false)
      for (key, value) in row where key != "id" { #expect(entry[key] == value, "\(key)") }
    }
  }

  /// A merged entry has the record's date, and all of the record.
  @Test func merge_otherMembersChangedThere_bringsAllOfThem() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "mine"])
      bench.server.with { $0.change(1, ["description": "new", "topic": "added", "updated_at": "2030-01-01T00:00:00Z"]) }
      #expect(try await bench.up(mode: "MERGE").counts.succeeded == 1)
      let entry = try bench.entry(1)
      #expect(entry?["description"] == "new" && entry?["topic"] == "added" && entry?["name"] == "mine")
    }
  }

  /// The conflict came with the list; the target cannot read single records.
  @Test func upload_targetWithoutRead_leavesTheKnownVersion() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      let up: JSONObject = ["precondition": "ifMatch", "read": nil, "tag": ["path": "rev"]]
      bench.server.with { state in
        state.rows[0]["rev"] = 7
        state.onRecord = { request, state in
          guard request.method == "PATCH" else { return nil }
          return request.header("If-Match") == state.rows[0]["rev"]?.plain ? nil : .json("{}", status: 412)
        }
      }
      try await bench.down(CollectionBench.upTarget(up), ["mergeMode": "MERGE"])
      try bench.edit(1, ["name": "mine"])
      bench.server.with { $0.change(1, ["name": "theirs", "rev": 8, "updated_at": "2030-01-01T00:00:00Z"]) }
      #expect(try await bench.again().counts.conflicting == 1)
      #expect(try await bench.up(up, mode: "MERGE").counts.conflicting == 1)
      let conflict = try #require(try bench.manager.conflicts(inSoup: CollectionBench.soup).first)
      #expect(conflict.kind == .changed && conflict.server?["name"] == "theirs")
      try bench.manager.resolveConflict(inSoup: CollectionBench.soup, entryId: conflict.entryId, with: .server)
      #expect(try bench.entry(1)?["name"] == "theirs" && bench.entry(1)?["__local__"] == false)
    }
  }
}
