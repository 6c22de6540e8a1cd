import CPostgres
import Glibc
import Support

/// One connection to a PostgreSQL server. Blocks; not thread-safe: its owner uses it from one thread
/// at a time, such as that of a ``PostgresSession``.
///
/// Every wait has an end, so that a frozen server or a dead network does not block the owner for
/// good. After an error with the code `.connectionLost` the connection is closed and
/// ``isUsable`` is false.
package final class PostgresConnection {
  /// libpq's object; nil once closed.
  private(set) var handle: OpaquePointer?
  /// The host and port, for messages.
  package let place: String
  /// Cancels what this connection is running, from any thread.
  package let cancellation: PostgresCancellation
  /// Major version, such as 15.
  package let serverVersion: Int
  private let answerTimeoutMs: Int64
  /// The names of prepared statements.
  private var prepared: [StatementKey: String] = [:]
  private var preparedCount = 0
  /// True if the server has prepared statements that are no longer in use.
  private var hasForgotten = false

  /// A statement is prepared once per list of parameter types: the server plans for the types.
  struct StatementKey: Hashable {
    let sql: String
    let types: [UInt32]

    // Canonically equivalent texts are different statements.
    static func == (one: Self, other: Self) -> Bool { one.types == other.types && one.sql.utf8.elementsEqual(other.sql.utf8) }

    func hash(into hasher: inout Hasher) {
      var sql = sql
      sql.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      hasher.combine(types)
    }
  }

  /// Takes over an established connection.
  init(_ handle: OpaquePointer, place: String, answerTimeoutMs: Int64) throws(PostgresError) {
    self.handle = handle
    self.place = place
    self.answerTimeoutMs = answerTimeoutMs
    serverVersion = Int(cpostgres_server_version(handle)) / 10_000
    guard let cancel = cpostgres_cancel_of(handle), cpostgres_set_nonblocking(handle) == 0 else {
      cpostgres_finish(handle)
      self.handle = nil
      throw PostgresError(.cannotConnect, "PostgreSQL at \(place): out of memory")
    }
    cancellation = PostgresCancellation(cancel)
  }

  deinit { close() }

  /// Ends the session. The server rolls back an open transaction. A second call has no effect.
  package func close() {
    guard let open = handle else { return }
    handle = nil
    cpostgres_finish(open)
  }

  /// False once the connection was lost or closed.
  package var isUsable: Bool { handle.map { cpostgres_status($0) == CPOSTGRES_CONNECTION_OK } ?? false }

  /// True between BEGIN and COMMIT or ROLLBACK.
  package var isInTransaction: Bool {
    let status = handle.map { Int(cpostgres_transaction_status($0)) } ?? 0
    return status == CPOSTGRES_IN_TRANSACTION || status == CPOSTGRES_IN_ERROR
  }

  /// True in a transaction in which no statement failed: COMMIT would commit it.
  var isInWorkingTransaction: Bool { handle.map { Int(cpostgres_transaction_status($0)) } == CPOSTGRES_IN_TRANSACTION }

  /// Whether an idle connection is still open, as far as this side knows. Usually costs one system call.
  var isAlive: Bool {
    while isUsable, let handle {
      var waiting = pollfd(fd: cpostgres_socket(handle), events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 0) > 0 else { return true }
      // A message for all sessions, such as a changed setting; or the server's last words, and then the end.
      guard cpostgres_consume_input(handle) == 1 else { return false }
      _ = cpostgres_is_busy(handle)
    }
    return false
  }

  /// The server process as libpq was told.
  var announcedBackend: Int32 { handle.map { cpostgres_backend_id($0) } ?? 0 }

  // MARK: Statements

  /// Runs one statement and returns its rows.
  /// - Parameter timeoutMs: nil for the connection's usual limit; more for work known to take long.
  package func query(
    _ sql: String, _ parameters: [PostgresParameter] = [], timeoutMs: Int64? = nil
  ) throws(PostgresError) -> PostgresRows {
    var flight = Flight()
    flight.add(sql, parameters)
    return try run(flight, timeoutMs: timeoutMs)[0]
  }

  /// Runs one or more statements without parameters and ignores their rows. Several are one
  /// transaction.
  package func execute(_ sql: String, timeoutMs: Int64? = nil) throws(PostgresError) {
    let open = try requireHandle(), end = deadline(timeoutMs)
    guard cpostgres_send_query(open, sql) == 1 else { throw lost() }
    var failure: PostgresError?
    while let result = try nextResult(until: end) {
      defer { cpostgres_clear(result) }
      let status = Int(cpostgres_result_status(result))
      if status == CPOSTGRES_COPY_IN || status == CPOSTGRES_COPY_OUT {
        throw lost("COPY in a place where none is expected")
      }
      if status == CPOSTGRES_FATAL_ERROR || status == CPOSTGRES_BAD_RESPONSE { failure = failure ?? error(result, sql) }
    }
    if let failure { throw settled(failure) }
  }

  /// Runs `body` between BEGIN and COMMIT; rolls back if it throws.
  /// - Throws: ``PostgresError`` `.connectionLost` also if the answer to COMMIT is lost. Use a ``Writer`` to learn the outcome.
  package func transaction<T>(_ begin: String = "BEGIN", _ body: () throws -> T) throws -> T {
    try execute(begin)
    do {
      let result = try body()
      // COMMIT would roll back and succeed.
      guard isInWorkingTransaction else { throw PostgresConnection.failedTransaction }
      try execute("COMMIT")
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  static let failedTransaction = PostgresError(
    .server, "PostgreSQL: the transaction failed before its end", sqlState: "25P02")

  /// Rolls back an open transaction; closes the connection if that fails.
  package func rollBack() {
    guard isUsable, isInTransaction else { return }
    do { try execute("ROLLBACK") } catch { close() }
  }

  // MARK: Prepared statements

  /// Returns the name of a prepared statement, and whether it must be prepared first.
  func name(of key: StatementKey) -> (name: String, isNew: Bool) {
    if let known = prepared[key] { return (known, false) }
    preparedCount += 1
    return ("s\(preparedCount)", true)
  }

  func remember(_ key: StatementKey, _ name: String) { prepared[key] = name }

  /// Prepares every statement anew at its next use, because DDL changed what they return.
  func forgetStatements() {
    prepared.removeAll()
    hasForgotten = true
  }

  /// Frees the server's memory of statements, if there are too many, or outdated ones.
  func makeRoom(for statements: Int) {
    guard hasForgotten || prepared.count + statements > Tuning.preparedStatements, !isInTransaction else { return }
    prepared.removeAll()
    hasForgotten = false
    do { try execute("DEALLOCATE ALL") } catch { close() }
  }

  // MARK: Errors

  func requireHandle() throws(PostgresError) -> OpaquePointer {
    guard let handle else { throw PostgresError(.connectionLost, "the connection to PostgreSQL at \(place) is closed") }
    return handle
  }

  func deadline(_ timeoutMs: Int64?) -> Int64 { SystemClock.monotonicMilliseconds() + (timeoutMs ?? answerTimeoutMs) }

  /// Closes the connection and returns the error to throw. libpq's message is not used: it may repeat
  /// earlier messages of the server, which quote values.
  func lost(_ why: String? = nil) -> PostgresError {
    close()
    return PostgresError(
      .connectionLost, "the connection to PostgreSQL at \(place) was lost" + (why.map { ": \($0)" } ?? ""))
  }

  /// Makes an error from a result.
  func error(_ result: OpaquePointer, _ sql: String?) -> PostgresError {
    let state = cpostgres_result_field(result, Int32(UInt8(ascii: "C")))
    // libpq makes a result without SQLSTATE when the connection breaks.
    guard state != nil else { return lost() }
    return .server(sql: sql) { letter in
      letter.asciiValue.flatMap { cpostgres_result_field(result, Int32($0)) }.map { String(cString: $0) }
    }
  }

  /// Closes the connection if the error means its end.
  func settled(_ failure: PostgresError) -> PostgresError {
    if failure.code == .connectionLost { close() }
    return failure
  }
}

/// Cancels the statement that a connection is running.
package final class PostgresCancellation: @unchecked Sendable {
  // libpq's object is a copy of the server's address and the session's key; it does not change.
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { cpostgres_cancel_free(handle) }

  /// Blocks for one round trip. The statement fails with the code `.cancelled`, unless it ends first.
  /// - Returns: False if the server could not be asked.
  @discardableResult
  package func cancel() -> Bool { cpostgres_cancel_send(handle) == 1 }
}
