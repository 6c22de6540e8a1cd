import Support

/// Stores as SQLite files. Every store has its own folder, `<directory>/<encoded name>/store.sqlite`.
package final class SQLiteEngines: StoreEngines, @unchecked Sendable {
  private let recovery: StoreRegistry.Recovery
  private let findKey: @Sendable () throws -> StoreKey?
  private let userDirectory: String
  private let globalDirectory: String
  /// The result of `findKey`; nil before it was called. Used within calls of the registry, which
  /// makes one at a time.
  private var foundKey: StoreKey??

  /// - Parameters:
  ///   - userDirectory: The folder of the user's stores. Created with the first store.
  ///   - globalDirectory: The folder of the stores that belong to no user.
  ///   - recovery: What to do with damaged stores.
  ///   - key: See ``StoreRegistry/init(userDirectory:globalDirectory:recovery:key:)``.
  package init(
    userDirectory: String, globalDirectory: String, recovery: StoreRegistry.Recovery,
    key: @escaping @Sendable () throws -> StoreKey?
  ) {
    self.recovery = recovery
    findKey = key
    self.userDirectory = userDirectory
    self.globalDirectory = globalDirectory
  }

  package func open(_ name: String, isGlobal: Bool) throws -> any StoreEngine {
    let folder = folder(name, isGlobal)
    let storeKey = try storeKey()
    try StoreError.wrappingFileErrors {
      try FileSystem.makeDirectory(folder)
      try writeName(name, in: folder)
    }
    return try openOrRecover(name, folder: folder, storeKey: storeKey)
  }

  /// Writes the file that lists show, unless it is there: a store that was opened before, or put
  /// back from a copy, opens on a full or read-only disk, too.
  private func writeName(_ name: String, in folder: String) throws {
    // An unfinished copy, which cannot be opened, is not listed.
    guard !FileSystem.exists("\(folder)/\(SQLiteEngine.unfinishedNameFile)") else { return }
    let path = "\(folder)/\(SQLiteEngine.nameFile)", text = Array(name.utf8)
    guard FileSystem.read(path) != text else { return }
    do {
      try FileSystem.write(text, to: path)
    } catch {
      guard FileSystem.exists(folder + "/store.sqlite") else { throw error }
    }
  }

  package func openCopy(_ name: String, isGlobal: Bool, of source: String) throws -> any StoreEngine {
    let folder = folder(name, isGlobal)
    let engine = try SQLiteEngine(
      name: name, path: folder + "/store.sqlite", key: try storeKey(), busyTimeoutMs: Tuning.busyTimeoutMs, copyOf: source)
    try StoreError.wrappingFileErrors {
      try FileSystem.write(Array(name.utf8), to: "\(folder)/\(SQLiteEngine.unfinishedNameFile)")
      try FileSystem.removeTree("\(folder)/\(SQLiteEngine.nameFile)")
    }
    return engine
  }

  func storeKey() throws -> StoreKey? {
    if let foundKey { return foundKey }
    let key = try findKey()
    foundKey = .some(key)
    return key
  }

  private func openOrRecover(_ name: String, folder: String, storeKey: StoreKey?) throws -> SQLiteEngine {
    let path = folder + "/store.sqlite"
    func make() throws -> SQLiteEngine {
      try SQLiteEngine(name: name, path: path, key: storeKey, busyTimeoutMs: Tuning.busyTimeoutMs)
    }
    do {
      return try make()
    } catch let error as StoreError where error.code == .notADatabase || error.isOfMovedFile {
      guard case .moveAside(let report) = recovery else { throw error }
      // Another process may detect the same damage at the same time, or move the file while it is
      // being opened here. Under the lock nothing moves, and a store that was replaced is good.
      let lock = try StoreError.wrappingFileErrors { try FileSystem.lock(folder + "/recovery.lock") }
      defer { lock.release() }
      do {
        return try make()
      } catch let error as StoreError where error.code == .notADatabase {
        let aside = try StoreError.wrappingFileErrors {
          try FileSystem.moveAside(path, sideFiles: ["-wal", "-shm"])
        }
        report("store '\(name)' is damaged and was moved to \(aside); a new, empty store replaces it (\(error.message))")
        return try make()
      }
    }
  }

  package func names(isGlobal: Bool) throws -> [String] {
    try names(isGlobal, in: SQLiteEngine.nameFile)
  }

  package func unfinishedCopies(isGlobal: Bool) throws -> [String] {
    try names(isGlobal, in: SQLiteEngine.unfinishedNameFile)
  }

  private func names(_ isGlobal: Bool, in file: String) throws -> [String] {
    let directory = directory(isGlobal)
    let folders = try StoreError.wrappingFileErrors {
      let folders = try FileSystem.entries(of: directory).filter { !$0.hasPrefix(".") }
      for folder in folders { try FileSystem.checkSearchable("\(directory)/\(folder)") }
      return folders
    }
    return folders.compactMap { folder in
      if let text = FileSystem.read("\(directory)/\(folder)/\(file)") { return String(decoding: text, as: UTF8.self) }
      return file == SQLiteEngine.nameFile ? restoredName("\(directory)/\(folder)", folder) : nil
    }.sorted()
  }

  /// Returns the name of a store whose `store.sqlite` was put back from a copy without the other
  /// files; nil if the folder has none.
  private func restoredName(_ path: String, _ folder: String) -> String? {
    guard FileSystem.exists("\(path)/store.sqlite"), !FileSystem.exists("\(path)/\(SQLiteEngine.unfinishedNameFile)") else {
      return nil
    }
    return StoreRegistry.name(ofFolder: folder)
  }

  package func remove(_ name: String, isGlobal: Bool) throws {
    let folder = folder(name, isGlobal)
    switch FolderLock.take(.exclusive, folderOf: folder + "/store.sqlite", patienceMs: Tuning.removalPatienceMs) {
    case .locked(let lock):
      defer { withExtendedLifetime(lock) {} }
      try StoreError.wrappingFileErrors { try removeFolder(folder, from: directory(isGlobal)) }
    case .impossible: try StoreError.wrappingFileErrors { try FileSystem.removeTree(folder) }
    case .busy:
      throw StoreError(
        .storeInUse,
        "store '\(name)' is open in another process, or in another host of this process; close it there first. "
          + "Nothing was removed")
    }
  }

  /// Renames the folder before removing its files, so that a killed process leaves no partial
  /// store.
  private func removeFolder(_ folder: String, from directory: String) throws {
    let prefix = ".removed-"
    try FileSystem.move(folder, to: "\(directory)/\(prefix)\(ProcessIdentity.current.pid)-\(UInt32.random(in: 0 ... .max))")
    for left in try FileSystem.entries(of: directory) where left.hasPrefix(prefix) {
      // Another process may be removing the same folder.
      try? FileSystem.removeTree(directory + "/" + left)
    }
  }

  package func close() { foundKey = nil }

  private func directory(_ isGlobal: Bool) -> String { isGlobal ? globalDirectory : userDirectory }

  func folder(_ name: String, _ isGlobal: Bool) -> String {
    directory(isGlobal) + "/" + StoreRegistry.folderName(name)
  }
}
