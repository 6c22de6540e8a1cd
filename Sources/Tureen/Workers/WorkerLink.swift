import PostgresStore

/// A worker's connections to its database: one for statements, one that waits for notifications. Used on the worker's thread
/// only.
final class WorkerLink {
  private let database: JobDatabase
  private var connector: PostgresConnector
  private var statements: PostgresConnection?
  private var listener: PostgresConnection?
  private var isSchemaOpen = false

  /// - Parameter claimMs: The time of a claim. An answer that takes much of it is as good as none, because the heartbeats of the
  ///   running jobs wait behind it.
  init(_ database: JobDatabase, claimMs: Int64) {
    self.database = database
    connector = database.connector
    connector.answerTimeoutMs = max(1_000, claimMs / 3)
    connector.connectTimeoutMs = max(1_000, claimMs / 3)
  }

  /// Returns the connection for statements; connects if there is none.
  func connection() throws -> PostgresConnection {
    if let statements, statements.isUsable { return statements }
    let new = try connector.connect()
    if !isSchemaOpen { try database.schema.open(new) }
    isSchemaOpen = true
    statements = new
    return new
  }

  /// Starts to listen unless it does already.
  func listen(_ channel: String) throws {
    if let listener, listener.isUsable { return }
    let new = try connector.connect()
    try new.listen(channel)
    listener = new
  }

  /// Readable when notifications may have arrived; -1 while nothing listens.
  var descriptor: Int32 { listener?.pollDescriptor ?? -1 }

  /// Returns the payloads of the notifications that have arrived; nil if some may have been missed.
  func payloads() -> [String]? {
    do {
      return try listener?.notifications(waitMs: 0).map(\.payload)
    } catch {
      listener = nil
      return nil
    }
  }

  func drop() {
    statements?.close()
    listener?.close()
    (statements, listener) = (nil, nil)
  }
}
