import JSON
import RestClient

/// Uploads one record a request.
///
/// - Note: Source: Mobile SDK, `SyncUpTarget`.
struct PlainSyncUpTarget: SyncUpTarget {
  let settings: UploadSettings

  /// What updates with a condition of their own are compared in at a time.
  static let comparedAhead = 200
  var comparedAhead: Int { PlainSyncUpTarget.comparedAhead }

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) { settings = try UploadSettings(json, type: "plain", largestBatch: 1) }

  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] { uploads.map { UploadGroup(uploads: [$0]) } }

  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult] {
    var results: [UploadResult] = []
    for upload in group.uploads { results.append(try await PlainSyncUpTarget.send(upload, of: batch, in: context)) }
    return results
  }

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
}

/// Uploads through composite requests: up to 25 records each, every one with a request of its own inside.
///
/// - Note: Source: Mobile SDK, `BatchSyncUpTarget`. The names of the inner requests are positions, not ids: an id that a
///   script chose need not be a name that the server takes.
struct BatchSyncUpTarget: SyncUpTarget {
  let settings: UploadSettings

  /// What a server takes in one request.
  static let largestBatch = 25
  var comparedAhead: Int { PlainSyncUpTarget.comparedAhead }

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    settings = try UploadSettings(json, type: "batch", largestBatch: BatchSyncUpTarget.largestBatch)
  }

  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] { uploads.isEmpty ? [] : [UploadGroup(uploads: uploads)] }

  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult] {
    let requests = RecordRequests(batch, context)
    let parts = group.uploads.enumerated().map { (referenceId: "r\($0.offset)", request: requests.request($0.element)) }
    return try await CompositeAnswer.results(of: parts, through: context.client)
  }
}

/// Requests for single records.
struct RecordRequests {
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

  /// Between the look at the server's stamp and the update somebody may change the record: the server looks once more.
  private func condition(_ i: Int) -> String? {
    context.date(of: i, in: batch).map(TimeStamp.httpDate)
  }
}

/// The answer to a composite request, as one result for each request inside.
enum CompositeAnswer {
  /// - Throws: `RestError` when the request as a whole failed.
  static func results(
    of parts: [(referenceId: String, request: RestRequest)], through client: any RestClient
  ) async throws -> [UploadResult] {
    let response = try await client.send(client.requests.composite(parts))
    guard let items = try response.json()["compositeResponse"]?.arrayValue, items.count == parts.count else {
      throw response.invalidBody("expected one answer for each of \(parts.count) requests")
    }
    return try zip(parts, items).map { part, item in
      guard item["referenceId"]?.stringValue == part.referenceId,
        let status = item["httpStatusCode"]?.integerValue.map({ Int(clamping: $0) })
      else { throw response.invalidBody("the answer to request '\(part.referenceId)' is not where it belongs") }
      return UploadResult(status: status, body: item["body"] ?? .null)
    }
  }
}
