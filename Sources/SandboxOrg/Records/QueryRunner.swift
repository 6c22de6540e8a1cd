import Database
import JSON

/// Runs statements and renders result pages. On the org's queue.
struct QueryRunner {
  let org: Org
  /// Such as `v66.0`; URLs in the response repeat the requested version.
  let version: String
  let userId: String
  /// Records per page.
  let pageSize: Int

  private var context: RenderContext { RenderContext(org: org, version: version, userId: userId, pageSize: pageSize) }

  func run(_ statement: String, includeDeleted: Bool) throws -> [UInt8] {
    let plan = try compile(statement, includeDeleted: includeDeleted)
    switch plan.output {
    case .count: return count(try rows(plan).first ?? 0)
    case .aggregates(let keys, let forms): return try aggregates(plan, keys, forms)
    case .records(let record):
      let cursor = CursorTable.Cursor(plan: record, rows: try rows(plan), userId: userId)
      let page = try page(cursor, id: nil, start: 0)
      try note(plan, cursor)
      return page
    }
  }

  /// Renders the page of a locator.
  func next(_ locator: String) throws -> [UInt8] {
    let (id, cursor, start) = try org.cursor(locator, userId: userId)
    return try page(cursor, id: id, start: start)
  }

  func compile(_ statement: String, includeDeleted: Bool) throws(SandboxError) -> QueryPlan {
    var compiler = org.compiler(for: userId)
    compiler.version = Int(version.dropFirst().prefix { $0 != "." }) ?? Tuning.apiVersions.upperBound
    return try compiler.compile(statement, includeDeleted: includeDeleted)
  }

  /// Returns the records of a response; for `SELECT COUNT()` their number.
  static func found(_ soql: String, in answer: JSONValue) throws -> JSONValue {
    if case .count = try Parser.parse(Array(soql.unicodeScalars)).selection { return answer["totalSize"] ?? 0 }
    return answer["records"] ?? []
  }

  // MARK: Rows

  func rows(_ plan: QueryPlan) throws -> [Int64] {
    let statement = try Self.prepared(plan.sql, plan.bindings, on: org)
    var rows: [Int64] = []
    while try statement.step() { rows.append(statement.int64(0)) }
    return rows
  }

  /// Prepares a client's statement, which is not cached. If SQLite finds it too large, the error is
  /// that of a real org.
  static func prepared(_ sql: String, _ bindings: [SQLValue] = [], on org: Org) throws(SandboxError) -> Statement {
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

  /// Applies FOR VIEW and FOR REFERENCE: rows of the first page count as viewed.
  private func note(_ plan: QueryPlan, _ cursor: CursorTable.Cursor) throws {
    guard plan.use != .none else { return }
    let rows = cursor.rows.prefix(pageSize)
    let field = plan.object.field(plan.use == .view ? "LastViewedDate" : "LastReferencedDate")
    let moment = SQLValue.text(Timestamp.text(org.configuration.clock.now()))
    try org.transaction {
      // The first row becomes the most recent item.
      for row in rows.reversed() {
        if let field {
          try org.connection.run(
            "UPDATE \(plan.object.table) SET \"\(field.name)\" = ? WHERE rowid = ?", [moment, .integer(row)])
        }
        let id = try org.connection.firstValue("SELECT Id FROM \(plan.object.table) WHERE rowid = ?", [.integer(row)])
        if plan.use == .view, case .text(let id)? = id { org.recentlyUsed.touch(id, of: plan.object, by: userId) }
      }
    }
  }

  // MARK: Responses

  private func count(_ number: Int64) -> [UInt8] { Array("{\"totalSize\":\(number),\"done\":true,\"records\":[]}".utf8) }

  private func aggregates(_ plan: QueryPlan, _ keys: [String], _ forms: [JSONForm]) throws -> [UInt8] {
    let statement = try Self.prepared(plan.sql, plan.bindings, on: org)
    let names = keys.map { Array(",\"\($0)\":".utf8) }
    var records: [UInt8] = []
    var total = 0
    while try statement.step() {
      total += 1
      guard total <= Tuning.maximumPageSize else {
        throw SandboxError(
          status: 400, code: "EXCEEDED_ID_LIMIT",
          message: "Aggregate query does not support queryMore(), use LIMIT to restrict the results to a single batch")
      }
      if total > 1 { records.append(UInt8(ascii: ",")) }
      records.append(contentsOf: Self.aggregateHead)
      for (index, name) in names.enumerated() {
        records.append(contentsOf: name)
        let column = Int32(index)
        // The grouping flag of a subtotal row has no value.
        if forms[index] == .boolean, statement.isNull(column) {
          records.append(contentsOf: ValueText.null)
        } else {
          ValueText.append(statement, column, forms[index], to: &records)
        }
      }
      records.append(UInt8(ascii: "}"))
    }
    return Array("{\"totalSize\":\(total),\"done\":true,\"records\":[".utf8) + records + Array("]}".utf8)
  }

  private static let aggregateHead = Array("{\"attributes\":{\"type\":\"AggregateResult\"}".utf8)

  private func page(_ cursor: CursorTable.Cursor, id: String?, start: Int) throws -> [UInt8] {
    let end = min(start + pageSize, cursor.rows.count)
    let isDone = end >= cursor.rows.count
    var out: [UInt8] = []
    out.reserveCapacity((end - start) * 400 + 200)
    out.append(contentsOf: "{\"totalSize\":\(cursor.rows.count),\"done\":\(isDone)".utf8)
    if !isDone {
      let id = id ?? org.openCursor(cursor)
      out.append(contentsOf: ",\"nextRecordsUrl\":\"/services/data/\(version)/query/\(id)-\(end)\"".utf8)
    }
    out.append(contentsOf: ",\"records\":[".utf8)
    if start < end {
      let statement = try Self.prepared(cursor.plan.sql, on: org)
      try RecordRenderer(cursor.plan, context).append(cursor.rows[start..<end], with: statement, to: &out)
    }
    out.append(contentsOf: "]}".utf8)
    return out
  }
}
