#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

/// How a row was changed.
package enum RowChange: Sendable { case inserted, updated, deleted }

/// Observes every row that a connection changes in an ordinary table, inside the statement that
/// changes it.
///
/// SQLite does not report tables without rowids, `DROP TABLE`, or a `DELETE` without a condition.
/// Reported changes may still be rolled back. The closure must not use the connection, and the
/// table name is valid during the call only.
package final class RowObserver {
  fileprivate let changed: (RowChange, UnsafePointer<CChar>, Int64) -> Void

  package init(_ changed: @escaping (RowChange, UnsafePointer<CChar>, Int64) -> Void) { self.changed = changed }
}

extension Connection {
  /// Sets the observer of this connection, or removes it with nil. The caller keeps the observer
  /// alive while it is set.
  package func setRowObserver(_ observer: RowObserver?) {
    guard let observer else {
      sqlite3_update_hook(handle, nil, nil)
      return
    }
    sqlite3_update_hook(
      handle,
      { context, operation, _, table, row in
        guard let context, let table else { return }
        let change: RowChange =
          switch operation {
          case SQLITE_INSERT: .inserted
          case SQLITE_DELETE: .deleted
          default: .updated
          }
        Unmanaged<RowObserver>.fromOpaque(context).takeUnretainedValue().changed(change, table, row)
      }, Unmanaged.passUnretained(observer).toOpaque())
  }
}
