import Support

/// A key-value store in the database of a ``Store``, next to its soups: any bytes under any text key.
/// For data that is read whole and never queried: settings, pictures, cached answers.
///
/// It exists while it holds a value. Use it on any thread outside the cooperative pool; every call
/// is its own transaction.
public struct KeyValueStore: Sendable {
  public let name: String
  let store: Store

  /// - Throws: ``StoreError`` `.invalidStoreName`: a name consists of 1 to 96 ASCII letters, digits
  ///   and `_`.
  init(name: String, store: Store) throws(StoreError) {
    let isGood = (1...Tuning.keyValueNameLength).contains(name.utf8.count) && name.utf8.allSatisfy(KeyValueStore.isNameByte)
    guard isGood else {
      throw StoreError(
        .invalidStoreName,
        "the name of a key-value store must have 1 to \(Tuning.keyValueNameLength) letters, digits and _, not '\(name)'")
    }
    self.name = name
    self.store = store
  }

  private static func isNameByte(_ c: UInt8) -> Bool {
    c.isASCIILetter || c.isASCIIDigit || c == UInt8(ascii: "_")
  }

  /// Returns the value of a key; nil if there is none.
  public func get(_ key: String) throws -> [UInt8]? { try store.readBlocking { try $0.keyValue(key, in: name) } }

  /// Sets the value of a key, replacing any earlier value.
  /// - Throws: ``StoreError`` `.invalidKey` for an empty key, `.invalidEntry` for a value beyond 200 MB.
  public func put(_ value: [UInt8], for key: String) throws {
    guard !key.isEmpty else { throw StoreError(.invalidKey, "a key must not be empty") }
    guard value.count <= Tuning.maximumEntryBytes else {
      throw StoreError(
        .invalidEntry, "the value has \(value.count) bytes; the limit is \(Tuning.maximumEntryBytes)")
    }
    try store.writeBlocking(.synced) { try $0.setKeyValue(key, to: value, in: name) }
  }

  /// Removes a key and its value.
  /// - Returns: Whether the key existed.
  @discardableResult
  public func remove(_ key: String) throws -> Bool {
    try store.writeBlocking(.synced) { try $0.removeKeyValue(key, from: name) }
  }

  public func contains(_ key: String) throws -> Bool { try store.readBlocking { try $0.hasKeyValue(key, in: name) } }

  /// The number of keys.
  public func count() throws -> Int { try store.readBlocking { try $0.keyValueCount(in: name) } }

  /// Removes every key, and with them the store.
  public func clear() throws { try store.writeBlocking(.synced) { try $0.clearKeyValues(in: name) } }

  /// Returns the keys in byte order.
  /// - Parameter pattern: Returns only matching keys; `*` matches any text, every other character
  ///   itself. Nil for all keys.
  public func keys(matching pattern: String? = nil) throws -> [String] {
    try store.readBlocking { try $0.keyValueKeys(in: name, matching: pattern) }
  }
}

extension Store {
  /// Returns a key-value store in this database. Nothing is created before its first value.
  /// - Throws: ``StoreError`` `.invalidStoreName`.
  public func keyValueStore(named name: String) throws(StoreError) -> KeyValueStore {
    try KeyValueStore(name: name, store: self)
  }

  /// Returns the names of the key-value stores that hold a value, sorted.
  public func keyValueStoreNames() throws -> [String] { try readBlocking { try $0.keyValueStoreNames() } }
}
