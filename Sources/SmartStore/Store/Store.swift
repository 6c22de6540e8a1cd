import Database
import Dispatch
import Glibc
import Support
import Synchronization

/// How hard a transaction is pressed to the disk before it counts as done.
package enum Durability: String, Sendable {
  /// On the disk: a local edit cannot be fetched again.
  case synced = "FULL"
  /// In the write-ahead log: after a power cut it may be missing, and is then fetched again. Never half.
  case pulled = "NORMAL"
}

/// One SQLite file of soups. Any thread may call it; calls block while they wait for the writer or a reader.
///
/// One connection writes, on one serial queue, so that everything is in order. A few others read, each on a snapshot of
/// its own: reading goes on while a sync writes, and never sees half a page.
public final class Store: @unchecked Sendable {
  public let name: String
  public let isGlobal: Bool
  /// The database file.
  public let path: String

  private let queue: DispatchQueue
  /// Touched on `queue` only.
  private var writer: Connection?
  private var durability = Durability.synced
  private let writerState: ConnectionState
  private let readers: ReaderPool
  /// Keeps others from putting another file in this one's place. Touched on `queue` only.
  private var folderLock: FolderLock?
  let cursors: CursorTable

  /// Opens the file, creating it and its folder when they are missing. Name and `isGlobal` are what sync states and scripts know
  /// the store by. The file is encrypted with the key; without one it is a plain SQLite file.
  /// - Throws: ``StoreError`` `.cannotOpenStore`, `.notADatabase`, `.newerSchema`; `.keyRequired`, `.wrongKey`, `.notEncrypted`
  ///   when file and key do not belong together. The file is left as it is.
  public convenience init(name: String, isGlobal: Bool, path: String, key: StoreKey?) throws {
    try self.init(name: name, isGlobal: isGlobal, path: path, key: key, busyTimeoutMs: Tuning.busyTimeoutMs)
  }

  /// - Parameters:
  ///   - busyTimeoutMs: How long to wait for another process that writes; tests wait less.
  ///   - cursorIds: Shared by stores whose cursors could be taken for one another.
  package init(
    name: String, isGlobal: Bool, path: String, key: StoreKey?, busyTimeoutMs: Int32, cursorIds: CursorIds = CursorIds()
  ) throws {
    self.name = name
    cursors = CursorTable(cursorIds)
    self.isGlobal = isGlobal
    self.path = path
    queue = DispatchQueue(label: "tureen.store.writer.\(name)")
    queue.setSpecific(key: Store.writerQueue, value: ObjectIdentifier(queue))
    let wantedIndexes = WantedIndexes()
    writerState = ConnectionState(number: 0, wantedIndexes)
    readers = ReaderPool(path: path, key: key, busyTimeoutMs: busyTimeoutMs, wantedIndexes)
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      try StoreError.wrappingFileErrors { try FileSystem.makeDirectory(String(path[..<slash])) }
    }
    do {
      folderLock = try Store.lockFolder(of: path)
      try Store.createIfMissing(path: path, key: key)
      let connection = try Store.connect(path: path, key: key, busyTimeoutMs: busyTimeoutMs)
      try Schema.check(connection, path: path)
      try Schema.configureWriter(connection)
      try Schema.migrate(connection, path: path)
      chmod(path, 0o600)
      writer = connection
      try recoverLoading()
      try resumeLongOperations()
    } catch let error as DatabaseError {
      throw Store.openingError(error, path: path)
    }
  }

  private static func lockFolder(of path: String) throws -> FolderLock? {
    switch FolderLock.take(.shared, folderOf: path) {
    case .locked(let lock): return lock
    case .impossible: return nil
    case .busy:
      var error = StoreError(
        .cannotOpenStore, "\(path) is being removed, or its key changed, by another process or host; try again")
      error.sqliteCode = 5
      throw error
    }
  }

  static func openingError(_ error: DatabaseError, path: String) -> StoreError {
    var result =
      error.isCorrupt
      ? StoreError(
        .notADatabase,
        "\(path) is not a usable database (\(error.message)); restore a copy, or set recover = \"moveAside\" to have it kept "
          + "beside a new, empty store")
      : StoreError(.cannotOpenStore, "cannot open store \(path): \(error.message)")
    result.sqliteCode = error.code
    return result
  }

  /// Ends the connections. Waits for the transaction that is under way; later calls throw `.storeClosed`. From an observer's
  /// callback the store closes once the callback has returned.
  public func close() {
    guard !isOnWriterQueue else {
      DispatchQueue.global().async { self.close() }
      return
    }
    queue.sync {
      writerState.feed?.close()
      writerState.feed = nil
      writerState.forget()
      writer?.close()
      writer = nil
    }
    readers.close()
    queue.sync { folderLock = nil }
  }

  // MARK: Transactions

  private static let writerQueue = DispatchSpecificKey<ObjectIdentifier>()

  private var isOnWriterQueue: Bool { DispatchQueue.getSpecific(key: Store.writerQueue) == ObjectIdentifier(queue) }

  /// Runs `body` on the writer's queue and waits for it.
  /// - Throws: ``StoreError`` `.reentrantCall` on that queue itself, where waiting would never end.
  private func onWriter<T>(_ body: () throws -> T) throws -> T {
    guard !isOnWriterQueue else {
      throw StoreError(
        .reentrantCall,
        "store '\(name)' was called from the callback of one of its own observers, which it waits for; "
          + "start the work on another queue or in a task")
    }
    return try queue.sync(execute: body)
  }

  /// Runs one transaction on the writer and waits for it. Not for the cooperative thread pool.
  /// - Throws: What `body` throws, after rolling back; ``StoreError`` of SQLite; `.reentrantCall`.
  package func writeBlocking<T>(_ durability: Durability, _ body: (StoreTransaction) throws -> T) throws -> T {
    try onWriter { try transact(durability, body) }
  }

  /// Runs one transaction on the writer; suspends meanwhile.
  package func write<T: Sendable>(
    _ durability: Durability, _ body: @escaping @Sendable (StoreTransaction) throws -> T
  ) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.transact(durability, body) }) }
    }
  }

  private func transact<T>(_ durability: Durability, _ body: (StoreTransaction) throws -> T) throws -> T {
    guard let writer else { throw StoreError(.storeClosed, "store '\(name)' is closed") }
    do {
      if durability != self.durability {
        try writer.execute("PRAGMA synchronous = \(durability.rawValue)")
        self.durability = durability
      }
      let result = try writer.transaction(.immediate) {
        try writerState.refresh(writer)
        let transaction = StoreTransaction(connection: writer, state: writerState)
        try writerState.feed?.begin(transaction)
        return try body(transaction)
      }
      writerState.feed?.committed()
      return result
    } catch {
      // Tables that a rolled-back transaction made are gone again.
      writerState.forget()
      writerState.feed?.rolledBack()
      throw wrapped(error)
    }
  }

  /// Reads on one snapshot and waits for it. Not for the cooperative thread pool.
  /// - Parameters:
  ///   - reader: The connection that is wanted, by its number, if it is free.
  ///   - query: Ends the read; one that has none goes on to its end.
  ///   - isSmart: It runs smart SQL, which may take any time.
  package func readBlocking<T>(
    on reader: Int? = nil, for query: QueryCancellation? = nil, isSmart: Bool = false, _ body: (StoreSnapshot) throws -> T
  ) throws -> T {
    do {
      return try readers.with(number: reader, query: query, isSmart: isSmart) { connection, state in
        try connection.transaction(.deferred) {
          try state.refresh(connection)
          let snapshot = StoreSnapshot(connection: connection, state: state)
          guard let query else { return try body(snapshot) }
          return try snapshot.run(for: query) { try body(snapshot) }
        }
      }
    } catch {
      throw wrapped(error)
    }
  }

  /// For a program that owns its process, before it opens a store: SQLite, also where others in the process use it, counts its
  /// memory no longer.
  public static func ownProcess() { Connection.leaveMemoryUncounted() }

  /// Reads on one snapshot; suspends meanwhile.
  package func read<T: Sendable>(_ body: @escaping @Sendable (StoreSnapshot) throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      Store.readQueue.async { continuation.resume(with: Result { try self.readBlocking(body) }) }
    }
  }

  /// The same for a smart query; cancelling the task ends it.
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

  /// A ``StoreError`` of what SQLite said; the file is named where the file is the trouble.
  private func wrapped(_ error: any Error) -> any Error {
    guard let error = error as? DatabaseError, error.isCorrupt || error.isBusy else { return StoreError.wrapping(error) }
    let what =
      error.isCorrupt
      ? "\(path) is damaged (\(error.message)); restore a copy of it"
      : "another process is writing to \(path) (\(error.message)); try again"
    var result = StoreError(error.isCorrupt ? .notADatabase : .sqlite, what)
    result.sqliteCode = error.code
    result.sql = error.sql
    return result
  }

  // MARK: Observers

  /// Starts telling an observer of what is committed from now on.
  /// - Parameter outer: Where the observer's changes wait, when `inbox` hands on only some of its own.
  func startObserving(_ inbox: ChangeInbox, for outer: ChangeInbox? = nil) throws -> ChangeObserver {
    try onWriter {
      guard let writer else { throw StoreError(.storeClosed, "store '\(name)' is closed") }
      let feed: ChangeFeed
      do {
        feed =
          try writerState.feed
          ?? ChangeFeed(connection: writer, queue: queue) { [weak self] in
            // A file that is locked or damaged right now is looked at again; its users get the error.
            try? self?.writerState.feed?.lookForOthers()
          }
      } catch {
        throw wrapped(error)
      }
      writerState.feed = feed
      feed.add(inbox)
    }
    return ChangeObserver(inbox: outer ?? inbox) { [weak self] in
      _ = inbox.end()
      self?.forgetEndedObservers()
    }
  }

  /// Any thread, the writer's queue included: the work is put at its end.
  private func forgetEndedObservers() {
    queue.async {
      guard let feed = self.writerState.feed, !feed.prune() else { return }
      feed.stop()
      self.writerState.feed = nil
    }
  }

  /// Builds the indexes that a load which died had put off.
  private func recoverLoading() throws {
    let unfinished = try readBlocking { snapshot in
      try snapshot.soupNames().filter { try snapshot.soup($0).loading?.process.liveness() == .dead }
    }
    guard !unfinished.isEmpty else { return }
    try writeBlocking(.synced) { transaction in
      for soup in unfinished { try transaction.finishLoading(soup: soup) }
    }
  }

  /// Size of the database in bytes, the write-ahead log folded back first as far as readers let it.
  public func databaseSize() throws -> Int64 {
    try onWriter {
      guard let writer else { throw StoreError(.storeClosed, "store '\(name)' is closed") }
      do {
        try writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
      } catch {
        throw wrapped(error)
      }
      var info = stat()
      return stat(path, &info) == 0 ? Int64(info.st_size) : 0
    }
  }
}
