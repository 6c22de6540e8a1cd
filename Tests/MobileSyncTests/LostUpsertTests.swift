import JSON
import SandboxOrg
import Testing

@testable import MobileSync

/// Upserts by an external id: if the answer is lost they are sent again, and the record that a sync
/// down brought meanwhile is the same one.
@Suite struct LostUpsertTests {
  /// Creates an entry whose record is on the server, unknown to this side.
  private func bench(_ kind: UploadKind) async throws -> SyncBench {
    let bench = try await SyncBench(kind: kind)
    try bench.createLocally("A", ["External_Id__c": "x-1", "Description": "mine"])
    bench.org.setInterceptor { $0.method == "GET" ? nil : .dropAfterHandling }
    #expect(try await up(bench).status == .failed)
    bench.org.setInterceptor(nil)
    #expect(try bench.serverNames() == ["A"] && bench.dirtyCount() == 1)
    #expect(try await bench.down(["mergeMode": "LEAVE_IF_CHANGED"], name: "down").status == .done)
    return bench
  }

  private func up(_ bench: SyncBench) async throws -> SyncState {
    try await bench.up(target: ["externalIdFieldName": "External_Id__c"])
  }

  /// Runs everything again and checks that no id occurs twice.
  private func checkEqual(_ bench: SyncBench) async throws {
    let entries = try bench.entries()
    #expect(Set(entries.map { $0["Id"]?.stringValue ?? "" }).count == entries.count)
    #expect(try bench.serverNames() == bench.names())
    for id in try bench.org.query("SELECT Id FROM Account")["records"]?.arrayValue?.compactMap({ $0["Id"]?.stringValue }) ?? [] {
      try bench.change(id, ["Description": "news"])
    }
    #expect(try await bench.manager.reSync(.name("down")).status == .done)
    #expect(try bench.entries().allSatisfy { $0["Description"] == "news" })
    // The sync that brought the record still owns it.
    try bench.org.delete("Account", id: try #require(try bench.entries().first?["Id"]?.stringValue))
    #expect(try await bench.manager.cleanGhosts(named: "down") == 1 && bench.entries().isEmpty)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_upsertedRecordCameDown_isOneEntry(kind: UploadKind) async throws {
    let bench = try await bench(kind)
    let end = try await up(bench)
    #expect(end.status == .done && end.counts.succeeded == 1)
    #expect(try bench.dirtyCount() == 0)
    try await checkEqual(bench)
  }

  /// The entry that came down was edited: that edit is newer and stays.
  @Test(arguments: UploadKind.allCases)
  func syncUp_upsertedRecordCameDownAndWasEdited_keepsTheEdit(kind: UploadKind) async throws {
    let bench = try await bench(kind)
    let came = try #require(try bench.entries().first { $0["__local__"] != true })
    var edited = came
    edited["Description"] = "edited"
    edited["__local__"] = true
    edited["__locally_updated__"] = true
    try bench.save(edited)
    #expect(try await up(bench).status == .done)
    #expect(try bench.entries().count == 1)
    #expect(try await up(bench).status == .done)
    #expect(try bench.dirtyCount() == 0)
    #expect(try bench.onServer(try #require(came["Id"]?.stringValue))?["Description"] == "edited")
    try await checkEqual(bench)
  }
}
