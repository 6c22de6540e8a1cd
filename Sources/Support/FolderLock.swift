import Glibc

/// Who uses the stores of a folder: many may have them open, one alone may put another file in a store's place.
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

  /// Never waits.
  package static func take(_ kind: Kind, folderOf path: String) -> Outcome {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return .impossible }
    while flock(descriptor, (kind == .alone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      close(descriptor)
      return code == EWOULDBLOCK ? .busy : .impossible
    }
    return .locked(FolderLock(descriptor))
  }
}
