import Database
import JSON

/// A Bulk API 2.0 job as it is stored.
struct BulkJob {
  enum Kind: String { case query, ingest }
  enum Operation: String {
    case query, queryAll, insert, update, upsert, delete, hardDelete

    var kind: Kind { self == .query || self == .queryAll ? .query : .ingest }
  }
  enum State: String {
    case open = "Open"
    case uploadComplete = "UploadComplete"
    case inProgress = "InProgress"
    case jobComplete = "JobComplete"
    case failed = "Failed"
    case aborted = "Aborted"

    var isOver: Bool { self == .jobComplete || self == .failed || self == .aborted }
  }

  let id: String
  let operation: Operation
  let object: String
  /// The field by which an upsert matches records.
  let externalField: String?
  let query: String?
  let delimiter: ColumnDelimiter
  let lineEnding: LineEnding
  /// Such as `v66.0`, the version at creation. Results must be read with the same version.
  let version: String
  let userId: String
  /// Seconds since 1970 UTC.
  let created: Int64
  var modified: Int64
  var state: State
  /// Records processed, and how many of them failed.
  var processed = 0, failed = 0
  var error: String?
  /// Bytes of the input that have been processed.
  var position = 0
  /// Columns of the input or result; nil until the header has been read.
  var columns: [String]?

  mutating func fail(_ message: String) {
    state = .failed
    error = message
  }

  /// - Parameter isFull: Includes the figures that the response to a creation omits.
  func json(isFull: Bool) -> JSONValue {
    var json: JSONObject = [
      "id": .string(id), "operation": .string(operation.rawValue), "object": .string(object),
      "createdById": .string(userId), "createdDate": .string(Timestamp.text(created)),
      "systemModstamp": .string(Timestamp.text(modified)), "state": .string(state.rawValue),
    ]
    if let externalField { json["externalIdFieldName"] = .string(externalField) }
    json["concurrencyMode"] = "Parallel"
    json["contentType"] = "CSV"
    json["apiVersion"] = .number(Double(version.dropFirst()) ?? 0)
    if isFull { json["jobType"] = operation.kind == .query ? "V2Query" : "V2Ingest" }
    if operation.kind == .ingest, state == .open {
      json["contentUrl"] = .string("services/data/\(version)/jobs/ingest/\(id)/batches")
    }
    json["lineEnding"] = .string(lineEnding.rawValue)
    json["columnDelimiter"] = .string(delimiter.rawValue)
    guard isFull else { return .object(json) }
    json["numberRecordsProcessed"] = .integer(Int64(processed))
    if operation.kind == .ingest { json["numberRecordsFailed"] = .integer(Int64(failed)) }
    json["retries"] = 0
    json["totalProcessingTime"] = .integer(state.isOver ? max(0, modified - created) * 1000 : 0)
    if operation.kind == .ingest {
      json["apiActiveProcessingTime"] = json["totalProcessingTime"]
      json["apexProcessingTime"] = 0
    } else {
      json["isPkChunkingSupported"] = true
    }
    if let error { json["errorMessage"] = .string(error) }
    return .object(json)
  }
}
