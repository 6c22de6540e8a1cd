import Database
import Support

/// Values of any bytes under any text, beside the soups of a ``Store`` and in its file. For what is read whole and never
/// queried: settings, pictures, answers kept for later.
///
/// It exists from its first value on and while it holds any. Any thread outside the cooperative pool; every call is one
/// transaction of its own.
public struct KeyValueStore: Sendable {
  public let name: String
  let store: Store

  /// - Throws: ``StoreError`` `.invalidStoreName`: a name has 1 to 96 ASCII letters, digits and `_`.
  init(name: String, store: Store) throws(StoreError) {
    let isGood = (1...Tuning.keyValueNameLength).contains(name.utf8.count) && name.utf8.allSatisfy(KeyValueStore.isNameByte)
    guard isGood else {
      throw StoreError(
        .invalidStoreName,
        "a key-value store's name has 1 to \(Tuning.keyValueNameLength) letters, digits and _, not '\(name)'")
    }
    self.name = name
    self.store = store
  }

  private static func isNameByte(_ c: UInt8) -> Bool {
    c.isASCIILetter || c.isASCIIDigit || c == UInt8(ascii: "_")
  }

  /// The value of a key, nil when there is none.
  public func get(_ key: String) throws -> [UInt8]? {
    try read(nil) { connection in
      guard
        case .blob(let value)? = try connection.firstValue(
          "SELECT value FROM keyvalue WHERE store = ? AND key = ?", [.text(name), .text(key)])
      else { return nil }
      return value
    }
  }

  /// Sets the value of a key, whether or not it had one.
  /// - Throws: ``StoreError`` `.invalidKey` for an empty key, `.invalidEntry` for a value beyond 200 MB.
  public func put(_ value: [UInt8], for key: String) throws {
    guard !key.isEmpty else { throw StoreError(.invalidKey, "a key must not be empty") }
    guard value.count <= Tuning.maximumEntryBytes else {
      throw StoreError(
        .invalidEntry, "the value of a key has \(value.count) bytes; at most \(Tuning.maximumEntryBytes)")
    }
    try store.writeBlocking(.synced) { transaction in
      let connection = transaction.connection
      if try !KeyValueStore.hasTable(connection) { try connection.execute(KeyValueStore.definition) }
      try connection.run(
        """
        INSERT INTO keyvalue (store, key, value) VALUES (?1, ?2, ?3)
        ON CONFLICT (store, key) DO UPDATE SET value = excluded.value
        """, [.text(name), .text(key), .blob(value)])
    }
  }

  /// - Returns: Whether there was such a key.
  @discardableResult
  public func remove(_ key: String) throws -> Bool {
    try store.writeBlocking(.synced) { transaction in
      guard try KeyValueStore.hasTable(transaction.connection) else { return false }
      try transaction.connection.run("DELETE FROM keyvalue WHERE store = ? AND key = ?", [.text(name), .text(key)])
      return transaction.connection.changes > 0
    }
  }

  public func contains(_ key: String) throws -> Bool {
    try read(false) {
      try $0.firstValue("SELECT 1 FROM keyvalue WHERE store = ? AND key = ?", [.text(name), .text(key)]) != nil
    }
  }

  /// How many keys there are.
  public func count() throws -> Int {
    try read(0) { connection in
      guard
        case .integer(let count)? = try connection.firstValue(
          "SELECT count(*) FROM keyvalue WHERE store = ?", [.text(name)])
      else { return 0 }
      return Int(count)
    }
  }

  /// Removes every key, and with them the store.
  public func clear() throws {
    try store.writeBlocking(.synced) { transaction in
      guard try KeyValueStore.hasTable(transaction.connection) else { return }
      try transaction.connection.run("DELETE FROM keyvalue WHERE store = ?", [.text(name)])
    }
  }

  /// The keys in the order of their bytes.
  /// - Parameter pattern: Only keys that match; `*` stands for any text, everything else for itself. Nil for all.
  public func keys(matching pattern: String? = nil) throws -> [String] {
    try read([]) { connection in
      let condition = pattern == nil ? "" : " AND key GLOB ?"
      let values = [name] + [pattern].compactMap { $0.map(KeyValueStore.glob) }
      return try connection.strings(
        "SELECT key FROM keyvalue WHERE store = ?\(condition) ORDER BY key", values.map { .text($0) })
    }
  }

  /// SQLite's pattern in which only `*` is special.
  private static func glob(_ pattern: String) -> String {
    var out = ""
    for c in pattern.unicodeScalars {
      if c == "?" || c == "[" { out += "[\(c)]" } else { out.unicodeScalars.append(c) }
    }
    return out
  }

  // MARK: The table

  /// Made with the first value: a file without key-value stores does not have it.
  private static let definition =
    "CREATE TABLE keyvalue (store TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (store, key))"

  static func hasTable(_ connection: Connection) throws -> Bool {
    try connection.firstValue("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'keyvalue'") != nil
  }

  /// - Parameter missing: The result while the table does not exist.
  private func read<T>(_ missing: T, _ body: (Connection) throws -> T) throws -> T {
    try store.readBlocking { try KeyValueStore.hasTable($0.connection) ? body($0.connection) : missing }
  }
}

extension Store {
  /// A key-value store in this file; nothing is created before its first value.
  /// - Throws: ``StoreError`` `.invalidStoreName`.
  public func keyValueStore(named name: String) throws(StoreError) -> KeyValueStore {
    try KeyValueStore(name: name, store: self)
  }

  /// The key-value stores that hold something, sorted by name.
  public func keyValueStoreNames() throws -> [String] {
    try readBlocking { snapshot in
      guard try KeyValueStore.hasTable(snapshot.connection) else { return [] }
      return try snapshot.connection.strings("SELECT DISTINCT store FROM keyvalue ORDER BY store", [])
    }
  }
}

extension Connection {
  /// The first column of every row, as text.
  fileprivate func strings(_ sql: String, _ values: [SQLValue]) throws -> [String] {
    let statement = try statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    var strings: [String] = []
    while try statement.step() { strings.append(statement.string(0)) }
    return strings
  }
}
