import Database
import Glibc
import Support

/// Encrypts a store's file, decrypts it, or changes its key.
///
/// Everything is written into a new file beside it, which takes its place in one step when it is complete and on the disk. So a
/// process killed at any moment leaves the old file or the new one, whole. SQLCipher's own change in place is not used: it
/// cannot encrypt a plain file, and tells of no failure.
package struct KeyChange {
  package enum Outcome: Sendable { case changed, nothingToDo }

  /// Where a kill would be felt differently; tests look at the files there.
  package enum Step: String, CaseIterable, Sendable { case logFoldedBack, freshFileMade, exported, synced, replaced }

  /// The store's file.
  let path: String
  let from: StoreKey?
  let to: StoreKey?
  let afterStep: (Step) throws -> Void

  private var fresh: String { path + ".rekey" }

  /// - Parameters:
  ///   - from: The key it has now; not looked at when the file is plain.
  ///   - to: The key it is to have, nil for none.
  package init(path: String, from: StoreKey?, to: StoreKey?, afterStep: @escaping (Step) throws -> Void = { _ in }) {
    self.path = path
    self.from = from
    self.to = to
    self.afterStep = afterStep
  }

  /// Blocks while it reads and writes the whole store. A file that has the new key already is left alone, so that an
  /// interrupted change of several stores can be run again.
  /// - Throws: ``StoreError`` `.storeInUse` while the store is open anywhere, `.encryptionUnavailable`, `.keyRequired`,
  ///   `.wrongKey`, `.notADatabase`, `.newerSchema`, `.cannotOpenStore`, `.sqlite` such as for a full disk. The store is then as
  ///   it was.
  package func run() throws -> Outcome {
    guard StoreKey.isSupported else { throw StoreKey.unavailable }
    let lock: FolderLock
    switch FolderLock.take(.alone, folderOf: path) {
    case .locked(let taken): lock = taken
    case .busy: throw inUse
    case .impossible:
      throw StoreError(.cannotOpenStore, "the folder of \(path) cannot be locked, which a change of key needs")
    }
    defer { withExtendedLifetime(lock) {} }
    do {
      return try changeAlone()
    } catch let error as DatabaseError {
      unlink(fresh)
      throw error.isBusy ? inUse : Store.openingError(error, path: path)
    } catch {
      unlink(fresh)
      throw StoreError.wrapping(error)
    }
  }

  private var inUse: StoreError {
    StoreError(
      .storeInUse, "\(path) is open in this process or another: close it there first; it was left as it is")
  }

  private func changeAlone() throws -> Outcome {
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(fresh + suffix) }
    guard let source = try openSource() else { return .nothingToDo }
    defer { source.close() }
    try Schema.check(source, path: path)
    // Ends the write-ahead log, which SQLite does only for who is alone: other programs with the file open are noticed here.
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

  /// The store as it is, open; nil when it is as it should be.
  /// - Throws: ``StoreError`` `.notADatabase` for an empty file, which is a store that was lost; and as `run` does.
  package func openSource() throws -> Connection? {
    let plain = try Connection(path: path, mode: .readWrite, storeKey: nil)
    plain.setBusyTimeout(milliseconds: Tuning.keyChangeBusyTimeoutMs)
    switch try plain.fileKind() {
    case .empty: throw Store.emptied(path)
    case .plain: return to == nil ? nil : plain
    case .unknown: throw DatabaseError.notADatabase
    case .encrypted: break
    }
    plain.close()
    if let to, let connection = try? connect(to) {
      connection.close()
      return nil
    }
    return try connect(from)
  }

  private func connect(_ key: StoreKey?) throws -> Connection {
    try Store.connect(path: path, key: key, busyTimeoutMs: Tuning.keyChangeBusyTimeoutMs)
  }
}
