import JSON
import RestClient
import SandboxOrg
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Why an entry looks as it does, and what the next sync does with it.
@Suite struct ExplainTests {
  private static let options: JSONObject = ["fieldlist": ["Name", "Description"], "mergeMode": "MERGE"]

  private func bench(
    _ kind: UploadKind = .collection, accounts: Int = 0, configuration: SyncConfiguration = SyncBench.configuration
  ) async throws -> SyncBench {
    let bench = try await SyncBench(kind: kind, accounts: accounts, configuration: configuration)
    bench.keepHistory()
    try bench.manager.createSyncUp(
      target: bench.upTarget, options: Self.options, soupName: "accounts", syncName: "accountsUp")
    return bench
  }

  private func up(_ bench: SyncBench) async throws -> SyncState { try await bench.manager.reSync(.name("accountsUp")) }

  private func explain(_ bench: SyncBench, _ id: Int64) throws -> EntryExplanation {
    try bench.manager.look.explain(entry: id, in: "accounts")
  }

  // MARK: Row 40: the first sentence

  @Test func row40_clean_saysHowItCame() async throws {
    let bench = try await bench(accounts: 2)
    _ = try await bench.down(name: "accountsDown")
    let loaded = try explain(bench, 1)
    #expect(loaded.state == .clean && loaded.owners == ["accountsDown"] && loaded.next.isEmpty)
    #expect(loaded.text == "Account 0 is as the server has it: accountsDown, run 1 brought it just now.")
    #expect(loaded.log.map(\.text) == ["accountsDown, run 1: first load, fields not recorded"] && loaded.log[0].isCertain)
    let id = try #require(try bench.entry(named: "Account 1")?["Id"]?.stringValue)
    try bench.change(id, ["Description": "new"])
    _ = try await bench.manager.reSync(.name("accountsDown"))
    let updated = try explain(bench, 2)
    #expect(updated.log.first?.text == "accountsDown, run 2: Description LastModifiedDate", "\(updated.log.map(\.text))")
    let field = try #require(updated.json["fields"]?.arrayValue?.first { $0["name"] == "Description" })
    #expect(field["from"]?["kind"] == "server" && field["from"]?["run"] == 2 && field["from"]?["certain"] == true)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases) func row40_eachState_saysItAll(kind: UploadKind) async throws {
    var configuration = SyncBench.configuration
    configuration.lostCreateWaitMs = 600_000
    let bench = try await bench(kind, configuration: configuration)
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    let waiting = try explain(bench, entryId)
    #expect(waiting.text == "A waits for the next sync up: Description changed here by edits.lua just now.")
    #expect(waiting.next.map(\.text) == ["accountsUp sends Description"] && waiting.next[0].expect == .send)
    #expect(waiting.log.first?.text == "edits.lua: Description base → mine")
    try bench.change(id, ["Description": "theirs"])
    _ = try await up(bench)
    let conflict = try explain(bench, entryId)
    #expect(
      conflict.text
        == "A is in conflict: Description changed here by edits.lua just now, and both sides changed Description in accountsUp, run 2, "
        + "just now.", "\(conflict.text)")
    #expect(conflict.next[0].expect == .conflict)
    #expect(conflict.fields.first { $0.name == "Description" }?.server == "theirs")
    _ = try bench.manager.resolveConflict(inSoup: "accounts", entryId: entryId, with: .server)
    try bench.edit(id, ["Name": .string(String(repeating: "n", count: 300))])
    _ = try await up(bench)
    let refused = try explain(bench, entryId)
    #expect(refused.state == .refused && refused.text.contains(" is refused: Name changed here by edits.lua "), "\(refused.text)")
    #expect(
      refused.text.contains(", and the server says \"") && refused.next[0].text.hasSuffix("is refused again"),
      "\(refused.next)")
    #expect(refused.log.first?.text == "accountsUp, run 3: sent, refused", "\(refused.log.map(\.text))")
    try bench.edit(id, ["Name": "A", "Phone": "1"])
    _ = try await up(bench)
    let skipped = try explain(bench, entryId)
    #expect(skipped.state == .skipped && skipped.next[0].expect == .skip, "\(skipped.text)")
    #expect(
      skipped.log.first?.text
        == "accountsUp, run 4: skipped it: no field list sends Phone", "\(skipped.log.map(\.text))")
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases) func row40_createInDoubt_saysItAll(kind: UploadKind) async throws {
    let bench = try await bench(kind)
    let made = try bench.createLocally("New")
    #expect(try explain(bench, made).text == "New waits for the next sync up: it was created here by edits.lua just now.")
    bench.org.setInterceptor { $0.method == "POST" ? .dropBeforeHandling : nil }
    #expect(try await up(bench).status == .failed)
    bench.org.setInterceptor(nil)
    let doubt = try explain(bench, made)
    #expect(doubt.state == .inDoubt && doubt.text.hasPrefix("New is in doubt: it was created here by edits.lua"), "\(doubt.text)")
    #expect(doubt.next[0].expect == .wait)
    await bench.close()
  }

  @Test func row40_sentEdit_showsWhatTheUploadKept() async throws {
    let bench = try await bench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    _ = try await up(bench)
    let told = try explain(bench, entryId)
    #expect(told.text == "A is as the server has it: accountsUp, run 2 sent Description just now.", "\(told.text)")
    #expect(told.log.map(\.text).prefix(2) == ["accountsUp, run 2: sent Description", "edits.lua: Description base → mine"])
    let json = told.json["log"]?.arrayValue?[1]
    #expect(json?["changes"] == [["name": "Description", "from": "base", "to": "mine"]] && json?["by"]?["kind"] == "script")
    await bench.close()
  }

  @Test func repeatedSkips_areOneLine() async throws {
    let bench = try await bench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Phone": "1"])
    for _ in 0..<3 { _ = try await up(bench) }
    let told = try explain(bench, entryId)
    #expect(
      told.log.first?.text == "accountsUp, run 4: skipped it 3 times: no field list sends Phone" && told.log.first?.times == 3)
    await bench.close()
  }

  // MARK: Row 41: next

  /// What is told of the next run is what it does.
  @Test func row41_next_isWhatTheFollowingRunDoes() async throws {
    let bench = try await bench(accounts: 40)
    _ = try await bench.down(name: "accountsDown")
    var random = SeededGenerator(state: 41)
    let ids = try bench.entries().compactMap { $0["Id"]?.stringValue }
    for round in 0..<5 {
      for id in ids {
        guard let entry = try bench.entry(withId: id) else { continue }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: try bench.edit(id, ["Description": .string("d\(round)")])
        case 1: try bench.edit(id, ["Name": .string(String(repeating: "n", count: 300))])
        case 2: try bench.edit(id, ["Phone": .string("\(round)")])
        case 3:
          try bench.edit(id, ["Description": .string("e\(round)")])
          try? bench.change(id, ["Description": .string("theirs \(round)")])
        case 4 where entry["__local__"] != true: try bench.edit(id, ["__locally_deleted__": true])
        default: break
        }
      }
      try bench.createLocally("New \(round)")
      let told = try bench.manager.getDirtyEntries().map { try explain(bench, $0.entryId) }
      for one in told {
        var completed = one
        await bench.manager.planner().complete(&completed)
        #expect(completed.next.map(\.expect) == one.next.map(\.expect), "round \(round): \(one.text)")
      }
      let run = try #require(try await up(bench).status == .done ? bench.runs().first?.number : nil)
      let done = try bench.rows(.log).filter { $0.integers[1] == run }
      for one in told {
        let causes = Set(done.filter { $0.integers[4] == one.entryId }.compactMap { $0.texts[0] })
        let expect = try #require(one.next.first?.expect)
        switch expect {
        // A change on the server that is not known yet makes a conflict of it.
        case .send: #expect(!causes.isDisjoint(with: ["uploaded", "refused", "conflict", "settled"]), "\(one.text): \(causes)")
        case .skip: #expect(causes.contains("skipped") || causes.contains("conflict"), "\(one.text): \(causes)")
        case .conflict: #expect(causes.isDisjoint(with: ["uploaded", "refused"]), "\(one.text): \(causes)")
        case .wait, .blocked, .none: Issue.record("\(one.text)")
        }
      }
    }
    await bench.close()
  }

  /// The server's value, and what the run does in view of it.
  @Test(arguments: UploadKind.allCases) func explain_askingTheServer_isTheRunsOwnLook(kind: UploadKind) async throws {
    let bench = try await bench(kind)
    let (id, entryId) = try await bench.syncedAccount(), runs = try bench.runs().count
    func asked() async throws -> EntryExplanation {
      try await bench.manager.explainEntry("accounts", entryId: entryId, asksServer: true)
    }
    bench.org.clearRequests()
    #expect(try await asked().next.isEmpty && bench.requests().isEmpty, "a clean entry")
    try bench.edit(id, ["Description": "mine"])
    #expect(try await asked().next.map(\.expect) == [.send])
    try bench.change(id, ["Description": "theirs"])
    let unasked = try await bench.manager.explainEntry("accounts", entryId: entryId, asksServer: false)
    #expect(unasked.next.map(\.expect) == [.send])
    let told = try await asked()
    #expect(told.next.map(\.expect) == [.conflict] && told.next[0].text.hasPrefix("accountsUp leaves it"), "\(told.next)")
    let field = try #require(told.json["fields"]?.arrayValue?.first { $0["name"] == "Description" })
    #expect(field["server"] == "theirs" && field["base"] == "base" && field["value"] == "mine", "\(field)")
    #expect(try bench.manager.conflicts().isEmpty && bench.runs().count == runs, "nothing was written")
    #expect(!bench.requests().contains { $0.hasPrefix("PATCH") || $0.hasPrefix("DELETE") }, "\(bench.requests())")
    try bench.org.faults.add(.serverError(), when: .nth(1), path: "**")
    await #expect(throws: RestError.self) { _ = try await asked() }
    await bench.close()
  }

  // MARK: Row 42: gone

  @Test func row42_removedRecord_namesTheRun() async throws {
    let bench = try await bench(accounts: 2)
    _ = try await bench.down(name: "accountsDown")
    let id = try #require(try bench.entry(named: "Account 0")?["Id"]?.stringValue)
    try bench.org.delete("Account", id: id)
    #expect(try await bench.manager.cleanResyncGhosts(.name("accountsDown")) == 1)
    let gone = try bench.manager.look.explain(recordId: id, in: "accounts")
    #expect(gone.state == .removed && gone.entryId == 1 && gone.recordId == id)
    #expect(
      gone.text == "\(id) left with run 2, ghosts of accountsDown, just now: the server no longer sends it.", "\(gone.text)")
    let other = try #require(try bench.entry(named: "Account 1")?["Id"]?.stringValue)
    try bench.edit(other, ["__locally_deleted__": true])
    _ = try await up(bench)
    let deleted = try bench.manager.look.explain(recordId: other, in: "accounts")
    #expect(
      deleted.text == "\(other) was deleted here, and accountsUp, run 3 deleted it on the server just now.", "\(deleted.text)")
    let unknown = try bench.manager.look.explain(recordId: "001000000000000AAA", in: "accounts")
    #expect(unknown.state == .unknown && unknown.text.hasSuffix("not recorded.") && unknown.entryId == nil)
    #expect(throws: StoreError.self) { try bench.manager.look.explain(entry: 1, in: "none") }
    await bench.close()
  }

  @Test func withoutHistory_isExplainedAsFarAsTheStoreKnows() async throws {
    let bench = try await SyncBench(accounts: 1)
    _ = try await bench.down(name: "accountsDown")
    let told = try bench.manager.look.explain(entry: 1, in: "accounts")
    #expect(told.state == .clean && told.json["history"] == "off" && told.log.isEmpty)
    #expect(told.text == "Account 0 is as the server has it; how it came is not recorded.")
    await bench.close()
  }
}
