import Database
import Dispatch
import Glibc
import Support

/// The embedded engine: one SQLite file.
///
/// One connection writes, on a serial queue, so writes are ordered. A few other connections read,
/// each on its own snapshot: reads continue while a sync writes, and never see half a page.
final class SQLiteEngine: StoreEngine, @unchecked Sendable {
  let path: String
  var location: String { path }
  let writerQueue: DispatchQueue
  let history = StoreHistory()

  /// The store's name, for messages.
  private let name: String
  /// Used on `writerQueue` only, as are the other variables.
  private var writer: Connection?
  private var durability = Durability.synced
  private let writerState: ConnectionState
  private let readers: ReaderPool
  /// Prevents others from replacing the file.
  private var folderLock: FolderLock?

  /// Opens the file, and creates it and its folder if they are missing.
  /// - Parameters:
  ///   - busyTimeoutMs: How long to wait for another process that writes.
  ///   - bulkLoadMinimum: The announced number of records from which a first load builds its indexes afterwards.
  ///   - source: Opens an unfinished copy of this source; see ``StoreEngines/openCopy(_:isGlobal:of:)``.
  /// - Throws: See ``Store/init(name:isGlobal:path:key:)``.
  init(
    name: String, path: String, key: StoreKey?, busyTimeoutMs: Int32, bulkLoadMinimum: Int = Tuning.bulkLoadMinimum,
    copyOf source: String? = nil
  ) throws {
    self.name = name
    self.path = path
    writerQueue = DispatchQueue(label: "tureen.store.writer.\(name)")
    let wantedIndexes = WantedIndexes()
    writerState = ConnectionState(number: 0, wantedIndexes)
    writerState.bulkLoadMinimum = bulkLoadMinimum
    readers = ReaderPool(path: path, key: key, busyTimeoutMs: busyTimeoutMs, wantedIndexes)
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      try StoreError.wrappingFileErrors { try FileSystem.makeDirectory(String(path[..<slash])) }
    }
    do {
      folderLock = try source == nil ? SQLiteEngine.lockFolder(of: path) : SQLiteEngine.lockFolder(ofCopy: path)
      try SQLiteEngine.createIfMissing(path: path, key: key, copyOf: source)
      let connection = try SQLiteEngine.connect(path: path, key: key, busyTimeoutMs: busyTimeoutMs)
      if let source {
        try Schema.checkCopy(connection, path: path, of: source)
        try Schema.configureWriter(connection)
      } else {
        try Schema.check(connection, path: path)
        try Schema.configureWriter(connection)
        try Schema.migrate(connection, path: path)
      }
      chmod(path, 0o600)
      writer = connection
      try recoverBulkLoads()
      try resumeLongOperations()
    } catch let error as DatabaseError {
      throw SQLiteEngine.openingError(error, path: path)
    }
  }

  static func lockFolder(of path: String, patienceMs: Int64 = 0) throws -> FolderLock? {
    switch FolderLock.take(.shared, folderOf: path, patienceMs: patienceMs) {
    case .locked(let lock): return lock
    case .impossible: return nil
    case .busy:
      var error = StoreError(
        .cannotOpenStore, "\(path) is being removed, rekeyed or copied to by another process or host; try again")
      error.sqliteCode = 5
      error.isTransient = true
      throw error
    }
  }

  /// Keeps others from opening the copy.
  private static func lockFolder(ofCopy path: String) throws -> FolderLock? {
    switch FolderLock.take(.exclusive, folderOf: path, patienceMs: Tuning.removalPatienceMs) {
    case .locked(let lock): return lock
    case .impossible: return nil
    case .busy:
      throw StoreError(.storeInUse, "\(path) is open in another process, or another command copies into it")
    }
  }

  static func openingError(_ error: DatabaseError, path: String) -> StoreError {
    let code: StoreError.Code = error.isCorrupt ? .notADatabase : .cannotOpenStore
    // Messages about the disk name the file themselves.
    let file = ": \(path)", said = error.message.hasSuffix(file) ? String(error.message.dropLast(file.count)) : error.message
    return StoreError(
      code,
      error.isCorrupt
        ? "\(path) is not a usable database (\(error.message)); restore a backup, or set recover = \"moveAside\" to have it kept "
          + "next to a new, empty store"
        : "cannot open store \(path): \(said)", cause: error)
  }

  /// See ``Store/ownProcess()``.
  static func ownProcess() { Connection.leaveMemoryUncounted() }

  /// See ``Store/limitMemory()``.
  static func limitMemory() { Connection.limitMemory(Tuning.strangersBytes) }

  func close() {
    writerQueue.sync {
      writerState.feed?.close()
      writerState.feed = nil
      writerState.forget()
      writer?.close()
      writer = nil
    }
    readers.close(releasing: writerQueue.sync { folderLock })
    writerQueue.sync { folderLock = nil }
  }

  private func openWriter() throws -> Connection {
    guard let writer else { throw StoreError(.storeClosed, "store '\(name)' is closed") }
    return writer
  }

  // MARK: Transactions

  func write<T>(_ durability: Durability, _ body: (any StoreTransaction) throws -> T) throws -> T {
    try transact(durability, body)
  }

  /// Runs one transaction on the writer.
  private func transact<T>(_ durability: Durability, _ body: (SQLiteTransaction) throws -> T) throws -> T {
    let writer = try openWriter()
    do {
      if durability != self.durability {
        try writer.execute("PRAGMA synchronous = \(durability.synchronous)")
        self.durability = durability
      }
      var rows: HistoryRows?
      let result = try writer.transaction(.immediate) {
        try writerState.refresh(writer)
        let transaction = SQLiteTransaction(connection: writer, state: writerState)
        transaction.history = history.begin { [unowned transaction] in try transaction.lastRun() }
        rows = transaction.history
        try writerState.feed?.begin(transaction)
        let result = try body(transaction)
        transaction.writeHistory()
        return result
      }
      rows.map(history.committed)
      writerState.feed?.committed()
      return result
    } catch {
      // Tables that the transaction created no longer exist.
      writerState.forget()
      writerState.feed?.rolledBack()
      throw wrapped(error)
    }
  }

  /// Runs one transaction from outside of the writer's queue.
  func writeBlocking<T>(_ durability: Durability, _ body: (SQLiteTransaction) throws -> T) throws -> T {
    try writerQueue.sync { try transact(durability, body) }
  }

  func read<T>(
    on reader: Int?, for query: QueryCancellation?, isSmart: Bool, _ body: (any StoreSnapshot) throws -> T
  ) throws -> T {
    try readBlocking(on: reader, for: query, isSmart: isSmart, body)
  }

  func readBlocking<T>(
    on reader: Int? = nil, for query: QueryCancellation? = nil, isSmart: Bool = false,
    _ body: (SQLiteSnapshot) throws -> T
  ) throws -> T {
    do {
      return try readers.read(on: reader, for: query, isSmart: isSmart, body)
    } catch {
      throw wrapped(error)
    }
  }

  private func wrapped(_ error: any Error) -> any Error { SQLiteEngine.wrapped(error, path: path) }

  /// Converts an SQLite error into a ``StoreError``; names the file if the file is the problem.
  static func wrapped(_ error: any Error, path: String) -> any Error {
    guard let error = error as? DatabaseError else { return StoreError.wrapping(error) }
    guard error.isCorrupt || error.isBusy else { return StoreError(.sqlite, error.message, cause: error) }
    return StoreError(
      error.isCorrupt ? .notADatabase : .sqlite,
      error.isCorrupt
        ? "\(path) is damaged (\(error.message)); restore a backup"
        : "another process is writing to \(path) (\(error.message)); try again", cause: error)
  }

  // MARK: Observers

  func startObserving(_ inbox: ChangeInbox) throws {
    let writer = try openWriter()
    do {
      let feed =
        try writerState.feed
        ?? ChangeFeed(connection: writer, queue: writerQueue) { [weak self] in
          // If the file is locked or damaged right now, the next poll tries again; users of the
          // file get the error.
          try? self?.writerState.feed?.checkOtherProcesses()
        }
      writerState.feed = feed
      feed.add(inbox)
    } catch {
      throw wrapped(error)
    }
  }

  func forgetEndedObservers() {
    guard let feed = writerState.feed, !feed.prune() else { return }
    feed.stop()
    writerState.feed = nil
  }

  /// Finishes the bulk loads of processes that have ended.
  private func recoverBulkLoads() throws {
    let unfinished = try readBlocking { snapshot in
      try snapshot.soupNames().filter { try snapshot.soup($0).bulkLoad?.owner.process.liveness() == .dead }
    }
    guard !unfinished.isEmpty else { return }
    try writeBlocking(.synced) { transaction in
      for soup in unfinished { try transaction.finishBulkLoad(soup: soup) }
    }
  }

  /// Returns the size of the file after a checkpoint of the write-ahead log as far as readers allow
  /// it.
  func databaseSize() throws -> Int64 {
    let writer = try openWriter()
    do {
      try writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
    } catch {
      throw wrapped(error)
    }
    return SQLiteEngine.fileSize(path)
  }

  func sizes() throws -> StoreSizes {
    StoreSizes(bytes: SQLiteEngine.fileSize(path), walBytes: SQLiteEngine.fileSize(path + "-wal"))
  }

  /// Returns the size of a file in bytes; 0 if there is none.
  static func fileSize(_ path: String) -> Int64 {
    var info = stat()
    return stat(path, &info) == 0 ? Int64(info.st_size) : 0
  }
}

extension Durability {
  /// SQLite's word for it.
  fileprivate var synchronous: String {
    switch self {
    // On the disk.
    case .synced: "FULL"
    // In the write-ahead log.
    case .pulled: "NORMAL"
    }
  }
}
