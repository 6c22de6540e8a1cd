import JSON

/// Serves `/services/async/NN.0/job`: Bulk API 1.0, whose jobs consist of batches in CSV, XML or
/// JSON.
enum AsyncRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    let root = "/services/async/:version/job"
    for (method, path, run) in routes {
      table.open(method, root + path) { call in answer(call, run) }
    }
  }

  private static let routes: [(String, String, @Sendable (AsyncCall) throws -> ServerReply)] = [
    ("POST", "", create), ("GET", "/:job", { $0.job(try $0.find()) }), ("POST", "/:job", change),
    ("POST", "/:job/batch", addBatch),
    ("GET", "/:job/batch", { try $0.list($0.batches(), of: $0.find()) }),
    ("GET", "/:job/batch/:batch", { try $0.batch($0.findBatch()) }),
    ("GET", "/:job/batch/:batch/request", request), ("GET", "/:job/batch/:batch/result", AsyncResults.results),
    ("GET", "/:job/batch/:batch/result/:result", AsyncResults.query),
  ]

  private static func answer(_ call: Call, _ run: (AsyncCall) throws -> ServerReply) -> ServerReply {
    let form: AsyncForm = call.request.header("content-type")?.lowercased().contains("json") == true ? .json : .xml
    do {
      let userId: String
      do {
        let bearer = call.request.header("authorization")?.split(separator: " ").last.map(String.init)
        userId = try SalesforceService.user(ofSession: call.request.header("x-sfdc-session") ?? bearer, call.request, call.org)
      } catch {
        throw AsyncFailure("InvalidSessionId", "Unable to find session id")
      }
      guard (try? Negotiation.checkVersion("v\(call.parameter("version"))")) != nil else {
        throw AsyncFailure("InvalidVersion", "Api version \(call.parameter("version")) is not supported")
      }
      try call.org.calls.add(at: call.org.configuration.clock.now())
      var reply = try run(AsyncCall(call: call, userId: userId, form: form))
      reply.user = userId
      return reply
    } catch let failure as AsyncFailure {
      return form.error(failure)
    } catch let error as SandboxError {
      return form.error(AsyncFailure(error))
    } catch {
      return form.error(AsyncFailure("InternalServerError", "\(error)", status: 500))
    }
  }

  // MARK: Jobs

  private static func create(_ async: AsyncCall) throws -> ServerReply {
    let fields = try async.fields(), org = async.call.org
    guard let operation = fields["operation"].flatMap(BulkJob.Operation.init(rawValue:)) else {
      throw AsyncFailure("InvalidJob", "Unsupported operation: \(fields["operation"] ?? "null")")
    }
    guard let content = AsyncJob.Content(rawValue: fields["contentType"] ?? "XML") else {
      throw AsyncFailure("InvalidJob", "Unsupported content type: \(fields["contentType"] ?? "")")
    }
    guard let object = fields["object"].flatMap({ org.schema.object($0) }) else {
      throw AsyncFailure("InvalidEntity", "Unable to find object: \(fields["object"] ?? "null")")
    }
    if operation == .upsert {
      let name = fields["externalIdFieldName"] ?? ""
      guard let field = object.field(name), field.isExternalId || field.isIdLookup else {
        throw AsyncFailure("InvalidJob", "External ID was blank or not found for \(object.name): \(name)")
      }
    }
    let now = org.stamp()
    let store = AsyncStore(connection: try BulkStore(org.connection).connection)
    let job = AsyncJob(
      id: try store.nextId(), operation: operation, object: object.name,
      externalField: operation == .upsert ? fields["externalIdFieldName"] : nil, content: content,
      concurrency: fields["concurrencyMode"] ?? "Parallel", version: "v\(async.call.parameter("version"))", userId: async.userId,
      created: now, modified: now)
    try org.transaction { try store.save(job) }
    return async.job(job, status: 201)
  }

  private static func change(_ async: AsyncCall) throws -> ServerReply {
    var job = try async.find()
    let org = async.call.org
    switch try async.fields()["state"] {
    case "Closed"? where job.state == .open: job.state = .closed
    case "Aborted"? where job.state != .aborted: job.state = .aborted
    case "Closed"?, "Aborted"?:
      throw AsyncFailure("InvalidJobState", "Invalid job state change: the job is \(job.state.rawValue)")
    case let state: throw AsyncFailure("InvalidJob", "A job cannot be set to the state \(state ?? "null")")
    }
    job.modified = org.stamp()
    try org.transaction { [job] in
      try AsyncStore(connection: org.connection).save(job)
      guard job.state == .aborted else { return }
      for var batch in try async.batches() where !batch.state.isOver {
        batch.state = .aborted
        batch.modified = job.modified
        try BulkStore(org.connection).save(batch)
      }
    }
    return async.job(job)
  }

  // MARK: Batches

  private static func addBatch(_ async: AsyncCall) throws -> ServerReply {
    let job = try async.find()
    let org = async.call.org, body = async.call.request.body
    guard job.state == .open else { throw AsyncFailure("InvalidJobState", "\(job.state.rawValue) job cannot accept new batches") }
    guard body.count <= Tuning.asyncBatchBytes else {
      throw AsyncFailure("InvalidBatch", "A batch has at most \(Tuning.asyncBatchBytes) bytes")
    }
    let store = try BulkStore(org.connection)
    let now = org.stamp(), isQuery = job.operation.kind == .query
    let input = isQuery ? [] : try AsyncInput.csv(body, job.content)
    var batch = BulkJob(
      id: try store.nextId(prefix: "751"), operation: job.operation, object: job.object, externalField: job.externalField,
      query: isQuery ? String(decoding: body, as: UTF8.self) : nil, delimiter: .comma,
      lineEnding: AsyncInput.lineEnding(of: input),
      version: job.version, userId: async.userId, created: now, modified: now, state: .uploadComplete)
    if let query = batch.query {
      do {
        _ = try BulkQuery.check(query, job.operation, async.call.versioned(job.version, async.userId))
      } catch let error as SandboxError {
        batch.fail("InvalidBatch : Failed to process query: \(error.code): \(error.message)")
      }
    }
    if !org.interference.leavesWritesUnchanged { org.jobInterference[batch.id] = org.interference }
    try org.transaction { [batch] in
      try store.add(batch)
      try store.setInput(input, of: batch.id)
      try AsyncStore(connection: org.connection).add(batch.id, to: job.id, request: body)
    }
    org.jobs.wake(org)
    return try async.batch(batch, status: 201)
  }

  private static func request(_ async: AsyncCall) throws -> ServerReply {
    let job = try async.find(), batch = try async.findBatch()
    return AsyncForm.content(try AsyncStore(connection: async.call.org.connection).request(of: batch.id), job.content)
  }
}

/// A call of the API by a signed-in user.
struct AsyncCall {
  let call: Call
  let userId: String
  /// The format of the client's own messages.
  let form: AsyncForm

  /// Parses the members of a `jobInfo`, in XML or JSON.
  func fields() throws -> [String: String] {
    if form == .json {
      guard let object = (try? JSONValue(parsing: call.request.body))?.objectValue else {
        throw AsyncFailure("InvalidJob", "Unable to parse Job")
      }
      return object.reduce(into: [:]) { $0[$1.key] = $1.value.stringValue }
    }
    do throws(XML.Failure) {
      let document = try XML.parse(call.request.body)
      return document.children.reduce(into: [:]) { $0[$1.name] = $1.text }
    } catch {
      throw AsyncFailure("InvalidJob", "Unable to parse Job: \(error.message)")
    }
  }

  func find() throws -> AsyncJob {
    _ = try BulkStore(call.org.connection)
    guard let id = RecordID.normalized(call.parameter("job")), let job = try AsyncStore(connection: call.org.connection).find(id)
    else {
      throw AsyncFailure("InvalidJob", "Unable to find job for id: \(call.parameter("job"))")
    }
    return job
  }

  func batches() throws -> [BulkJob] { try AsyncStore(connection: call.org.connection).batches(of: find().id) }

  func findBatch() throws -> BulkJob {
    let id = RecordID.normalized(call.parameter("batch"))
    guard let batch = try batches().first(where: { $0.id == id }) else {
      throw AsyncFailure("InvalidBatch", "Unable to find batch for id: \(call.parameter("batch"))")
    }
    // After a restart, batches do not run until a client asks for one.
    if !batch.state.isOver { call.org.jobs.wake(call.org) }
    return batch
  }

  // MARK: Responses

  func job(_ job: AsyncJob, status: Int = 200) -> ServerReply {
    let batches = (try? AsyncStore(connection: call.org.connection).batches(of: job.id)) ?? []
    return form.reply(status, "jobInfo", AsyncInfo.job(job, batches))
  }

  /// Batches are described in JSON if the job's content is JSON, otherwise in XML; the type of the
  /// request is that of its records.
  private func batchForm() throws -> AsyncForm { try find().content == .json ? .json : .xml }

  func batch(_ batch: BulkJob, status: Int = 200) throws -> ServerReply {
    try batchForm().reply(status, "batchInfo", AsyncInfo.batch(batch, job: find().id))
  }

  func list(_ batches: [BulkJob], of job: AsyncJob) throws -> ServerReply {
    try batchForm().list(batches.map { AsyncInfo.batch($0, job: job.id) })
  }
}

extension Call {
  /// Converts to a data call of the given version, as queries require.
  func versioned(_ version: String, _ userId: String) -> Call {
    Call(service: service, org: org, request: request, parameters: parameters, version: version, userId: userId)
  }
}
