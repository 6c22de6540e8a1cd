import Database
import Glibc
import Support
import Synchronization

/// Looks at the file of a store and changes nothing in it: it has no writer, and neither migrates nor
/// recovers nor checkpoints. SQLite may create the empty files `-wal` and `-shm` beside a closed store, as
/// reading such a database makes them; where they cannot be created, the file is read by itself.
///
/// The shared lock on the folder is held during a read only, so that a forgotten viewer does not keep others from
/// removing or rekeying the store.
final class SQLiteLook: StoreReading {
  /// The facts that decide how the file is read, and whether an open connection still shows the store.
  private struct Facts: Equatable {
    var device: UInt64 = 0, node: UInt64 = 0
    var size: Int64 = 0, seconds: Int = 0, nanoseconds: Int = 0
    /// Whether the write-ahead log has contents.
    var hasLog = false

    init?(_ path: String) {
      var info = stat()
      guard stat(path, &info) == 0 else { return nil }
      (device, node, size) = (UInt64(info.st_dev), UInt64(info.st_ino), Int64(info.st_size))
      (seconds, nanoseconds) = (Int(info.st_mtim.tv_sec), Int(info.st_mtim.tv_nsec))
      hasLog = SQLiteEngine.fileSize(path + "-wal") > 0
    }

    /// Whether a connection that was opened then still reads the store.
    func holds(in now: Facts, _ mode: Connection.Mode) -> Bool {
      mode == .immutable ? self == now : device == now.device && node == now.node
    }
  }

  /// The connections to one state of the files.
  private struct Opened {
    let pool: ReaderPool
    let mode: Connection.Mode
    let facts: Facts
    /// The version of the file's schema.
    let version: Int64
  }

  /// Another process has migrated the file since it was opened.
  private struct OtherVersion: Error {}

  private let path: String
  private let name: String
  private let key: StoreKey?
  private struct State {
    var opened: Opened?
    var isClosed = false
  }

  private let state = Mutex(State())
  var location: String { path }

  /// Opens and checks the file.
  /// - Throws: See ``StoreEngines/look(_:isGlobal:)``.
  init(name: String, path: String, key: StoreKey?) throws {
    self.name = name
    self.path = path
    self.key = key
    let lock = try SQLiteEngine.lockFolder(of: path, patienceMs: Tuning.lookPatienceMs)
    defer { withExtendedLifetime(lock) {} }
    _ = try opened()
  }

  // MARK: Opening

  /// Returns connections to the file as it is now. The folder is locked.
  private func opened() throws -> Opened {
    guard let facts = Facts(path) else { throw SQLiteLook.missing(name, path) }
    let known = try state.withLock { state throws -> Opened? in
      guard !state.isClosed else { throw StoreError(.storeClosed, "store '\(name)' is closed") }
      return state.opened
    }
    if let known, known.facts.holds(in: facts, known.mode) { return known }
    let (mode, version) = try probe(facts)
    let fresh = Opened(pool: pool(mode, version), mode: mode, facts: facts, version: version)
    let former = state.withLock { state in
      defer { state.opened = fresh }
      return state.opened
    }
    former?.pool.close(releasing: nil)
    return fresh
  }

  private static func missing(_ name: String, _ path: String) -> StoreError {
    // Without the right to search the folder nothing is known about the file.
    let code = errno
    guard code == ENOENT || code == ENOTDIR else {
      return StoreError(.cannotOpenStore, "cannot read \(path): \(String(cString: strerror(code)))")
    }
    return StoreError(.cannotOpenStore, "store '\(name)' does not exist (\(path))")
  }

  /// Finds out how the file can be read, and checks that it is a store of this build or an older one.
  private func probe(_ facts: Facts) throws -> (Connection.Mode, version: Int64) {
    guard access(path, R_OK) == 0 else { throw SQLiteLook.missing(name, path) }
    do {
      return (.readOnly, try version(.readOnly))
    } catch let error as DatabaseError where error.cannotShareMemory {
      guard !facts.hasLog else { throw unsavedChanges }
      do {
        return (.immutable, try version(.immutable))
      } catch let error as DatabaseError {
        throw SQLiteEngine.openingError(error, path: path)
      }
    } catch let error as DatabaseError {
      throw SQLiteEngine.openingError(error, path: path)
    }
  }

  private var unsavedChanges: StoreError {
    StoreError(
      .cannotOpenStore,
      "\(path)-wal has unsaved changes, and they can be read only by who may write beside it; look as its owner")
  }

  /// Checks the file through a connection of its own, and returns the version of its schema.
  private func version(_ mode: Connection.Mode) throws -> Int64 {
    let connection = try SQLiteEngine.connect(path: path, key: key, busyTimeoutMs: Tuning.lookBusyTimeoutMs, mode: mode)
    defer { connection.close() }
    connection.keepLogOnClose()
    try Schema.check(connection, path: path)
    let version = try Schema.current(connection)
    // A file without a schema is empty: Schema.check has refused others.
    guard version > 0 else { throw SQLiteEngine.emptied(path) }
    return version
  }

  private func pool(_ mode: Connection.Mode, _ version: Int64) -> ReaderPool {
    ReaderPool(path: path, key: key, busyTimeoutMs: Tuning.lookBusyTimeoutMs, WantedIndexes(), mode: mode) { connection in
      connection.keepLogOnClose()
      try OlderSchema.complete(connection, from: version)
    }
  }

  // MARK: Reading

  func read<T>(
    on reader: Int?, for query: QueryCancellation?, isSmart: Bool, _ body: (any StoreSnapshot) throws -> T
  ) throws -> T {
    let lock = try SQLiteEngine.lockFolder(of: path, patienceMs: Tuning.lookPatienceMs)
    defer { withExtendedLifetime(lock) {} }
    let opened = try opened()
    let result: T
    do {
      result = try opened.pool.read(on: reader, for: query, isSmart: isSmart) { snapshot in
        guard try Schema.current(snapshot.connection) == opened.version else { throw OtherVersion() }
        return try body(snapshot)
      }
    } catch is OtherVersion {
      forget(opened)
      return try read(on: reader, for: query, isSmart: isSmart, body)
    } catch {
      throw SQLiteEngine.wrapped(error, path: path)
    }
    // Nothing keeps a writer away from a file that is read by itself.
    guard opened.mode == .immutable, Facts(path) != opened.facts else { return result }
    var changed = StoreError(.sqlite, "\(path) was written while it was read; try again")
    changed.isTransient = true
    throw changed
  }

  /// Closes connections that show the file as it was before its migration.
  private func forget(_ old: Opened) {
    let isCurrent = state.withLock { state in
      guard state.opened?.pool === old.pool else { return false }
      state.opened = nil
      return true
    }
    if isCurrent { old.pool.close(releasing: nil) }
  }

  var supportsFullText: Bool { true }

  func mark() throws -> StoreMark { try SQLiteEngine.mark(path) }

  func sizes() throws -> StoreSizes {
    StoreSizes(bytes: SQLiteEngine.fileSize(path), walBytes: SQLiteEngine.fileSize(path + "-wal"))
  }

  func close() {
    let former = state.withLock { state in
      state.isClosed = true
      defer { state.opened = nil }
      return state.opened
    }
    former?.pool.close(releasing: nil)
  }
}

extension SQLiteEngine {
  /// Tells commits apart by the files, without opening them: each commit writes to the log, and a checkpoint to the file.
  static func mark(_ path: String) throws -> StoreMark {
    StoreMark(
      try [path, path + "-wal"].flatMap { file -> [Int64] in
        var info = stat()
        guard stat(file, &info) == 0 else {
          guard file == path else { return [] }
          throw StoreError(.cannotOpenStore, "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        return [
          Int64(bitPattern: UInt64(info.st_ino)), Int64(info.st_size), Int64(info.st_mtim.tv_sec), Int64(info.st_mtim.tv_nsec),
        ]
      })
  }

  func mark() throws -> StoreMark { try SQLiteEngine.mark(location) }
}

extension SQLiteEngines {
  package func look(_ name: String, isGlobal: Bool) throws -> any StoreReading {
    try SQLiteLook(name: name, path: folder(name, isGlobal) + "/store.sqlite", key: storeKey())
  }
}
