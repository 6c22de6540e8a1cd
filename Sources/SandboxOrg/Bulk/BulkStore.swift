import Database
import JSON

/// Stores jobs, their input and their results, in separate tables of the org's database. On the
/// org's queue.
struct BulkStore {
  /// The result of an input record.
  enum Outcome: Int64 { case successful = 1, failed = 2 }

  let connection: Connection

  init(_ connection: Connection) throws {
    self.connection = connection
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS sandbox_job (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, operation TEXT,
        object TEXT, external_field TEXT, query TEXT, delimiter TEXT, line_ending TEXT, version TEXT, user TEXT,
        created INTEGER, modified INTEGER, state TEXT, processed INTEGER, failed INTEGER, error TEXT, position INTEGER,
        columns TEXT);
      CREATE TABLE IF NOT EXISTS sandbox_job_part (job TEXT, part INTEGER, bytes BLOB, PRIMARY KEY (job, part)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS sandbox_job_line (job TEXT, outcome INTEGER, number INTEGER, line BLOB,
        PRIMARY KEY (job, outcome, number)) WITHOUT ROWID
      """)
    try AsyncStore.prepare(connection)
  }

  // MARK: Jobs

  /// Returns the id of the next job. Batches of Bulk API 1.0 are jobs with another prefix.
  func nextId(prefix: String = "750") throws -> String {
    let last = try connection.firstValue("SELECT seq FROM sqlite_sequence WHERE name = 'sandbox_job'")
    guard case .integer(let number)? = last else { return RecordID.make(prefix: prefix, sequence: 1) }
    return RecordID.make(prefix: prefix, sequence: number + 1)
  }

  func add(_ job: BulkJob) throws {
    try connection.run(
      "INSERT INTO sandbox_job (id, operation, object, external_field, query, delimiter, line_ending, version, user, created) "
        + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      [
        .text(job.id), .text(job.operation.rawValue), .text(job.object), optional(job.externalField), optional(job.query),
        .text(job.delimiter.rawValue), .text(job.lineEnding.rawValue), .text(job.version), .text(job.userId),
        .integer(job.created),
      ])
    try save(job)
  }

  func save(_ job: BulkJob) throws {
    let columns = job.columns.map { JSONValue.array($0.map { .string($0) }).text }
    try connection.run(
      "UPDATE sandbox_job SET modified = ?, state = ?, processed = ?, failed = ?, error = ?, position = ?, columns = ? "
        + "WHERE id = ?",
      [
        .integer(job.modified), .text(job.state.rawValue), .integer(Int64(job.processed)), .integer(Int64(job.failed)),
        optional(job.error), .integer(Int64(job.position)), optional(columns), .text(job.id),
      ])
  }

  func find(_ id: String) throws -> BulkJob? { try jobs("WHERE id = ?", [.text(id)]).first }

  /// Returns the oldest job that is waiting for work.
  func nextWaiting() throws -> BulkJob? {
    try jobs("WHERE state IN ('UploadComplete', 'InProgress') ORDER BY number LIMIT 1", []).first
  }

  /// Returns jobs, newest first.
  func list(_ kind: BulkJob.Kind, from start: Int, count: Int) throws -> [BulkJob] {
    let isQuery = kind == .query ? "" : "NOT "
    return try jobs(
      "WHERE operation \(isQuery)IN ('query', 'queryAll') AND id LIKE '750%' ORDER BY number DESC LIMIT ? OFFSET ?",
      [.integer(Int64(count)), .integer(Int64(start))])
  }

  /// Counts jobs created after `moment`, in seconds since 1970 UTC.
  func count(_ kind: BulkJob.Kind, since moment: Int64) throws -> Int {
    let isQuery = kind == .query ? "" : "NOT "
    let count = try connection.firstValue(
      "SELECT count(*) FROM sandbox_job WHERE operation \(isQuery)IN ('query', 'queryAll') AND created > ?", [.integer(moment)])
    if case .integer(let number)? = count { return Int(number) }
    return 0
  }

  func remove(_ id: String) throws {
    for (table, column) in [("sandbox_job", "id"), ("sandbox_job_part", "job"), ("sandbox_job_line", "job")] {
      try connection.run("DELETE FROM \(table) WHERE \(column) = ?", [.text(id)])
    }
  }

  private func jobs(_ condition: String, _ values: [SQLValue]) throws -> [BulkJob] {
    let statement = try connection.statement(
      "SELECT id, operation, object, external_field, query, delimiter, line_ending, version, user, created, modified, state, "
        + "processed, failed, error, position, columns FROM sandbox_job \(condition)")
    try statement.bind(values)
    defer { statement.reset() }
    var jobs: [BulkJob] = []
    while try statement.step() { jobs.append(Self.job(statement)) }
    return jobs
  }

  private static func job(_ row: Statement) -> BulkJob {
    func text(_ column: Int32) -> String? { row.isNull(column) ? nil : row.string(column) }
    let columns = text(16).flatMap { try? JSONValue(parsing: $0) }?.arrayValue?.compactMap(\.stringValue)
    return BulkJob(
      id: row.string(0), operation: .init(rawValue: row.string(1)) ?? .query, object: row.string(2), externalField: text(3),
      query: text(4), delimiter: .init(rawValue: row.string(5)) ?? .comma, lineEnding: .init(rawValue: row.string(6)) ?? .lf,
      version: row.string(7), userId: row.string(8), created: row.int64(9), modified: row.int64(10),
      state: .init(rawValue: row.string(11)) ?? .failed, processed: Int(row.int64(12)), failed: Int(row.int64(13)),
      error: text(14), position: Int(row.int64(15)), columns: columns)
  }

  private func optional(_ text: String?) -> SQLValue { text.map { .text($0) } ?? .null }

  // MARK: Input

  /// Stores the input of a job in parts, so that no step has to read all of it.
  func setInput(_ bytes: [UInt8], of id: String) throws {
    var start = 0
    var part: Int64 = 0
    while start < bytes.count {
      let end = min(start + Tuning.bulkPartBytes, bytes.count)
      try connection.run(
        "INSERT INTO sandbox_job_part VALUES (?, ?, ?)", [.text(id), .integer(part), .blob(Array(bytes[start..<end]))])
      start = end
      part += 1
    }
  }

  func hasInput(_ id: String) throws -> Bool {
    try connection.firstValue("SELECT 1 FROM sandbox_job_part WHERE job = ? LIMIT 1", [.text(id)]) != nil
  }

  /// - Returns: At most `count` bytes from `start`, and whether they reach the end.
  func input(of id: String, from start: Int, count: Int) throws -> (bytes: [UInt8], isLast: Bool) {
    let first = start / Tuning.bulkPartBytes
    let parts = try connection.statement("SELECT bytes FROM sandbox_job_part WHERE job = ? AND part >= ? ORDER BY part")
    try parts.bind([.text(id), .integer(Int64(first))])
    defer { parts.reset() }
    var bytes: [UInt8] = []
    var skip = start - first * Tuning.bulkPartBytes
    while try parts.step() {
      guard bytes.count < count else { return (bytes, false) }
      if case .blob(let part) = parts.value(0) { bytes += part.dropFirst(skip) }
      skip = 0
    }
    guard bytes.count > count else { return (bytes, true) }
    return (Array(bytes.prefix(count)), false)
  }

  // MARK: Results

  func addLine(_ line: [UInt8], _ outcome: Outcome, number: Int, of id: String) throws {
    let insert = try connection.statement("INSERT INTO sandbox_job_line VALUES (?, ?, ?, ?)")
    try insert.bind([.text(id), .integer(outcome.rawValue), .integer(Int64(number)), .blob(line)])
    try insert.run()
  }

  /// Returns the number of the line `count` lines after number `last`; nil if no line follows that
  /// one.
  func line(_ outcome: Outcome, of id: String, number last: Int, plus count: Int) throws -> Int? {
    let lines = try connection.statement(
      "SELECT number FROM sandbox_job_line WHERE job = ? AND outcome = ? AND number > ? ORDER BY number LIMIT 2 OFFSET ?")
    try lines.bind([.text(id), .integer(outcome.rawValue), .integer(Int64(last)), .integer(Int64(count - 1))])
    defer { lines.reset() }
    guard try lines.step() else { return nil }
    let number = Int(lines.int64(0))
    return try lines.step() ? number : nil
  }

  /// Appends result lines with numbers above `last`.
  ///
  /// - Returns: The number of lines, the number of the last one, and whether more follow.
  func appendLines(
    _ outcome: Outcome, of id: String, after last: Int, count: Int, to out: inout [UInt8]
  ) throws -> (count: Int, last: Int, hasMore: Bool) {
    let lines = try connection.statement(
      "SELECT number, line FROM sandbox_job_line WHERE job = ? AND outcome = ? AND number > ? ORDER BY number")
    try lines.bind([.text(id), .integer(outcome.rawValue), .integer(Int64(last))])
    defer { lines.reset() }
    var taken = 0
    var last = last
    while try lines.step() {
      guard taken < count else { return (taken, last, true) }
      out.append(contentsOf: lines.bytes(1))
      last = Int(lines.int64(0))
      taken += 1
    }
    return (taken, last, false)
  }
}
