import JSON
import SandboxOrg
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// What happens to entries is in the log, with the reason.
@Suite struct HistoryLogTests {
  private static let options: JSONObject = ["fieldlist": ["Name", "Description"], "mergeMode": "MERGE"]

  private func bench(_ kind: UploadKind = .collection, configuration: SyncConfiguration = SyncBench.configuration) async throws
    -> SyncBench
  {
    let bench = try await SyncBench(kind: kind, configuration: configuration)
    bench.keepHistory()
    try bench.manager.createSyncUp(
      target: bench.upTarget, options: Self.options, soupName: "accounts", syncName: "accountsUp")
    return bench
  }

  private func up(_ bench: SyncBench) async throws -> SyncState { try await bench.manager.reSync(.name("accountsUp")) }

  @Test(arguments: UploadKind.allCases) func uploads_areLoggedWithWhatWasSent(kind: UploadKind) async throws {
    let bench = try await bench(kind)
    let (id, entryId) = try await bench.syncedAccount()
    let made = try bench.createLocally("New", ["Description": "d"])
    try bench.edit(id, ["Description": "mine"])
    _ = try await up(bench)
    let rows = try bench.rows(.log).filter { $0.texts[0] == "uploaded" }
    #expect(rows.count == 2)
    let update = try #require(rows.first { $0.integers[4] == entryId })
    #expect(update.texts[2] == #"["Description"]"# && update.texts[3] == id, "\(update)")
    #expect(update.texts[4] == #"{"Description":"base"}"# && update.texts[5] == #"{"Description":"mine"}"#, "\(update)")
    let create = try #require(rows.first { $0.integers[4] == made })
    #expect(create.texts[4] == nil && create.texts[5] == #"{"Name":"New","Description":"d"}"#, "\(create)")
    #expect(create.texts[3]?.hasPrefix("001") == true)
    try bench.edit(id, ["__locally_deleted__": true])
    _ = try await up(bench)
    let delete = try #require(try bench.rows(.log).last { $0.texts[0] == "uploaded" })
    #expect(delete.integers[4] == entryId && delete.texts[3] == id && delete.texts[4]?.contains(#""Description":"mine""#) == true)
    await bench.close()
  }

  // MARK: Row 13: reasons

  @Test(arguments: UploadKind.allCases) func row13_refused_hasTheServersText(kind: UploadKind) async throws {
    let bench = try await bench(kind)
    let made = try bench.createLocally("New", ["Name": .string(String(repeating: "n", count: 300))])
    for _ in 0..<2 { _ = try await up(bench) }
    let refused = try bench.log("refused")
    #expect(
      refused.count == 2 && refused.allSatisfy { $0.contains("STRING_TOO_LONG: ") && $0.contains(" \(made) ") }, "\(refused)")
    let entry = try #require(try bench.manager.getDirtyEntries().first)
    #expect(entry.runs == 2 && entry.by?.name == "edits.lua" && entry.since != nil)
    await bench.close()
  }

  @Test func row13_skipped_hasItsReason() async throws {
    let bench = try await bench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Phone": "1"])
    _ = try await up(bench)
    #expect(try bench.log("skipped") == ["skipped \(entryId) v3 Phone fieldNotListed run 2"])
    // No record has the member, so it holds nothing back that can be sent.
    try bench.edit(id, ["Phone": "2", "Description": "mine"])
    _ = try await up(bench)
    let last = Array(try bench.log("uploaded", "skipped").suffix(2))
    #expect(
      last == ["skipped \(entryId) v3 Phone fieldNotListed run 2", "uploaded \(entryId) v5 Description - run 3"], "\(last)")
    await bench.close()
  }

  @Test func row13_held_namesTheReason() async throws {
    let bench = try await bench()
    let entryId = try bench.createLocally("A")
    let other = try bench.anotherManager()
    // It compares nothing, so it needs no answer of the server.
    try other.createSyncUp(target: bench.upTarget, options: SyncBench.upload, soupName: "accounts", syncName: "otherUp")
    let isFirst = Mutex(true), ended = Mutex<SyncState?>(nil)
    bench.org.setInterceptor { request in
      guard request.method == "POST",
        isFirst.withLock({ isFirst in
          defer { isFirst = false }
          return isFirst
        })
      else { return nil }
      // The answer waits until the other run has ended.
      let recorder = UpdateRecorder()
      _ = try? other.reSync(.name("otherUp"), onUpdate: recorder.listener)
      while !recorder.states.contains(where: \.status.isTerminal) {}
      ended.withLock { $0 = recorder.states.last }
      return nil
    }
    _ = try await up(bench)
    bench.org.setInterceptor(nil)
    #expect(ended.withLock { $0?.counts.skipped } == 1)
    #expect(try bench.log("skipped") == ["skipped \(entryId) v1 - heldByOtherRun run 2"])
    await other.shutdown()
    await bench.close()
  }

  @Test func row13_conflicts_haveTheirKindAndFields() async throws {
    let bench = try await bench()
    let (changed, changedEntry) = try await bench.syncedAccount("A")
    let gone = try bench.addAccount("B", "base"), here = try bench.addAccount("C", "base")
    _ = try await bench.down()
    for id in [changed, gone] { try bench.edit(id, ["Description": "mine"]) }
    try bench.edit(here, ["__locally_deleted__": true])
    for id in [changed, here] { try bench.change(id, ["Description": "theirs"]) }
    try bench.org.delete("Account", id: gone)
    _ = try await up(bench)
    let conflicts = try bench.log("conflict").map { $0.split(separator: " ").dropFirst(3).prefix(2).joined(separator: " ") }
    #expect(conflicts.sorted() == ["- deletedThere", "Description changed", "Description deletedHere"].sorted(), "\(conflicts)")
    _ = try bench.manager.resolveConflict(inSoup: "accounts", entryId: changedEntry, with: .server)
    #expect(
      try bench.log("resolved").map { $0.split(separator: " ").suffix(3).joined(separator: " ") } == ["Description theirs -"])
    await bench.close()
  }

  @Test func row13_merge_isLogged() async throws {
    let bench = try await bench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Name": "theirs"])
    _ = try await up(bench)
    let lines = try bench.log("merged", "uploaded")
    #expect(lines.count == 2 && lines[0].hasPrefix("merged \(entryId) v3 Name - run"), "\(lines)")
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases) func row13_lostAnswer_isInDoubtThenAdopted(kind: UploadKind) async throws {
    let bench = try await bench(kind)
    let made = try bench.createLocally("A")
    bench.org.setInterceptor { $0.method == "POST" ? .dropAfterHandling : nil }
    #expect(try await up(bench).status == .failed)
    bench.org.setInterceptor(nil)
    _ = try await up(bench)
    let causes = try bench.log().map { $0.split(separator: " ")[0] }
    #expect(causes == ["created", "inDoubt", "adopted"])
    #expect(try bench.log("adopted")[0].hasPrefix("adopted \(made) "))
    await bench.close()
  }

  @Test func reSync_logsTheFirstUpdates_andNoFirstLoad() async throws {
    let bench = try await SyncBench(accounts: 3)
    bench.keepHistory()
    _ = try await bench.down(name: "s")
    #expect(try bench.log() == [])
    let id = try #require(try bench.entry(named: "Account 1")?["Id"]?.stringValue)
    try bench.change(id, ["Description": "new"])
    _ = try await bench.manager.reSync(.name("s"))
    #expect(try bench.log() == ["updated 2 v2 Description,LastModifiedDate - run 2"])
    await bench.close()
  }

  @Test func discard_keepsTheDroppedValues() async throws {
    let bench = try await bench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine", "Name": "Z"])
    let made = try bench.createLocally("New")
    _ = try bench.manager.discardChanges("accounts", entryIds: [entryId], fields: ["Name"])
    _ = try bench.manager.discardChanges("accounts", entryIds: [entryId])
    _ = try bench.manager.discardChanges("accounts", entryIds: [made], created: true)
    let rows = try bench.rows(.log).filter { $0.texts[0] == "discarded" }
    #expect(rows.map { $0.texts[4] }.prefix(2) == [#"{"Name":"Z"}"#, #"{"Description":"mine"}"#])
    #expect(rows.last?.texts[4]?.contains(#""Name":"New""#) == true)
    #expect(try bench.log("removed").map { $0.split(separator: " ")[4] } == ["discarded"])
    await bench.close()
  }

  // MARK: Row 17: privacy

  /// The tables' texts but `before` and `sent`.
  private func otherTexts(_ bench: SyncBench) throws -> String {
    try HistoryTable.allCases.map { table in
      try bench.rows(table).map { row in
        (table == .log ? row.texts.prefix(4) : row.texts[...]).map { $0 ?? "" }.joined(separator: " ")
      }.joined(separator: "\n")
    }.joined(separator: "\n")
  }

  @Test(arguments: UploadKind.allCases) func row17_values_areInBeforeAndSentAlone_andGoWithAGhost(kind: UploadKind) async throws {
    for level in [HistoryLevel.all, .names] {
      let bench = try await SyncBench(kind: kind)
      bench.keepHistory(level)
      let id = try bench.addAccount("A", "canary-before")
      let down = try await bench.down(name: "s")
      #expect(down.status == .done)
      try bench.edit(id, ["Description": "canary-sent"])
      _ = try await bench.up(["fieldlist": ["Description"], "mergeMode": "MERGE"])
      try bench.change(id, ["Description": "canary-server"])
      _ = try await bench.manager.reSync(.name("s"))
      let values = try bench.rows(.log).flatMap { $0.texts.suffix(2) }.compactMap { $0 }.joined()
      #expect(values.contains("canary-before") == (level == .all) && values.contains("canary-sent") == (level == .all))
      #expect(try !otherTexts(bench).contains("canary"))
      let token = try await bench.client.session().accessToken
      #expect(try !otherTexts(bench).contains(token) && !values.contains(token))
      try bench.org.delete("Account", id: id)
      #expect(try await bench.manager.cleanResyncGhosts(.name("s")) == 1)
      #expect(try bench.rows(.log).allSatisfy { $0.texts[4] == nil && $0.texts[5] == nil })
      let last = try #require(try bench.rows(.log).last)
      #expect(last.texts[0] == "removed" && last.texts[1] == "ghost" && last.texts[3] == id)
      #expect(try bench.rows(.log).contains { $0.texts[2]?.contains("Description") == true }, "names stay")
      await bench.close()
    }
  }
}
