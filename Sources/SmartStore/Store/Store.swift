import Dispatch

/// A store of soups: an SQLite file, unless the program has another engine. Any thread may call it;
/// calls block while they wait for the writer or a reader.
///
/// Writes are ordered: one runs at a time, on a serial queue. Reads continue meanwhile, each on its
/// own snapshot, and never see half a page.
public final class Store: Sendable {
  public let name: String
  public let isGlobal: Bool
  /// The database file; for another engine, what it calls the store's database.
  public var path: String { engine.location }

  let engine: any StoreEngine
  let cursors: CursorTable

  /// Opens the file, and creates it and its folder if they are missing. Sync states and scripts
  /// identify the store by `name` and `isGlobal`. The file is encrypted with the key; without a key
  /// it is a plain SQLite file.
  /// - Throws: ``StoreError`` `.cannotOpenStore`, `.notADatabase`, `.newerSchema`; `.keyRequired`,
  ///   `.wrongKey`, `.notEncrypted` if the key does not fit the file. The file is left unchanged
  ///   then.
  public convenience init(name: String, isGlobal: Bool, path: String, key: StoreKey?) throws {
    try self.init(name: name, isGlobal: isGlobal, path: path, key: key, busyTimeoutMs: nil)
  }

  /// Opens the file; see ``init(name:isGlobal:path:key:)``.
  /// - Parameters:
  ///   - busyTimeoutMs: How long to wait for another process that writes; tests wait less.
  ///   - bulkLoadMinimum: The announced number of records from which a first load builds its
  ///     indexes afterwards; tests load fewer.
  package convenience init(
    name: String, isGlobal: Bool, path: String, key: StoreKey?, busyTimeoutMs: Int32?, bulkLoadMinimum: Int? = nil
  ) throws {
    self.init(
      name: name, isGlobal: isGlobal,
      engine: try SQLiteEngine(
        name: name, path: path, key: key, busyTimeoutMs: busyTimeoutMs ?? Tuning.busyTimeoutMs,
        bulkLoadMinimum: bulkLoadMinimum ?? Tuning.bulkLoadMinimum))
  }

  /// - Parameters:
  ///   - engine: Used by this store only, until it closes.
  ///   - cursorIds: Shared by stores whose cursors a script could confuse.
  package init(name: String, isGlobal: Bool, engine: any StoreEngine, cursorIds: CursorIds = CursorIds()) {
    self.name = name
    self.isGlobal = isGlobal
    self.engine = engine
    cursors = CursorTable(cursorIds)
    engine.writerQueue.setSpecific(key: Store.writerQueue, value: ObjectIdentifier(engine))
  }

  /// Closes the connections after the current transaction; later calls throw `.storeClosed`. If
  /// called from an observer's callback, the store closes after the callback has returned.
  public func close() {
    guard !isOnWriterQueue else {
      DispatchQueue.global().async { self.close() }
      return
    }
    engine.close()
    history.close()
  }

  // MARK: Transactions

  private static let writerQueue = DispatchSpecificKey<ObjectIdentifier>()

  private var isOnWriterQueue: Bool { DispatchQueue.getSpecific(key: Store.writerQueue) == ObjectIdentifier(engine) }

  /// - Throws: ``StoreError`` `.reentrantCall` on the writer's queue, where waiting for a write would
  ///   deadlock.
  func checkNotOnWriterQueue() throws {
    guard !isOnWriterQueue else {
      throw StoreError(
        .reentrantCall,
        "store '\(name)' was called from one of its own observer callbacks, which would deadlock; "
          + "start the work on another queue or in a task")
    }
  }

  /// Runs `body` on the writer's queue and waits for it.
  /// - Throws: ``StoreError`` `.reentrantCall` if called on that queue.
  private func onWriter<T>(_ body: () throws -> T) throws -> T {
    try checkNotOnWriterQueue()
    return try engine.writerQueue.sync(execute: body)
  }

  /// Runs one transaction on the writer and waits for it. Must not be called on the cooperative
  /// thread pool.
  /// - Throws: Errors of `body`, after a rollback; ``StoreError`` of SQLite; `.reentrantCall`.
  package func writeBlocking<T>(_ durability: Durability, _ body: (StoreTransaction) throws -> T) throws -> T {
    try onWriter { try engine.write(durability, body) }
  }

  /// Runs one transaction on the writer; suspends meanwhile.
  package func write<T: Sendable>(
    _ durability: Durability, _ body: @escaping @Sendable (StoreTransaction) throws -> T
  ) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      engine.writerQueue.async { [engine] in continuation.resume(with: Result { try engine.write(durability, body) }) }
    }
  }

  /// Runs `body` on one snapshot and waits for it. Must not be called on the cooperative thread
  /// pool.
  /// - Parameters:
  ///   - reader: The number of the preferred connection, used if it is idle.
  ///   - query: Cancels the read; without one, the read runs to its end.
  ///   - isSmart: Whether it runs smart SQL, which may take arbitrarily long.
  package func readBlocking<T>(
    on reader: Int? = nil, for query: QueryCancellation? = nil, isSmart: Bool = false, _ body: (StoreSnapshot) throws -> T
  ) throws -> T {
    try engine.read(on: reader, for: query, isSmart: isSmart, body)
  }

  /// Turns off SQLite's memory statistics for the whole process, which makes allocations faster.
  /// Only for a program that owns its process, before it opens a store.
  public static func ownProcess() { SQLiteEngine.ownProcess() }

  /// Limits the memory of SQLite in the whole process to 1 GiB more than it has, for untrusted queries;
  /// those that need more fail. After ``ownProcess()`` it must come before the first store is opened. A
  /// restricted host does it by itself.
  public static func limitMemory() { SQLiteEngine.limitMemory() }

  /// Runs `body` on one snapshot; suspends meanwhile.
  package func read<T: Sendable>(_ body: @escaping @Sendable (StoreSnapshot) throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      Store.readQueue.async { continuation.resume(with: Result { try self.readBlocking(body) }) }
    }
  }

  /// Like ``read(_:)`` for a smart query. Cancelling the task cancels the query.
  func readSmart<T: Sendable>(_ body: @escaping @Sendable (StoreSnapshot) throws -> T) async throws -> T {
    let query = QueryCancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        Store.readQueue.async {
          continuation.resume(with: Result { try self.readBlocking(for: query, isSmart: true, body) })
        }
      }
    } onCancel: {
      query.cancel()
    }
  }

  private static let readQueue = DispatchQueue(label: "tureen.store.readers", attributes: .concurrent)

  // MARK: Observers

  /// Starts reporting later commits to an observer.
  /// - Parameter outer: The observer's own inbox, if `inbox` filters the changes for it.
  func startObserving(_ inbox: ChangeInbox, for outer: ChangeInbox? = nil) throws -> ChangeObserver {
    try onWriter { try engine.startObserving(inbox) }
    return ChangeObserver(inbox: outer ?? inbox) { [weak self] in
      _ = inbox.end()
      self?.forgetEndedObservers()
    }
  }

  /// Removes ended observers. Any thread may call this, the writer's queue included; the work is
  /// enqueued.
  private func forgetEndedObservers() {
    engine.writerQueue.async { [engine] in engine.forgetEndedObservers() }
  }

  /// Returns the size of the database in bytes. The file of SQLite has all commits in it, after a
  /// checkpoint of the write-ahead log, as far as readers allow it.
  public func databaseSize() throws -> Int64 { try onWriter { try engine.databaseSize() } }
}
