import Glibc

/// Who uses the stores of a folder: many may have them open, one alone may put another file in a store's place, or remove it.
///
/// An advisory lock on the folder itself: no file is made, and it ends with the process. Not SQLite's: a file that is replaced
/// takes SQLite's locks with it.
package final class FolderLock: Sendable {
  package enum Kind: Sendable { case shared, alone }

  package enum Outcome {
    case locked(FolderLock)
    /// Another holder is in the way.
    case busy
    /// The file system has no such locks, or there is no such folder.
    case impossible
  }

  private let descriptor: Int32

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// - Parameter patienceMs: How long to wait for other holders. A child process that is just being started holds its parent's
  ///   locks until it runs its program.
  package static func take(_ kind: Kind, folderOf path: String, patienceMs: Int64) -> Outcome {
    let end = SystemClock.monotonicMilliseconds() + patienceMs
    while true {
      let outcome = take(kind, folderOf: path)
      guard case .busy = outcome, SystemClock.monotonicMilliseconds() < end else { return outcome }
      usleep(5_000)
    }
  }

  /// Never waits.
  package static func take(_ kind: Kind, folderOf path: String) -> Outcome {
    let folder = FileSystem.folder(of: path)
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return .impossible }
    while flock(descriptor, (kind == .alone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      close(descriptor)
      return code == EWOULDBLOCK ? .busy : .impossible
    }
    let lock = FolderLock(descriptor)
    // It may have been removed, or moved away, since it was opened: then the lock is one of another folder.
    return isAt(folder, descriptor) ? .locked(lock) : .busy
  }

  private static func isAt(_ folder: String, _ descriptor: Int32) -> Bool {
    var mine = stat(), present = stat()
    return fstat(descriptor, &mine) == 0 && stat(folder, &present) == 0 && mine.st_ino == present.st_ino
      && mine.st_dev == present.st_dev
  }
}
