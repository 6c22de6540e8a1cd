import Database
import JSON

/// Processes one slice of the oldest waiting job, in one transaction. On the org's queue.
struct BulkEngine {
  let org: Org

  /// - Returns: False if no job is waiting.
  func step() throws -> Bool {
    let store = try BulkStore(org.connection)
    guard var job = try store.nextWaiting() else { return false }
    do {
      var next = job
      try org.transaction { try slice(&next, store) }
    } catch {
      job.fail("InternalServerError : \(error)")
      try store.save(job)
    }
    return true
  }

  private func slice(_ job: inout BulkJob, _ store: BulkStore) throws {
    job.modified = org.stamp()
    if job.state == .uploadComplete {
      job.state = .inProgress
      // Let clients see the job in progress before its first records are.
      if job.operation.kind == .query { try BulkQuery(org: org, store: store).begin(&job) }
    } else if job.operation.kind == .query {
      try BulkQuery(org: org, store: store).advance(&job)
    } else {
      try org.withFaults(ofJob: job.id) { try BulkIngest(org: org, store: store).advance(&job) }
    }
    if job.state.isOver { org.jobInterference[job.id] = nil }
    try store.save(job)
  }
}

/// Runs query jobs: the rows are fixed at the start, then rendered in slices.
struct BulkQuery {
  let org: Org
  let store: BulkStore

  /// A column of the result.
  private struct Column {
    let name: String
    let index: Int32
    let form: JSONForm
  }

  /// - Throws: ``SandboxError`` for statements that bulk queries do not support.
  static func check(_ query: String, _ operation: BulkJob.Operation, _ call: Call) throws -> ObjectSchema {
    let runner = QueryRunner(org: call.org, version: call.version, userId: call.userId, pageSize: 1)
    let plan = try runner.compile(query, includeDeleted: operation == .queryAll)
    guard case .records(let record) = plan.output, isFlat(record.root) else {
      throw SandboxError(
        status: 400, code: "FUNCTIONALITY_NOT_ENABLED", message: "Aggregate Relationships not supported in Bulk Query")
    }
    guard !hasCompounds(record.root) else {
      throw SandboxError(
        status: 400, code: "FUNCTIONALITY_NOT_ENABLED", message: "Selecting compound data not supported in Bulk Query")
    }
    return plan.object
  }

  /// A line holds fields and fields of parents only.
  private static func isFlat(_ node: RecordPlan.RecordNode) -> Bool {
    node.branches.isEmpty
      && node.items.allSatisfy { item in
        switch item {
        case .field: true
        case .parent(_, let parent): isFlat(parent)
        case .children: false
        }
      }
  }

  private static func hasCompounds(_ node: RecordPlan.RecordNode) -> Bool {
    node.items.contains { item in
      switch item {
      case .field(_, _, let form): form == .json || form == .bytes
      case .parent(_, let parent): hasCompounds(parent)
      case .children: false
      }
    }
  }

  func begin(_ job: inout BulkJob) throws {
    let (plan, record) = try plan(of: job)
    job.columns = columns(record.root, path: "").map(\.name)
    let statement = try QueryRunner.prepared(plan.sql, plan.bindings, on: org)
    var rows: [UInt8] = []
    while try statement.step() {
      withUnsafeBytes(of: statement.int64(0).littleEndian) { rows.append(contentsOf: $0) }
    }
    try store.setInput(rows, of: job.id)
  }

  /// Returns the rows that were found when the job started.
  static func rows(of id: String, _ store: BulkStore) throws -> [Int64] {
    let bytes = try store.input(of: id, from: 0, count: .max).bytes
    return stride(from: 0, to: bytes.count, by: MemoryLayout<Int64>.size).map { row(bytes, $0) }
  }

  private static func row(_ bytes: [UInt8], _ start: Int) -> Int64 {
    bytes[start..<(start + MemoryLayout<Int64>.size)].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
  }

  func advance(_ job: inout BulkJob) throws {
    let (_, record) = try plan(of: job)
    let columns = columns(record.root, path: "")
    let size = MemoryLayout<Int64>.size
    let (bytes, isLast) = try store.input(of: job.id, from: job.position, count: Tuning.bulkRowsPerSlice * size)
    let row = try org.connection.prepare(record.sql)
    for start in stride(from: 0, to: bytes.count, by: size) {
      row.reset()
      row.bind(1, Self.row(bytes, start))
      guard try row.step() else { continue }
      job.processed += 1
      try store.addLine(line(row, columns, job), .successful, number: job.processed, of: job.id)
    }
    job.position += bytes.count
    if isLast { job.state = .jobComplete }
  }

  private func plan(of job: BulkJob) throws -> (QueryPlan, RecordPlan) {
    let runner = QueryRunner(org: org, version: job.version, userId: job.userId, pageSize: 1)
    let plan = try runner.compile(job.query ?? "", includeDeleted: job.operation == .queryAll)
    guard case .records(let record) = plan.output else { throw SandboxError.unknown("not a query for records") }
    return (plan, record)
  }

  /// Returns the columns of the result. Parent fields are named by their path.
  private func columns(_ node: RecordPlan.RecordNode, path: String) -> [Column] {
    var found: [Column] = []
    for item in node.items {
      switch item {
      case .field(let name, let column, let form): found.append(Column(name: path + name, index: column, form: form))
      case .parent(let name, let child): found += columns(child, path: path + name + ".")
      case .children: break
      }
    }
    return found
  }

  private func line(_ row: Statement, _ columns: [Column], _ job: BulkJob) -> [UInt8] {
    var line = CSVLine(job.delimiter)
    var value: [UInt8] = []
    for column in columns {
      value.removeAll(keepingCapacity: true)
      if row.isNull(column.index) {
        line.append(value)
      } else if column.form == .text || column.form == .plainText {
        line.append(row.bytes(column.index))
      } else {
        ValueText.append(row, column.index, column.form, to: &value)
        // FORMAT results are JSON strings; drop the quotes.
        line.append(value.filter { $0 != UInt8(ascii: "\"") })
      }
    }
    return line.ended(by: job.lineEnding)
  }
}
