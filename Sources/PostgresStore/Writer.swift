import Glibc
import Support

/// The writing connection of a process. It knows of every transaction whether it was committed, also
/// when the answer to COMMIT is lost.
///
/// The first statement of each transaction, `step`, counts it in the writer's row. After a lost
/// connection, `resume` raises the row's epoch: that waits for the old transaction, shuts out one that
/// arrives later, and returns the number of the last committed one. The id of the server's transaction
/// would not do: after a crash the server can use an id again.
package final class Writer: @unchecked Sendable {
  package enum Durability: Sendable {
    /// COMMIT waits for the disk, and for synchronous standbys.
    case synced
    /// A crash of the server may undo the last moments. For what can be fetched again.
    case pulled
  }

  package let id: String
  private let session: PostgresSession
  private let schema: PostgresSchema
  // On the session's queue alone:
  /// nil until the writer is registered, and after it was replaced.
  private var epoch: Int64?
  /// The number of the last transaction that is known to be committed.
  private var seq: Int64 = 0
  /// True if `seq + 1` may have been committed: the server could not be asked.
  private var isInDoubt = false
  package var resumeAttempts = Tuning.resumeAttempts
  package var resumePauseMs = Tuning.resumePauseMs

  /// - Parameter id: Unique among all processes at all times, such as ``newId()``.
  package init(_ session: PostgresSession, _ schema: PostgresSchema, id: String = Writer.newId()) {
    self.session = session
    self.schema = schema
    self.id = id
  }

  /// The identity of this process, and a random number.
  package static func newId() -> String { id(of: .current) }

  static func id(of process: ProcessIdentity) -> String { idPrefix(of: process) + "\(UInt64.random(in: .min ... .max))" }

  /// What the ids of all writers of a process begin with.
  static func idPrefix(of process: ProcessIdentity) -> String { process.text + "/" }

  // MARK: Transactions

  /// Runs a whole transaction in one round trip. A flight that certainly was not committed is sent again
  /// over a new connection.
  /// - Returns: The rows of the flight's statements; nil if it was committed and the answer was lost.
  /// - Throws: ``PostgresError``. The transaction was not committed, unless the code is `.outcomeUnknown`.
  package func commit(
    _ flight: Flight, holding leases: [PostgresLease] = [], durability: Durability = .synced
  ) throws -> [PostgresRows]? {
    try session.run { link in
      var attempts = 0
      while true {
        attempts += 1
        let connection = try ready(link)
        var all = opening(leases, durability)
        let first = all.count
        all.add(flight)
        all.add("COMMIT")
        do throws(PostgresError) {
          let rows = try connection.run(all)
          seq += 1
          return Array(rows[first..<(rows.count - 1)])
        } catch {
          guard error.code == .connectionLost || !connection.isUsable else {
            note(error)
            throw error
          }
          if error.isRefusalToWrite { link.drop() } else if try resume(link) { return nil }
          guard attempts < Tuning.flightAttempts else { throw error }
        }
      }
    }
  }

  /// Runs a transaction whose statements depend on one another. `body` runs at most once.
  /// - Throws: What `body` throws; ``PostgresError``. The transaction was not committed, unless the code is `.outcomeUnknown`.
  package func transaction<T>(
    holding leases: [PostgresLease] = [], durability: Durability = .synced,
    _ body: (PostgresConnection) throws -> T
  ) throws -> T {
    try session.run { link in
      let connection = try ready(link)
      return try ending(link, connection) { result in
        _ = try connection.run(opening(leases, durability))
        let value = try body(connection)
        guard connection.isInWorkingTransaction else { throw PostgresConnection.failedTransaction }
        result = value
        _ = try connection.query("COMMIT")
        seq += 1
        return value
      }
    }
  }

  /// Runs a transaction whose first and last statements travel with those of `body`: BEGIN with the first
  /// query, COMMIT with the statements that wait in the end. `body` runs at most once.
  /// - Throws: What `body` throws; ``PostgresError``. The transaction was not committed, unless the code is `.outcomeUnknown`.
  package func gathered<T>(durability: Durability, _ body: (GatheredTransaction) throws -> T) throws -> T {
    try session.run { link in
      let connection = try ready(link), gathered = GatheredTransaction(connection, opening([], durability))
      return try ending(link, connection) { result in
        let value = try body(gathered)
        guard try gathered.hasWork() else { return value }
        result = value
        gathered.add("COMMIT")
        try gathered.send()
        seq += 1
        return value
      }
    }
  }

  /// Runs a transaction, and rolls it back if it fails. If the connection is lost after `run` has stored the result, finds out
  /// whether the transaction was committed.
  private func ending<T>(
    _ link: PostgresSession.Link, _ connection: PostgresConnection, _ run: (_ result: inout T?) throws -> T
  ) throws -> T {
    var result: T?
    do {
      return try run(&result)
    } catch {
      if connection.isUsable {
        connection.rollBack()
        note(error)
      }
      if (error as? PostgresError)?.isRefusalToWrite == true {
        link.drop()
        throw error
      }
      guard !connection.isUsable else { throw error }
      do {
        if try resume(link), let result { return result }
      } catch let doubt as PostgresError where doubt.code == .outcomeUnknown && result == nil {
        // COMMIT was not sent.
      }
      throw error
    }
  }

  /// The statements before those of the transaction, in the order in which all hosts take locks.
  private func opening(_ leases: [PostgresLease], _ durability: Durability) -> Flight {
    var flight = Flight()
    flight.add("BEGIN")
    if durability == .pulled { flight.add("SET LOCAL synchronous_commit = off") }
    flight.add("SELECT \(schema.sql).step($1, $2, $3)", [.text(id), .int64(epoch ?? 0), .int64(seq + 1)])
    for lease in leases.sorted(by: { $0.name < $1.name }) { lease.hold(in: &flight) }
    return flight
  }

  // MARK: Registration

  /// Returns a connection on which this writer is registered, and knows of its last transaction.
  private func ready(_ link: PostgresSession.Link) throws -> PostgresConnection {
    let connection = try link.connection()
    if isInDoubt, epoch != nil {
      // Its caller was told that the outcome is unknown, and will read the state.
      let row = try connection.query(resuming, [.text(id)]).first
      (isInDoubt, epoch) = (false, try row?.int64(0))
      let found = try row?.int64(1) ?? seq
      defer { seq = found }
      guard found == seq || found == seq + 1 else { throw forgotten(found) }
    }
    guard epoch == nil else { return connection }
    // Removes forgotten writers: their processes have long ended.
    let rows = try connection.query(
      """
      WITH gone AS (DELETE FROM \(schema.sql).writers
        WHERE id <> $1 AND seen < clock_timestamp() - $3 * interval '1 day')
      INSERT INTO \(schema.sql).writers AS w (id, host) VALUES ($1, $2)
      ON CONFLICT (id) DO UPDATE SET epoch = w.epoch + 1, seen = clock_timestamp() RETURNING epoch, seq
      """, [.text(id), .text(Writer.host()), .double(Double(Tuning.forgottenWriterDays))])
    let row = try rows.only()
    (epoch, seq) = (try row.int64(0), try row.int64(1))
    return connection
  }

  private static func host() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Registers again at the next transaction if the server no longer knows this writer as it is.
  private func note(_ error: any Error) {
    guard let error = error as? PostgresError, [.writerReplaced, .commitsLost].contains(error.code) else { return }
    epoch = nil
  }

  private var resuming: String { "SELECT epoch, seq FROM \(schema.sql).resume($1)" }

  private func forgotten(_ found: Int64) -> PostgresError {
    PostgresError(
      .commitsLost,
      "the server knows \(found) transactions of this writer in place of \(seq): a crash or failover undid some; "
        + "read the state again")
  }

  /// Reconnects, and finds out what became of the transaction `seq + 1`.
  /// - Returns: True if it was committed.
  /// - Throws: ``PostgresError`` `.outcomeUnknown` if the server cannot be reached for long, `.commitsLost` if it forgot
  ///   earlier transactions.
  private func resume(_ link: PostgresSession.Link) throws -> Bool {
    isInDoubt = true
    var last: PostgresError?
    for attempt in 1...resumeAttempts {
      link.drop()
      do {
        return try settle(try link.connection().query(resuming, [.text(id)]))
      } catch let error as PostgresError where error.isRetryable && error.code != .commitsLost {
        last = error
        if attempt < resumeAttempts { usleep(UInt32(resumePauseMs * 1000)) }
      }
    }
    throw PostgresError(
      .outcomeUnknown,
      "whether the last transaction was committed is not known: \(last?.message ?? "the server cannot be reached")",
      sqlState: last?.sqlState)
  }

  private func settle(_ rows: PostgresRows) throws -> Bool {
    isInDoubt = false
    guard let row = rows.first else {
      epoch = nil
      throw PostgresError(.outcomeUnknown, "the server does not know this writer any more; read the state again")
    }
    let found = try row.int64(1), isCommitted = found == seq + 1
    epoch = try row.int64(0)
    defer { seq = found }
    guard isCommitted || found == seq else { throw forgotten(found) }
    return isCommitted
  }
}
