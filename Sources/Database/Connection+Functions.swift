#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

/// Keeps a closure alive while SQLite uses it. SQLite releases it when the connection closes.
private final class CollationBox {
  let compare: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int32
  init(_ compare: @escaping (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int32) { self.compare = compare }
}

private final class PredicateBox {
  let holds: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  init(_ holds: @escaping (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool) { self.holds = holds }
}

/// Collations and functions in Swift for the SQL of one connection. SQLite calls them inside its
/// statements, on the connection's thread; they must not use the connection.
extension Connection {
  /// Adds a collation, as in `ORDER BY Name COLLATE "name"`.
  /// - Parameter compare: Compares UTF-8 bytes; returns a negative, zero or positive number. Must
  ///   define a consistent order.
  package func addCollation(
    _ name: String, _ compare: @escaping (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int32
  ) throws(DatabaseError) {
    let code = sqlite3_create_collation_v2(
      handle, name, SQLITE_UTF8, Unmanaged.passRetained(CollationBox(compare)).toOpaque(),
      { context, countA, a, countB, b in
        guard let context else { return 0 }
        let box = Unmanaged<CollationBox>.fromOpaque(context).takeUnretainedValue()
        return box.compare(
          UnsafeRawBufferPointer(start: a, count: Int(countA)), UnsafeRawBufferPointer(start: b, count: Int(countB)))
      },
      { context in if let context { Unmanaged<CollationBox>.fromOpaque(context).release() } })
    guard code == SQLITE_OK else { throw error(sql: nil) }
  }

  /// Adds a deterministic function of two texts that returns true or false; null if an argument is
  /// null.
  package func addTextPredicate(
    _ name: String, _ holds: @escaping (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws(DatabaseError) {
    let code = sqlite3_create_function_v2(
      handle, name, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, Unmanaged.passRetained(PredicateBox(holds)).toOpaque(),
      { context, count, values in
        guard count == 2, let values, let a = Connection.text(values[0]), let b = Connection.text(values[1]),
          let data = sqlite3_user_data(context)
        else { return sqlite3_result_null(context) }
        let box = Unmanaged<PredicateBox>.fromOpaque(data).takeUnretainedValue()
        sqlite3_result_int(context, box.holds(a, b) ? 1 : 0)
      }, nil, nil,
      { context in if let context { Unmanaged<PredicateBox>.fromOpaque(context).release() } })
    guard code == SQLITE_OK else { throw error(sql: nil) }
  }

  private static func text(_ value: OpaquePointer?) -> UnsafeRawBufferPointer? {
    guard let start = sqlite3_value_text(value) else { return nil }
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
  }
}
