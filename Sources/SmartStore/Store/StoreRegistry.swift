import Dispatch
import JSON
import Support

/// The stores of one user, and the global ones: opened when first named, one object a file.
///
/// Every store has a folder of its own, `<directory>/<encoded name>/store.sqlite`, so that SQLite's side files stay with it and
/// removing a store is removing its folder. Any thread; calls that open a store block.
public final class StoreRegistry: @unchecked Sendable {
  /// The store a call means when it names none (as on iOS).
  public static let defaultStoreName = "defaultStore"

  private struct Key: Hashable {
    let name: String
    let isGlobal: Bool

    // Swift's strings are equal when they look the same, stores are when the bytes of their names are.
    static func == (a: Key, b: Key) -> Bool { a.isGlobal == b.isGlobal && a.name.hasSameBytes(as: b.name) }
  }

  /// What happens to a store that is no database, or a damaged one. Nothing is ever deleted.
  public enum Recovery: Sendable {
    /// Opening it fails with `.notADatabase`, and the files stay as they are.
    case refuse
    /// The files get another name, `store.sqlite.damaged-1` and so on, and an empty store takes their place. The closure is
    /// told, in a sentence for people.
    case moveAside(report: @Sendable (String) -> Void)
  }

  private let recovery: Recovery
  private let cursorIds: CursorIds
  private let findKey: @Sendable () throws -> StoreKey?
  private let userDirectory: String
  private let globalDirectory: String
  /// Opening, listing and removing, one after the other.
  private let queue = DispatchQueue(label: "tureen.stores")
  // Touched on `queue` only.
  private var open: [Key: Store] = [:]
  private var isClosed = false
  /// What `findKey` found, once it was asked.
  private var foundKey: StoreKey??

  /// - Parameters:
  ///   - userDirectory: Where the user's stores live. Created when a store is.
  ///   - globalDirectory: Where the stores that belong to no user live.
  ///   - recovery: What happens to damaged stores.
  ///   - key: What all of them are encrypted with, nil for plain files. Asked for with the first store, on a thread that may
  ///     block, and once when it succeeds.
  public convenience init(
    userDirectory: String, globalDirectory: String, recovery: Recovery = .refuse,
    key: @escaping @Sendable () throws -> StoreKey?
  ) {
    self.init(
      userDirectory: userDirectory, globalDirectory: globalDirectory, recovery: recovery, cursorIds: CursorIds(), key: key)
  }

  /// - Parameter cursorIds: Shared with the registries of other users whose scripts could take the cursors for one another.
  package init(
    userDirectory: String, globalDirectory: String, recovery: Recovery, cursorIds: CursorIds,
    key: @escaping @Sendable () throws -> StoreKey?
  ) {
    self.recovery = recovery
    self.cursorIds = cursorIds
    findKey = key
    self.userDirectory = userDirectory
    self.globalDirectory = globalDirectory
  }

  /// The store with this name, opened, and created when there is none.
  /// - Throws: ``StoreError`` `.invalidStoreName`, `.cannotOpenStore`, `.notADatabase`, `.newerSchema`, `.storeClosed`;
  ///   `.keyRequired`, `.wrongKey`, `.notEncrypted`; what finding the key throws. A store that only lacks its key is never taken
  ///   for a damaged one.
  public func store(named name: String = defaultStoreName, isGlobal: Bool = false) throws -> Store {
    try queue.sync {
      guard !isClosed else { throw StoreError(.storeClosed, "the stores are closed") }
      let key = Key(name: name, isGlobal: isGlobal)
      if let store = open[key] { return store }
      let folder = try folder(key)
      let storeKey = try storeKey()
      try StoreError.wrappingFileErrors {
        try FileSystem.makeDirectory(folder)
        try FileSystem.write(Array(name.utf8), to: folder + "/name")
      }
      let store = try openOrRecover(key, folder: folder, storeKey: storeKey)
      open[key] = store
      return store
    }
  }

  private func storeKey() throws -> StoreKey? {
    if let foundKey { return foundKey }
    let key = try findKey()
    foundKey = .some(key)
    return key
  }

  private func openOrRecover(_ key: Key, folder: String, storeKey: StoreKey?) throws -> Store {
    let path = folder + "/store.sqlite"
    func make() throws -> Store {
      try Store(
        name: key.name, isGlobal: key.isGlobal, path: path, key: storeKey, busyTimeoutMs: Tuning.busyTimeoutMs,
        cursorIds: cursorIds)
    }
    do {
      return try make()
    } catch let error as StoreError where error.code == .notADatabase {
      guard case .moveAside(let report) = recovery else { throw error }
      // Another process may find the same damage at the same time: the second one finds a good store.
      let lock = try StoreError.wrappingFileErrors { try FileSystem.lock(folder + "/recovery.lock") }
      defer { lock.release() }
      do {
        return try make()
      } catch let error as StoreError where error.code == .notADatabase {
        let aside = try StoreError.wrappingFileErrors {
          try FileSystem.moveAside(path, sideFiles: ["-wal", "-shm"])
        }
        report("store '\(key.name)' could not be used and is now \(aside); an empty one takes its place (\(error.message))")
        return try make()
      }
    }
  }

  /// Names of the stores on disk, sorted; whether they are open makes no difference.
  public func storeNames(isGlobal: Bool) throws -> [String] {
    let directory = directory(isGlobal)
    return try FileSystem.entries(of: directory).filter { !$0.hasPrefix(".") }.compactMap { folder in
      FileSystem.read("\(directory)/\(folder)/name").map { String(decoding: $0, as: UTF8.self) }
    }.sorted()
  }

  /// Closes a store and removes its folder. Removing one that does not exist does nothing.
  /// - Throws: ``StoreError`` `.storeInUse` while another process, or another registry, has it open: nothing is removed then.
  public func remove(named name: String, isGlobal: Bool) throws {
    let key = Key(name: name, isGlobal: isGlobal)
    try queue.sync {
      open.removeValue(forKey: key)?.close()
      let folder = try folder(key)
      switch FolderLock.take(.alone, folderOf: folder + "/store.sqlite", patienceMs: Tuning.removalPatienceMs) {
      case .locked(let lock):
        defer { withExtendedLifetime(lock) {} }
        try StoreError.wrappingFileErrors { try removeFolder(folder, from: directory(isGlobal)) }
      case .impossible: try StoreError.wrappingFileErrors { try FileSystem.removeTree(folder) }
      case .busy:
        throw StoreError(
          .storeInUse,
          "store '\(name)' is open in another process, or in another host of this one; close it there, then remove it. "
            + "Nothing was removed")
      }
    }
  }

  /// Takes a folder away at once, then its files: a process that is killed meanwhile leaves no half of a store.
  private func removeFolder(_ folder: String, from directory: String) throws {
    let prefix = ".removed-"
    try FileSystem.move(folder, to: "\(directory)/\(prefix)\(ProcessIdentity.current.pid)-\(UInt32.random(in: 0 ... .max))")
    for left in try FileSystem.entries(of: directory) where left.hasPrefix(prefix) {
      // Another process may be at the same.
      try? FileSystem.removeTree(directory + "/" + left)
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
      foundKey = nil
    }
  }

  private func directory(_ isGlobal: Bool) -> String { isGlobal ? globalDirectory : userDirectory }

  private func folder(_ key: Key) throws -> String {
    guard !key.name.isEmpty else { throw StoreError(.invalidStoreName, "a store name must not be empty") }
    return directory(key.isGlobal) + "/" + StoreRegistry.folderName(key.name)
  }

  /// A folder name for any store name: letters, digits, `-` and `_` as they are, everything else as `%XX`, so that no name can
  /// leave the directory and no two names share a folder. Long names are cut and told apart by a hash.
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

  /// FNV-1a, 64 bits, as hexadecimal text. Two of them with different starts make 128 bits: enough to tell names apart.
  private static func hash(_ name: String, _ start: UInt64) -> String {
    var hash = start
    for c in name.utf8 { hash = (hash ^ UInt64(c)) &* 0x100_0000_01b3 }
    let text = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}
