import Dispatch

/// A connection with a queue of its own. Each call blocks until its work has run. After a lost
/// connection, the next call reconnects.
package final class PostgresSession: @unchecked Sendable {
  /// The connection; touched on `queue` alone.
  package final class Link {
    package let connector: PostgresConnector
    private var current: PostgresConnection?
    private var isClosed = false

    init(_ connector: PostgresConnector) { self.connector = connector }

    /// Returns the connection; connects if there is none.
    package func connection() throws -> PostgresConnection {
      guard !isClosed else { throw PostgresError(.connectionLost, "the session with PostgreSQL is closed") }
      if let current, current.isAlive { return current }
      let new = try connector.connect()
      current = new
      return new
    }

    /// Closes the connection, so that the next use connects again.
    package func drop() {
      current?.close()
      current = nil
    }

    func close() {
      drop()
      isClosed = true
    }
  }

  private let queue: DispatchQueue
  private let link: Link

  package init(_ connector: PostgresConnector, label: String = "postgres") {
    queue = DispatchQueue(label: label)
    link = Link(connector)
  }

  /// Runs `body` on the session's queue. Not from within another `body`: it would wait for itself.
  package func run<T>(_ body: (Link) throws -> T) throws -> T { try queue.sync { try body(link) } }

  /// Runs one statement.
  package func query(_ sql: String, _ parameters: [PostgresParameter] = []) throws -> PostgresRows {
    try run { try $0.connection().query(sql, parameters) }
  }

  /// Ends the connection; later calls fail. The server rolls back an open transaction.
  package func close() { queue.sync { link.close() } }
}
