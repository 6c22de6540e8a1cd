import JSON
import MobileSync
import RestClient

/// Uploads records through sObject Collections, up to 200 per request, grouped by action. The default target.
///
/// - Note: Source: Mobile SDK, `CollectionSyncUpTarget`. Groups are sent one after the other, not in parallel.
struct CollectionSyncUpTarget: SyncUpTarget {
  let settings: UploadSettings

  /// The server's limit of records per request.
  static let largestBatch = 200
  /// The server's limit of records per retrieve request.
  static let largestRetrieve = 2000

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    settings = try UploadSettings(
      json, type: "collection", defaults: .salesforce, largestBatch: CollectionSyncUpTarget.largestBatch)
  }

  /// Collections do not support conditional updates.
  var traits: UploadTraits { UploadTraits { $0.updatesWithCondition = false } }

  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] {
    func all(_ action: UploadAction) -> [PlannedUpload] { uploads.filter { $0.action == action } }
    // The URL of an upsert contains the type.
    let upserts = all(.upsert)
    var types: [String] = []
    for upload in upserts where !types.contains(upload.type) { types.append(upload.type) }
    let lists = [all(.create), all(.update)] + types.map { type in upserts.filter { $0.type == type } } + [all(.delete)]
    return lists.filter { !$0.isEmpty }.map(UploadGroup.init)
  }

  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult] {
    // Deletions name no type.
    let refused = group.uploads.map { $0.action == .delete ? nil : RecordRequests.refusal($0) }
    let sent = UploadGroup(uploads: zip(group.uploads, refused).filter { $0.1 == nil }.map(\.0))
    var answers: [UploadResult]
    do {
      answers = try await sendTyped(sent, of: batch, in: context)
    } catch let error as UploadNotSent {
      throw UploadCutShort(error.cause, results: refused)
    }
    return refused.map { $0 ?? answers.removeFirst() }
  }

  private func sendTyped(
    _ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [UploadResult] {
    guard let first = group.uploads.first else { return [] }
    let response: RestResponse
    do {
      response = try await context.client.send(request(group, first, batch, context))
    } catch let error as RestError where first.action == .upsert && error.status == 404 {
      // The URL of an upsert contains type and field, so 404 concerns only the records of this group.
      let item = error.errors.first
      let failure = UploadResult.failure(item?["errorCode"]?.stringValue ?? "NOT_FOUND", error.message)
      return group.indices.map { _ in failure }
    }
    guard let items = try response.json().arrayValue, items.count == group.uploads.count else {
      throw response.invalidBody("expected one result for each of \(group.uploads.count) records")
    }
    return try items.map { item in
      guard var result = UploadResult(collectionItem: item) else {
        throw response.invalidBody("a result has no 'success'")
      }
      result.followsLostAttempt = response.followsLostAttempt
      return result
    }
  }

  private func request(
    _ group: UploadGroup, _ first: PlannedUpload, _ batch: DirtyBatch, _ context: UploadContext
  ) -> RestRequest {
    let requests = context.client.requests
    switch first.action {
    case .update:
      return requests.collectionUpdate(
        records: batch.records(group.indices, .update, externalIdField: nil) { context.fields(of: $0, in: batch) })
    case .upsert:
      let field = settings.externalIdFieldName ?? fields.id
      return requests.collectionUpsert(
        type: first.type, externalIdField: field, records: batch.records(group.indices, .upsert, externalIdField: field))
    case .delete:
      return requests.collectionDelete(ids: group.indices.map { batch.serverId($0) ?? "" })
    default:
      return requests.collectionCreate(records: batch.records(group.indices, .create, externalIdField: nil))
    }
  }
}
