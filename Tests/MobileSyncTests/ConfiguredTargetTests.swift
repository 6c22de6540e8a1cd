import JSON
import Testing

@testable import MobileSync

/// Rows K2 and K3 of the acceptance list: each kind of target gets its settings from the
/// configuration.
@Suite struct ConfiguredTargetTests {
  private static let plainFields: JSONObject = ["idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate"]

  /// Name and type of a sync, its target in the file, and what is stored in addition.
  private struct Case: Sendable {
    let name: String
    var type = "syncDown"
    let target: JSONObject
    var added: JSONObject = plainFields
  }

  private static let queries = [
    Case(
      name: "soql", target: ["type": "soql", "query": "SELECT FirstName, LastName FROM Contact"],
      added: [
        "query": "select Id,LastModifiedDate,FirstName, LastName from Contact order by LastModifiedDate", "maxBatchSize": 2000,
        "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
      ]),
    Case(
      name: "soqlWithBatchSize",
      target: ["type": "soql", "query": "SELECT Id, Name, LastModifiedDate FROM Account ORDER BY Name", "maxBatchSize": 200]),
    Case(name: "sosl", target: ["type": "sosl", "query": "FIND {Joe} IN NAME FIELDS RETURNING Account(Id, Name)"]),
    Case(name: "mru", target: ["type": "mru", "sobjectType": "Account", "fieldlist": ["Name", "Description"]]),
    Case(
      name: "refresh",
      target: ["type": "refresh", "sobjectType": "Account", "fieldlist": ["Name"], "soupName": "accounts", "countIdsPerSoql": 3]),
  ]

  private static let others = [
    Case(
      name: "layout",
      target: [
        "type": "layout", "sobjectType": "Account", "formFactor": "Medium", "layoutType": "Compact", "mode": "Edit",
        "recordTypeId": "012000000000000AAA",
      ]),
    Case(name: "metadata", target: ["type": "metadata", "sobjectType": "Account"]),
    Case(
      name: "parentChildren", target: families, added: ["idFieldName": "IdX", "modificationDateFieldName": "LastModifiedDateX"]),
    Case(
      name: "briefcase",
      target: [
        "type": "briefcase",
        "infos": [
          ["sobjectType": "Account", "soupName": "accounts", "fieldlist": ["Name", "Description"]],
          [
            "sobjectType": "Contact", "soupName": "contacts", "fieldlist": ["FirstName"], "idFieldName": "IdX",
            "modificationDateFieldName": "LastModifiedDateX",
          ],
        ],
      ],
      added: ["countIdsPerRetrieve": 2000, "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate"]),
    Case(name: "custom", target: ["type": "custom", "luaImpl": "numbers", "of": "their own"]),
  ]

  private static let families: JSONObject = [
    "type": "parent_children", "parentFieldlist": ["Id", "Name"], "parentSoqlFilter": "Name like 'James%'",
    "parent": [
      "sobjectType": "Account", "soupName": "accounts", "idFieldName": "IdX", "modificationDateFieldName": "LastModifiedDateX",
    ],
    "children": [
      "sobjectType": "Contact", "sobjectTypePlural": "Contacts", "soupName": "contacts", "parentIdFieldName": "AccountId",
      "idFieldName": "IdY", "modificationDateFieldName": "LastModifiedDateY",
    ],
    "childrenFieldlist": ["LastName", "AccountId"], "relationshipType": "LOOKUP",
  ]

  private static let uploads = [
    Case(
      name: "plain", type: "syncUp", target: ["type": "plain", "createFieldlist": ["Name"]],
      added: plainFields.adding("maxBatchSize", 1)),
    Case(
      name: "batch", type: "syncUp",
      target: [
        "type": "batch", "idFieldName": "IdX", "modificationDateFieldName": "LastModifiedDateX", "externalIdFieldName": "ExtX",
        "maxBatchSize": 30,
      ],
      added: ["maxBatchSize": 25]),
    Case(
      name: "collection", type: "syncUp", target: ["updateFieldlist": ["Name"]],
      added: plainFields.adding("maxBatchSize", 200).adding("type", "collection")),
    Case(
      name: "parentChildrenUp", type: "syncUp",
      target: families.adding("childrenCreateFieldlist", ["LastName"]).adding("childrenUpdateFieldlist", ["LastName"])
        .adding("createFieldlist", ["Name"]).adding("updateFieldlist", ["Name"]),
      added: ["idFieldName": "IdX", "modificationDateFieldName": "LastModifiedDateX"]),
  ]

  @Test func configuration_everyTarget_isStoredInFull() async throws {
    let bench = try await SyncBench()
    let cases = Self.queries + Self.others + Self.uploads
    let syncs = cases.map { sync -> JSONValue in
      [
        "syncName": .string(sync.name), "syncType": .string(sync.type), "soupName": "accounts", "target": .object(sync.target),
        "options": ["fieldlist": ["Name"], "mergeMode": "LEAVE_IF_CHANGED"],
      ]
    }
    #expect(bench.manager.setupSyncs(from: ["syncs": .array(syncs)], fileName: "usersyncs.json") == [])
    for sync in cases {
      let state = try #require(try bench.manager.getSyncStatus(.name(sync.name)))
      var expected = sync.target
      for (key, value) in sync.added { expected[key] = value }
      #expect(state.target == expected, "\(sync.name): \(state.target.text)")
      #expect(state.type.rawValue == sync.type && state.soupName == "accounts" && state.status == .new && state.progress == 0)
      #expect(state.options == SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Name"]))
    }
    await bench.close()
  }
}

extension JSONObject {
  fileprivate func adding(_ key: String, _ value: JSONValue) -> JSONObject {
    var copy = self
    copy[key] = value
    return copy
  }
}
