import Database
import JSON
import Support

/// Changing what is indexed. Blocks until it is done, like every call of a store.
extension Store {
  /// Gives a soup other index specs.
  ///
  /// The table is rebuilt in one transaction: readers see the old soup until it is the new one, and a process that dies on the
  /// way leaves the old one and a note in `long_operations_status`, by which the next one that opens the store finishes the
  /// change. Ids, their sequence, versions, stamps, owners and the text of the entries stay. The same specs rebuild the table.
  ///
  /// - Parameters:
  ///   - name: The soup.
  ///   - indexSpecs: All that the soup is to have.
  ///   - reIndexData: Fills the columns of paths that are new or of another type. Without it they stay empty until
  ///     ``reIndexSoup(_:paths:)``, except that string and full_text are filled from each other, and any from json1.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.invalidIndexSpec`. Nothing is changed then.
  public func alterSoup(_ name: String, indexSpecs: [IndexSpec], reIndexData: Bool) throws {
    try alterSoup(name, indexSpecs: indexSpecs, reIndexData: reIndexData) { _ in }
  }

  /// - Parameter afterStep: Called on the store's queue behind each step, for tests.
  package func alterSoup(
    _ name: String, indexSpecs: [IndexSpec], reIndexData: Bool, afterStep: (AlterStep) throws -> Void
  ) throws {
    try IndexSpec.validate(indexSpecs, soup: name)
    let operation = try writeBlocking(.synced) { try $0.announceAlter(name, indexSpecs, reIndexData: reIndexData) }
    do {
      try afterStep(.starting)
      try writeBlocking(.synced) { try $0.perform(operation, afterStep) }
    } catch {
      // The soup is the old one, and the caller hears of it: it is not to be finished later. When not even that can be written,
      // on a full disk, the next process to open the store finishes it after all.
      try? writeBlocking(.synced) { try $0.forget(operation) }
      throw error
    }
  }

  /// Fills the indexes on `paths` from the entries; paths without an index are left out. Neither stamps nor versions change.
  /// - Throws: ``StoreError`` `.noSuchSoup`.
  public func reIndexSoup(_ name: String, paths: [String]) throws {
    try writeBlocking(.synced) { try $0.reIndexSoup(name, paths: paths) }
  }

  /// Finishes what processes that are gone had begun. One that cannot be finished is given up: its soup is the old one.
  func resumeLongOperations() throws {
    let unfinished = try readBlocking { try $0.longOperations().filter { $0.process != .current && $0.mayBeResumed } }
    for operation in unfinished {
      do {
        try writeBlocking(.synced) { try $0.perform(operation) { _ in } }
      } catch {
        // While another process holds the file it waits for the next one to open the store.
        guard (error as? StoreError)?.isRetryable != true else { continue }
        try? writeBlocking(.synced) { try $0.forget(operation) }
      }
    }
  }
}

extension StoreTransaction {
  /// Writes down that a soup is going to be altered. What a process that is gone had begun on the same soup is dropped for it.
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

  /// Alters the soup and takes the note of it away. Nothing is left to do when another process finished it first.
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
