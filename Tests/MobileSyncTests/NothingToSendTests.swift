import JSON
import SandboxOrg
import SmartStore
import Testing

@testable import MobileSync
@testable import Salesforce

/// An edit that no field list names is not sent: it stays, is counted as skipped, and says why.
@Suite struct NothingToSendTests {
  static let modes = ["OVERWRITE", "LEAVE_IF_CHANGED", "MERGE"]

  private func options(_ list: [String], _ mode: String) -> JSONObject {
    ["fieldlist": .array(list.map { .string($0) }), "mergeMode": .string(mode)]
  }

  private func expectKept(_ state: SyncState, _ entry: JSONObject?, _ field: String) {
    #expect(state.status == .done && state.counts.succeeded == 0 && state.counts.skipped == 1, "\(state.counts)")
    #expect(entry?["__local__"] == true)
    let error = entry?["__last_error__"]?.stringValue ?? ""
    #expect(error.contains("nothing to send") && error.contains("'\(field)'"), "\(error)")
  }

  private func versions(_ bench: SyncBench) throws -> [Int64?] {
    try bench.store.readBlocking { snapshot in
      try snapshot.dirtyEntryIds(in: "accounts").map { try snapshot.entry($0, in: "accounts")?.version }
    }
  }

  // MARK: Orgs

  /// A typo, a field that was left out, and one that the list names in part.
  @Test(arguments: UploadKind.allCases, modes)
  func syncUp_editedFieldNotListed_staysDirtyAndNamed(kind: UploadKind, mode: String) async throws {
    for list in [["Descripton"], ["Name"], ["Description.Text"]] {
      let bench = try await SyncBench(kind: kind, accounts: 1)
      _ = try await bench.down()
      try bench.updateLocally("Account 0", ["Description": "mine"])
      bench.org.clearRequests()
      let state = try await bench.up(options(list, mode))
      expectKept(state, try bench.entry(named: "Account 0"), "Description")
      #expect(!bench.requests().contains { !$0.hasPrefix("GET ") && !$0.contains("composite/sobjects/Account") })
      let version = try versions(bench)
      let again = try await bench.up(options(list, mode))
      expectKept(again, try bench.entry(named: "Account 0"), "Description")
      #expect(try versions(bench) == version, "the same reason is not written again")
      _ = try await bench.down(["mergeMode": "LEAVE_IF_CHANGED"])
      #expect(try bench.entry(named: "Account 0")?["Description"] == "mine")
      await bench.close()
    }
  }

  /// The names of an org's fields match without case, as those of SOQL do.
  @Test(arguments: UploadKind.allCases, modes)
  func syncUp_listInOtherCase_isSent(kind: UploadKind, mode: String) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 2)
    _ = try await bench.down()
    let id = try bench.entry(named: "Account 0")?["Id"]?.stringValue ?? ""
    try bench.updateLocally("Account 0", ["Description": "mine"])
    try bench.createLocally("New", ["Description": "made"])
    let state = try await bench.up(options(["name", "DESCRIPTION"], mode))
    #expect(state.counts.succeeded == 2 && state.counts.failed == 0, "\(state.counts)")
    #expect(try bench.onServer(id)?["Description"] == "mine")
    let made = try bench.entry(named: "New")?["Id"]?.stringValue ?? ""
    #expect(try bench.onServer(made)?["Description"] == "made")
    #expect(try bench.dirtyCount() == 0)
    try bench.updateLocally("Account 0", ["Description": "again"])
    let again = try await bench.up(options(["name", "DESCRIPTION"], mode))
    #expect(again.counts.succeeded == 1 && again.counts.conflicting == 0, "\(again.counts)")
    await bench.close()
  }

  /// The listed change is sent, and the other one stays; the next comparison finds no conflict.
  @Test(arguments: UploadKind.allCases, modes)
  func syncUp_editListedInPart_sendsThisPartAndKeepsTheRest(kind: UploadKind, mode: String) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 1)
    _ = try await bench.down()
    let id = try bench.entry(named: "Account 0")?["Id"]?.stringValue ?? ""
    try bench.updateLocally("Account 0", ["Name": "Renamed", "Description": "mine", "note": "of the script"])
    let state = try await bench.up(options(["Name"], mode))
    #expect(state.counts.succeeded == 1, "\(state.counts)")
    #expect(try bench.onServer(id)?["Name"] == "Renamed")
    let entry = try bench.entry(named: "Renamed")
    #expect(entry?["__local__"] == true && entry?["Description"] == "mine")
    #expect(entry?["__last_error__"]?.stringValue?.contains("'Description'") == true)
    let again = try await bench.up(options(["Name", "Description"], mode))
    #expect(again.counts.succeeded == 1 && again.counts.conflicting == 0, "\(again.counts)")
    #expect(try bench.onServer(id)?["Description"] == "mine" && bench.dirtyCount() == 0)
    #expect(try bench.entry(named: "Renamed")?["__last_error__"] == nil)
    await bench.close()
  }

  /// A misspelt name beside a right one does not keep the records from being compared.
  @Test(arguments: UploadKind.allCases) func syncUp_misspeltNameInTheList_isToldAndTheRestCompared(kind: UploadKind) async throws
  {
    let bench = try await SyncBench(kind: kind, accounts: 1)
    _ = try await bench.down()
    let id = try bench.entry(named: "Account 0")?["Id"]?.stringValue ?? ""
    try bench.change(id, ["Name": "theirs"])
    try bench.updateLocally("Account 0", ["Description": "mine"])
    let state = try await bench.up(options(["Name", "Description", "Titel"], "MERGE"))
    #expect(state.counts.succeeded == 1 && state.counts.conflicting == 0, "\(state.counts)")
    #expect(state.warnings.contains { $0.contains("'Titel'") && $0.contains("Account") }, "\(state.warnings)")
    let there = try bench.onServer(id)
    #expect(there?["Name"] == "theirs" && there?["Description"] == "mine")
    await bench.close()
  }

  // MARK: Families and custom targets

  @Test(arguments: modes) func familyUp_editedFieldNotListed_staysDirtyAndNamed(mode: String) async throws {
    let families = try await ParentChildrenBench(), bench = families.bench
    _ = try families.addFamily("A", children: 1)
    try await families.down()
    try bench.updateLocally("A", ["Description": "mine"])
    let merge = try #require(MergeMode(rawValue: mode))
    let state = try await families.up(merge, "LOOKUP", ["updateFieldlist": ["Name"]])
    expectKept(state, try families.entries("accounts").first, "Description")
    let sent = try await families.up(merge, "LOOKUP", ["updateFieldlist": ["name", "description"]])
    #expect(sent.counts.succeeded == 1 && sent.counts.conflicting == 0, "\(sent.counts)")
    #expect(try bench.dirtyCount() == 0)
    await families.close()
  }

  @Test(arguments: modes) func familyUp_editedChildNotListed_staysDirtyAndNamed(mode: String) async throws {
    let families = try await ParentChildrenBench(), bench = families.bench
    _ = try families.addFamily("A", children: 1)
    try await families.down()
    var child = try #require(try families.entries("contacts").first)
    let edit: JSONObject = ["Department": "mine", "__local__": true, "__locally_updated__": true]
    for (key, value) in edit { child[key] = value }
    try bench.store.upsert(JSONValue.array([.object(child)]).text, into: "contacts")
    let merge = try #require(MergeMode(rawValue: mode))
    let state = try await families.up(merge, "MASTER_DETAIL", ["childrenUpdateFieldlist": ["LastName"]])
    expectKept(state, try families.entries("contacts").first, "Department")
    await families.close()
  }

  // MARK: Values

  private static let fields = TargetFields(id: "id", modificationDate: "date")

  @Test(
    arguments: [
      (["b"], ["a": 2], "a", true), (["a"], ["a": 2], nil, true), (["a"], ["a": 2, "b": 2], "b", false),
      (["a"], ["a": 2, "own": 2], nil, true), (["a"], ["own": 2], "own", true), (["A"], ["a": 2], "a", true),
      (["o.x"], ["o": ["x": 2, "y": 1]], nil, true), (["o.x"], ["o": ["x": 1, "y": 2]], "o", true),
      (["o.x"], ["o": ["x": 2, "y": 2]], "o", false), (["a"], ["r": ["attributes": [:], "n": 2], "a": 2], nil, true),
      (["a"], ["a": nil], nil, true), (["a"], [:], nil, true), ([], ["a": 2], "a", true),
      (["a"], ["__last_error__": "x", "date": "1"], nil, true),
    ] as [([String], JSONObject, String?, Bool)])
  func unsentChanges_table(list: [String], edit: JSONObject, name: String?, isAll: Bool) {
    let base: JSONObject = [
      "id": "1", "date": "1", "a": 1, "b": 1, "o": ["x": 1, "y": 1], "r": ["attributes": [:], "n": 1],
    ]
    let unsent = UnsentChanges(base.replacing(with: edit), base: base, SendableMembers(fields: list), Self.fields)
    #expect(unsent?.names == name.map { [$0] })
    if let unsent { #expect(unsent.isAll == isAll) }
  }

  @Test func unsentChanges_removedMember_isNamedUnlessTheTargetSendsIt() {
    let base: JSONObject = ["id": "1", "date": "1", "a": 1, "b": 1], entry: JSONObject = ["id": "1", "date": "1", "b": 1]
    let kept = UnsentChanges(entry, base: base, SendableMembers(fields: ["a", "b"]), Self.fields)
    #expect(kept?.names == ["a"] && kept?.isAll == true)
    #expect(UnsentChanges(entry, base: base, SendableMembers(fields: ["a"], sendsRemovals: true), Self.fields) == nil)
    #expect(UnsentChanges(entry, base: base, SendableMembers(fields: ["b"]), Self.fields) == nil, "nothing listed is gone")
  }

  /// An object that was replaced by its listed part: the rest was not edited. By itself, its removal is an edit.
  @Test func unsentChanges_removedPartOfAnObject_isNamedIfNothingElseIsSent() {
    let base: JSONObject = ["id": "1", "date": "1", "o": ["x": 1, "y": ["z": 1, "w": 1]]]
    func unsent(_ object: JSONValue, _ list: String) -> UnsentChanges? {
      UnsentChanges(base.replacing(with: ["o": object]), base: base, SendableMembers(fields: [list]), Self.fields)
    }
    #expect(unsent(["x": 2], "o.x") == nil && unsent(["y": ["z": 2]], "o.y.z") == nil)
    #expect(unsent(["x": 1], "o.x")?.isAll == true && unsent([:], "o.x")?.isAll == true)
    #expect(unsent(["x": 2, "y": ["z": 2]], "o.x")?.names == ["o"])
    #expect(unsent(["x": 2, "y": ["z": 1], "n": 1], "o.x")?.isAll == false)
  }

  @Test func unsentChanges_baseUnknown_sendsWhatIsListed() {
    let entry: JSONObject = ["id": "1", "a": 1]
    #expect(UnsentChanges(entry, base: nil, SendableMembers(fields: ["a"]), Self.fields) == nil)
    #expect(UnsentChanges(entry, base: nil, SendableMembers(fields: ["x"]), Self.fields)?.names == ["a"])
    #expect(UnsentChanges(entry, base: nil, SendableMembers(paths: nil, sendsRemovals: false), Self.fields) == nil)
  }
}
