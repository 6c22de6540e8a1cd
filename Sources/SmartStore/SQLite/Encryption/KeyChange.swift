import Database
import Glibc
import Support

/// Encrypts a store's file, decrypts it, or changes its key.
///
/// The new contents are written to a file next to the old one, which replaces it in one step once
/// it is complete and on the disk. If the process is killed at any moment, either the old or the
/// new file is left, whole. SQLCipher's in-place rekey is not used: it cannot encrypt an
/// unencrypted file and does not report failures.
package struct KeyChange {
  package enum Outcome: Sendable { case changed, nothingToDo }

  /// The points at which a kill leaves different files; tests inspect them there.
  package enum Step: String, CaseIterable, Sendable { case logFoldedBack, freshFileMade, exported, synced, replaced }

  /// The path of the store's file.
  let path: String
  let from: StoreKey?
  let to: StoreKey?
  let afterStep: (Step) throws -> Void

  private var fresh: String { path + ".rekey" }

  /// - Parameters:
  ///   - from: The current key; ignored if the file is not encrypted.
  ///   - to: The new key; nil to decrypt.
  package init(path: String, from: StoreKey?, to: StoreKey?, afterStep: @escaping (Step) throws -> Void = { _ in }) {
    self.path = path
    self.from = from
    self.to = to
    self.afterStep = afterStep
  }

  /// Reads and writes the whole store; blocks meanwhile. A store that already has the new key is
  /// left alone, so that an interrupted change of several stores can be repeated.
  /// - Throws: ``StoreError`` `.storeInUse` while the store is open anywhere,
  ///   `.encryptionUnavailable`, `.keyRequired`, `.wrongKey`, `.notADatabase`, `.newerSchema`,
  ///   `.unfinishedCopy`, `.cannotOpenStore`, `.sqlite`, for example if the disk is full. The store is
  ///   unchanged then.
  package func run() throws -> Outcome {
    guard StoreKey.isSupported else { throw StoreKey.unavailable }
    let lock: FolderLock
    switch FolderLock.take(.exclusive, folderOf: path) {
    case .locked(let taken): lock = taken
    case .busy: throw inUse
    case .impossible:
      throw StoreError(.cannotOpenStore, "cannot lock the folder of \(path), which changing the key requires")
    }
    defer { withExtendedLifetime(lock) {} }
    do {
      return try changeExclusively()
    } catch let error as DatabaseError {
      unlink(fresh)
      throw error.isBusy ? inUse : SQLiteEngine.openingError(error, path: path)
    } catch {
      unlink(fresh)
      throw StoreError.wrapping(error)
    }
  }

  private var inUse: StoreError {
    StoreError(
      .storeInUse, "\(path) is open in this process or another one; close it there first. It was left unchanged")
  }

  private func changeExclusively() throws -> Outcome {
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(fresh + suffix) }
    let (source, hasNewKey) = try openSource()
    defer { source.close() }
    // A file with the new key is checked as well: "nothing to do" means that it is a store.
    try Schema.check(source, path: path)
    if hasNewKey { return .nothingToDo }
    // Removes the write-ahead log, which SQLite does only for the sole connection. This detects
    // other programs that have the file open.
    guard case .text("delete")? = try source.firstValue("PRAGMA journal_mode = DELETE") else { throw inUse }
    try afterStep(.logFoldedBack)
    try FileSystem.write([], to: fresh)
    try afterStep(.freshFileMade)
    if let to {
      try to.withBytes { try source.export(to: fresh, key: $0, pageSize: Tuning.pageSize) }
    } else {
      try source.export(to: fresh, key: nil, pageSize: Tuning.pageSize)
    }
    try afterStep(.exported)
    source.close()
    try FileSystem.sync(fresh)
    try afterStep(.synced)
    try FileSystem.replace(path, with: fresh)
    try afterStep(.replaced)
    return .changed
  }

  /// Opens the file as it is, which may be an unfinished copy, and tells whether it already has the
  /// new key.
  /// - Throws: ``StoreError`` `.notADatabase` for an empty file, which is a store that lost its
  ///   contents; otherwise as `run` does.
  package func openSource() throws -> (Connection, hasNewKey: Bool) {
    let plain = try Connection(path: path, mode: .readWrite, storeKey: nil)
    plain.setBusyTimeout(milliseconds: Tuning.keyChangeBusyTimeoutMs)
    switch try plain.fileKind() {
    case .empty: throw SQLiteEngine.emptied(path)
    case .plain: return (plain, to == nil)
    case .unknown: throw DatabaseError.notADatabase
    case .encrypted: break
    }
    plain.close()
    if let to, let connection = try? connect(to) { return (connection, true) }
    return (try connect(from), false)
  }

  private func connect(_ key: StoreKey?) throws -> Connection {
    try SQLiteEngine.connect(path: path, key: key, busyTimeoutMs: Tuning.keyChangeBusyTimeoutMs)
  }
}
