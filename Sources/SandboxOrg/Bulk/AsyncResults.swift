import Database
import JSON

/// The results of a batch's records, and the records of a query.
enum AsyncResults {
  /// Returns one result per record of a write, in the posted order; for a query the list of its
  /// results, which is always one.
  static func results(_ async: AsyncCall) throws -> ServerReply {
    let job = try async.find(), batch = try async.findBatch()
    guard batch.state == .jobComplete else {
      throw AsyncFailure("InvalidBatch", "Batch not completed: it is \(batch.state.rawValue)")
    }
    if job.operation.kind == .query {
      let id = resultId(of: batch)
      if job.content == .json { return AsyncForm.json(200, [.string(id)]) }
      return AsyncForm.xml(200, "<result-list xmlns=\"\(AsyncForm.namespace)\"><result>\(id)</result></result-list>")
    }
    let rows = try outcomes(of: batch, async.call.org)
    switch job.content {
    case .csv:
      var out = CSVLine(.comma, ["Id", "Success", "Created", "Error"]).ended(by: .lf)
      for row in rows {
        out += CSVLine(.comma, [row.id, "\(row.isSuccess)", "\(row.isNew)", row.error]).ended(by: .lf)
      }
      return AsyncForm.content(out, .csv)
    case .json: return AsyncForm.json(200, .array(rows.map(\.json)))
    case .xml:
      return AsyncForm.xml(200, "<results xmlns=\"\(AsyncForm.namespace)\">" + rows.map(\.xml).joined() + "</results>")
    }
  }

  private struct Outcome {
    let id: String
    let isSuccess: Bool, isNew: Bool
    /// `CODE:message:fields --`
    let error: String

    private var parts: (code: String, message: String, fields: [String]) {
      let code = error.prefix { $0 != ":" }
      let rest = error.dropFirst(code.count + 1)
      guard let colon = rest.lastIndex(of: ":") else { return (String(code), String(rest), []) }
      let fields = rest[rest.index(after: colon)...].replacing(" --", with: "").split(separator: ",").map(String.init)
      return (String(code), String(rest[..<colon]), fields)
    }

    var json: JSONValue {
      let errors: [JSONValue] =
        isSuccess
        ? []
        : [
          [
            "message": .string(parts.message), "fields": .array(parts.fields.map { .string($0) }),
            "statusCode": .string(parts.code),
            "extendedErrorDetails": nil,
          ]
        ]
      return [
        "success": .bool(isSuccess), "created": .bool(isNew), "id": id.isEmpty || !isSuccess ? nil : .string(id),
        "errors": .array(errors),
      ]
    }

    var xml: String {
      let flags = "<success>\(isSuccess)</success><created>\(isNew)</created>"
      guard !isSuccess else { return "<result><id>\(id)</id>\(flags)</result>" }
      let fields = parts.fields.map { "<fields>\(XML.escaped($0))</fields>" }.joined()
      return "<result><errors>\(fields)<message>\(XML.escaped(parts.message))</message><statusCode>\(XML.escaped(parts.code))"
        + "</statusCode></errors>\(flags)</result>"
    }
  }

  private static func outcomes(of batch: BulkJob, _ org: Org) throws -> [Outcome] {
    let lines = try org.connection.prepare("SELECT outcome, line FROM sandbox_job_line WHERE job = ? ORDER BY number")
    try lines.bind([.text(batch.id)])
    let reader = CSVReader(delimiter: batch.delimiter.byte)
    var rows: [Outcome] = []
    while try lines.step() {
      guard case .blob(let line) = lines.value(1), let fields = try reader.record(in: line, at: 0, isLast: true)?.fields,
        fields.count > 1
      else { continue }
      let isSuccess = lines.int64(0) == BulkStore.Outcome.successful.rawValue
      rows.append(
        Outcome(
          id: isSuccess ? fields[0] : "", isSuccess: isSuccess, isNew: isSuccess && fields[1] == "true",
          error: isSuccess ? "" : fields[1]))
    }
    return rows
  }

  // MARK: Queries

  /// Returns the id of a batch's only result: the batch's id with another prefix.
  private static func resultId(of batch: BulkJob) -> String {
    RecordID.normalized("752" + batch.id.dropFirst(3).prefix(12)) ?? ""
  }

  static func query(_ async: AsyncCall) throws -> ServerReply {
    let job = try async.find(), batch = try async.findBatch(), org = async.call.org
    guard job.operation.kind == .query, batch.state == .jobComplete,
      RecordID.normalized(async.call.parameter("result")) == resultId(of: batch)
    else { throw AsyncFailure("InvalidBatch", "Unable to find result for id: \(async.call.parameter("result"))") }
    switch job.content {
    case .csv:
      var out = CSVLine(.comma, batch.columns ?? []).ended(by: .lf)
      let count = try BulkStore(org.connection).appendLines(.successful, of: batch.id, after: 0, count: .max, to: &out).count
      return AsyncForm.content(count == 0 ? Array("Records not found for this query".utf8) : out, .csv)
    case .json: return AsyncForm.content(try json(of: batch, async), .json)
    case .xml: return AsyncForm.xml(200, try xml(of: batch, org))
    }
  }

  /// Renders the rows found when the batch ran, with their current values.
  private static func json(of batch: BulkJob, _ async: AsyncCall) throws -> [UInt8] {
    let runner = QueryRunner(org: async.call.org, version: batch.version, userId: batch.userId, pageSize: 1)
    let plan = try runner.compile(batch.query ?? "", includeDeleted: batch.operation == .queryAll)
    guard case .records(let record) = plan.output else { throw SandboxError.unknown("not a query for records") }
    let rows = try BulkQuery.rows(of: batch.id, try BulkStore(async.call.org.connection))
    let context = RenderContext(org: async.call.org, version: batch.version, userId: batch.userId)
    let statement = try QueryRunner.prepared(record.sql, on: async.call.org)
    var out: [UInt8] = [UInt8(ascii: "[")]
    try RecordRenderer(record, context).append(rows[...], with: statement, to: &out)
    out.append(UInt8(ascii: "]"))
    return out
  }

  private static func xml(of batch: BulkJob, _ org: Org) throws -> String {
    let columns = batch.columns ?? []
    let lines = try org.connection.prepare("SELECT line FROM sandbox_job_line WHERE job = ? ORDER BY number")
    try lines.bind([.text(batch.id)])
    let reader = CSVReader(delimiter: batch.delimiter.byte)
    var records = ""
    while try lines.step() {
      guard case .blob(let line) = lines.value(0), let fields = try reader.record(in: line, at: 0, isLast: true)?.fields else {
        continue
      }
      let values = zip(columns, fields).map { name, value in
        value.isEmpty ? "<\(name) xsi:nil=\"true\"/>" : "<\(name)>\(XML.escaped(value))</\(name)>"
      }
      records += "<records xsi:type=\"sObject\"><type>\(batch.object)</type>\(values.joined())</records>"
    }
    return
      "<queryResult xmlns=\"\(AsyncForm.namespace)\" "
      + "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\(records)</queryResult>"
  }
}
