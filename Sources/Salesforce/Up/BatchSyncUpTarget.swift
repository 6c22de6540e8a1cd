import JSON
import MobileSync
import RestClient

/// Uploads through composite requests: up to 25 records each, every one with a request of its own inside.
///
/// - Note: Source: Mobile SDK, `BatchSyncUpTarget`. The names of the inner requests are positions, not ids: an id that a
///   script chose need not be a name that the server takes.
struct BatchSyncUpTarget: SyncUpTarget {
  let settings: UploadSettings

  /// What a server takes in one request.
  static let largestBatch = 25
  var comparedAhead: Int { UploadSettings.comparedAhead }

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    settings = try UploadSettings(json, type: "batch", defaults: .salesforce, largestBatch: BatchSyncUpTarget.largestBatch)
  }

  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] { uploads.isEmpty ? [] : [UploadGroup(uploads: uploads)] }

  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult] {
    let requests = RecordRequests(batch, context)
    let parts = group.uploads.enumerated().map { (referenceId: "r\($0.offset)", request: requests.request($0.element)) }
    return try await CompositeAnswer.results(of: parts, through: context.client)
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
