import JSON
import MobileSync
import RestClient

/// Uploads one record a request.
///
/// - Note: Source: Mobile SDK, `SyncUpTarget`.
struct PlainSyncUpTarget: SyncUpTarget {
  let settings: UploadSettings

  var comparedAhead: Int { UploadSettings.comparedAhead }

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

/// Requests for single records.
struct RecordRequests {
  /// Sends one record in a request of its own.
  /// - Throws: `RestError` unless it is about this record.
  static func send(
    _ upload: PlannedUpload, of batch: DirtyBatch, in context: UploadContext
  ) async throws -> UploadResult {
    do {
      return try UploadResult(try await context.client.send(RecordRequests(batch, context).request(upload)))
    } catch let error as RestError where error.code == .httpStatus && concernsTheRecord(error.status ?? 0) {
      return UploadResult(refusal: error)
    }
  }

  /// Refusals other than of a caller who asks too much.
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

  /// - Parameter more: Fields to send beside the target's.
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

  /// The record may change between the look at its stamp and the update, so the server compares once more.
  private func condition(_ i: Int) -> String? {
    context.date(of: i, in: batch).map(TimeStamp.httpDate)
  }
}
