import Database
import Support

/// Lets SQLite look for damage in the file of a store. Changes nothing.
package enum StoreFileCheck {
  /// - Parameters:
  ///   - path: The store's file; programs may use the store.
  ///   - isDeep: Whether the indexes are compared with their tables as well, which takes much longer.
  /// - Returns: The damage in SQLite's words; nil if there is none.
  /// - Throws: ``StoreError`` as ``StoreEngines/look(_:isGlobal:)``.
  package static func damage(_ path: String, key: StoreKey?, isDeep: Bool) throws -> String? {
    let lock = try SQLiteEngine.lockFolder(of: path, patienceMs: Tuning.lookPatienceMs)
    defer { withExtendedLifetime(lock) {} }
    do {
      let connection = try StoreFileBackup.openSource(path, key)
      defer { connection.close() }
      guard case .text(let found)? = try connection.firstValue(isDeep ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)"),
        found != "ok"
      else { return nil }
      return found
    } catch let error as DatabaseError where error.isCorrupt {
      return error.message
    } catch let error as DatabaseError {
      throw SQLiteEngine.openingError(error, path: path)
    }
  }
}
