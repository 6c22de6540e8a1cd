import JSON
import SandboxOrg
import SmartStore
import Testing

@testable import MobileSync

/// Conflicts that the option `resolve` decides, without code.
@Suite struct PolicyTests {
  private static func options(_ resolve: JSONValue) -> JSONObject {
    SyncBench.merge.replacing(with: ["resolve": resolve])
  }

  /// Both sides have changed both fields.
  private func conflicting(_ bench: SyncBench) async throws -> String {
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Name": "mine", "Description": "mine"])
    try bench.change(id, ["Name": "theirs", "Description": "theirs"])
    return id
  }

  /// What the sides make of it: the entry, and what the server has after the next upload.
  static let decisions: [(resolve: JSONValue, entry: String, server: String)] = [
    (["*": "server"], "theirs/theirs", "theirs/theirs"), (["*": "local"], "mine/mine*", "mine/mine"),
    (["Name": "server", "Description": "local"], "theirs/mine*", "theirs/mine"),
    (["Name": "local", "*": "server"], "mine/theirs*", "mine/theirs"),
  ]

  @Test(arguments: decisions)
  func row27_syncDown_eachFieldHasASide_isResolvedInItsPage(resolve: JSONValue, entry: String, server: String) async throws {
    let bench = try await SyncBench()
    let id = try await conflicting(bench)
    let end = try await bench.down(Self.options(resolve))
    #expect(end.status == .done && end.counts.merged == 1 && end.counts.conflicting == 0 && end.counts.skipped == 0)
    #expect(try bench.shown(id) == entry && bench.conflicts().isEmpty)
    // The server's version is the base now: nothing is in conflict for any sync.
    let up = try await bench.up(SyncBench.merge)
    #expect(up.status == .done && up.counts.conflicting == 0 && up.counts.succeeded == (entry.hasSuffix("*") ? 1 : 0))
    #expect(try bench.shownOnServer(id) == server && bench.shown(id) == server)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases, decisions)
  func row27_syncUp_eachFieldHasASide_isSentInTheSameRun(
    kind: UploadKind, decision: (resolve: JSONValue, entry: String, server: String)
  ) async throws {
    let bench = try await SyncBench(kind: kind)
    let id = try await conflicting(bench)
    let told = ConflictRecorder(), updates = UpdateRecorder()
    _ = try bench.manager.syncUp(
      target: bench.upTarget, options: Self.options(decision.resolve), soupName: "accounts", onConflict: told.listener,
      onUpdate: updates.listener)
    let end = await updates.ended()
    #expect(end.status == .done && end.counts.conflicting == 0 && end.counts.merged == 1, "\(end.counts) \(end.error)")
    #expect(try bench.shownOnServer(id) == decision.server && bench.shown(id) == decision.server)
    #expect(try told.all.isEmpty && bench.conflicts().isEmpty && bench.dirtyCount() == 0)
    await bench.close()
  }

  @Test func row27_askedField_leavesTheConflictWithTheDecidedFieldsMerged() async throws {
    for resolve in [["Name": "server"], ["Name": "server", "Description": "ask"], ["Name": "server", "*": "ask"]] as [JSONValue] {
      let bench = try await SyncBench()
      let id = try await conflicting(bench)
      let end = try await bench.down(Self.options(resolve))
      #expect(end.status == .done && end.counts.conflicting == 1 && end.counts.merged == 0)
      #expect(try bench.shown(id) == "mine/mine*")
      let conflict = try #require(try bench.conflicts().first)
      #expect(conflict.fields == ["Description"])
      #expect(conflict.merged["Name"] == "theirs" && conflict.merged["Description"] == "mine")
      _ = try bench.manager.resolveConflict(inSoup: "accounts", entryId: conflict.entryId, with: .record(["Description": "both"]))
      #expect(try bench.shown(id) == "theirs/both*")
      await bench.close()
    }
  }

  @Test(arguments: [["*": "server"], ["*": "local"]] as [JSONValue])
  func row27_deletions_areAsked(resolve: JSONValue) async throws {
    let bench = try await SyncBench()
    let (here, _) = try await bench.syncedAccount("here"), (there, _) = try await bench.syncedAccount("there")
    try bench.edit(here, ["__locally_deleted__": true])
    try bench.change(here, ["Description": "theirs"])
    try bench.edit(there, ["Description": "mine"])
    try bench.org.delete("Account", id: there)
    let end = try await bench.up(Self.options(resolve))
    #expect(end.counts.conflicting == 2 && end.counts.succeeded == 0, "\(end.counts)")
    #expect(Set(try bench.conflicts().map(\.kind)) == [.deletedHere, .deletedThere])
    #expect(try bench.shownOnServer(here) == "here/theirs" && bench.shownOnServer(there) == nil)
    await bench.close()
  }

  /// The server sends the record only once.
  @Test func policyThatIsAddedLater_decidesWhatIsLeft() async throws {
    let bench = try await SyncBench()
    let id = try await conflicting(bench)
    let start = try await bench.down(SyncBench.merge, name: "named")
    #expect(start.counts.conflicting == 1)
    let definition: JSONObject = [
      "syncName": "named", "syncType": "syncDown", "soupName": "accounts", "target": .object(SyncBench.accounts),
      "options": .object(Self.options(["*": "server"])),
    ]
    let updates = UpdateRecorder()
    _ = try bench.manager.ensureSync(definition, onUpdate: updates.listener)
    #expect(await updates.ended().status == .done)
    #expect(try bench.shown(id) == "theirs/theirs" && bench.conflicts().isEmpty)
    await bench.close()
  }

  @Test func mistypedField_isNamedInTheWarnings() async throws {
    let bench = try await SyncBench()
    _ = try await conflicting(bench)
    let end = try await bench.down(Self.options(["Name": "local", "Descripton": "server"]))
    #expect(end.counts.conflicting == 1)
    #expect(
      end.warnings == ["the option 'resolve' names 'Descripton', and no record has it; did you mean 'Description'?"],
      "\(end.warnings)")
    await bench.close()
  }

  @Test(arguments: [
    (
      #"{"mergeMode": "MERGE", "resolve": {"Phone": "sever"}}"#,
      "'Phone' must be local, server or ask, got 'sever'; did you mean 'server'?"
    ),
    (#"{"mergeMode": "MERGE", "resolve": {"Phone": 1}}"#, "'Phone' must be local, server or ask, got number"),
    (#"{"mergeMode": "MERGE", "resolve": {"*": null}}"#, "'*' must be local, server or ask, got null"),
    (#"{"mergeMode": "MERGE", "resolve": {"": "server"}}"#, "a field without a name"),
    (#"{"mergeMode": "MERGE", "resolve": "server"}"#, "resolve must be an object such as"),
    (#"{"mergeMode": "MERGE", "resolve": ["server"]}"#, "resolve must be an object such as"),
    (#"{"mergeMode": "LEAVE_IF_CHANGED", "resolve": {"*": "server"}}"#, "not of LEAVE_IF_CHANGED"),
    (#"{"mergeMode": "OVERWRITE", "resolve": {"*": "server"}}"#, "not of OVERWRITE"), (#"{"resolve": {}}"#, "not of OVERWRITE"),
    (#"{"mergeMode": "MERGE", "resolver": "phones", "resolve": {"*": "server"}}"#, "exclude one another"),
    (#"{"mergeMode": "MERGE", "reslove": {"*": "server"}}"#, "did you mean 'resolve'?"),
  ])
  func row27_options_mistakesAreNamed(text: String, message: String) throws {
    let error = #expect(throws: SyncError.self) { try SyncOptions(checking: try JSONValue(parsing: text).objectValue) }
    #expect(
      error?.code == SyncError.Code.invalidOptions.rawValue && error?.message.contains(message) == true, "\(error?.message ?? "")"
    )
  }

  @Test func options_policy_isStoredAndReadAgain() throws {
    let options = try SyncOptions(checking: [
      "mergeMode": "MERGE", "resolve": ["Phone": "server", "e\u{301}": "local", "*": "ask"],
    ])
    #expect(try SyncOptions(options.json) == options)
    let policy = try #require(options.resolve)
    #expect(policy.side(of: "Phone") == .server && policy.side(of: "phone") == .ask)
    #expect(policy.side(of: "e\u{301}") == .local && policy.side(of: "\u{e9}") == .ask)
    #expect(try SyncOptions(["mergeMode": "MERGE", "resolve": nil]).resolve == nil)
  }

  // MARK: Families

  @Test func row27_family_isSentWithTheDecidedFields() async throws {
    let family = try await ParentChildrenBench()
    let ids = try family.addFamily("A", children: 2)
    try await family.down()
    try family.edit("accounts", "A", ["Description": "mine", "__locally_updated__": true])
    try family.edit("contacts", "A.0", ["Department": "mine", "__locally_updated__": true])
    try family.change("Account", ids.id, ["Description": "theirs"])
    try family.change("Contact", ids.children[0], ["Department": "theirs"])
    var options = SyncOptions(mergeMode: .merge)
    options.resolve = ConflictPolicy(["Department": .server], others: .local)
    let end = try await family.bench.manager.syncUp(
      target: ParentChildrenBench.upTarget("MASTER_DETAIL"), options: options.json, soupName: "accounts")
    #expect(end.status == .done && end.counts.conflicting == 0 && end.counts.merged == 2, "\(end.counts) \(end.error)")
    #expect(try family.onServer("Account", ids.id, "Description")?["Description"] == "mine")
    #expect(try family.onServer("Contact", ids.children[0], "Department")?["Department"] == "theirs")
    #expect(try family.dirtyCount() == 0 && family.bench.manager.conflicts().isEmpty)
    await family.close()
  }
}
