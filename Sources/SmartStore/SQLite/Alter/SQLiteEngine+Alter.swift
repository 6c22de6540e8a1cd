import Database
import Support

extension SQLiteEngine {
  /// Rebuilds the table in one transaction. If the process dies, the old soup stays, and the next
  /// process that opens the file finishes the change from a record in `long_operations_status`.
  func alterSoup(
    _ name: String, indexSpecs: [IndexSpec], reIndexData: Bool, afterStep: (AlterStep) throws -> Void
  ) throws {
    let operation = try writeBlocking(.synced) { try $0.announceAlter(name, indexSpecs, reIndexData: reIndexData) }
    do {
      try afterStep(.starting)
      try writeBlocking(.synced) { try $0.perform(operation, afterStep) }
    } catch {
      // The soup is unchanged and the caller gets the error, so the alteration must not be resumed
      // later. If even this cannot be written, for example on a full disk, the next process that
      // opens the store finishes the alteration.
      try? writeBlocking(.synced) { try $0.forget(operation) }
      throw error
    }
  }

  /// Finishes the alterations of processes that have ended. If one cannot be finished, it is
  /// dropped and its soup keeps the old specs.
  func resumeLongOperations() throws {
    let unfinished = try readBlocking { try $0.longOperations().filter { $0.process != .current && $0.mayBeResumed } }
    for operation in unfinished {
      do {
        try writeBlocking(.synced) { try $0.perform(operation) { _ in } }
      } catch {
        // Another process holds the file. The record stays for the next process that opens the
        // store.
        guard (error as? StoreError)?.isRetryable != true else { continue }
        try? writeBlocking(.synced) { try $0.forget(operation) }
      }
    }
  }
}

extension SQLiteTransaction {
  /// Records that a soup is about to be altered. Drops the records of ended processes for the same
  /// soup.
  func announceAlter(_ name: String, _ specs: [IndexSpec], reIndexData: Bool) throws -> LongOperation {
    let soup = try self.soup(name)
    try checkPaths(specs, soup: name)
    for other in try longOperations() where other.table == soup.table && other.mayBeResumed { try forget(other) }
    let operation = LongOperation(
      id: 0, soup: name, table: soup.table, specs: specs, reIndexData: reIndexData, process: .current)
    let now = SQLValue.integer(SystemClock.millisecondsSince1970())
    try connection.run(
      "INSERT INTO long_operations_status (type, details, status, created, lastModified) VALUES (?, ?, ?, ?, ?)",
      [.text(LongOperation.type), .text(operation.details(old: soup.specs)), .text(AlterStep.starting.rawValue), now, now])
    return operation.numbered(connection.lastInsertRowID)
  }

  /// Alters the soup and removes the record. Does nothing if another process has finished the
  /// alteration.
  func perform(_ operation: LongOperation, _ afterStep: (AlterStep) throws -> Void) throws {
    let soup = try soup(operation.soup)
    guard soup.table == operation.table else { throw StoreError.noSuchSoup(operation.soup) }
    guard try connection.firstValue("SELECT 1 FROM long_operations_status WHERE id = ?", [.integer(operation.id)]) != nil
    else {
      guard operation.process == .current, soup.specs != operation.specs else { return }
      return try alterSoup(
        operation.soup, indexSpecs: operation.specs, reIndexData: operation.reIndexData, afterStep: afterStep)
    }
    try alterSoup(operation.soup, indexSpecs: operation.specs, reIndexData: operation.reIndexData, afterStep: afterStep)
    try forget(operation)
  }

  func forget(_ operation: LongOperation) throws {
    try connection.run("DELETE FROM long_operations_status WHERE id = ?", [.integer(operation.id)])
  }
}
