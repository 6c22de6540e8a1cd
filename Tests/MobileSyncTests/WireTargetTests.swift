import JSON
import RestClient
import SandboxOrg
import SmartStore
import Testing

@testable import MobileSync
@testable import Salesforce

/// Rows D6, L2, G3, P4–P9 and B1–B4 of the acceptance list again, against the sandbox org.
@Suite struct WireTargetTests {
  // MARK: sosl

  @Test func sosl_overTheWire_bringsAndCleans() async throws {
    let bench = try await SyncBench()
    for name in ["Walrus One", "Walrus Two", "Walrus Three", "Seal"] { try bench.addAccount(name) }
    let target: JSONObject = [
      "type": "sosl", "query": "FIND {Walrus} IN NAME FIELDS RETURNING Account(Id, Name, LastModifiedDate)",
    ]
    let end = try await bench.manager.syncDown(target: target, soupName: "accounts", syncName: "s")
    #expect(end.status == .done && end.totalSize == 3 && end.maxTimeStamp > 0, "\(end.error)")
    let gone = try #require(try bench.entry(named: "Walrus One")?["Id"]?.stringValue)
    let renamed = try #require(try bench.entry(named: "Walrus Two")?["Id"]?.stringValue)
    try bench.org.delete("Account", id: gone)
    try bench.change(renamed, ["Name": "Otter"])
    #expect(try await bench.manager.cleanResyncGhosts(.name("s")) == 2)
    #expect(try bench.names() == ["Walrus Three"])
    try bench.addAccount("Walrus Four")
    #expect(try await bench.manager.reSync(.name("s")).totalSize == 2)
    #expect(try bench.names() == ["Walrus Four", "Walrus Three"])
    await bench.close()
  }

  // MARK: layout

  @Test(arguments: [("Medium", "Compact", "Edit"), ("Large", "Full", "View"), ("Small", "Full", "Create")])
  func layout_overTheWire_isOneRecord(formFactor: String, layoutType: String, mode: String) async throws {
    let bench = try await SyncBench()
    let target: JSONObject = [
      "type": "layout", "sobjectType": "Account", "formFactor": .string(formFactor), "layoutType": .string(layoutType),
      "mode": .string(mode),
    ]
    let end = try await bench.manager.syncDown(target: target, soupName: "accounts", syncName: "l")
    #expect(end.status == .done && end.totalSize == 1, "\(end.error)")
    _ = try await bench.manager.reSync(.name("l"))
    let entries = try bench.entries(), entry = try #require(entries.first)
    #expect(entries.count == 1 && entry["Id"] == .string("Account-\(formFactor)-\(layoutType)-\(mode)-null"))
    #expect(entry["layoutType"] == .string(layoutType) && entry["mode"] == .string(mode))
    #expect(try await bench.manager.cleanResyncGhosts(.name("l")) == 0)
    let layouts = try LayoutSyncManager(bench.manager)
    let key = LayoutKey("Account", formFactor: formFactor, layoutType: layoutType, mode: mode)
    let layout = try #require(try await layouts.fetchLayout(key))
    let items = layout.sections.flatMap(\.layoutRows).flatMap { $0 }
    #expect(!layout.sections.isEmpty && items.contains { !$0.components.isEmpty })
    await bench.close()
  }

  @Test(arguments: ["layout", "metadata"])
  func singleRecord_unknownType_isFailed(kind: String) async throws {
    let bench = try await SyncBench()
    let end = try await bench.manager.syncDown(
      target: ["type": .string(kind), "sobjectType": "Nothing"], soupName: "accounts")
    #expect(end.status == .failed && end.failure?.status == 404 && !end.error.isEmpty)
    await bench.close()
  }

  // MARK: parent_children

  private static let families: JSONObject = [
    "type": "parent_children", "parent": ["sobjectType": "Account", "soupName": "accounts"],
    "parentFieldlist": ["Id", "Name"],
    "children": [
      "sobjectType": "Contact", "sobjectTypePlural": "Contacts", "soupName": "contacts", "parentIdFieldName": "AccountId",
    ],
    "childrenFieldlist": ["LastName", "AccountId"], "relationshipType": "MASTER_DETAIL",
  ]

  private static let contactSpecs =
    ["Id", "LastName", "AccountId", "__local__"].map { IndexSpec(path: $0, type: .string) }
    + [IndexSpec(path: "__sync_id__", type: .integer)]

  /// Adds numbered accounts, each with a number of contacts; returns their ids.
  private func populate(_ bench: SyncBench, _ counts: [Int]) throws -> [[String]] {
    try bench.store.registerSoup("contacts", indexSpecs: Self.contactSpecs)
    return try counts.enumerated().map { n, count in
      let account = try bench.addAccount("Account \(n)")
      return try [account]
        + (0..<count).map { m in
          try bench.org.create("Contact", fields: ["LastName": .string("Contact \(n).\(m)"), "AccountId": .string(account)])
        }
    }
  }

  private func contacts(_ bench: SyncBench) throws -> String {
    String(
      decoding: try bench.store.query(
        .smart("select {contacts:LastName} from {contacts} order by {contacts:LastName}", pageSize: 100)), as: UTF8.self)
  }

  @Test func parentChildren_overTheWire_goDownAgainAndClean() async throws {
    let bench = try await SyncBench(pageSize: 2)
    let ids = try populate(bench, [2, 0, 1])
    // Older than the time that a re-sync looks back.
    bench.clock.advance(by: 120)
    let end = try await bench.manager.syncDown(target: Self.families, soupName: "accounts", syncName: "f")
    #expect(end.status == .done && end.totalSize == 3 && end.counts.requests == 2, "\(end.error)")
    #expect(try bench.names() == ["Account 0", "Account 1", "Account 2"])
    #expect(try contacts(bench) == #"[["Contact 0.0"],["Contact 0.1"],["Contact 2.0"]]"#)

    try bench.change(ids[0][0], ["Name": "Account 0 new"])
    try bench.org.update("Contact", id: ids[0][1], fields: ["LastName": "Contact 0.0 new"])
    try bench.org.update("Contact", id: ids[2][1], fields: ["LastName": "not seen"])
    let again = try await bench.manager.reSync(.name("f"))
    #expect(again.status == .done && again.counts.fetched == 1, "\(again.error)")
    #expect(try bench.names() == ["Account 0 new", "Account 1", "Account 2"])
    #expect(try contacts(bench) == #"[["Contact 0.0 new"],["Contact 0.1"],["Contact 2.0"]]"#)

    try bench.org.delete("Contact", id: ids[0][2])
    try bench.org.delete("Account", id: ids[2][0])
    #expect(try await bench.manager.cleanResyncGhosts(.name("f")) == 1)
    #expect(try bench.names() == ["Account 0 new", "Account 1"] && contacts(bench) == #"[["Contact 0.0 new"]]"#)
    await bench.close()
  }

  // MARK: briefcase

  private func briefcase(_ perRetrieve: Int) -> JSONObject {
    [
      "type": "briefcase", "countIdsPerRetrieve": .integer(Int64(perRetrieve)),
      "infos": [
        ["sobjectType": "Account", "soupName": "accounts", "fieldlist": ["Name"]],
        ["sobjectType": "Contact", "soupName": "contacts", "fieldlist": ["LastName", "AccountId"]],
      ],
    ]
  }

  /// Pages of two ids with the org's relay tokens.
  @Test(arguments: [1, 3, 500])
  func briefcase_overTheWire_followsTheRulesOfTheOrg(perRetrieve: Int) async throws {
    let bench = try await SyncBench(pageSize: 2)
    let ids = try populate(bench, [1, 1, 1, 1])
    try bench.org.setBriefcase([
      BriefcaseRule(object: "Account", condition: "Name < 'Account 3'", order: "Name", related: ["Contacts"])
    ])
    let end = try await bench.manager.syncDown(target: briefcase(perRetrieve), soupName: "any", syncName: "b")
    #expect(end.status == .done && end.totalSize == 6 && end.counts.stored == 6, "\(end.error)")
    #expect(try bench.names() == ["Account 0", "Account 1", "Account 2"])
    #expect(try contacts(bench) == #"[["Contact 0.0"],["Contact 1.0"],["Contact 2.0"]]"#)

    for n in 0..<3 { try bench.change(ids[n][0], ["Name": .string("Account \(n) new")]) }
    let again = try await bench.manager.reSync(.name("b"))
    #expect(again.status == .done && again.counts.fetched == 3, "\(again.error) \(again.counts)")
    #expect(try bench.names() == ["Account 0 new", "Account 1 new", "Account 2 new"])

    try bench.createLocally("mine")
    try bench.org.delete("Account", id: ids[0][0])
    try bench.change(ids[1][0], ["Name": "Zebra"])
    #expect(try await bench.manager.cleanResyncGhosts(.name("b")) == 4)
    #expect(try bench.names() == ["Account 2 new", "mine"] && contacts(bench) == #"[["Contact 2.0"]]"#)
    await bench.close()
  }

  @Test func briefcase_withoutRules_isDoneAndEmpty() async throws {
    let bench = try await SyncBench(accounts: 2)
    try bench.store.registerSoup("contacts", indexSpecs: Self.contactSpecs)
    let end = try await bench.manager.syncDown(target: briefcase(2000), soupName: "any")
    #expect(end.status == .done && end.totalSize == 0 && end.counts.requests == 1, "\(end.error)")
    await bench.close()
  }
}
