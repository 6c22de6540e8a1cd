import Database
import Support

/// Copies the file of a store while programs use the store, and checks the copy.
package enum StoreFileBackup {
  /// Pages of 8 KB in one step: a step can be interrupted after some milliseconds.
  private static let stepPages: Int32 = 2048

  /// Blocks. Programs may read and write meanwhile, and syncs may run. The copy shows the store at one moment, in its own file
  /// without a write-ahead log; an encrypted store's copy has the same key. In the copy no sync counts as running, and first
  /// loads are closed, so that it works at once wherever it is put.
  /// - Parameters:
  ///   - path: The store's file.
  ///   - target: The copy's file, which must not exist.
  ///   - onStep: Called again and again with the pages copied so far, and all.
  /// - Throws: ``StoreError`` `.keyRequired`, `.wrongKey`, `.notEncrypted`, `.notADatabase`, `.newerSchema`, `.unfinishedCopy`,
  ///   `.cannotOpenStore`, `.sqlite`, as on a full disk or if the copy fails its check; `FileError`; what `onStep` throws.
  package static func copy(
    _ path: String, to target: String, key: StoreKey?, onStep: (_ done: Int64, _ total: Int64) throws -> Void
  ) throws {
    let lock = try SQLiteEngine.lockFolder(of: path, patienceMs: Tuning.lookPatienceMs)
    defer { withExtendedLifetime(lock) {} }
    do {
      try StoreError.wrappingFileErrors { try FileSystem.write([], to: target) }
      let source = try openSource(path, key)
      defer { source.close() }
      let copy = try Connection(path: target, mode: .readWrite, storeKey: key)
      defer { copy.close() }
      try source.backUp(to: copy, pages: stepPages, onStep: onStep)
    } catch let error as DatabaseError {
      throw SQLiteEngine.openingError(error, path: path)
    }
    do {
      try finish(target, key)
    } catch let error as DatabaseError {
      throw SQLiteEngine.openingError(error, path: target)
    }
    try StoreError.wrappingFileErrors { try FileSystem.sync(target) }
  }

  static func openSource(_ path: String, _ key: StoreKey?) throws -> Connection {
    func open(_ mode: Connection.Mode) throws -> Connection {
      let connection = try SQLiteEngine.connect(path: path, key: key, busyTimeoutMs: Tuning.busyTimeoutMs, mode: mode)
      connection.keepLogOnClose()
      try Schema.check(connection, path: path)
      guard try Schema.current(connection) > 0 else { throw SQLiteEngine.emptied(path) }
      return connection
    }
    do {
      return try open(.readOnly)
    } catch let error as DatabaseError where error.cannotShareMemory && SQLiteEngine.fileSize(path + "-wal") == 0 {
      // A folder in which nothing can be created, such as on a read-only disk, has no writers.
      return try open(.immutable)
    }
  }

  /// Checks the copy, and ends in it what the processes of the original were doing.
  private static func finish(_ path: String, _ key: StoreKey?) throws {
    let copy = try SQLiteEngine.connect(path: path, key: key, busyTimeoutMs: Tuning.busyTimeoutMs)
    var isLoading = false
    do {
      defer { copy.close() }
      guard case .text("ok")? = try copy.firstValue("PRAGMA quick_check(1)") else {
        throw StoreError(.notADatabase, "the copy of the store failed its check, so the store is damaged: \(path)")
      }
      try copy.execute("UPDATE leases SET owner = '', expiresAt = 0 WHERE name LIKE 'sync:%'")
      // Two stores with one id would take each other's plans.
      if try Schema.current(copy) >= Schema.firstWithId { try copy.execute("UPDATE store_id SET id = \(Schema.newId)") }
      isLoading = try copy.firstValue("SELECT 1 FROM soup_attrs WHERE loading IS NOT NULL") != nil
    }
    guard isLoading else { return }
    let engine = try SQLiteEngine(name: "", path: path, key: key, busyTimeoutMs: Tuning.busyTimeoutMs)
    defer { engine.close() }
    try engine.writeBlocking(.synced) { transaction in
      for soup in try transaction.soupNames() { try transaction.finishBulkLoad(soup: soup) }
    }
  }
}
