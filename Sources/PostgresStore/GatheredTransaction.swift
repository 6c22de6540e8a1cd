/// A transaction whose statements wait until a result is needed, and then travel together.
package final class GatheredTransaction {
  package let connection: PostgresConnection
  private var waiting: Flight
  /// Statements that open the transaction; alone they have no effect.
  private let opening: Int
  private var wasSent = false
  /// The results of the last flight that ``send(timeoutMs:)`` has sent.
  private(set) var results: [PostgresRows] = []
  /// The first failure. The server has ended the transaction then, and statements after it would be
  /// transactions of their own.
  private var failure: (any Error)?

  init(_ connection: PostgresConnection, _ opening: Flight) {
    self.connection = connection
    waiting = opening
    self.opening = opening.count
  }

  /// Adds a statement whose result is not needed.
  package func add(_ sql: String, _ parameters: [PostgresParameter] = []) { waiting.add(sql, parameters) }

  /// Sends what waits, and this statement; returns its rows.
  package func query(
    _ sql: String, _ parameters: [PostgresParameter] = [], timeoutMs: Int64? = nil
  ) throws -> PostgresRows {
    waiting.add(sql, parameters)
    guard let last = try send(timeoutMs: timeoutMs).last else {
      throw PostgresError(.unexpectedResult, "the statement has no result")
    }
    return last
  }

  /// Sends what waits, and this statement, and calls `body` with each of its rows as it arrives.
  func forEach(
    _ sql: String, _ parameters: [PostgresParameter], timeoutMs: Int64?, _ body: (PostgresRow) throws -> Void
  ) throws {
    waiting.add(sql, parameters)
    try sending { try connection.run($0, timeoutMs: timeoutMs, lastRows: body) }
  }

  /// Sends what waits.
  /// - Returns: The rows of each statement.
  @discardableResult
  func send(timeoutMs: Int64? = nil) throws -> [PostgresRows] {
    results = []
    results = try sending { try connection.run($0, timeoutMs: timeoutMs) }
    return results
  }

  private func sending<T>(_ run: (Flight) throws -> T) throws -> T {
    if let failure { throw failure }
    do {
      guard !wasSent || connection.isInWorkingTransaction else { throw PostgresConnection.failedTransaction }
      let flight = waiting
      waiting = Flight()
      wasSent = true
      return try run(flight)
    } catch {
      failure = error
      throw error
    }
  }

  /// False if no statement was sent and none is queued.
  /// - Throws: The failure of an earlier statement that the caller has ignored.
  func hasWork() throws -> Bool {
    if let failure { throw failure }
    return wasSent || waiting.count > opening
  }
}
