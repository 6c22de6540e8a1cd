import JSON
import MobileSync
import RestClient

/// Uploads each record with its own request.
///
/// - Note: Source: Mobile SDK, `SyncUpTarget`.
struct PlainSyncUpTarget: SyncUpTarget {
  let settings: UploadSettings

  var traits: UploadTraits { UploadTraits { $0.comparedAhead = UploadSettings.comparedAhead } }

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    settings = try UploadSettings(json, type: "plain", defaults: .salesforce, largestBatch: 1)
  }

  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] { uploads.map { UploadGroup(uploads: [$0]) } }

  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult] {
    var results: [UploadResult] = []
    for upload in group.uploads { results.append(try await RecordRequests.send(upload, of: batch, in: context)) }
    return results
  }
}

/// Builds and sends requests for single records.
struct RecordRequests {
  /// Uploads one record with its own request. An error that concerns only this record is returned as its result.
  /// - Throws: `RestError` for all other errors.
  static func send(
    _ upload: PlannedUpload, of batch: DirtyBatch, in context: UploadContext
  ) async throws -> UploadResult {
    if let refusal = refusal(upload) { return refusal }
    do {
      return try UploadResult(try await context.client.send(RecordRequests(batch, context).request(upload)))
    } catch let error as RestError where error.code == .httpStatus && concernsTheRecord(error.status ?? 0) {
      return UploadResult(refusal: error)
    }
  }

  /// Returns why an entry cannot be sent: it has no type. The org would only say that there is no
  /// such resource, or no type 'null'.
  static func refusal(_ upload: PlannedUpload) -> UploadResult? {
    guard upload.type == "null" || upload.type.isEmpty else { return nil }
    return .failure(
      "INVALID_TYPE",
      "the entry has no type: set attributes.type to the name of the object, such as \"Contact\", as mobilesync.newRecord does")
  }

  /// Returns true for 4xx statuses other than those of rate limits.
  private static func concernsTheRecord(_ status: Int) -> Bool {
    (400..<500).contains(status) && status != 420 && status != 429
  }

  private let batch: DirtyBatch
  private let context: UploadContext
  private let requests: SalesforceRequests

  init(_ batch: DirtyBatch, _ context: UploadContext) {
    self.batch = batch
    self.context = context
    requests = context.client.requests
  }

  /// - Parameter more: Fields to send in addition to the target's.
  func request(_ upload: PlannedUpload, adding more: JSONObject = [:]) -> RestRequest {
    let i = upload.index, only = upload.action == .update ? context.fields(of: i, in: batch) : nil
    let body = { batch.body(i, upload.action, only: only, adding: more) }
    switch upload.action {
    case .update:
      return requests.updateRecord(
        type: upload.type, id: batch.serverId(i) ?? "", body: body(), unmodifiedSince: condition(i))
    case .upsert:
      return requests.upsert(
        type: upload.type, externalIdField: batch.plan.externalIdField ?? batch.plan.fields.id,
        externalId: batch.externalId(i), body: body())
    case .delete: return requests.deleteRecord(type: upload.type, id: batch.serverId(i) ?? "")
    default: return requests.createRecord(type: upload.type, body: body())
    }
  }

  /// Returns the date for `If-Unmodified-Since`: the record may change after its modification date was compared, so the server
  /// checks again.
  private func condition(_ i: Int) -> String? {
    context.date(of: i, in: batch).map(TimeStamp.httpDate)
  }
}
