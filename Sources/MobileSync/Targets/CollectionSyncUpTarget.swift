import JSON
import RestClient

/// Uploads through sObject Collections: up to 200 records a request, grouped by kind. The default target.
///
/// - Note: Source: Mobile SDK, `CollectionSyncUpTarget`. Groups are sent one after the other, not in parallel.
struct CollectionSyncUpTarget: SyncUpTarget {
  let json: JSONObject
  let fields: TargetFields
  let externalIdFieldName: String?
  let createFieldlist: [String]?
  let updateFieldlist: [String]?
  let maxBatchSize: Int

  /// What a server takes in one request.
  static let largestBatch = 200
  /// The same for looking records up.
  static let largestRetrieve = 2000

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    fields = try TargetFields(json)
    externalIdFieldName = try TargetFields.name(json, "externalIdFieldName")
    createFieldlist = try CollectionSyncUpTarget.fieldlist(json, "createFieldlist")
    updateFieldlist = try CollectionSyncUpTarget.fieldlist(json, "updateFieldlist")
    maxBatchSize = try CollectionSyncUpTarget.batchSize(json["maxBatchSize"])
    var stored = json
    if stored["type"].map(\.isNull) ?? true { stored["type"] = "collection" }
    fields.write(to: &stored)
    stored["maxBatchSize"] = .integer(Int64(maxBatchSize))
    self.json = stored
  }

  private static func fieldlist(_ json: JSONObject, _ key: String) throws(SyncError) -> [String]? {
    try SyncOptions.fieldlist(json[key]) { SyncError(.invalidTarget, "sync up target: '\(key)' " + $0) }
  }

  private static func batchSize(_ json: JSONValue?) throws(SyncError) -> Int {
    guard let json, !json.isNull else { return largestBatch }
    guard let size = json.integerValue, size > 0 else {
      throw SyncError(.invalidTarget, "sync up target: 'maxBatchSize' must be a positive integer, got \(json.text)")
    }
    return min(largestBatch, Int(clamping: size))
  }

  // MARK: Sending

  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] {
    var groups: [UploadGroup] = []
    for action in [UploadAction.create, .update] {
      let group = uploads.filter { $0.action == action }
      if let first = group.first {
        groups.append(UploadGroup(action: action, type: first.type, indices: group.map(\.index)))
      }
    }
    // The address of an upsert names the type.
    let upserts = uploads.filter { $0.action == .upsert }
    var types: [String] = []
    for upload in upserts where !types.contains(upload.type) { types.append(upload.type) }
    for type in types {
      let indices = upserts.filter { $0.type == type }.map(\.index)
      groups.append(UploadGroup(action: .upsert, type: type, indices: indices))
    }
    let deletes = uploads.filter { $0.action == .delete }
    if let first = deletes.first {
      groups.append(UploadGroup(action: .delete, type: first.type, indices: deletes.map(\.index)))
    }
    return groups
  }

  func send(
    _ group: UploadGroup, of batch: DirtyBatch, through client: any RestClient
  ) async throws -> [UploadResult] {
    let response: RestResponse
    do {
      response = try await client.send(request(group, batch, client.requests))
    } catch let error as RestError where group.action == .upsert && error.status == 404 {
      // An upsert's address names type and field: only its own records can be wrong, the others go on.
      let item = error.errors.first
      let failure = UploadResult.failure(item?["errorCode"]?.stringValue ?? "NOT_FOUND", error.message)
      return group.indices.map { _ in failure }
    }
    guard let items = try response.json().arrayValue, items.count == group.indices.count else {
      throw response.invalidBody("expected one result for each of \(group.indices.count) records")
    }
    return try items.map { item in
      guard let result = UploadResult(collectionItem: item) else {
        throw response.invalidBody("a result has no 'success'")
      }
      return result
    }
  }

  private func request(_ group: UploadGroup, _ batch: DirtyBatch, _ requests: SalesforceRequests) -> RestRequest {
    switch group.action {
    case .update:
      return requests.collectionUpdate(records: batch.records(group.indices, .update, externalIdField: nil))
    case .upsert:
      let field = externalIdFieldName ?? fields.id
      return requests.collectionUpsert(
        type: group.type, externalIdField: field,
        records: batch.records(group.indices, .upsert, externalIdField: field))
    case .delete:
      return requests.collectionDelete(ids: group.indices.map { batch.serverId($0) ?? "" })
    default:
      return requests.collectionCreate(records: batch.records(group.indices, .create, externalIdField: nil))
    }
  }

  func remoteRecords(
    type: String, ids: [String], through client: any RestClient
  ) async throws -> [RemoteRecord] {
    var found: [RemoteRecord] = []
    for start in stride(from: 0, to: ids.count, by: CollectionSyncUpTarget.largestRetrieve) {
      let slice = Array(ids[start..<min(start + CollectionSyncUpTarget.largestRetrieve, ids.count)])
      let response = try await client.send(
        client.requests.collectionRetrieve(type: type, ids: slice, fields: [fields.modificationDate]))
      guard let items = try response.json().arrayValue, items.count == slice.count else {
        throw response.invalidBody("expected one element for each of \(slice.count) ids")
      }
      found += items.map { item in
        if item.isNull { return .deleted }
        let stamp = item[fields.modificationDate]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
        return stamp.map { .modified($0) } ?? .unknown
      }
    }
    return found
  }
}
