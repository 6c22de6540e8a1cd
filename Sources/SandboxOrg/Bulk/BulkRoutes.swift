import FoundationEssentials
import JSON
import Support

/// Serves `/jobs/query` and `/jobs/ingest`: Bulk API 2.0.
enum BulkRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    for kind in [BulkJob.Kind.query, .ingest] {
      let root = "/jobs/\(kind.rawValue)"
      table.data("GET", root) { try list(kind, $0) }
      table.data("POST", root) { try create(kind, $0) }
      table.data("GET", root + "/:job") { .json(200, try find(kind, $0).json(isFull: true)) }
      table.data("PATCH", root + "/:job") { try change(kind, $0) }
      table.data("DELETE", root + "/:job") { try delete(kind, $0) }
    }
    table.data("PUT", "/jobs/ingest/:job/batches", upload)
    table.data("GET", "/jobs/query/:job/results", BulkResults.query)
    table.data("GET", "/jobs/query/:job/resultPages", BulkResults.pages)
    table.data("GET", "/jobs/ingest/:job/successfulResults") { try BulkResults.lines(.successful, $0) }
    table.data("GET", "/jobs/ingest/:job/failedResults") { try BulkResults.lines(.failed, $0) }
    table.data("GET", "/jobs/ingest/:job/unprocessedRecords", BulkResults.unprocessed)
  }

  // MARK: Finding

  static func find(_ kind: BulkJob.Kind, _ call: Call) throws -> BulkJob {
    guard let id = RecordID.normalized(call.parameter("job")), RecordID.prefix(of: id) == "750",
      let job = try BulkStore(call.org.connection).find(id),
      job.operation.kind == kind
    else { throw SandboxError.notFound() }
    // After a restart, jobs do not run until a client asks for them.
    if !job.state.isOver { call.org.jobs.wake(call.org) }
    return job
  }

  private static func list(_ kind: BulkJob.Kind, _ call: Call) throws -> ServerReply {
    let start = max(0, (call.request.parameter("queryLocator").flatMap { Int($0) } ?? 0).bounded)
    let count = Tuning.bulkJobsPerPage
    let jobs = try BulkStore(call.org.connection).list(kind, from: start, count: count + 1)
    let isDone = jobs.count <= count
    let next = "\(call.dataRoot)/jobs/\(kind.rawValue)?queryLocator=\(start + count)"
    return .json(
      200,
      .object([
        "done": .bool(isDone), "records": .array(jobs.prefix(count).map { $0.json(isFull: false) }),
        "nextRecordsUrl": isDone ? nil : .string(next),
      ]))
  }

  // MARK: Creating

  private static func create(_ kind: BulkJob.Kind, _ call: Call) throws -> ServerReply {
    let body = try call.jsonObject()
    guard let operation = body["operation"]?.stringValue.flatMap(BulkJob.Operation.init(rawValue:)), operation.kind == kind else {
      throw SandboxError(
        status: 400, code: "API_ERROR", message: "Unsupported operation: \(body["operation"]?.stringValue ?? "null")")
    }
    guard ["CSV", nil].contains(body["contentType"]?.stringValue) else {
      throw SandboxError(
        status: 400, code: "INVALIDJOB", message: "Unsupported content type: \(body["contentType"]?.stringValue ?? "")")
    }
    let object = try kind == .query ? queried(body, operation, call) : written(body, operation, call)
    let now = call.org.stamp()
    let store = try BulkStore(call.org.connection)
    var job = BulkJob(
      id: try store.nextId(), operation: operation, object: object.name,
      externalField: operation == .upsert ? body["externalIdFieldName"]?.stringValue : nil,
      query: body["query"]?.stringValue,
      delimiter: try option("columnDelimiter", .comma, body), lineEnding: try option("lineEnding", .lf, body),
      version: call.version, userId: call.userId, created: now, modified: now,
      state: kind == .query ? .uploadComplete : .open)
    let input = call.hasForm && kind == .ingest ? try content(call) : nil
    if input != nil { job.state = .uploadComplete }
    try call.org.transaction { [job] in
      try store.add(job)
      if let input { try store.setInput(input, of: job.id) }
    }
    if job.state == .uploadComplete { call.org.jobs.wake(call.org) }
    return .json(200, job.json(isFull: false))
  }

  /// Returns the records of a job that is created with its data in one form.
  private static func content(_ call: Call) throws -> [UInt8] {
    guard let part = try call.form().first(where: { !$0.isJSON }), part.contentType == "text/csv" else {
      throw SandboxError.invalidForm("the form of a job needs the part 'content' of type text/csv in addition to the part 'job'")
    }
    return Array(part.bytes)
  }

  private static func option<T: RawRepresentable<String>>(_ name: String, _ standard: T, _ body: JSONObject) throws -> T {
    guard let value = body[name], !value.isNull else { return standard }
    guard let option = value.stringValue.flatMap(T.init(rawValue:)) else {
      throw SandboxError(status: 400, code: "INVALIDJOB", message: "Invalid \(name): \(value.stringValue ?? value.text)")
    }
    return option
  }

  private static func queried(_ body: JSONObject, _ operation: BulkJob.Operation, _ call: Call) throws -> ObjectSchema {
    guard let query = body["query"]?.stringValue else {
      throw SandboxError(status: 400, code: "INVALIDJOB", message: "a query job needs a 'query'")
    }
    return try BulkQuery.check(query, operation, call)
  }

  private static func written(_ body: JSONObject, _ operation: BulkJob.Operation, _ call: Call) throws -> ObjectSchema {
    guard let object = body["object"]?.stringValue.flatMap({ call.org.schema.object($0) }) else {
      throw SandboxError(
        status: 400, code: "INVALIDENTITY", message: "Unable to find object: \(body["object"]?.stringValue ?? "null")")
    }
    guard operation == .upsert else { return object }
    guard let name = body["externalIdFieldName"]?.stringValue else {
      throw SandboxError(status: 400, code: "INVALIDJOB", message: "an upsert job needs an 'externalIdFieldName'")
    }
    guard let field = object.field(name), field.isExternalId || field.isIdLookup else {
      throw SandboxError(
        status: 400, code: "INVALIDJOB", message: "'\(name)' is not an external id field of \(object.name)")
    }
    return object
  }

  // MARK: Changing

  private static func upload(_ call: Call) throws -> ServerReply {
    let job = try find(.ingest, call)
    let type = call.request.header("content-type")?.lowercased() ?? ""
    guard type.hasPrefix("text/csv") else {
      throw SandboxError(
        status: 415, code: "UNSUPPORTED_MEDIA_TYPE", message: "Content type \(type.isEmpty ? "null" : type) is not text/csv")
    }
    let store = try BulkStore(call.org.connection)
    guard job.state == .open, try !store.hasInput(job.id) else {
      throw wrongState("Data can be uploaded once, to an open job; this one is \(job.state.rawValue)")
    }
    try call.org.transaction { try store.setInput(call.request.body, of: job.id) }
    return .empty(201)
  }

  private static func change(_ kind: BulkJob.Kind, _ call: Call) throws -> ServerReply {
    var job = try find(kind, call)
    let text = try call.jsonObject()["state"]?.stringValue ?? "null"
    switch BulkJob.State(rawValue: text) {
    case .aborted?:
      guard !job.state.isOver else {
        let name = job.state == .jobComplete ? "Completed" : job.state.rawValue
        throw wrongState("Aborting already \(name) Job not allowed")
      }
      job.state = .aborted
      call.org.jobInterference[job.id] = nil
    case .uploadComplete? where kind == .ingest:
      guard job.state == .open else { throw wrongState("Upload was completed before; the job is \(job.state.rawValue)") }
      job.state = .uploadComplete
      if !call.org.interference.leavesWritesUnchanged { call.org.jobInterference[job.id] = call.org.interference }
    default:
      throw SandboxError(status: 400, code: "INVALIDJOB", message: "A job cannot be set to the state \(text)")
    }
    job.modified = call.org.stamp()
    try call.org.transaction { try BulkStore(call.org.connection).save(job) }
    call.org.jobs.wake(call.org)
    return .json(200, job.json(isFull: false))
  }

  private static func delete(_ kind: BulkJob.Kind, _ call: Call) throws -> ServerReply {
    let job = try find(kind, call)
    guard job.state.isOver || job.state == .uploadComplete && kind == .ingest else {
      throw wrongState("A job can be deleted when it has ended; this one is \(job.state.rawValue)")
    }
    try call.org.transaction { try BulkStore(call.org.connection).remove(job.id) }
    call.org.jobInterference[job.id] = nil
    return .empty(204)
  }

  static func wrongState(_ message: String) -> SandboxError {
    SandboxError(status: 400, code: "INVALIDJOBSTATE", message: message)
  }
}

/// Returns the results of jobs as CSV.
enum BulkResults {
  static func query(_ call: Call) throws -> ServerReply {
    let job = try finished(.query, call)
    guard job.state == .jobComplete else {
      throw BulkRoutes.wrongState("Results are available when a job is complete; this one is \(job.state.rawValue)")
    }
    let last = try start(call)
    let count = try maximum(call)
    var out = header(job.columns ?? [], job)
    let store = try BulkStore(call.org.connection)
    let lines = try store.appendLines(.successful, of: job.id, after: last, count: count, to: &out)
    let locator = lines.hasMore ? Self.locator(lines.last) : "null"
    return csv(out, [("Sforce-Locator", locator), ("Sforce-NumberOfRecords", "\(lines.count)")])
  }

  /// Returns the URLs of up to five result parts, for clients that fetch several at once.
  /// `maxRecords` has the same meaning as for fetching results.
  static func pages(_ call: Call) throws -> ServerReply {
    let job = try finished(.query, call)
    guard job.state == .jobComplete else {
      throw BulkRoutes.wrongState("Results are available when a job is complete; this one is \(job.state.rawValue)")
    }
    let store = try BulkStore(call.org.connection)
    let root = "\(call.dataRoot)/jobs/query/\(job.id)"
    let count = try maximum(call)
    let asked = call.request.parameter("maxRecords") == nil ? [] : ["maxRecords=\(count)"]
    func url(_ resource: String, from last: Int) -> String {
      let query = asked + (last > 0 ? ["locator=\(locator(last))"] : [])
      return "\(root)/\(resource)" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }
    var next: Int? = try start(call)
    var pages: [JSONValue] = []
    while let last = next, pages.count < Tuning.bulkResultPages {
      pages.append(["resultUrl": .string(url("results", from: last))])
      next = try store.line(.successful, of: job.id, number: last, plus: count)
    }
    return .json(
      200,
      .object([
        "resultPages": .array(pages), "done": .bool(next == nil),
        "nextRecordsUrl": next.map { .string(url("resultPages", from: $0)) } ?? .null,
      ]))
  }

  static func lines(_ outcome: BulkStore.Outcome, _ call: Call) throws -> ServerReply {
    let job = try finished(.ingest, call)
    var out = header(["sf__Id", outcome == .failed ? "sf__Error" : "sf__Created"] + (job.columns ?? []), job)
    let store = try BulkStore(call.org.connection)
    _ = try store.appendLines(outcome, of: job.id, after: 0, count: .max, to: &out)
    return csv(out, [])
  }

  /// Returns the unprocessed part of the input as it was uploaded.
  static func unprocessed(_ call: Call) throws -> ServerReply {
    let job = try finished(.ingest, call)
    let store = try BulkStore(call.org.connection)
    var out = job.columns.map { header($0, job) } ?? []
    out += try store.input(of: job.id, from: job.position, count: .max).bytes
    return csv(out, [])
  }

  private static func finished(_ kind: BulkJob.Kind, _ call: Call) throws -> BulkJob {
    let job = try BulkRoutes.find(kind, call)
    guard job.version == call.version else {
      throw SandboxError(
        status: 409, code: "API_VERSION_MISMATCH",
        message: "the job was created with \(job.version); read its results with that version")
    }
    guard job.state.isOver else {
      throw BulkRoutes.wrongState("Results are available when a job has ended; this one is \(job.state.rawValue)")
    }
    return job
  }

  private static func header(_ columns: [String], _ job: BulkJob) -> [UInt8] {
    CSVLine(job.delimiter, columns).ended(by: job.lineEnding)
  }

  private static func csv(_ body: [UInt8], _ headers: [(name: String, value: String)]) -> ServerReply {
    ServerReply(status: 200, headers: [("Content-Type", "text/csv; charset=UTF-8")] + headers, body: body)
  }

  // MARK: Pages

  private static func maximum(_ call: Call) throws(SandboxError) -> Int {
    guard let text = call.request.parameter("maxRecords") else { return Tuning.bulkResultRecords }
    guard let count = Int(text), count > 0 else { throw .invalidInput("maxRecords must be a number above 0, not '\(text)'") }
    return min(count, Tuning.bulkResultRecords)
  }

  /// Encodes the number of the last record served as an opaque locator, so that clients do not
  /// compute it.
  private static func locator(_ number: Int) -> String {
    String(Data("\(number)".utf8).base64EncodedString().prefix { $0 != "=" })
  }

  private static func start(_ call: Call) throws(SandboxError) -> Int {
    guard let text = call.request.parameter("locator"), !text.isEmpty, text != "null" else { return 0 }
    let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: padded), let number = Int(String(decoding: data, as: UTF8.self)), number >= 0 else {
      throw SandboxError(status: 400, code: "INVALID_QUERY_LOCATOR", message: "invalid query locator")
    }
    return number
  }
}
