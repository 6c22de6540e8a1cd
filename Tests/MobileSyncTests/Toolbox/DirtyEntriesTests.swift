import JSON
import SandboxOrg
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// What is not sent, why, and what ends that.
@Suite struct DirtyEntriesTests {
  private static let options: JSONObject = ["fieldlist": ["Name", "Description"], "mergeMode": "LEAVE_IF_CHANGED"]

  /// A store with a named sync up.
  private func bench(_ kind: UploadKind = .collection, configuration: SyncConfiguration = SyncBench.configuration) async throws
    -> SyncBench
  {
    let bench = try await SyncBench(kind: kind, configuration: configuration)
    try bench.manager.createSyncUp(
      target: bench.upTarget, options: Self.options, soupName: "accounts", syncName: "accountsUp")
    return bench
  }

  private func only(_ bench: SyncBench) throws -> DirtyEntry {
    let found = try bench.manager.getDirtyEntries(inSoup: "accounts")
    #expect(found.count == 1, "\(found)")
    return try #require(found.first)
  }

  /// Each entry is counted once, under its state.
  private func expectCounts(_ bench: SyncBench, _ states: [DirtyEntry.State: Int]) throws {
    let soup = try #require(try bench.manager.getOverview().soups.first { $0.name == "accounts" })
    #expect(soup.states == states)
    #expect(try soup.dirty == bench.dirtyCount() && soup.dirty == states.values.reduce(0, +))
    #expect(try bench.manager.getDirtyEntries().count == soup.dirty)
    for (state, count) in states { #expect(try bench.manager.getDirtyEntries(states: [state]).count == count) }
  }

  @Test func waiting_eachAction_namesTheChangeAndTheSync() async throws {
    let bench = try await bench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    let edited = try only(bench)
    #expect(edited.entryId == entryId && edited.recordId == id && edited.title == "A" && edited.action == .update)
    #expect(edited.state == .waiting && edited.fields == ["Description"] && edited.reason == nil)
    #expect(edited.remedies == ["tureen sync accountsUp --store-name test"] && edited.syncName == "accountsUp")
    #expect(edited.jsonWithValues["values"] == [["name": "Description", "base": "base", "value": "mine"]])
    try bench.edit(id, ["__locally_deleted__": true])
    #expect(try only(bench).action == .delete && only(bench).fields == [])
    try bench.edit(id, ["__locally_deleted__": false])
    let made = try bench.createLocally("New", ["Description": nil])
    let created = try #require(try bench.manager.getDirtyEntries().first { $0.entryId == made })
    #expect(created.action == .create && created.recordId == nil && created.title == "New" && created.fields == ["Name"])
    try expectCounts(bench, [.waiting: 2])
    await bench.close()
  }

  @Test func waiting_soupWithoutSyncUp_saysSo() async throws {
    let bench = try await SyncBench()
    try bench.createLocally("A")
    #expect(try only(bench).reason?.code == "noSyncUp")
    await bench.close()
  }

  @Test func waiting_syncUpWithoutName_isRunByItsId() async throws {
    let bench = try await SyncBench()
    let state = try bench.manager.createSyncUp(target: bench.upTarget, options: Self.options, soupName: "accounts")
    try bench.createLocally("A")
    #expect(try only(bench).remedies == [#"tureen exec mobilesync reSync '{"syncId":\#(state.id),"storeName":"test"}'"#])
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases) func refused_saysWhatTheServerSaid(kind: UploadKind) async throws {
    let bench = try await bench(kind)
    let made = try bench.createLocally("New", ["Name": .string(String(repeating: "n", count: 300))])
    let end = try await bench.manager.reSync(.name("accountsUp"))
    #expect(end.counts.failed == 1)
    let entry = try only(bench)
    #expect(entry.state == .refused && entry.reason?.code == "STRING_TOO_LONG", "\(String(describing: entry.reason))")
    #expect(entry.reason?.text.isEmpty == false && entry.reason?.text.contains("{") == false)
    #expect(entry.remedies == ["correct Name", "tureen discard accounts \(made) --created --store-name test"])
    try expectCounts(bench, [.refused: 1])
    await bench.close()
  }

  @Test func conflict_eachKind_saysWhatHappened() async throws {
    let bench = try await bench()
    let (changed, changedEntry) = try await bench.syncedAccount("A")
    let gone = try bench.addAccount("B", "base"), here = try bench.addAccount("C", "base")
    _ = try await bench.down()
    try bench.edit(changed, ["Description": "mine"])
    try bench.change(changed, ["Description": "theirs"])
    try bench.edit(gone, ["Description": "mine"])
    try bench.org.delete("Account", id: gone)
    try bench.edit(here, ["__locally_deleted__": true])
    try bench.change(here, ["Description": "theirs"])
    let end = try await bench.manager.reSync(.name("accountsUp"))
    #expect(end.counts.conflicting == 3)
    let found = try bench.manager.getDirtyEntries()
    #expect(found.map(\.state) == [.conflict, .conflict, .conflict])
    #expect(
      found.map { $0.reason?.text } == [
        "both sides changed Description", "changed here, deleted on the server", "deleted here, changed on the server",
      ])
    #expect(
      found.first?.remedies == [
        "tureen conflicts resolve accounts \(changedEntry) --mine --store-name test",
        "tureen conflicts resolve accounts \(changedEntry) --theirs --store-name test",
      ])
    try expectCounts(bench, [.conflict: 3])
    #expect(try bench.manager.getOverview().soups.first?.newConflicts == 3)
    // The next run finds them again: they are known by now.
    _ = try await bench.manager.reSync(.name("accountsUp"))
    #expect(try bench.manager.getOverview().soups.first?.newConflicts == 0)
    await bench.close()
  }

  @Test func skipped_fieldNotListed_namesTheField() async throws {
    let bench = try await bench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Phone": "1"])
    let end = try await bench.manager.reSync(.name("accountsUp"))
    #expect(end.counts.skipped == 1)
    let entry = try only(bench)
    #expect(entry.state == .skipped && entry.reason?.code == "fieldNotListed" && entry.fields == ["Phone"])
    #expect(
      entry.remedies == ["name Phone in a field list of the sync up", "tureen discard accounts \(entryId) --store-name test"])
    try expectCounts(bench, [.skipped: 1])
    await bench.close()
  }

  /// The answer to a creation is lost: until the server has surely ended its work the entry is not sent again.
  @Test(arguments: UploadKind.allCases) func inDoubt_lostAnswer_waitsUntilATime(kind: UploadKind) async throws {
    let now = Mutex(SyncConfiguration.systemTime())
    var configuration = SyncConfiguration()
    configuration.now = { now.withLock { $0 } }
    configuration.lostCreateWaitMs = 600_000
    let bench = try await bench(kind, configuration: configuration)
    try bench.createLocally("A")
    bench.org.setInterceptor { $0.method == "POST" ? .dropBeforeHandling : nil }
    #expect(try await bench.manager.reSync(.name("accountsUp")).status == .failed)
    bench.org.setInterceptor(nil)
    let entry = try only(bench)
    let until = try #require(entry.until)
    #expect(entry.state == .inDoubt && entry.reason?.code == "noAnswer" && until > now.withLock { $0 })
    #expect(entry.remedies == ["wait until \(TimeStamp.text(until))", "tureen sync accountsUp --store-name test"])
    try expectCounts(bench, [.inDoubt: 1])
    now.withLock { $0 = until + 1 }
    #expect(try only(bench).remedies == ["tureen sync accountsUp --store-name test"])
    await bench.close()
  }

  /// Another process is sending it.
  @Test func held_liveRun_namesTheProcess() async throws {
    let bench = try await bench()
    try bench.createLocally("A")
    let seen = Mutex<[DirtyEntry]>([])
    bench.org.setInterceptor { request in
      if request.method == "POST" { seen.withLock { $0 = (try? bench.manager.getDirtyEntries()) ?? [] } }
      return nil
    }
    _ = try await bench.manager.reSync(.name("accountsUp"))
    let entry = try #require(seen.withLock { $0.first })
    #expect(entry.state == .held && entry.reason?.code == "heldByOtherRun", "\(entry)")
    #expect(entry.reason?.text.hasPrefix("sync 'accountsUp' in ") == true)
    #expect(try bench.dirtyCount() == 0)
    await bench.close()
  }

  @Test func overview_runOfADeadProcess_isAbandonedAndStays() async throws {
    let bench = try await bench()
    let state = try #require(try bench.manager.getSyncStatus(.name("accountsUp")))
    try await bench.store.write(.synced) { transaction in
      var running = state
      running.enter(.running, now: 1)
      try SyncsSoup.save(running, in: transaction)
    }
    for _ in 0..<2 {
      let sync = try #require(try bench.manager.getOverview().syncs.first { $0.state.name == "accountsUp" })
      #expect(sync.isAbandoned && sync.json["status"] == "ABANDONED" && sync.owner == nil)
    }
    let kept = try bench.store.readBlocking { try SyncsSoup.find(.name("accountsUp"), in: $0) }
    #expect(kept?.status == .running)
    await bench.close()
  }

  /// A look needs no syncs, no soup of syncs, and no manager.
  @Test func look_storeWithoutSyncs_listsItsEntries() throws {
    let store = try TemporaryStore(soup: "notes", [IndexSpec(path: "name", type: .string)])
    try store.store.upsert(#"[{"name":"a","__local__":true,"__locally_created__":true},{"name":"b"}]"#, into: "notes")
    let look = StoreLook(store.store, targets: TargetRegistry([SalesforceSyncService()]))
    #expect(try look.dirtyEntries().map(\.title) == ["a"])
    let overview = try look.overview()
    #expect(overview.soups.map(\.entries) == [2] && overview.soups[0].actions == [.create: 1] && overview.syncs.isEmpty)
  }
}

/// The meaning of `__last_error__`.
@Suite struct ErrorNoteTests {
  @Test(
    arguments: [
      (#"{"statusCode":"A","message":"no","fields":["X"]}"#, "A", "no", ["X"]),
      (#"[{"errorCode":"B","message":"not\nthis","fields":[]}]"#, "B", "not this", []),
      (#"{"code":142,"error":"no title"}"#, "142", "no title", []),
      (#"{"status":409,"message":"locked"}"#, "409", "409: locked", []),
      (#"{"status":0,"code":"READ_ONLY","message":"no 'delete'","fields":{}}"#, "READ_ONLY", "no 'delete'", []),
      (#"{"status":422,"message":"wrong","fields":{"title":"is missing"}}"#, "422", "422: wrong (title: is missing)", ["title"]),
      (#"{"error":{"message":"inner"}}"#, "", "inner", []),
      ("plain words", "", "plain words", []),
    ] as [(String, String, String, [String])])
  func note_eachForm_hasCodeAndText(error: String, code: String, text: String, fields: [String]) throws {
    let note = try #require(ErrorNote(["__last_error__": .string(error)]))
    #expect(note.code == code && note.text == text && note.fields == fields, "\(note)")
  }

  @Test func note_none_isNil() {
    for entry in [[:], ["__last_error__": nil], ["__last_error__": ""]] as [JSONObject] { #expect(ErrorNote(entry) == nil) }
  }

  @Test func note_page_isCut() throws {
    let note = try #require(ErrorNote(["__last_error__": .string(String(repeating: "é", count: 5000))]))
    #expect(note.text.utf8.count <= 304 && note.text.hasSuffix("é…"))
  }
}

/// Commands that can be copied into a shell.
@Suite struct CommandTextTests {
  @Test(arguments: [
    ("contacts", "contacts"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("", "''"), ("$x", "'$x'"), ("a.b-c_1", "a.b-c_1"),
  ])
  func word_isQuotedWhereNeeded(word: String, text: String) { #expect(CommandText.quoted(word) == text) }
}
