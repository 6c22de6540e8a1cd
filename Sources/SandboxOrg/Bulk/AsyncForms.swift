import JSON

/// Why Bulk API 1.0 refused a request.
struct AsyncFailure: Error {
  let code: String, message: String
  var status = 400

  init(_ code: String, _ message: String, status: Int = 400) {
    self.code = code
    self.message = message
    self.status = status
  }

  /// Converts a data API error to this API's codes: `REQUEST_LIMIT_EXCEEDED` becomes
  /// `ExceededQuota`.
  init(_ error: SandboxError) {
    let code = error.code == "REQUEST_LIMIT_EXCEEDED" ? "ExceededQuota" : "InvalidBatch"
    self.init(code, error.message, status: error.status == 0 ? 500 : error.status)
  }
}

/// The fields of jobs and batches, in the order of the XML schema.
enum AsyncInfo {
  typealias Fields = [(name: String, value: JSONValue)]

  static func job(_ job: AsyncJob, _ batches: [BulkJob]) -> Fields {
    func count(_ states: BulkJob.State...) -> JSONValue { .integer(Int64(batches.count { states.contains($0.state) })) }
    func sum(_ of: KeyPath<BulkJob, Int>) -> JSONValue { .integer(Int64(batches.reduce(0) { $0 + $1[keyPath: of] })) }
    var fields: Fields = [
      ("id", .string(job.id)), ("operation", .string(job.operation.rawValue)), ("object", .string(job.object)),
      ("createdById", .string(job.userId)), ("createdDate", .string(Timestamp.text(job.created))),
      ("systemModstamp", .string(Timestamp.text(job.modified))), ("state", .string(job.state.rawValue)),
    ]
    if let externalField = job.externalField { fields.append(("externalIdFieldName", .string(externalField))) }
    fields += [
      ("concurrencyMode", .string(job.concurrency)), ("contentType", .string(job.content.rawValue)),
      ("numberBatchesQueued", count(.uploadComplete)), ("numberBatchesInProgress", count(.inProgress)),
      ("numberBatchesCompleted", count(.jobComplete)), ("numberBatchesFailed", count(.failed)),
      ("numberBatchesTotal", .integer(Int64(batches.count))), ("numberRecordsProcessed", sum(\.processed)), ("numberRetries", 0),
      ("apiVersion", .number(Double(job.version.dropFirst()) ?? 0)), ("numberRecordsFailed", sum(\.failed)),
      ("totalProcessingTime", 0), ("apiActiveProcessingTime", 0), ("apexProcessingTime", 0),
    ]
    return fields
  }

  static func batch(_ batch: BulkJob, job: String) -> Fields {
    var fields: Fields = [("id", .string(batch.id)), ("jobId", .string(job)), ("state", .string(state(batch.state)))]
    if let error = batch.error { fields.append(("stateMessage", .string(error))) }
    return fields + [
      ("createdDate", .string(Timestamp.text(batch.created))), ("systemModstamp", .string(Timestamp.text(batch.modified))),
      ("numberRecordsProcessed", .integer(Int64(batch.processed))), ("numberRecordsFailed", .integer(Int64(batch.failed))),
      ("totalProcessingTime", .integer(batch.state.isOver ? max(0, batch.modified - batch.created) * 1000 : 0)),
      ("apiActiveProcessingTime", 0), ("apexProcessingTime", 0),
    ]
  }

  private static func state(_ state: BulkJob.State) -> String {
    switch state {
    case .open, .uploadComplete: "Queued"
    case .inProgress: "InProgress"
    case .jobComplete: "Completed"
    case .failed: "Failed"
    case .aborted: "NotProcessed"
    }
  }
}

/// The format of messages. A client compares the type of JSON with `application/json`, without a
/// character set.
enum AsyncForm: Equatable {
  case xml, json

  static let namespace = "http://www.force.com/2009/06/asyncapi/dataload"

  func reply(_ status: Int, _ name: String, _ fields: AsyncInfo.Fields) -> ServerReply {
    self == .json ? Self.json(status, Self.object(fields)) : Self.xml(status, Self.element(name, fields, isRoot: true))
  }

  func list(_ batches: [AsyncInfo.Fields]) -> ServerReply {
    if self == .json { return Self.json(200, ["batchInfo": .array(batches.map(Self.object))]) }
    return Self.xml(
      200,
      "<batchInfoList xmlns=\"\(Self.namespace)\">" + batches.map { Self.element("batchInfo", $0) }.joined() + "</batchInfoList>")
  }

  func error(_ failure: AsyncFailure) -> ServerReply {
    reply(
      failure.status, "error", [("exceptionCode", .string(failure.code)), ("exceptionMessage", .string(failure.message))])
  }

  /// Returns records, or a batch as it was posted.
  static func content(_ bytes: [UInt8], _ content: AsyncJob.Content) -> ServerReply {
    let types: [AsyncJob.Content: String] = [.csv: "text/csv", .xml: "application/xml", .json: "application/json"]
    return ServerReply(status: 200, headers: [("Content-Type", types[content] ?? "text/csv")], body: bytes)
  }

  static func json(_ status: Int, _ value: JSONValue) -> ServerReply {
    ServerReply(status: status, headers: [("Content-Type", "application/json")], body: value.serialized())
  }

  static func xml(_ status: Int, _ root: String) -> ServerReply {
    .text(status, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>" + root, type: "application/xml")
  }

  private static func object(_ fields: AsyncInfo.Fields) -> JSONValue { .object(JSONObject(fields.map { ($0.name, $0.value) })) }

  static func element(_ name: String, _ fields: AsyncInfo.Fields, isRoot: Bool = false) -> String {
    let inside = fields.map { "<\($0.name)>\(XML.escaped($0.value.stringValue ?? $0.value.text))</\($0.name)>" }.joined()
    return "<\(name)\(isRoot ? " xmlns=\"\(namespace)\"" : "")>\(inside)</\(name)>"
  }
}

/// Converts the records of a batch to CSV, which the engine processes. `#N/A` means null; an empty
/// cell leaves the field unchanged.
enum AsyncInput {
  static func csv(_ body: [UInt8], _ content: AsyncJob.Content) throws -> [UInt8] {
    switch content {
    case .csv: return body
    case .json:
      guard let records = (try? JSONValue(parsing: body))?.arrayValue else {
        throw AsyncFailure("InvalidBatch", "Unable to parse the batch: it must be a JSON array of records")
      }
      return table(records.map { cells($0, path: "") })
    case .xml:
      do throws(XML.Failure) {
        return table(try XML.parse(body, limit: Tuning.asyncBatchBytes).children.map { cells($0, path: "") })
      } catch {
        throw AsyncFailure("InvalidBatch", "Unable to parse the batch: \(error.message)")
      }
    }
  }

  /// Returns the line ending of the header.
  static func lineEnding(of csv: [UInt8]) -> LineEnding {
    let header = try? CSVReader(delimiter: ColumnDelimiter.comma.byte).record(in: csv, at: 0, isLast: true)
    return header?.lineEnding ?? .lf
  }

  private typealias Cells = [(column: String, value: String)]

  private static func cells(_ record: JSONValue, path: String) -> Cells {
    (record.objectValue ?? [:]).filter { $0.key.lowercased() != "attributes" }.flatMap { key, value -> Cells in
      if value.objectValue != nil { return cells(value, path: path + key + ".") }
      let text = value.isNull ? "" : value.stringValue ?? value.text
      return [(path + key, text.isEmpty ? "#N/A" : text)]
    }
  }

  /// A reference by external id is an `sObject` element inside the field's.
  private static func cells(_ record: XML, path: String) -> Cells {
    record.children.flatMap { field -> Cells in
      if field.name == "type" { return [] }
      if let inner = field.first("sObject") { return cells(inner, path: path + field.name + ".") }
      return [(path + field.name, field.isNil ? "#N/A" : field.text)]
    }
  }

  private static func table(_ records: [Cells]) -> [UInt8] {
    var columns: [String] = []
    var seen: IdSet = []
    for cell in records.joined() where seen.insert(cell.column.lowercased()).inserted { columns.append(cell.column) }
    // Records without fields still count as records; an empty cell leaves its field unchanged.
    if columns.isEmpty { columns = ["Id"] }
    var out = CSVLine(.comma, columns).ended(by: .lf)
    for record in records {
      let values = Dictionary(record.map { ($0.column.lowercased(), $0.value) }) { $1 }
      out += CSVLine(.comma, columns.map { values[$0.lowercased()] ?? "" }).ended(by: .lf)
    }
    return out
  }
}
