import Glibc

/// A lock on a folder of stores. Many holders may have the stores open; only one exclusive holder
/// may replace or remove a store file.
///
/// This is an advisory lock (`flock`) on the folder itself: it needs no lock file and ends with the
/// process. SQLite's locks cannot serve here, because they disappear with a file that is replaced.
package final class FolderLock: Sendable {
  package enum Kind: Sendable { case shared, exclusive }

  package enum Outcome {
    case locked(FolderLock)
    /// Another holder has a conflicting lock.
    case busy
    /// The file system does not support such locks, or the folder does not exist.
    case impossible
  }

  private let descriptor: Int32

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Takes the lock, waiting for other holders if necessary.
  /// - Parameter patienceMs: The longest wait. A child process holds its parent's locks between
  ///   `fork` and `exec`.
  package static func take(_ kind: Kind, folderOf path: String, patienceMs: Int64) -> Outcome {
    let end = SystemClock.monotonicMilliseconds() + patienceMs
    while true {
      let outcome = take(kind, folderOf: path)
      guard case .busy = outcome, SystemClock.monotonicMilliseconds() < end else { return outcome }
      usleep(5_000)
    }
  }

  /// Takes the lock, or returns ``Outcome/busy`` at once.
  package static func take(_ kind: Kind, folderOf path: String) -> Outcome {
    let folder = FileSystem.folder(of: path)
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return .impossible }
    while flock(descriptor, (kind == .exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      close(descriptor)
      return code == EWOULDBLOCK ? .busy : .impossible
    }
    let lock = FolderLock(descriptor)
    // If the folder was removed or moved after `open`, this is a lock on another folder.
    return isAt(folder, descriptor) ? .locked(lock) : .busy
  }

  private static func isAt(_ folder: String, _ descriptor: Int32) -> Bool {
    var mine = stat(), present = stat()
    return fstat(descriptor, &mine) == 0 && stat(folder, &present) == 0 && mine.st_ino == present.st_ino
      && mine.st_dev == present.st_dev
  }
}
