import JSON
import SandboxOrg
import Testing

@testable import MobileSync
@testable import Salesforce

/// Children whose parent is not in its soup, and ids of 15 characters.
@Suite struct ChildrenAloneTests {
  private static let modes = MergeMode.allCases

  /// A family on the server of which only the children are in the soups.
  private func withoutParent(_ family: ParentChildrenBench) async throws -> (id: String, children: [String]) {
    let there = try family.addFamily("A", children: 3)
    try await family.down()
    let parents = try family.bench.store.readBlocking { try $0.entryIds(in: "accounts", where: "Id", equals: .text(there.id)) }
    try family.bench.store.remove(parents, from: "accounts")
    return there
  }

  private func lastError(_ family: ParentChildrenBench, _ name: String) throws -> JSONValue? {
    let entry = try #require(try family.entries("contacts").first { $0["LastName"] == .string(name) })
    return try entry["__last_error__"]?.stringValue.map { try JSONValue(parsing: $0) }
  }

  @Test(arguments: modes) func up_editedChildWithoutParentHere_isSent(mode: MergeMode) async throws {
    let family = try await ParentChildrenBench(), there = try await withoutParent(family)
    try family.edit("contacts", "A.0", ["Department": "d", "__locally_updated__": true])
    try family.edit("contacts", "A.1", ["__locally_deleted__": true])
    try family.createContact("N", id: "local_1", of: there.id)
    let end = try await family.up(mode)
    #expect(end.status == .done && end.totalSize == 3 && end.counts.succeeded == 3 && end.counts.failed == 0)
    #expect(try family.serverFamilies() == ["A: A.0 A.2 N"] && family.dirtyCount() == 0)
    #expect(try family.onServer("Contact", there.children[0], "Department")?["Department"] == "d")
    await family.close()
  }

  @Test(arguments: modes) func up_childOfNoParent_isSent(mode: MergeMode) async throws {
    let family = try await ParentChildrenBench(), there = try family.addFamily("A", children: 2)
    try await family.down()
    try family.edit("contacts", "A.0", ["AccountId": .null, "Department": "d", "__locally_updated__": true])
    try family.createContact("N", id: "local_1", of: "", ["AccountId": .null])
    let end = try await family.up(mode)
    #expect(end.counts.succeeded == 2 && end.counts.failed == 0)
    #expect(try family.serverFamilies() == ["A: A.1"] && family.dirtyCount() == 0)
    let moved = try family.onServer("Contact", there.children[0], "AccountId, Department")
    #expect(moved?["AccountId"] == .null && moved?["Department"] == "d")
    #expect(try family.bench.org.query("SELECT Id FROM Contact WHERE LastName = 'N'")["totalSize"] == 1)
    await family.close()
  }

  @Test func up_childOfAParentThatIsNowhere_saysSo() async throws {
    let family = try await ParentChildrenBench()
    try family.createContact("N", id: "local_1", of: "local_9")
    let end = try await family.up()
    #expect(end.status == .done && end.counts.failed == 1 && family.bench.requests().isEmpty)
    let error = try lastError(family, "N")
    #expect(error?["statusCode"] == "PARENT_MISSING")
    let message = error?["message"]?.stringValue ?? ""
    #expect(message.contains("'AccountId' is 'local_9'") && message.contains("soup accounts"))
    try family.createAccount("A", id: "local_9")
    #expect(try await family.up().counts.succeeded == 1)
    #expect(try family.serverFamilies() == ["A: N"] && family.dirtyCount() == 0)
    await family.close()
  }

  @Test(arguments: [MergeMode.leaveIfChanged, .merge])
  func up_childWithoutParentHere_changedThere_conflictsOnce(mode: MergeMode) async throws {
    let family = try await ParentChildrenBench(), there = try await withoutParent(family)
    try family.edit("contacts", "A.0", ["Department": "here", "__locally_updated__": true])
    try family.change("Contact", there.children[0], ["Department": "there"])
    let end = try await family.up(mode)
    #expect(end.counts.conflicting == 1 && end.counts.succeeded == 0)
    #expect(try family.bench.manager.conflicts(inSoup: "contacts").count == 1)
    await family.close()
  }

  @Test func up_childWithoutParentHere_deletedThere_isCreatedAgain() async throws {
    let family = try await ParentChildrenBench(), there = try await withoutParent(family)
    try family.edit("contacts", "A.0", ["Department": "here", "__locally_updated__": true])
    try family.bench.org.delete("Contact", id: there.children[0])
    let end = try await family.up()
    #expect(end.counts.succeeded == 1)
    #expect(try family.serverFamilies() == ["A: A.0 A.1 A.2"] && family.dirtyCount() == 0)
    await family.close()
  }

  @Test(arguments: [MergeMode.leaveIfChanged, .merge])
  func down_dirtyChildWithoutParentHere_bringsTheParent(mode: MergeMode) async throws {
    let family = try await ParentChildrenBench(), there = try await withoutParent(family)
    try family.edit("contacts", "A.0", ["Department": "d", "__locally_updated__": true])
    var target = ParentChildrenBench.sides("MASTER_DETAIL")
    target["parentFieldlist"] = ["Id", "Name", "Description", "LastModifiedDate"]
    target["childrenFieldlist"] = ["Id", "LastName", "Department", "AccountId", "LastModifiedDate"]
    target["parentSoqlFilter"] = ""
    let end = try await family.bench.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: mode).json, soupName: "accounts")
    #expect(end.status == .done)
    #expect(try family.entries("accounts").map { $0["Id"] } == [.string(there.id)])
    let child = try family.entries("contacts").first { $0["LastName"] == "A.0" }
    #expect(child?["Department"] == "d" && child?["__local__"] == true)
    #expect(try await family.up().counts.succeeded == 1)
    #expect(try family.storedFamilies() == family.serverFamilies() && family.dirtyCount() == 0)
    await family.close()
  }

  // MARK: Ids of 15 characters

  @Test(arguments: modes) func up_childThatNamesItsParentBy15Characters_isSent(mode: MergeMode) async throws {
    let family = try await ParentChildrenBench(), there = try family.addFamily("A", children: 1)
    try await family.down()
    let short = String(there.id.prefix(15))
    try family.edit("contacts", "A.0", ["AccountId": .string(short), "Department": "d", "__locally_updated__": true])
    try family.createContact("N", id: "local_1", of: short)
    let end = try await family.up(mode)
    #expect(end.counts.succeeded == 1 && end.counts.conflicting == 0)
    #expect(try family.serverFamilies() == ["A: A.0 N"] && family.dirtyCount() == 0)
    #expect(try family.storedFamilies() == family.serverFamilies())
    await family.close()
  }

  /// Both orders: the sync down may store the record a second time before the sync up.
  @Test(arguments: modes, [true, false])
  func up_entryWithAnIdOf15Characters_staysOneEntry(mode: MergeMode, downFirst: Bool) async throws {
    let bench = try await SyncBench(), id = try bench.addAccount("A")
    let entry: JSONObject = [
      "Id": .string(String(id.prefix(15))), "attributes": ["type": "Account"], "Name": "B", "__local__": true,
      "__locally_updated__": true, "__locally_created__": false, "__locally_deleted__": false,
    ]
    _ = try bench.store.upsert(JSONValue.array([.object(entry)]).serialized(), into: "accounts")
    func down() async throws {
      let target: JSONObject = ["type": "soql", "query": "SELECT Id, Name, LastModifiedDate FROM Account"]
      #expect(try await bench.manager.syncDown(target: target, soupName: "accounts").status == .done)
    }
    if downFirst { try await down() }
    let end = try await bench.manager.syncUp(
      target: [:], options: SyncOptions(mergeMode: mode, fieldlist: ["Name"]).json, soupName: "accounts")
    #expect(end.status == .done && end.counts.failed == 0)
    try await down()
    let rows = try bench.store.readBlocking { try $0.entryIds(in: "accounts", where: "Id", equals: .text(id)) }
    #expect(rows.count == 1)
    #expect(
      try bench.store.readBlocking { try $0.entryIds(in: "accounts", where: "Id", equals: .text(String(id.prefix(15)))) }.isEmpty)
    await bench.close()
  }
}
