import Glibc

/// A file under construction. It has a temporary name until it is complete, so that no reader sees
/// a part of it.
///
/// A lock that ends with the process distinguishes it from an abandoned file. SQLite may create
/// files next to it.
package final class UnfinishedFile {
  /// The temporary path.
  package let path: String
  private let target: String
  private let descriptor: Int32

  private static let suffix = ".new-", sideFiles = ["", "-wal", "-shm", "-journal"]

  /// Creates an empty file with mode 0600.
  /// - Parameter target: The final path.
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

  /// Locks a new file. Returns false if another process mistook it for an abandoned file and
  /// removed it.
  private static func claims(_ descriptor: Int32) -> Bool {
    var info = stat()
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &info) == 0 && info.st_nlink > 0
  }

  deinit { close(descriptor) }

  /// Gives the file its final name. The change is durable when this returns. Does nothing if
  /// another file has taken the name meanwhile.
  package func publish() throws {
    if link(path, target) != 0, errno != EEXIST {
      // The file system has no hard links. Here, two processes that publish at the same moment do
      // not notice each other.
      guard !FileSystem.exists(target) else { return }
      guard rename(path, target) == 0 else { throw FileError(cannot: "create", target) }
    }
    if let slash = target.lastIndex(of: "/"), slash > target.startIndex { try FileSystem.sync(String(target[..<slash])) }
  }

  /// Removes the temporary name and the files that SQLite left next to it.
  package func remove() { for suffix in UnfinishedFile.sideFiles { unlink(path + suffix) } }

  /// Removes the files of processes that died before they published this target.
  package static func removeAbandoned(of target: String) throws {
    guard let slash = target.lastIndex(of: "/") else { return }
    let folder = String(target[..<slash]), start = target[target.index(after: slash)...] + suffix
    // The name ends in six random letters. Side files, whose names are longer, go with their file.
    for name in try FileSystem.entries(of: folder) where name.hasPrefix(start) && name.utf8.count == start.utf8.count + 6 {
      let descriptor = open(folder + "/" + name, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { for suffix in sideFiles { unlink("\(folder)/\(name)\(suffix)") } }
      close(descriptor)
    }
  }
}
