import Database

/// A job of Bulk API 1.0. Its batches are stored and run as Bulk API 2.0 jobs.
struct AsyncJob {
  enum Content: String {
    case csv = "CSV"
    case xml = "XML"
    case json = "JSON"
  }
  enum State: String { case open = "Open", closed = "Closed", aborted = "Aborted" }

  let id: String
  let operation: BulkJob.Operation
  let object: String
  let externalField: String?
  let content: Content
  let concurrency: String
  /// Such as `v66.0`.
  let version: String
  let userId: String
  /// Seconds since 1970 UTC.
  let created: Int64
  var modified: Int64
  var state = State.open
}

/// Stores jobs of Bulk API 1.0 and their batches. On the org's queue.
struct AsyncStore {
  let connection: Connection

  static func prepare(_ connection: Connection) throws {
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS sandbox_async_job (id TEXT PRIMARY KEY, operation TEXT, object TEXT, external_field TEXT,
        content TEXT, concurrency TEXT, version TEXT, user TEXT, created INTEGER, modified INTEGER, state TEXT) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS sandbox_async_batch (number INTEGER PRIMARY KEY, job TEXT, batch TEXT UNIQUE, request BLOB)
      """)
  }

  func nextId() throws -> String {
    guard case .integer(let count)? = try connection.firstValue("SELECT count(*) FROM sandbox_async_job") else {
      throw SandboxError.unknown("the jobs cannot be counted")
    }
    // Stay clear of the ids of Bulk API 2.0 jobs, which share the prefix.
    return RecordID.make(prefix: "750", sequence: 1_000_000_000 + count)
  }

  func save(_ job: AsyncJob) throws(DatabaseError) {
    try connection.run(
      "INSERT OR REPLACE INTO sandbox_async_job VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      [
        .text(job.id), .text(job.operation.rawValue), .text(job.object), job.externalField.map { .text($0) } ?? .null,
        .text(job.content.rawValue), .text(job.concurrency), .text(job.version), .text(job.userId), .integer(job.created),
        .integer(job.modified), .text(job.state.rawValue),
      ])
  }

  func find(_ id: String) throws -> AsyncJob? {
    let row = try connection.statement(
      "SELECT id, operation, object, external_field, content, concurrency, version, user, created, modified, state "
        + "FROM sandbox_async_job WHERE id = ?")
    try row.bind([.text(id)])
    defer { row.reset() }
    guard try row.step(), let operation = BulkJob.Operation(rawValue: row.string(1)) else { return nil }
    return AsyncJob(
      id: row.string(0), operation: operation, object: row.string(2), externalField: row.isNull(3) ? nil : row.string(3),
      content: .init(rawValue: row.string(4)) ?? .csv, concurrency: row.string(5), version: row.string(6), userId: row.string(7),
      created: row.int64(8), modified: row.int64(9), state: .init(rawValue: row.string(10)) ?? .closed)
  }

  func add(_ batch: String, to job: String, request: [UInt8]) throws(DatabaseError) {
    try connection.run(
      "INSERT INTO sandbox_async_batch (job, batch, request) VALUES (?, ?, ?)", [.text(job), .text(batch), .blob(request)])
  }

  /// Returns a job's batches in the order they were added.
  func batches(of job: String) throws -> [BulkJob] {
    let rows = try connection.prepare("SELECT batch FROM sandbox_async_batch WHERE job = ? ORDER BY number")
    try rows.bind([.text(job)])
    var ids: [String] = []
    while try rows.step() { ids.append(rows.string(0)) }
    let store = try BulkStore(connection)
    return try ids.compactMap { try store.find($0) }
  }

  /// Returns a batch as it was posted.
  func request(of batch: String) throws -> [UInt8] {
    let found = try connection.firstValue("SELECT request FROM sandbox_async_batch WHERE batch = ?", [.text(batch)])
    guard case .blob(let bytes)? = found else { return [] }
    return bytes
  }
}
