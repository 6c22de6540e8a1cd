import Dispatch
import JSON
import Support

/// The stores of one user and the global stores: opened on first use, one object per store. Any
/// thread may call it; calls that open a store block.
public final class StoreRegistry: @unchecked Sendable {
  /// The store of calls that name none (as on iOS).
  public static let defaultStoreName = "defaultStore"

  private struct Key: Hashable {
    let name: String
    let isGlobal: Bool

    // Swift compares strings by canonical equivalence, but stores differ if the bytes of their
    // names do.
    static func == (a: Key, b: Key) -> Bool { a.isGlobal == b.isGlobal && a.name.hasSameBytes(as: b.name) }
  }

  /// How to treat a store that is damaged or not a database. Files are never deleted.
  public enum Recovery: Sendable {
    /// Opening fails with `.notADatabase`, and the files stay unchanged.
    case refuse
    /// The files are renamed to `store.sqlite.damaged-1` and so on, and an empty store replaces
    /// them. The closure gets a message for users.
    case moveAside(report: @Sendable (String) -> Void)
  }

  private let engines: any StoreEngines
  private let cursorIds: CursorIds
  /// Whether stores are opened to look at them; see ``StoreEngines/look(_:isGlobal:)``.
  private let looksOnly: Bool
  /// Called with each store before it is used.
  private let onOpen: @Sendable (Store) -> Void
  /// Serializes opening, listing and removing.
  private let queue = DispatchQueue(label: "tureen.stores")
  // Used on `queue` only.
  private var open: [Key: Store] = [:]
  private var isClosed = false

  /// The stores are SQLite files. Every store has its own folder, `<directory>/<encoded
  /// name>/store.sqlite`, so that SQLite's side files stay with it and removing a store means
  /// removing its folder.
  /// - Parameters:
  ///   - userDirectory: The folder of the user's stores. Created with the first store.
  ///   - globalDirectory: The folder of the stores that belong to no user.
  ///   - recovery: What to do with damaged stores.
  ///   - key: Returns the encryption key of all stores; nil for unencrypted files. Called for the
  ///     first store, on a thread that may block, and not again after it succeeds.
  public convenience init(
    userDirectory: String, globalDirectory: String, recovery: Recovery = .refuse,
    key: @escaping @Sendable () throws -> StoreKey?
  ) {
    self.init(
      engines: SQLiteEngines(userDirectory: userDirectory, globalDirectory: globalDirectory, recovery: recovery, key: key),
      cursorIds: CursorIds())
  }

  /// - Parameters:
  ///   - engines: Opens the stores; used by this registry only.
  ///   - cursorIds: Shared with the registries of other users whose cursors a script could confuse.
  ///   - looksOnly: Whether to open stores only to look at them. Missing ones are errors then.
  ///   - onOpen: Called with each store before it is used.
  package init(
    engines: any StoreEngines, cursorIds: CursorIds, looksOnly: Bool = false,
    onOpen: @escaping @Sendable (Store) -> Void = { _ in }
  ) {
    self.onOpen = onOpen
    self.engines = engines
    self.looksOnly = looksOnly
    self.cursorIds = cursorIds
  }

  /// Returns the store with this name, opening or creating it if necessary.
  /// - Throws: ``StoreError`` `.invalidStoreName`, `.cannotOpenStore`, `.notADatabase`,
  ///   `.newerSchema`, `.storeClosed`; `.keyRequired`, `.wrongKey`, `.notEncrypted`; errors of
  ///   finding the key. A store that only lacks its key never counts as damaged.
  public func store(named name: String = defaultStoreName, isGlobal: Bool = false) throws -> Store {
    try queue.sync {
      guard !isClosed else { throw StoreError(.storeClosed, "the stores are closed") }
      let key = Key(name: name, isGlobal: isGlobal)
      if let store = open[key] { return store }
      let store =
        try looksOnly
        ? Store(looking: engines.look(checked(name), isGlobal: isGlobal), name: name, isGlobal: isGlobal, cursorIds: cursorIds)
        : Store(name: name, isGlobal: isGlobal, engine: engines.open(checked(name), isGlobal: isGlobal), cursorIds: cursorIds)
      onOpen(store)
      open[key] = store
      return store
    }
  }

  /// Returns the names of the existing stores, open or not, sorted.
  public func storeNames(isGlobal: Bool) throws -> [String] { try engines.names(isGlobal: isGlobal) }

  /// Closes a store and removes it with all its data. Does nothing if the store does not exist.
  /// - Throws: ``StoreError`` `.storeInUse` while another process, or another registry, has it
  ///   open: nothing is removed then.
  public func remove(named name: String, isGlobal: Bool) throws {
    guard !looksOnly else { throw StoreError(.notReadOnly, "the stores are open for looking; none can be removed") }
    let key = Key(name: name, isGlobal: isGlobal)
    try queue.sync {
      open.removeValue(forKey: key)?.close()
      try engines.remove(try checked(name), isGlobal: isGlobal)
    }
  }

  public func removeAll(isGlobal: Bool) throws {
    for name in try storeNames(isGlobal: isGlobal) { try remove(named: name, isGlobal: isGlobal) }
  }

  /// Closes every store; later calls throw.
  public func close() {
    queue.sync {
      isClosed = true
      for store in open.values { store.close() }
      open.removeAll()
      engines.close()
    }
  }

  private func checked(_ name: String) throws -> String {
    guard !name.isEmpty else { throw StoreError(.invalidStoreName, "a store name must not be empty") }
    return name
  }

  /// Returns the folder name of a store: letters, digits, `-` and `_` stay, other bytes become
  /// `%XX`, so that a name cannot leave the directory and two names never share a folder. Long
  /// names are cut and get a hash.
  package static func folderName(_ name: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var out: [UInt8] = []
    for c in name.utf8 {
      switch c {
      case let c where c.isASCIILetter || c.isASCIIDigit || "-_".utf8.contains(c): out.append(c)
      default: out += [UInt8(ascii: "%"), digits[Int(c >> 4)], digits[Int(c & 15)]]
      }
    }
    guard out.count > 180 else { return String(decoding: out, as: UTF8.self) }
    return String(decoding: out.prefix(120), as: UTF8.self) + "~" + hash(name, 0xcbf2_9ce4_8422_2325)
      + hash(name, 0x9e37_79b9_7f4a_7c15)
  }

  /// Returns the name that has this folder; nil for the folder of a long name, which was cut, and for other folders.
  package static func name(ofFolder folder: String) -> String? {
    let bytes = Array(folder.utf8)
    var name: [UInt8] = [], i = 0
    while i < bytes.count {
      if bytes[i] == UInt8(ascii: "%"), i + 2 < bytes.count,
        let byte = UInt8(String(decoding: bytes[(i + 1)...(i + 2)], as: UTF8.self), radix: 16)
      {
        name.append(byte)
        i += 3
      } else {
        name.append(bytes[i])
        i += 1
      }
    }
    guard let text = String(validating: name, as: UTF8.self), folderName(text).hasSameBytes(as: folder) else { return nil }
    return text
  }

  /// FNV-1a, 64 bits, in hexadecimal. Two hashes with different seeds make 128 bits, enough to
  /// distinguish names.
  private static func hash(_ name: String, _ start: UInt64) -> String {
    var hash = start
    for c in name.utf8 { hash = (hash ^ UInt64(c)) &* 0x100_0000_01b3 }
    let text = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}
