import CPostgres

/// Statements that travel together: one round trip for any number of them. When one fails, the server
/// skips the others, so that COMMIT at the end commits all or nothing.
package struct Flight: Sendable {
  struct Item: Sendable {
    let sql: String
    let parameters: [PostgresParameter]
  }

  private(set) var items: [Item] = []

  package init() {}

  package var count: Int { items.count }

  /// Appends a statement.
  /// - Returns: The position of its rows in the results.
  @discardableResult
  package mutating func add(_ sql: String, _ parameters: [PostgresParameter] = []) -> Int {
    items.append(Item(sql: sql, parameters: parameters))
    return items.count - 1
  }

  /// Appends the statements of another flight.
  package mutating func add(_ other: Flight) { items += other.items }
}

extension PostgresConnection {
  /// What the server answers with one result each.
  private enum Step {
    case prepare(StatementKey, name: String)
    case run(Int)
  }

  /// Sends all statements, then waits for all results.
  ///
  /// Without BEGIN, the flight is a transaction of its own. If it fails in a transaction that it began,
  /// that transaction is rolled back; one that was open before stays open, and failed.
  /// - Returns: The rows of each statement.
  /// - Throws: The error of the first statement that failed.
  package func run(_ flight: Flight, timeoutMs: Int64? = nil) throws(PostgresError) -> [PostgresRows] {
    do throws(PostgresError) {
      return try runOnce(flight, timeoutMs)
    } catch {
      guard error.code == .outdatedStatement, !isInTransaction else { throw error }
      return try runOnce(flight, timeoutMs)
    }
  }

  /// Sends all statements, and calls `body` with each row of the last one as it arrives: a large result is never in memory
  /// as a whole. If `body` throws, the statement is cancelled, which fails its transaction.
  func run(_ flight: Flight, timeoutMs: Int64?, lastRows body: (PostgresRow) throws -> Void) throws {
    try withoutActuallyEscaping(body) { body in
      let reader = RowByRow(body: body, cancellation: cancellation)
      do throws(PostgresError) {
        _ = try runOnce(flight, timeoutMs, lastRows: reader)
      } catch {
        if let own = reader.failure { throw own }
        guard error.code == .outdatedStatement, !isInTransaction else { throw error }
        _ = try runOnce(flight, timeoutMs, lastRows: reader)
      }
      if let own = reader.failure { throw own }
    }
  }

  /// Passes rows on until its body throws.
  private final class RowByRow {
    private let body: (PostgresRow) throws -> Void
    private let cancellation: PostgresCancellation
    private(set) var failure: (any Error)?

    init(body: @escaping (PostgresRow) throws -> Void, cancellation: PostgresCancellation) {
      self.body = body
      self.cancellation = cancellation
    }

    func take(_ row: PostgresRow) {
      guard failure == nil else { return }
      do {
        try body(row)
      } catch {
        failure = error
        cancellation.cancel()
      }
    }
  }

  private func runOnce(
    _ flight: Flight, _ timeoutMs: Int64?, lastRows: RowByRow? = nil
  ) throws(PostgresError) -> [PostgresRows] {
    guard flight.count > 0 else { return [] }
    makeRoom(for: flight.count)
    let open = try requireHandle(), end = deadline(timeoutMs), wasInTransaction = isInTransaction
    guard cpostgres_enter_pipeline(open) == 1 else { throw lost() }
    let steps = try send(flight, open)
    guard cpostgres_pipeline_sync(open) == 1 else { throw lost() }
    let outcome = try collect(steps, flight, until: end, lastRows)
    guard cpostgres_exit_pipeline(open) == 1 else { throw lost() }
    if let failure = outcome.failure {
      if failure.code == .outdatedStatement { forgetStatements() }
      if !wasInTransaction { rollBack() }
      throw settled(failure)
    }
    return outcome.rows
  }

  private func send(_ flight: Flight, _ open: OpaquePointer) throws(PostgresError) -> [Step] {
    var steps: [Step] = [], names: [StatementKey: String] = [:]
    for (i, item) in flight.items.enumerated() {
      let key = StatementKey(sql: item.sql, types: item.parameters.map(\.type))
      let name: String
      if let known = names[key] {
        name = known
      } else {
        let found = self.name(of: key)
        name = found.name
        names[key] = name
        if found.isNew {
          guard cpostgres_send_prepare(open, name, key.sql, Int32(key.types.count), key.types) == 1 else { throw lost() }
          steps.append(.prepare(key, name: name))
        }
      }
      try send(item.parameters, to: name, open)
      steps.append(.run(i))
    }
    return steps
  }

  private func send(_ parameters: [PostgresParameter], to name: String, _ open: OpaquePointer) throws(PostgresError) {
    let values = parameters.map(\.encoded)
    guard values.allSatisfy({ ($0?.count ?? 0) <= Int(Int32.max) / 4 * 3 }) else {
      throw lost("a value is longer than 1.5 GB")
    }
    let lengths = values.map { Int32($0?.count ?? 0) }, formats = [Int32](repeating: 1, count: values.count)
    let isSent = withPointers(to: values[...], []) { pointers in
      cpostgres_send_prepared(open, name, Int32(values.count), pointers, lengths, formats) == 1
    }
    guard isSent else { throw lost() }
  }

  /// Calls `body` with a pointer to each value; null for NULL. libpq copies the values.
  private func withPointers(
    to values: ArraySlice<[UInt8]?>, _ pointers: [UnsafePointer<CChar>?], _ body: ([UnsafePointer<CChar>?]) -> Bool
  ) -> Bool {
    guard let value = values.first else { return body(pointers) }
    guard let value else { return withPointers(to: values.dropFirst(), pointers + [nil], body) }
    // A null pointer would mean NULL.
    if value.isEmpty { return "".withCString { withPointers(to: values.dropFirst(), pointers + [$0], body) } }
    return value.withUnsafeBytes { bytes in
      let start = bytes.bindMemory(to: CChar.self).baseAddress
      return withPointers(to: values.dropFirst(), pointers + [start], body)
    }
  }

  private func collect(
    _ steps: [Step], _ flight: Flight, until end: Int64, _ lastRows: RowByRow?
  ) throws(PostgresError) -> (rows: [PostgresRows], failure: PostgresError?) {
    var rows: [PostgresRows] = [], failure: PostgresError?
    for step in steps {
      if lastRows != nil, case .run(flight.count - 1) = step, failure == nil {
        guard cpostgres_set_single_row_mode(try requireHandle()) == 1 else { throw lost("an unexpected answer") }
      }
      let result = try result(until: end, lastRows)
      let status = Int(cpostgres_result_status(result))
      switch (step, status) {
      case (.prepare(let key, let name), CPOSTGRES_COMMAND_OK):
        remember(key, name)
        cpostgres_clear(result)
      case (.run, CPOSTGRES_COMMAND_OK), (.run, CPOSTGRES_TUPLES_OK), (.run, CPOSTGRES_EMPTY_QUERY):
        rows.append(PostgresRows(result))
      case (_, CPOSTGRES_PIPELINE_ABORTED): cpostgres_clear(result)
      default:
        defer { cpostgres_clear(result) }
        guard status == CPOSTGRES_FATAL_ERROR else { throw lost("an unexpected answer") }
        failure = failure ?? error(result, sql(of: step, flight))
        // The session is over: nothing more will arrive.
        if let failure, failure.code == .connectionLost { throw settled(failure) }
      }
      guard try nextResult(until: end) == nil else { throw lost("an unexpected answer") }
    }
    guard let sync = try nextResult(until: end) else { throw lost() }
    defer { cpostgres_clear(sync) }
    guard Int(cpostgres_result_status(sync)) == CPOSTGRES_PIPELINE_SYNC else { throw lost("an unexpected answer") }
    return (rows, failure)
  }

  /// Returns a statement's result, after its rows that come one by one.
  private func result(until end: Int64, _ lastRows: RowByRow?) throws(PostgresError) -> OpaquePointer {
    while let result = try nextResult(until: end) {
      guard let lastRows, Int(cpostgres_result_status(result)) == CPOSTGRES_SINGLE_TUPLE else { return result }
      lastRows.take(PostgresRows(result)[0])
    }
    throw lost()
  }

  private func sql(of step: Step, _ flight: Flight) -> String {
    switch step {
    case .prepare(let key, _): key.sql
    case .run(let i): flight.items[i].sql
    }
  }
}
