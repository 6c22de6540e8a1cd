#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

/// What became of a row.
package enum RowChange: Sendable { case inserted, updated, deleted }

/// Hears of every row that a connection changes in an ordinary table, inside the statement that changes it.
///
/// Tables without rowids, `DROP TABLE`, and a `DELETE` without a condition are not told of. What is told may still be rolled
/// back. The closure must not use the connection. The table's name is valid during the call only.
package final class RowObserver {
  fileprivate let changed: (RowChange, UnsafePointer<CChar>, Int64) -> Void

  package init(_ changed: @escaping (RowChange, UnsafePointer<CChar>, Int64) -> Void) { self.changed = changed }
}

extension Connection {
  /// Sets or, with nil, takes away the observer of this connection. The caller keeps it alive as long as it is set.
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
