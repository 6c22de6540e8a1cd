import Glibc

/// A file that is being made: it has another name until it is complete, so that no reader sees a part of it.
///
/// A lock, which ends with the process, tells it from one that was abandoned. SQLite may keep files beside it.
package final class UnfinishedFile {
  /// The name it has until then.
  package let path: String
  private let target: String
  private let descriptor: Int32

  private static let suffix = ".new-", sideFiles = ["", "-wal", "-shm", "-journal"]

  /// Makes an empty file, mode 0600.
  /// - Parameter target: The name it gets in the end.
  package init(of target: String) throws {
    self.target = target
    while true {
      var name = Array("\(target)\(UnfinishedFile.suffix)XXXXXX".utf8CString)
      let made = mkstemp(&name)
      guard made >= 0 else { throw FileError(cannot: "create", target) }
      _ = fcntl(made, F_SETFD, FD_CLOEXEC)
      if UnfinishedFile.claims(made) {
        descriptor = made
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return
      }
      close(made)
    }
  }

  /// Locks a file that was just made. False when another process took it for an abandoned one before, and has removed it.
  private static func claims(_ descriptor: Int32) -> Bool {
    var info = stat()
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &info) == 0 && info.st_nlink > 0
  }

  deinit { close(descriptor) }

  /// Gives it its name, for good when this returns; nothing happens when another file has got that meanwhile.
  package func publish() throws {
    if link(path, target) != 0, errno != EEXIST {
      // A file system without hard links: there, two that come at the same moment are not told apart.
      guard !FileSystem.exists(target) else { return }
      guard rename(path, target) == 0 else { throw FileError(cannot: "create", target) }
    }
    if let slash = target.lastIndex(of: "/"), slash > target.startIndex { try FileSystem.sync(String(target[..<slash])) }
  }

  /// Takes away the name it had, and what SQLite has left beside it.
  package func remove() { for suffix in UnfinishedFile.sideFiles { unlink(path + suffix) } }

  /// Removes the files of processes that died while they made this one.
  package static func removeAbandoned(of target: String) throws {
    guard let slash = target.lastIndex(of: "/") else { return }
    let folder = String(target[..<slash]), start = target[target.index(after: slash)...] + suffix
    // Six letters behind: side files go with their file.
    for name in try FileSystem.entries(of: folder) where name.hasPrefix(start) && name.utf8.count == start.utf8.count + 6 {
      let descriptor = open(folder + "/" + name, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { for suffix in sideFiles { unlink("\(folder)/\(name)\(suffix)") } }
      close(descriptor)
    }
  }
}
