import JSON
import MobileSync
import RestClient

/// Adds Salesforce to the sync engine: its targets, and the look-ups that the engine makes itself.
///
/// - Note: Source: the targets of the Mobile SDK, and the Salesforce REST API.
package struct SalesforceSyncService: SyncService {
  package init() {}

  package var defaultUpKind: String? { "collection" }
  package var defaultFields: TargetFields { .salesforce }

  package var downKinds: [SyncDownKind] {
    [
      SyncDownKind("soql", TargetKeys(["query", "maxBatchSize"])) { json throws(SyncError) in try SoqlSyncDownTarget(json) },
      SyncDownKind("sosl", TargetKeys(["query"])) { json throws(SyncError) in try SoslSyncDownTarget(json) },
      SyncDownKind("mru", TargetKeys(["sobjectType", "fieldlist"])) { json throws(SyncError) in try MruSyncDownTarget(json) },
      SyncDownKind(
        "refresh", TargetKeys(["sobjectType", "fieldlist", "soupName", "countIdsPerSoql", "coundIdsPerSoql"])
      ) { json throws(SyncError) in try RefreshSyncDownTarget(json) },
      SyncDownKind("layout", TargetKeys(["sobjectType", "formFactor", "layoutType", "mode", "recordTypeId"])) {
        json throws(SyncError) in try LayoutSyncDownTarget(json)
      },
      SyncDownKind("metadata", TargetKeys(["sobjectType"])) { json throws(SyncError) in try MetadataSyncDownTarget(json) },
      SyncDownKind("parent_children", .families()) { json throws(SyncError) in try ParentChildrenSyncDownTarget(json) },
      SyncDownKind("briefcase", .briefcase) { json throws(SyncError) in try BriefcaseSyncDownTarget(json) },
    ]
  }

  package var upKinds: [SyncUpKind] {
    [
      SyncUpKind("plain", TargetKeys(TargetKeys.upload), modelClass: "SyncUpTarget") { json throws(SyncError) in
        .records(try PlainSyncUpTarget(json))
      },
      SyncUpKind("collection", TargetKeys(TargetKeys.upload), modelClass: "CollectionSyncUpTarget") {
        json throws(SyncError) in .records(try CollectionSyncUpTarget(json))
      },
      SyncUpKind("batch", TargetKeys(TargetKeys.upload), modelClass: "BatchSyncUpTarget") { json throws(SyncError) in
        .records(try BatchSyncUpTarget(json))
      },
      // A script may use the same target table for both directions.
      SyncUpKind(
        "parent_children", .families(["childrenCreateFieldlist", "childrenUpdateFieldlist"] + TargetKeys.upload),
        modelClass: "ParentChildrenSyncUpTarget"
      ) { json throws(SyncError) in .families(try ParentChildrenSyncUpTarget(json)) },
    ]
  }

  /// Returns the 18-character form of an id. Requests take the one of 15 characters as well; responses never have it.
  package func canonicalId(_ id: String) -> String { id.utf8.count == 15 ? RecordId.complete(id) ?? id : id }

  /// Returns `Account` for a query or a list of fields that names `Account.Name`.
  package func parentMembers(of target: JSONObject) -> [String] {
    let lists = ["fieldlist", "parentFieldlist", "childrenFieldlist"].flatMap { target[$0]?.arrayValue ?? [] }
    let listed = lists.compactMap(\.stringValue).filter { $0.contains(".") }.compactMap { $0.split(separator: ".").first }
    return listed.map(String.init) + (target["query"]?.stringValue.map { SOQLQuery($0).parents } ?? [])
  }

  // MARK: Look-ups

  /// Looks up records with up to 2,000 ids per request.
  package func versions(
    type: String, ids: [String], fields: [String], through client: any RestClient
  ) async throws -> [ServerVersion] {
    var found: [ServerVersion] = []
    for start in stride(from: 0, to: ids.count, by: CollectionSyncUpTarget.largestRetrieve) {
      let slice = Array(ids[start..<min(start + CollectionSyncUpTarget.largestRetrieve, ids.count)])
      let response = try await client.send(client.requests.collectionRetrieve(type: type, ids: slice, fields: fields))
      guard let items = try response.json().arrayValue, items.count == slice.count else {
        throw response.invalidBody("expected one element for each of \(slice.count) ids")
      }
      found += items.map { item in
        if item.isNull { return .deleted }
        return item.objectValue.map { .record($0) } ?? .unknown
      }
    }
    return found
  }

  package func records(_ search: CreatedRecords, through client: any RestClient) async throws -> [CreatedRecord]? {
    try await CreatedRecordsQuery(search: search, client: client).records()
  }

  package func send(
    _ upload: PlannedUpload, of batch: DirtyBatch, in context: UploadContext
  ) async throws -> UploadResult {
    try await RecordRequests.send(upload, of: batch, in: context)
  }

  // MARK: Responses

  package func fault(of error: RestError) -> ServerFault? {
    switch error.serverCode {
    case "INVALID_TYPE": .unknownType
    case "INVALID_FIELD": .unknownField
    case _ where error.isExpiredLocator: .expiredCursor
    default: nil
    }
  }

  package func limitInfo(_ response: RestResponse) -> String? { response.header("Sforce-Limit-Info") }
}

extension TargetFields {
  package static let salesforce = TargetFields(
    id: "Id", modificationDate: "LastModifiedDate", others: ["SystemModstamp"], ignoresCase: true)

  init(_ json: JSONObject) throws(SyncError) { try self.init(json, defaults: .salesforce) }
}

extension TargetRegistry {
  /// The targets of a host that supports only Salesforce.
  package static let salesforce = TargetRegistry([SalesforceSyncService()])
}

extension RestClient {
  /// Builds requests for this client's API version.
  public var requests: SalesforceRequests { SalesforceRequests(apiVersion: apiVersion) }
}
