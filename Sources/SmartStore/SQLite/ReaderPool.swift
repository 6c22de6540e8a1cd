import Database
import Support
import Synchronization

/// The reading connections of a store: opened on demand, a handful at most, each used by one thread
/// at a time.
///
/// Smart queries, which may run without end, always leave one connection to other reads.
final class ReaderPool: Sendable {
  /// A connection taken from the pool has one owner.
  private final class Reader: @unchecked Sendable {
    let connection: Connection
    let state: ConnectionState

    init(_ connection: Connection, _ state: ConnectionState) {
      self.connection = connection
      self.state = state
    }

    func close() {
      state.forget()
      connection.close()
    }
  }

  private let path: String
  private let key: StoreKey?
  private let busyTimeoutMs: Int32
  private let wantedIndexes: WantedIndexes
  private let mode: Connection.Mode
  /// Prepares each new connection, before it is restricted to reading.
  private let prepare: @Sendable (Connection) throws -> Void
  private let turns = ReadTurns<Reader>(most: Tuning.readers, mostSmart: Tuning.smartReaders)
  private let kept = Mutex<FolderLock?>(nil)
  /// The number of readers opened so far.
  private let opened = Atomic(0)

  init(
    path: String, key: StoreKey?, busyTimeoutMs: Int32, _ wantedIndexes: WantedIndexes, mode: Connection.Mode = .readWrite,
    prepare: @escaping @Sendable (Connection) throws -> Void = { _ in }
  ) {
    self.wantedIndexes = wantedIndexes
    self.mode = mode
    self.prepare = prepare
    self.path = path
    self.key = key
    self.busyTimeoutMs = busyTimeoutMs
  }

  /// Runs `body` in a read transaction of a reader; waits while all readers are in use.
  /// - Parameters:
  ///   - number: The preferred reader, if it is idle: the caller's cursor anchors are valid on it.
  ///   - query: Cancels the wait as well. Closing the pool cancels the query.
  /// - Throws: ``StoreError`` `.storeClosed`, `.cancelled`; errors of `body`.
  func read<T>(
    on number: Int?, for query: QueryCancellation?, isSmart: Bool, _ body: (SQLiteSnapshot) throws -> T
  ) throws -> T {
    try turns.with(query, isSmart: isSmart) {
      let reader = try take(number)
      defer { if !turns.keep(reader) { reader.close() } }
      do {
        return try reader.connection.transaction(.deferred) {
          try reader.state.refresh(reader.connection)
          let snapshot = SQLiteSnapshot(connection: reader.connection, state: reader.state)
          guard let query else { return try body(snapshot) }
          return try snapshot.run(for: query) { try body(snapshot) }
        }
      } catch {
        reader.state.forget()
        if let query, query.isCancelled { try turns.throwIfClosed() }
        throw error
      }
    }
  }

  private func take(_ number: Int?) throws -> Reader {
    if let idle = try turns.takeIdle(preferring: { $0.state.number == number }) { return idle }
    let number = opened.add(1, ordering: .relaxed).newValue
    let connection = try Connection(path: path, mode: mode, storeKey: key)
    connection.setBusyTimeout(milliseconds: busyTimeoutMs)
    try prepare(connection)
    try Schema.configureReader(connection)
    return Reader(connection, ConnectionState(number: number, wantedIndexes))
  }

  /// Cancels queries, waits for the readers in use, then closes all. Waiting reads fail with
  /// `.storeClosed`.
  /// - Parameter lock: The lock on the store's folder. A query that nothing can end keeps it: the file must
  ///   not be replaced while a connection is open.
  func close(releasing lock: FolderLock?) {
    for reader in turns.close() { reader.close() }
    if !turns.isAtRest { kept.withLock { $0 = lock } }
  }
}
