import JSON
import SandboxOrg
import SmartStore
import TestSupport
import Testing

@testable import MobileSync

/// Local changes are dropped: nothing of them is sent, and the entry is as the server is known to have it.
@Suite struct DiscardTests {
  private func expectNothingIsSent(_ bench: SyncBench) async throws {
    bench.org.clearRequests()
    let end = try await bench.up(SyncBench.uploadLeave)
    #expect(
      end.totalSize == 0 && !bench.requests().contains { $0.hasPrefix("POST") || $0.hasPrefix("PATCH") }, "\(bench.requests())")
  }

  @Test func discard_editedEntry_becomesItsBase() async throws {
    let bench = try await SyncBench()
    let (id, entryId) = try await bench.syncedAccount()
    let before = try bench.entry(withId: id)
    try bench.edit(id, ["Description": "mine", "Name": "Z"])
    let result = try bench.manager.discardChanges("accounts", entryIds: [entryId])
    #expect(result.discarded == [entryId] && result.kept.isEmpty)
    #expect(try bench.shown(id) == "A/base" && bench.dirtyCount() == 0)
    var after = try bench.entry(withId: id)
    after?["_soupLastModifiedDate"] = before?["_soupLastModifiedDate"]
    for key in before?.keys ?? [] { #expect(after?[key] == before?[key], "\(key)") }
    try await expectNothingIsSent(bench)
    await bench.close()
  }

  @Test func discard_deletion_isTakenBack() async throws {
    let bench = try await SyncBench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["__locally_deleted__": true])
    #expect(try bench.manager.discardChanges("accounts", entryIds: [entryId]).discarded == [entryId])
    #expect(try bench.shown(id) == "A/base" && bench.dirtyCount() == 0)
    try await expectNothingIsSent(bench)
    await bench.close()
  }

  @Test func discard_field_keepsTheOthersUntilNoneIsLeft() async throws {
    let bench = try await SyncBench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine", "Name": "Z"])
    #expect(try bench.manager.discardChanges("accounts", entryIds: [entryId], fields: ["Name"]).discarded == [entryId])
    #expect(try bench.shown(id) == "A/mine*")
    let again = try bench.manager.discardChanges("accounts", entryIds: [entryId], fields: ["Name"])
    #expect(again.kept.first?.text == "Name was not changed here")
    _ = try bench.manager.discardChanges("accounts", entryIds: [entryId], fields: ["Description"])
    #expect(try bench.shown(id) == "A/base" && bench.dirtyCount() == 0)
    try await expectNothingIsSent(bench)
    await bench.close()
  }

  @Test func discard_created_isRemovedOnlyIfAsked() async throws {
    let bench = try await SyncBench()
    let made = try bench.createLocally("New")
    let kept = try bench.manager.discardChanges("accounts", entryIds: [made])
    #expect(kept.discarded.isEmpty && kept.kept.map(\.code) == ["cannotDiscard"], "\(kept)")
    #expect(try bench.dirtyCount() == 1)
    #expect(try bench.manager.discardChanges("accounts", entryIds: [made], created: true).discarded == [made])
    #expect(try bench.entries().isEmpty)
    try await expectNothingIsSent(bench)
    await bench.close()
  }

  @Test func discard_refused_losesItsError() async throws {
    let bench = try await SyncBench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Name": .string(String(repeating: "n", count: 300))])
    #expect(try await bench.up().counts.failed == 1)
    #expect(try bench.manager.discardChanges("accounts", entryIds: [entryId]).discarded == [entryId])
    #expect(try bench.entry(withId: id)?["__last_error__"] == nil && bench.shown(id) == "A/base")
    try await expectNothingIsSent(bench)
    await bench.close()
  }

  /// The base is older than what the server has: the entry would stay behind until the record changes again.
  @Test(arguments: [false, true]) func discard_conflict_takesTheServersVersion(isGone: Bool) async throws {
    let bench = try await SyncBench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    if isGone { try bench.org.delete("Account", id: id) } else { try bench.change(id, ["Description": "theirs"]) }
    #expect(try await bench.up(SyncBench.uploadLeave).counts.conflicting == 1)
    #expect(try bench.manager.discardChanges("accounts", entryIds: [entryId]).discarded == [entryId])
    #expect(try bench.shown(id) == (isGone ? nil : "A/theirs") && bench.conflicts().isEmpty && bench.dirtyCount() == 0)
    try await expectNothingIsSent(bench)
    await bench.close()
  }

  @Test func discard_unsettledUpload_stays() async throws {
    let bench = try await SyncBench()
    let made = try bench.createLocally("A")
    bench.org.setInterceptor { $0.method == "POST" ? .dropAfterHandling : nil }
    _ = try await bench.up()
    bench.org.setInterceptor(nil)
    let result = try bench.manager.discardChanges("accounts", entryIds: [made], created: true)
    #expect(result.kept.first?.text.contains("has not answered yet") == true, "\(result)")
    #expect(try await bench.up().status == .done)
    #expect(try bench.serverNames() == ["A"] && bench.dirtyCount() == 0)
    await bench.close()
  }

  @Test func discard_whileASyncOfTheSoupRuns_stays() async throws {
    let bench = try await SyncBench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    let state = try bench.manager.createSyncUp(
      target: bench.upTarget, options: SyncBench.uploadLeave, soupName: "accounts", syncName: "accountsUp")
    let other = SyncLeases()
    try await bench.store.write(.synced) { transaction in
      _ = try transaction.acquireLease(
        SyncLeases.name(state.id), owner: other.owner, now: SyncConfiguration.systemTime(), duration: 60_000,
        takeover: { _ in false })
    }
    let result = try bench.manager.discardChanges("accounts", entryIds: [entryId])
    #expect(result.kept.first?.text == "sync 'accountsUp' is running; stop it, or wait for its end", "\(result)")
    #expect(try bench.shown(id) == "A/mine*")
    withExtendedLifetime(other) {}
    await bench.close()
  }

  @Test func discard_wrongEntries_sayWhy() async throws {
    let bench = try await SyncBench()
    let (_, entryId) = try await bench.syncedAccount()
    let result = try bench.manager.discardChanges("accounts", entryIds: [entryId, 99])
    #expect(result.kept.map(\.text) == ["it has no local changes", "there is no entry 99 in soup 'accounts'"])
    #expect(throws: StoreError.self) { try bench.manager.discardChanges("none", entryIds: [1]) }
    await bench.close()
  }
}
