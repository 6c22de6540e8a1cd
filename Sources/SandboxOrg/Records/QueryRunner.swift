import Database
import JSON

/// Runs statements and writes result pages. On the org's queue.
struct QueryRunner {
  let org: Org
  /// `v66.0`: URLs in the answer repeat the version asked for.
  let version: String
  let userId: String
  /// Records in a page.
  let pageSize: Int

  func run(_ statement: String, includeDeleted: Bool) throws -> [UInt8] {
    let plan = try org.compiler(for: userId).compile(statement, includeDeleted: includeDeleted)
    switch plan.output {
    case .count: return count(try rows(plan).first ?? 0)
    case .aggregates(let keys, let sql, let forms):
      return try aggregates(keys, forms, prepared(sql, plan.bindings))
    case .records(let record):
      let rows = try rows(plan)
      return try page(CursorTable.Cursor(plan: record, rows: rows), id: nil, start: 0)
    }
  }

  /// The page a locator stands for.
  func next(_ locator: String) throws -> [UInt8] {
    let (id, cursor, start) = try org.cursors.find(locator)
    return try page(cursor, id: id, start: start)
  }

  // MARK: Rows

  private func rows(_ plan: QueryPlan) throws -> [Int64] {
    let statement = try prepared(plan.rowsSQL, plan.bindings)
    var rows: [Int64] = []
    while try statement.step() { rows.append(statement.int64(0)) }
    return rows
  }

  /// Statements come from clients: they are not kept. What SQLite finds too large, a real org does too.
  private func prepared(_ sql: String, _ bindings: [SQLValue]) throws(SandboxError) -> Statement {
    do throws(DatabaseError) {
      let statement = try org.connection.prepare(sql)
      try statement.bind(bindings)
      return statement
    } catch {
      throw SandboxError(
        status: 400, code: "QUERY_TOO_COMPLICATED",
        message: "Query is either selecting too many "
          + "fields or the filter conditions are too complicated.")
    }
  }

  // MARK: Answers

  private func count(_ number: Int64) -> [UInt8] { Array("{\"totalSize\":\(number),\"done\":true,\"records\":[]}".utf8) }

  private func aggregates(_ keys: [String], _ forms: [JSONForm], _ row: Statement) throws -> [UInt8] {
    guard try row.step() else { return count(0) }
    var out = Array("{\"totalSize\":1,\"done\":true,\"records\":[{\"attributes\":{\"type\":\"AggregateResult\"}".utf8)
    for (index, key) in keys.enumerated() {
      out.append(0x2C)
      JSONText.appendQuoted(key, to: &out)
      out.append(0x3A)
      RecordRenderer.append(row, Int32(index), forms[index], to: &out)
    }
    out.append(contentsOf: "}]}".utf8)
    return out
  }

  private func page(_ cursor: CursorTable.Cursor, id: String?, start: Int) throws -> [UInt8] {
    let end = min(start + pageSize, cursor.rows.count)
    let isDone = end >= cursor.rows.count
    var out: [UInt8] = []
    out.reserveCapacity((end - start) * 400 + 200)
    out.append(contentsOf: "{\"totalSize\":\(cursor.rows.count),\"done\":\(isDone)".utf8)
    if !isDone {
      let id = id ?? org.cursors.open(cursor)
      out.append(contentsOf: ",\"nextRecordsUrl\":\"/services/data/\(version)/query/\(id)-\(end)\"".utf8)
    }
    out.append(contentsOf: ",\"records\":[".utf8)
    try appendRecords(cursor, start..<end, to: &out)
    out.append(contentsOf: "]}".utf8)
    return out
  }

  private func appendRecords(_ cursor: CursorTable.Cursor, _ range: Range<Int>, to out: inout [UInt8]) throws {
    guard !range.isEmpty else { return }
    let statement = try prepared(cursor.plan.sql, [])
    let renderer = RecordRenderer(cursor.plan, version: version)
    var isFirst = true
    for row in cursor.rows[range] {
      statement.bind(1, row)
      if try statement.step() {
        if !isFirst { out.append(0x2C) }
        isFirst = false
        renderer.append(statement, to: &out)
      }
      statement.reset()
    }
  }
}
