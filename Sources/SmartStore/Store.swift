import Database
import Dispatch
import Glibc
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
  private let writerState = ConnectionState()
  private let readers: ReaderPool
  let cursors = CursorTable()

  /// Opens the file, creating it and its folder when they are missing.
  /// - Throws: ``StoreError`` `.cannotOpenStore`, `.notADatabase`, `.newerSchema`. The file is left as it is.
  public init(name: String, isGlobal: Bool, path: String) throws {
    self.name = name
    self.isGlobal = isGlobal
    self.path = path
    queue = DispatchQueue(label: "tureen.store.writer.\(name)")
    readers = ReaderPool(path: path)
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try FileSystem.makeDirectory(String(path[..<slash])) }
    // SQLite gives its side files the mode that the database has when they are made.
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { Glibc.close(descriptor) }
    do {
      let connection = try Connection(path: path, mode: .readWriteCreate)
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

  private static func openingError(_ error: DatabaseError, path: String) -> StoreError {
    var result =
      error.isCorrupt
      ? StoreError(.notADatabase, "\(path) is not a usable database (\(error.message)); move it away or restore a copy")
      : StoreError(.cannotOpenStore, "cannot open store \(path): \(error.message)")
    result.sqliteCode = error.code
    return result
  }

  /// Ends the connections. Waits for the transaction that is under way; later calls throw `.storeClosed`.
  public func close() {
    queue.sync {
      writerState.forget()
      writer?.close()
      writer = nil
    }
    readers.close()
  }

  // MARK: Transactions

  /// Runs one transaction on the writer and waits for it. Not for the cooperative thread pool.
  /// - Throws: What `body` throws, after rolling back; ``StoreError`` of SQLite.
  package func writeBlocking<T>(_ durability: Durability, _ body: (StoreTransaction) throws -> T) throws -> T {
    try queue.sync { try transact(durability, body) }
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
      return try writer.transaction(.immediate) {
        try writerState.refresh(writer)
        return try body(StoreTransaction(connection: writer, state: writerState))
      }
    } catch {
      // Tables that a rolled-back transaction made are gone again.
      writerState.forget()
      throw StoreError.wrapping(error)
    }
  }

  /// Reads on one snapshot and waits for it. Not for the cooperative thread pool.
  package func readBlocking<T>(_ body: (StoreSnapshot) throws -> T) throws -> T {
    do {
      return try readers.with { connection, state in
        try connection.transaction(.deferred) {
          try state.refresh(connection)
          return try body(StoreSnapshot(connection: connection, state: state))
        }
      }
    } catch {
      throw StoreError.wrapping(error)
    }
  }

  /// Reads on one snapshot; suspends meanwhile.
  package func read<T: Sendable>(_ body: @escaping @Sendable (StoreSnapshot) throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      Store.readQueue.async { continuation.resume(with: Result { try self.readBlocking(body) }) }
    }
  }

  private static let readQueue = DispatchQueue(label: "tureen.store.readers", attributes: .concurrent)

  /// Builds the indexes that a load which died had put off.
  private func recoverLoading() throws {
    let unfinished = try readBlocking { snapshot in
      try snapshot.soupNames().filter { try snapshot.soup($0).loading?.process.isDead ?? false }
    }
    guard !unfinished.isEmpty else { return }
    try writeBlocking(.synced) { transaction in
      for soup in unfinished { try transaction.finishLoading(soup: soup) }
    }
  }

  /// Size of the database in bytes, the write-ahead log folded back first as far as readers let it.
  public func databaseSize() throws -> Int64 {
    try queue.sync {
      guard let writer else { throw StoreError(.storeClosed, "store '\(name)' is closed") }
      do {
        try writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
      } catch {
        throw StoreError.wrapping(error)
      }
      var info = stat()
      return stat(path, &info) == 0 ? Int64(info.st_size) : 0
    }
  }
}
