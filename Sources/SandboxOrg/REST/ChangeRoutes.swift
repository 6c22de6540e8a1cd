import Database

/// Serves `/sobjects/<type>/updated` and `/deleted`: ids of records that changed in a time span.
///
/// Source: Salesforce, getUpdated() and getDeleted(): seconds of the bounds are ignored, and the
/// span is at least a minute.
enum ChangeRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("GET", "/sobjects/:type/updated", updated)
    table.data("GET", "/sobjects/:type/deleted", deleted)
  }

  private struct Span {
    /// Seconds since 1970 UTC, rounded to whole minutes.
    let start: Int64, end: Int64
    var bindings: [SQLValue] { [.text(Timestamp.text(start)), .text(Timestamp.text(end))] }
  }

  private static func updated(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    let span = try span(call, days: Tuning.updatedDays)
    let rows = try statement(object, isDeleted: false, span, call)
    var out = Array("{\"ids\":[".utf8)
    var count = 0
    while try rows.step() {
      try countRow(&count, &out)
      append(rows, 0, to: &out)
    }
    out.append(contentsOf: "],\"latestDateCovered\":\"\(Timestamp.text(span.end))\"}".utf8)
    return .json(200, out)
  }

  private static func deleted(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    let span = try span(call, days: Tuning.deletedDays)
    let rows = try statement(object, isDeleted: true, span, call)
    var out = Array("{\"deletedRecords\":[".utf8)
    var count = 0
    while try rows.step() {
      try countRow(&count, &out)
      out.append(contentsOf: "{\"deletedDate\":".utf8)
      append(rows, 1, to: &out)
      out.append(contentsOf: ",\"id\":".utf8)
      append(rows, 0, to: &out)
      out.append(UInt8(ascii: "}"))
    }
    let earliest = call.org.configuration.clock.now() - Int64(Tuning.deletedDays) * 86_400
    out.append(contentsOf: "],\"earliestDateAvailable\":\"\(Timestamp.text(earliest))\"".utf8)
    out.append(contentsOf: ",\"latestDateCovered\":\"\(Timestamp.text(span.end))\"}".utf8)
    return .json(200, out)
  }

  private static func statement(
    _ object: ObjectSchema, isDeleted: Bool, _ span: Span, _ call: Call
  ) throws(DatabaseError) -> Statement {
    let rows = try call.org.connection.prepare(
      "SELECT Id, SystemModstamp FROM \(object.table) WHERE SystemModstamp >= ? AND SystemModstamp < ? "
        + "AND IsDeleted = \(isDeleted ? 1 : 0) ORDER BY SystemModstamp, Id")
    try rows.bind(span.bindings)
    return rows
  }

  private static func countRow(_ count: inout Int, _ out: inout [UInt8]) throws(SandboxError) {
    if count > 0 { out.append(UInt8(ascii: ",")) }
    count += 1
    guard count <= Tuning.changedIds else {
      throw SandboxError(
        status: 400, code: "EXCEEDED_ID_LIMIT",
        message: "more than \(Tuning.changedIds) records changed in that time; ask for a shorter one")
    }
  }

  private static func append(_ row: Statement, _ column: Int32, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "\""))
    out.append(contentsOf: row.bytes(column))
    out.append(UInt8(ascii: "\""))
  }

  // MARK: Parameters

  private static func span(_ call: Call, days: Int) throws(SandboxError) -> Span {
    let start = try minute("start", call)
    let end = try minute("end", call)
    guard end >= start + 60 else {
      throw refused("endDate must be at least one minute greater than the startDate")
    }
    guard start >= call.org.configuration.clock.now() - Int64(days) * 86_400 - 60 else {
      throw refused("startDate cannot be more than \(days) days ago")
    }
    return Span(start: start, end: end)
  }

  /// Reads a time with `+00:00`, `Z` or no zone. A plus sign that was not encoded arrives as a
  /// blank.
  private static func minute(_ name: String, _ call: Call) throws(SandboxError) -> Int64 {
    guard let text = call.request.parameter(name) else {
      throw SandboxError(status: 400, code: "MISSING_ARGUMENT", message: "the parameter '\(name)' is missing")
    }
    let plain = String(text.map { $0 == " " ? "+" : $0 })
    guard let value = Timestamp.milliseconds(parsing: plain) ?? Timestamp.milliseconds(parsing: plain + "Z") else {
      throw refused("the parameter '\(name)' is not a date and time: \(text)")
    }
    return value / 60_000 * 60
  }

  private static func refused(_ message: String) -> SandboxError {
    SandboxError(status: 400, code: "INVALID_REPLICATION_DATE", message: message)
  }
}
