/// Why something failed in PostgreSQL. Contains no parameter or row values and no password, because
/// messages end up in logs.
package struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Code: String, CaseIterable, Sendable {
    /// The client library cannot be loaded.
    case libraryMissing
    /// The text is not a valid address.
    case invalidAddress
    /// The host cannot be reached or refused the connection.
    case cannotConnect
    /// The sign-in was refused, or a password is needed.
    case signInRefused
    /// The server is too old, has another encoding, is a standby, or is behind a pooler that mixes sessions.
    case unsupportedServer, readOnlyServer, transactionPooler
    /// The connection ended, or the server did not answer in time. A transaction in flight may have been committed.
    case connectionLost
    /// The server refused a statement; `sqlState` says why.
    case server
    /// The statement was cancelled.
    case cancelled
    /// The table changed since the statement was prepared; it is prepared again next time.
    case outdatedStatement
    /// The schema belongs to another program, or was written by a newer build.
    case foreignSchema, newerSchema
    /// A copy's name belongs to a store; a store is an unfinished copy.
    case storeExists, unfinishedCopy
    /// The user lacks a privilege.
    case notPermitted
    /// A lease was taken over, or the writer was replaced by a newer one of the same name.
    case leaseLost, writerReplaced
    /// The server forgot transactions that it had acknowledged, as after a crash or a failover without
    /// `synchronous_commit`. Read the state again before writing.
    case commitsLost
    /// The server cannot tell whether the transaction was committed.
    case outcomeUnknown
    case noSuchJob, jobExists, jobIsRunning, invalidJob
    /// A result does not have the expected columns, types or number of rows.
    case unexpectedResult
  }

  package let code: Code
  package let message: String
  /// The server's five-character code of the condition.
  package var sqlState: String?
  /// The statement with its `$1` placeholders, never its values.
  package var sql: String?

  package init(_ code: Code, _ message: String, sqlState: String? = nil, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sqlState = sqlState
    self.sql = sql
  }

  package var description: String { message }

  /// True if the same work, unchanged, may succeed later.
  package var isRetryable: Bool {
    switch code {
    case .connectionLost, .commitsLost, .cancelled, .outdatedStatement: true
    case .readOnlyServer: true
    case .cannotConnect, .server: sqlState.map(PostgresError.isRetryable) ?? (code == .cannotConnect)
    default: false
    }
  }

  /// True if the server permits only reading: it was demoted, or set so, since the connection was made. It has committed
  /// nothing, and the next connection looks for a host that can be written to.
  var isRefusalToWrite: Bool { sqlState == "25006" }

  /// True if a disk of the server is full.
  package var isDiskFull: Bool { sqlState == "53100" }

  /// Serialization failure, deadlock, lock timeout, the server's shutdown or start, too many
  /// connections, a full disk or memory, a lost connection, a demoted primary.
  private static func isRetryable(_ state: String) -> Bool {
    switch state {
    case "40001", "40P01", "55P03", "57P01", "57P02", "57P03", "25006", "25P03": true
    default: state.hasPrefix("08") || state.hasPrefix("53") || state.hasPrefix("58")
    }
  }

  /// True if the server ends the session with this error, or the session cannot be used afterwards.
  static func endsSession(_ state: String) -> Bool {
    state.hasPrefix("08") || ["57P01", "57P02", "57P03", "57P05", "25P03", "25006"].contains(state)
  }

  // MARK: Errors of the server

  /// Makes an error from the fields of the server's message.
  ///
  /// The server's own words are used only for classes of errors whose messages name objects,
  /// settings or limits. Those about data and constraints quote values.
  /// - Parameter field: Returns a field of the message by its protocol letter.
  static func server(sql: String?, _ field: (Character) -> String?) -> PostgresError {
    let state = field("C") ?? "XX000", words = field("M") ?? "no message"
    switch state {
    // Our functions name leases and writers, not values of records.
    case "TU001": return PostgresError(.leaseLost, words, sqlState: state, sql: sql)
    case "TU003": return PostgresError(.writerReplaced, words, sqlState: state, sql: sql)
    case "TU010": return PostgresError(.server, "PostgreSQL: \(words)", sqlState: state, sql: sql)
    case "TU004": return PostgresError(.commitsLost, words + "; read the state again", sqlState: state, sql: sql)
    case "57014": return PostgresError(.cancelled, "the statement was cancelled", sqlState: state, sql: sql)
    // "cached plan must not change result type": the name of the server's function is not translated.
    case "0A000" where field("R") == "RevalidateCachedQuery":
      return PostgresError(.outdatedStatement, "PostgreSQL: \(words)", sqlState: state, sql: sql)
    case "42501": return PostgresError(.notPermitted, "PostgreSQL: \(words)", sqlState: state, sql: sql)
    case "53100":
      return PostgresError(
        .server, "PostgreSQL's disk is full; free space on the server, then try again", sqlState: state, sql: sql)
    default: break
    }
    let text = quotesNoValues(state) ? words : plainWords(state, field)
    let code: Code = endsSession(state) ? .connectionLost : .server
    return PostgresError(code, "PostgreSQL: \(text) (\(state))", sqlState: state, sql: sql)
  }

  /// Connection, feature, transaction state, sign-in, schema, rollback, syntax and access, resources,
  /// limits, object state, operator intervention, system.
  private static func quotesNoValues(_ state: String) -> Bool {
    ["08", "0A", "25", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58"].contains(state.prefix(2))
  }

  private static func plainWords(_ state: String, _ field: (Character) -> String?) -> String {
    let what: String =
      switch state {
      case "22021": "a text contains a NUL character or is not valid UTF-8"
      case "22P02", "22P03": "a value has the wrong form for its type"
      case "23502": "a column must not be null"
      case "23503": "a row refers to one that does not exist"
      case "23505": "a row with the same key exists"
      case "23514": "a value violates a check"
      default: "the statement was refused"
      }
    let names = [("table", field("t")), ("column", field("c")), ("constraint", field("n"))]
    return what + names.compactMap { name in name.1.map { ", \(name.0) \($0)" } }.joined()
  }
}
