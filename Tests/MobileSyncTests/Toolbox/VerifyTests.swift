import JSON
import RestClient
import SandboxOrg
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

extension SyncBench {
  /// A bench whose accounts are all older than what a re-sync looks back.
  static func aged(accounts: Int = 5, pageSize: Int = 2) async throws -> SyncBench {
    let bench = try await SyncBench(accounts: accounts, pageSize: pageSize)
    bench.clock.advance(by: 300)
    _ = try await bench.down(name: "s")
    return bench
  }

  func verify(_ level: VerifyLevel = .content, name: String = "s", repair: Bool = false, max: Int? = nil) async throws
    -> VerifyResult
  {
    org.clearRequests()
    let result = try await manager.verifySync(.name(name), level: level, repair: repair, max: max)
    #expect(result.requests == requests().count, "told and logged: \(requests())")
    return result
  }

  /// `soup entry-or-record reason fields`, a line each.
  static func lines(_ findings: [VerifyFinding]) -> [String] {
    findings.map { finding in
      ([finding.soupName, finding.entryId.map { "\($0)" } ?? "-", finding.reason.rawValue] + finding.fields).joined(
        separator: " ")
    }
  }

  func id(_ name: String) throws -> String { try entry(named: name)?["Id"]?.stringValue ?? "" }
  func entryId(_ name: String) throws -> Int64 { try entry(named: name)?["_soupEntryId"]?.integerValue ?? 0 }

  /// Changes an entry below the sync, as if it had come from the server like that.
  func tamper(_ name: String, _ members: JSONObject) throws {
    var entry = try entry(named: name) ?? [:]
    for (key, value) in members { entry[key] = value }
    try save(entry)
  }

  func setProgress(_ name: String = "s", _ change: @escaping @Sendable (inout SyncState) -> Void) throws {
    try store.writeBlocking(.synced) { transaction in
      guard var state = try SyncsSoup.find(.name(name), in: transaction) else { return }
      change(&state)
      try SyncsSoup.save(state, in: transaction)
    }
  }
}

/// Rows 36 to 39: a soup is what its server would send, or the comparison says why not.
@Suite struct VerifyTests {
  private func bench(accounts: Int = 5, pageSize: Int = 2) async throws -> SyncBench {
    try await SyncBench.aged(accounts: accounts, pageSize: pageSize)
  }

  private func expectEqual(_ bench: SyncBench, _ count: Int, name: String = "s", after what: String) async throws {
    for level in VerifyLevel.allCases {
      let result = try await bench.verify(level, name: name)
      #expect(
        result.isEqual && result.isComplete && result.server == count,
        "\(level) after \(what): \(JSONValue.object(result.json).text)")
    }
  }

  // MARK: Row 36

  @Test(arguments: UploadKind.allCases)
  func row36_query_isEqualAfterEachRun(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 5, pageSize: 2)
    bench.clock.advance(by: 300)
    _ = try await bench.down(name: "s")
    try await expectEqual(bench, 5, after: "a load")
    try bench.change(bench.id("Account 1"), ["Description": "there"])
    try bench.addAccount("Account 5")
    _ = try await bench.manager.reSync(.name("s"))
    try await expectEqual(bench, 6, after: "a re-sync")
    try bench.updateLocally("Account 2", ["Description": "here"])
    try bench.createLocally("New")
    let dirty = try await bench.verify()
    #expect(dirty.isEqual && dirty.counts[.dirty] == 2 && dirty.local == 7 && dirty.server == 6, "\(dirty)")
    bench.clock.advance(by: 60)
    #expect(try await bench.up().counts.succeeded == 2)
    try await expectEqual(bench, 7, after: "an upload")
    try bench.org.delete("Account", id: bench.id("Account 0"))
    #expect(try await !bench.verify(.count).isEqual)
    #expect(try await bench.manager.cleanResyncGhosts(.name("s")) == 1)
    try await expectEqual(bench, 6, after: "ghosts")
    await bench.close()
  }

  @Test func row36_otherTargets_areEqualAfterEachRun() async throws {
    let bench = try await SyncBench(accounts: 5, pageSize: 2)
    try await bench.viewAccounts()
    bench.clock.advance(by: 300)
    let fieldlist: JSONValue = ["Name", "Description"]
    let targets: [JSONObject] = [
      ["type": "mru", "sobjectType": "Account", "fieldlist": fieldlist],
      ["type": "refresh", "sobjectType": "Account", "fieldlist": fieldlist, "soupName": "accounts", "countIdsPerSoql": 2],
      ["type": "sosl", "query": "FIND {Account} IN NAME FIELDS RETURNING Account(Id, Name, LastModifiedDate)"],
      ["type": "soql", "query": "SELECT Id, Name, LastModifiedDate FROM Account ORDER BY Name LIMIT 3"],
    ]
    for (n, target) in targets.enumerated() {
      let name = "s\(n)", count = n == 3 ? 3 : 5
      #expect(try await bench.manager.syncDown(target: target, soupName: "accounts", syncName: name).status == .done)
      try await expectEqual(bench, count, name: name, after: "a load of \(target)")
      try bench.change(bench.id("Account 1"), ["Description": .string("there \(n)")])
      _ = try await bench.manager.reSync(.name(name))
      try await expectEqual(bench, count, name: name, after: "a re-sync of \(target)")
    }
    try bench.store.registerSoup("one", indexSpecs: SyncBench.specs)
    for (kind, name) in [("layout", "l"), ("metadata", "m")] {
      let target: JSONObject = ["type": .string(kind), "sobjectType": "Account"]
      #expect(try await bench.manager.syncDown(target: target, soupName: "one", syncName: name).status == .done)
      try await expectEqual(bench, 1, name: name, after: "a load of \(kind)")
    }
    await bench.close()
  }

  @Test func row36_families_areEqualAfterEachRun() async throws {
    let family = try await ParentChildrenBench(pageSize: 2), bench = family.bench
    let (id, children) = try family.addFamily("A", children: 3)
    try family.addFamily("B", children: 0)
    try family.addFamily("C", children: 1)
    bench.clock.advance(by: 300)
    try await family.down()
    try bench.rename(syncTo: "f")
    try await expectEqual(bench, 7, name: "f", after: "a load")
    try family.change("Account", id, ["Name": "A2"])
    try family.change("Contact", children[0], ["LastName": "new"])
    _ = try await bench.manager.reSync(.name("f"))
    try await expectEqual(bench, 7, name: "f", after: "a re-sync")
    await family.close()
  }

  /// The digest does not depend on the engine, the order of the records or their entries' numbers.
  @Test func row36_digest_isThatOfTheRecords() async throws {
    let first = try await bench(accounts: 3), digest = try await first.verify().digest
    let ids = try await first.verify(.ids).digest, all = try first.entries()
    #expect(digest?.hasPrefix("sha256:") == true && ids != digest)
    // The same records, from the last one on, with other spellings.
    try first.store.clearSoup("accounts")
    for var entry in all.reversed() {
      entry["_soupEntryId"] = nil
      entry["Name"] = entry["Name"]
      entry["LastModifiedDate"] = entry["LastModifiedDate"]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
        .map { .string(TimeStamp.isoText($0)) }
      try first.save(entry)
    }
    let again = try await first.verify()
    #expect(again.digest == digest, "\(again)")
    try first.tamper("Account 1", ["Description": "other"])
    #expect(try await first.verify().digest != digest)
    await first.close()
  }

  // MARK: Row 37

  @Test func row37_behind_isBroughtByTheNextRun() async throws {
    let bench = try await bench()
    try bench.change(bench.id("Account 1"), ["Description": "there"])
    try bench.addAccount("Account 5")
    let result = try await bench.verify()
    #expect(!result.isEqual && result.counts == [.behind: 2], "\(result)")
    #expect(SyncBench.lines(result.different) == ["accounts 2 behind Description"])
    #expect(SyncBench.lines(result.missing) == ["accounts - behind"])
    #expect(result.missing[0].text == "new on the server: tureen sync s --store-name test brings it")
    _ = try await bench.manager.reSync(.name("s"))
    #expect(try await bench.verify().isEqual)
    await bench.close()
  }

  @Test func row37_missing_committedLate_isFoundAndMended() async throws {
    let bench = try await bench(accounts: 30)
    try bench.store.remove([bench.entryId("Account 7")], from: "accounts")
    _ = try await bench.manager.reSync(.name("s"))
    let result = try await bench.verify()
    #expect(SyncBench.lines(result.missing) == ["accounts - missing"] && result.counts == [.missing: 1], "\(result)")
    #expect(
      result.missing[0].text.hasPrefix("committed late")
        && result.missing[0].text.hasSuffix("tureen verify s --repair --store-name test"))
    let repaired = try await bench.verify(repair: true)
    #expect(repaired.repair == VerifyResult.Repair(stored: 1), "\(repaired)")
    #expect(try await bench.verify().isEqual)
    await bench.close()
  }

  @Test func row37_cursorInTheFuture_isNamed() async throws {
    let bench = try await bench()
    try bench.setProgress { state in
      state.maxTimeStamp = 4_000_000_000_000
      state.coveredTimeStamp = 4_000_000_000_000
    }
    try bench.addAccount("Account 5")
    let result = try await bench.verify()
    #expect(result.missing.first?.text.contains("a date in the future") == true, "\(result)")
    #expect(result.counts == [.missing: 1])
    await bench.close()
  }

  @Test func row37_clearedSoup_isNamed() async throws {
    let bench = try await bench()
    let ids = try bench.entries().compactMap { $0["_soupEntryId"]?.integerValue }
    try bench.store.remove(ids, from: "accounts")
    #expect(try await bench.verify().missing.allSatisfy { $0.text.hasPrefix("the soup was cleared") && $0.reason == .missing })
    try bench.store.clearSoup("accounts")
    let result = try await bench.verify()
    #expect(result.counts == [.behind: 5] && result.missing.allSatisfy { $0.text.hasPrefix("the soup was cleared") }, "\(result)")
    await bench.close()
  }

  @Test func row37_childWithoutAChangeOfItsParent_isMissing() async throws {
    let family = try await ParentChildrenBench(), bench = family.bench
    let (id, _) = try family.addFamily("A", children: 2)
    bench.clock.advance(by: 300)
    try await family.down()
    try bench.rename(syncTo: "f")
    bench.clock.advance(by: 60)
    _ = try bench.org.create("Contact", fields: ["LastName": "late", "AccountId": .string(id)])
    _ = try await bench.manager.reSync(.name("f"))
    for level in [VerifyLevel.ids, .content] {
      let result = try await bench.verify(level, name: "f")
      #expect(SyncBench.lines(result.missing) == ["contacts - missing"], "\(result)")
      #expect(result.missing[0].text.contains("with a change of its parent"))
    }
    #expect(try await bench.verify(name: "f", repair: true).repair?.stored == 1)
    #expect(try await bench.verify(name: "f").isEqual)
    await family.close()
  }

  @Test func row37_idOf15Characters_isNamed() async throws {
    let bench = try await bench()
    let id = try bench.id("Account 2")
    try bench.tamper("Account 2", ["Id": .string(String(id.prefix(15)))])
    let result = try await bench.verify()
    #expect(SyncBench.lines(result.extra) == ["accounts 3 extra"] && result.missing.map(\.recordId) == [id], "\(result)")
    #expect(result.extra[0].text == "stored under an id of 15 characters; the server's has 18")
    await bench.close()
  }

  @Test func row37_computed_otherValueUnderTheSameDate() async throws {
    let bench = try await bench()
    try bench.tamper("Account 3", ["Description": "stale"])
    let result = try await bench.verify()
    #expect(SyncBench.lines(result.different) == ["accounts 4 computed Description"], "\(result)")
    #expect(try await bench.verify(.ids).isEqual, "dates alone do not show it")
    await bench.close()
  }

  @Test func row37_different_thatNoRunBrings() async throws {
    let bench = try await bench()
    try bench.tamper("Account 3", ["Description": "stale", "LastModifiedDate": "2001-01-01T00:00:00.000+0000"])
    for level in [VerifyLevel.ids, .content] {
      let result = try await bench.verify(level)
      #expect(result.different.map(\.reason) == [.different] && result.different[0].entryId == 4, "\(result)")
      #expect(result.different[0].text.hasPrefix("committed late"))
    }
    await bench.close()
  }

  @Test func row37_extra_saysWhy() async throws {
    let bench = try await bench()
    try bench.updateLocally("Account 4", ["Description": "mine"])
    for name in ["Account 0", "Account 4"] { try bench.org.delete("Account", id: bench.id(name)) }
    let target: JSONObject = [
      "type": "soql",
      "query": "SELECT Id, Name, LastModifiedDate FROM Account WHERE Name != 'Out' ORDER BY LastModifiedDate",
    ]
    try bench.store.registerSoup("others", indexSpecs: SyncBench.specs)
    #expect(try await bench.manager.syncDown(target: target, soupName: "others", syncName: "o").counts.stored == 3)
    try bench.change(bench.id("Account 1"), ["Name": "Out"])
    for level in [VerifyLevel.ids, .content] {
      let result = try await bench.verify(level)
      #expect(SyncBench.lines(result.extra) == ["accounts 1 extra", "accounts 5 extra"], "\(result)")
      #expect(
        result.extra.map(\.text) == [
          "deleted on the server",
          "deleted on the server, changed here: tureen conflicts accounts 5 --store-name test",
        ])
      let other = try await bench.verify(level, name: "o")
      #expect(other.extra.map(\.text) == ["on the server, but not in what the sync asks for"], "\(other)")
    }
    #expect(try await !bench.verify(.count).isEqual)
    await bench.close()
  }

  /// An answer without any page does not mean that nothing is to be compared.
  @Test func row37_emptyServer_isNotEqual() async throws {
    let bench = try await bench(accounts: 3)
    try await bench.viewAccounts()
    let fieldlist: JSONValue = ["Name"]
    let recent: JSONObject = ["type": "mru", "sobjectType": "Account", "fieldlist": fieldlist]
    #expect(try await bench.manager.syncDown(target: recent, soupName: "accounts", syncName: "m").counts.stored == 3)
    for entry in try bench.entries() { try bench.org.delete("Account", id: entry["Id"]?.stringValue ?? "") }
    for level in VerifyLevel.allCases {
      let result = try await bench.verify(level, name: "m")
      #expect(!result.isEqual && result.counts == [.extra: 3] && result.server == 0, "\(result)")
    }
    await bench.close()
  }

  @Test func row37_extra_copiesAndEntriesWithoutASync() async throws {
    let bench = try await bench()
    var copy = try #require(try bench.entry(named: "Account 1"))
    copy["_soupEntryId"] = nil
    try bench.save(copy)
    let gone = try bench.id("Account 2")
    try bench.org.delete("Account", id: gone)
    try bench.tamper("Account 2", ["__sync_id__": .null])
    try bench.save([
      "Id": "001000000000999AAA", "attributes": ["type": "Account"], "Name": "a program's own", "__local__": false,
    ])
    let texts = try await bench.verify().extra.map(\.text).sorted()
    #expect(
      texts == [
        "another entry has the same record", "deleted on the server; no sync owns the entry",
        "deleted on the server; no sync owns the entry",
      ])
    await bench.close()
  }

  /// A creation that is in flight, and edits, are no differences; what they were made from is compared.
  @Test func row37_dirty_isComparedAsItCameFromTheServer() async throws {
    let bench = try await bench()
    try bench.updateLocally("Account 1", ["Description": "mine"])
    try bench.deleteLocally("Account 2")
    try bench.createLocally("New")
    let result = try await bench.verify()
    #expect(result.isEqual && result.counts == [.dirty: 3] && result.compared == 5, "\(result)")
    try bench.change(bench.id("Account 1"), ["Name": "theirs"])
    let changed = try await bench.verify()
    #expect(SyncBench.lines(changed.different) == ["accounts 2 behind Name"], "\(changed)")
    #expect(changed.different[0].text.contains("changed here"))
    await bench.close()
  }

  // MARK: The history

  @Test func verify_isARunOfTheHistoryAndMovesLastVerified() async throws {
    let bench = try await bench()
    bench.keepHistory()
    func lastVerified() throws -> Int64? { try bench.manager.getOverview().syncs.first { $0.state.name == "s" }?.lastVerified }
    #expect(try await bench.verify(.ids).isEqual)
    let first = try #require(try lastVerified())
    let run = try #require(try bench.runs().first)
    #expect(run.json["kind"] == "verify" && run.status == "DONE" && !run.needsALook && run.startedAt == first)
    #expect(run.json["verified"] == ["level": "ids", "equal": true, "complete": true])
    let requests = try bench.manager.look.requestsJSON()["requests"]?.arrayValue ?? []
    #expect(requests.count == 3 && requests.allSatisfy { $0["run"] == .integer(run.number) })
    try bench.tamper("Account 3", ["Description": "stale"])
    #expect(try await !bench.verify().isEqual)
    #expect(try bench.runs().first?.needsALook == true)
    #expect(try lastVerified() == first)
    await bench.close()
  }

  @Test func verify_wrongArguments_areNamed() async throws {
    let bench = try await bench()
    try bench.manager.createSyncUp(options: SyncBench.upload, soupName: "accounts", syncName: "up")
    for (name, repair, max, code) in [
      ("up", false, nil, SyncError.Code.wrongSyncType), ("none", false, nil, .noSuchSync), ("s", false, 3, .invalidArguments),
      ("s", true, 0, .invalidArguments),
    ] as [(String, Bool, Int?, SyncError.Code)] {
      do {
        _ = try await bench.manager.verifySync(.name(name), repair: repair, max: max)
        Issue.record("\(name) was verified")
      } catch let error as SyncError {
        #expect(error.is(code), "\(error)")
      }
    }
    await bench.close()
  }

  // MARK: maxRequests

  @Test func maxRequests_endsARunThatNeedsMore() async throws {
    let bench = try await SyncBench(accounts: 5, pageSize: 2)
    try bench.manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "s")
    func run(_ most: Int) async throws -> SyncState {
      let recorder = UpdateRecorder()
      try bench.manager.reSync(.name("s"), maxRequests: most, onUpdate: recorder.listener)
      return await recorder.ended()
    }
    bench.org.clearRequests()
    let cut = try await run(2)
    #expect(cut.status == .failed && cut.failure?.is(.tooMuch) == true && bench.requests().count == 2, "\(cut.error)")
    #expect(try await run(3).status == .done)
    #expect(try bench.names().count == 5)
    #expect(throws: SyncError.self) { try bench.manager.reSync(.name("s"), maxRequests: 0, onUpdate: { _ in }) }
    let removed: Result<Int, SyncError> = await withCheckedContinuation { continuation in
      do {
        try bench.manager.cleanResyncGhosts(.name("s"), maxRequests: 1) { continuation.resume(returning: $0) }
      } catch {
        continuation.resume(returning: .failure(SyncError(wrapping: error)))
      }
    }
    guard case .failure(let error) = removed else {
      Issue.record("the ghosts were cleaned")
      return
    }
    #expect(error.is(.tooMuch) && error.message.contains("maxRequests"), "\(error)")
    await bench.close()
  }
}

extension SyncBench {
  /// Gives the only sync down without a name one.
  func rename(syncTo name: String) throws {
    try store.writeBlocking(.synced) { transaction in
      for id in try transaction.entryIds(in: SyncsSoup.name, where: "type", equals: .text("syncDown")) {
        _ = try transaction.patch(id, in: SyncsSoup.name, setting: ["name": .string(name)])
      }
    }
  }
}
