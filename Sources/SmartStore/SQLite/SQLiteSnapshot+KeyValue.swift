import Database

/// Key-value stores: rows of one table, which is created with the first value, so that files without
/// key-value stores lack it.
extension SQLiteSnapshot {
  func hasKeyValueTable() throws -> Bool {
    try connection.firstValue("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'keyvalue'") != nil
  }

  func keyValue(_ key: String, in store: String) throws -> [UInt8]? {
    guard try hasKeyValueTable(),
      case .blob(let value)? = try connection.firstValue(
        "SELECT value FROM keyvalue WHERE store = ? AND key = ?", [.text(store), .text(key)])
    else { return nil }
    return value
  }

  func hasKeyValue(_ key: String, in store: String) throws -> Bool {
    guard try hasKeyValueTable() else { return false }
    return try connection.firstValue(
      "SELECT 1 FROM keyvalue WHERE store = ? AND key = ?", [.text(store), .text(key)]) != nil
  }

  func keyValueCount(in store: String) throws -> Int {
    guard try hasKeyValueTable(),
      case .integer(let count)? = try connection.firstValue(
        "SELECT count(*) FROM keyvalue WHERE store = ?", [.text(store)])
    else { return 0 }
    return Int(count)
  }

  func keyValueKeys(in store: String, matching pattern: String?) throws -> [String] {
    guard try hasKeyValueTable() else { return [] }
    let condition = pattern == nil ? "" : " AND key GLOB ?"
    let values = [store] + [pattern].compactMap { $0.map(SQLiteSnapshot.glob) }
    return try strings("SELECT key FROM keyvalue WHERE store = ?\(condition) ORDER BY key", values.map { .text($0) })
  }

  func keyValueStoreNames() throws -> [String] {
    guard try hasKeyValueTable() else { return [] }
    return try strings("SELECT DISTINCT store FROM keyvalue ORDER BY store", [])
  }

  /// Returns an SQLite GLOB pattern in which only `*` is special.
  private static func glob(_ pattern: String) -> String {
    var out = ""
    for c in pattern.unicodeScalars {
      if c == "?" || c == "[" { out += "[\(c)]" } else { out.unicodeScalars.append(c) }
    }
    return out
  }

  /// Returns the first column of every row as text.
  private func strings(_ sql: String, _ values: [SQLValue]) throws -> [String] {
    let statement = try connection.statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    var strings: [String] = []
    while try statement.step() { strings.append(statement.string(0)) }
    return strings
  }
}

extension SQLiteTransaction {
  func makeKeyValueTable() throws {
    try connection.execute(
      "CREATE TABLE keyvalue (store TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (store, key))")
  }

  func setKeyValue(_ key: String, to value: [UInt8], in store: String) throws {
    if try !hasKeyValueTable() { try makeKeyValueTable() }
    try connection.run(
      """
      INSERT INTO keyvalue (store, key, value) VALUES (?1, ?2, ?3)
      ON CONFLICT (store, key) DO UPDATE SET value = excluded.value
      """, [.text(store), .text(key), .blob(value)])
  }

  func removeKeyValue(_ key: String, from store: String) throws -> Bool {
    guard try hasKeyValueTable() else { return false }
    try connection.run("DELETE FROM keyvalue WHERE store = ? AND key = ?", [.text(store), .text(key)])
    return connection.changes > 0
  }

  func clearKeyValues(in store: String) throws {
    guard try hasKeyValueTable() else { return }
    try connection.run("DELETE FROM keyvalue WHERE store = ?", [.text(store)])
  }
}
