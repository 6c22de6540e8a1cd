import JSON
import RestClient
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Row P1 of the acceptance list, and answers that the sandbox org never gives.
@Suite struct ParentChildrenQueryTests {
  private static let childSpecs = [
    IndexSpec(path: "Id", type: .string), IndexSpec(path: "AccountId", type: .string),
    IndexSpec(path: "__local__", type: .string), IndexSpec(path: "__sync_id__", type: .integer),
  ]

  private func target(_ filter: String? = nil) -> JSONObject {
    var json: JSONObject = [
      "type": "parent_children", "parent": ["sobjectType": "Account", "soupName": "accounts"],
      "parentFieldlist": ["Id", "Name", "Description"],
      "children": [
        "sobjectType": "Contact", "sobjectTypePlural": "Contacts", "soupName": "contacts", "parentIdFieldName": "AccountId",
      ],
      "childrenFieldlist": ["LastName", "AccountId"], "relationshipType": "MASTER_DETAIL",
    ]
    if let filter { json["parentSoqlFilter"] = .string(filter) }
    return json
  }

  // MARK: Texts

  private let customTarget: JSONObject = [
    "type": "parent_children",
    "parent": [
      "sobjectType": "Parent", "soupName": "ps", "idFieldName": "ParentId", "modificationDateFieldName": "ParentDate",
    ],
    "parentFieldlist": ["ParentName", "Title"], "parentSoqlFilter": "School = 'MIT' or Title = 'x'",
    "children": [
      "sobjectType": "Child", "sobjectTypePlural": "Children", "soupName": "cs", "parentIdFieldName": "parentId",
      "idFieldName": "ChildId", "modificationDateFieldName": "ChildDate",
    ],
    "childrenFieldlist": ["ChildName", "School"], "relationshipType": "LOOKUP",
  ]

  @Test func query_customFields_areAsked() throws {
    let target = try ParentChildrenSyncDownTarget(customTarget)
    #expect(
      target.query(since: -1)
        == "select ParentName, Title, ParentId, ParentDate, (select ChildName, School, ChildId, ChildDate from Children)"
        + " from Parent where School = 'MIT' or Title = 'x' order by ParentDate")
    let stamp = "2015-02-05T21:12:03.956+0000"
    #expect(
      target.query(since: 1_423_170_723_956)
        == "select ParentName, Title, ParentId, ParentDate, (select ChildName, School, ChildId, ChildDate from Children"
        + " where ChildDate > \(stamp)) from Parent where ParentDate > \(stamp) and (School = 'MIT' or Title = 'x')"
        + " order by ParentDate")
    #expect(target.ghostQuery(withChildren: false) == "select ParentId from Parent where School = 'MIT' or Title = 'x'")
    #expect(
      target.ghostQuery(withChildren: true)
        == "select ParentId, (select ChildId from Children) from Parent where School = 'MIT' or Title = 'x'")
    #expect(target.fields.id == "ParentId" && target.json["modificationDateFieldName"] == "ParentDate")
    #expect(try ParentChildrenSyncDownTarget(target.json).json == target.json)
  }

  @Test func query_defaultFieldsWithoutFilter_areAsked() throws {
    #expect(
      try ParentChildrenSyncDownTarget(target()).query(since: -1)
        == "select Id, Name, Description, LastModifiedDate, (select LastName, AccountId, Id, LastModifiedDate from Contacts)"
        + " from Account order by LastModifiedDate")
  }

  @Test func make_unknownRelationship_isRefused() {
    var json = target()
    json["relationshipType"] = "FRIENDS"
    #expect(
      throws: SyncError(
        .invalidTarget, "parent_children target: 'relationshipType' must be MASTER_DETAIL or LOOKUP, got 'FRIENDS'")
    ) { try TargetRegistry.salesforce.down(json) }
  }

  // MARK: Long lists of children

  /// Children that do not fit on a page have an address of their own.
  @Test func syncDown_childrenOnSeveralPages_areAllFetched() async throws {
    func child(_ id: String) -> String { #"{"Id":"\#(id)","LastName":"\#(id)","AccountId":"other"}"# }
    let parent =
      #"{"totalSize":1,"done":true,"records":[{"Id":"001","Name":"A","LastModifiedDate":"2024-01-01T10:00:00.000+0000","#
      + #""Contacts":{"totalSize":3,"done":false,"nextRecordsUrl":"/services/data/v66.0/query/c-1","records":[\#(child("c0"))]}}]}"#
    func more(_ id: String, _ next: String?) -> ScriptedAnswer {
      .json(
        #"{"totalSize":3,"done":\#(next == nil),\#(next.map { "\"nextRecordsUrl\":\"\($0)\"," } ?? "")"records":[\#(child(id))]}"#
      )
    }
    let ghosts = [
      ScriptedAnswer.json(#"{"totalSize":1,"done":true,"records":[{"Id":"001"}]}"#), .json(parent),
      more("c1", "/services/data/v66.0/query/c-2"), more("c2", nil),
    ]
    let server = try ScriptedServer(.json(parent), more("c1", "/services/data/v66.0/query/c-2"), more("c2", nil))
    let bench = try ScriptedStore()
    try bench.store.registerSoup("contacts", indexSpecs: Self.childSpecs)
    let manager = try bench.manager(server)
    let end = try await manager.syncDown(target: target(), soupName: "accounts")
    #expect(end.status == .done && end.totalSize == 1 && end.counts.requests == 3, "\(end.error)")
    #expect(
      try bench.store.rows("select {contacts:Id}, {contacts:AccountId} from {contacts} order by {contacts:Id}")
        == #"[["c0","001"],["c1","001"],["c2","001"]]"#)
    for answer in ghosts { server.enqueue(answer) }
    #expect(try await manager.cleanResyncGhosts(.id(end.id)) == 0)
    #expect(try bench.store.rows("select count(*) from {contacts}") == "[[3]]")
    await bench.close()
  }
}
