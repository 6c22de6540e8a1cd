import JSON
import MobileSync
import RestClient

/// Uploads records through composite requests with up to 25 subrequests, one per record.
///
/// - Note: Source: Mobile SDK, `BatchSyncUpTarget`. The subrequests are named by position, not by id, because an id that a
///   script chose may not be a valid name.
struct BatchSyncUpTarget: SyncUpTarget {
  let settings: UploadSettings

  /// The server's limit of subrequests.
  static let largestBatch = 25
  var traits: UploadTraits { UploadTraits { $0.comparedAhead = UploadSettings.comparedAhead } }

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    settings = try UploadSettings(json, type: "batch", defaults: .salesforce, largestBatch: BatchSyncUpTarget.largestBatch)
  }

  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] { uploads.isEmpty ? [] : [UploadGroup(uploads: uploads)] }

  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult] {
    let requests = RecordRequests(batch, context), refused = group.uploads.map(RecordRequests.refusal)
    let sent = zip(group.uploads, refused).filter { $0.1 == nil }.map(\.0)
    let parts = sent.enumerated().map { (referenceId: "r\($0.offset)", request: requests.request($0.element)) }
    var answers: [UploadResult]
    do {
      answers = try await parts.isEmpty ? [] : CompositeAnswer.results(of: parts, through: context.client)
    } catch let error as UploadNotSent {
      throw UploadCutShort(error.cause, results: refused)
    }
    return refused.map { $0 ?? answers.removeFirst() }
  }
}

/// Parses the response of a composite request into one result per subrequest.
enum CompositeAnswer {
  /// - Throws: `RestError` if the request failed as a whole.
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
      else { throw response.invalidBody("the answer to request '\(part.referenceId)' is out of order") }
      var result = UploadResult(status: status, body: item["body"] ?? .null)
      result.followsLostAttempt = response.followsLostAttempt
      return result
    }
  }
}
