import Glibc

/// What is done to files beside SQLite's own work. Paths are absolute. Folders and files are for their owner alone.
/// Functions that fail throw ``FileError``.
package enum FileSystem {
  /// Creates a folder with all that lead to it.
  package static func makeDirectory(_ path: String) throws {
    var built = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      built += "/" + part
      guard mkdir(built, 0o700) != 0, errno != EEXIST, errno != EISDIR else { continue }
      throw failure("create folder", built)
    }
    var info = stat()
    guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
      throw FileError("\(path) is not a folder")
    }
  }

  /// Names in a folder, without the two dots; none when there is no such folder.
  package static func entries(of directory: String) throws -> [String] {
    guard let handle = opendir(directory) else { return [] }
    defer { closedir(handle) }
    var names: [String] = []
    while let entry = readdir(handle) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// The whole file, nil when it cannot be read.
  package static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return read(descriptor)
  }

  /// All that is left of an open file, nil when it cannot be read.
  package static func read(_ descriptor: Int32) -> [UInt8]? {
    var contents: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return contents }
      contents.append(contentsOf: chunk[..<count])
    }
  }

  /// Replaces a file whole: a reader sees the old or the new contents, never a part. Mode 0600. Of several that write at once,
  /// in this process or in others, one is the last.
  package static func write(_ contents: [UInt8], to path: String) throws {
    var name = Array("\(path).XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw failure("create a file beside", path) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let temporary = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var done = 0
    while done < contents.count {
      let count = contents[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let error = failure("write", temporary)
        close(descriptor)
        unlink(temporary)
        throw error
      }
      done += count
    }
    close(descriptor)
    guard rename(temporary, path) == 0 else {
      let error = failure("replace", path)
      unlink(temporary)
      throw error
    }
  }

  /// Waits until a file, or a folder's list of names, is on the disk.
  package static func sync(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open", path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("sync", path) }
  }

  /// The folder that a file is in, as the path names it: `.` for a bare name.
  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Gives a file the place of another one, for good when this returns.
  package static func replace(_ path: String, with fresh: String) throws {
    guard rename(fresh, path) == 0 else { throw failure("replace", path) }
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try sync(String(path[..<slash])) }
  }

  /// Gives a file or folder another name.
  package static func move(_ path: String, to target: String) throws {
    guard rename(path, target) == 0 else { throw failure("rename", path) }
  }

  /// Removes a folder with everything in it; nothing happens when there is none. Links are removed, not followed.
  package static func removeTree(_ path: String) throws {
    var info = stat()
    guard lstat(path, &info) == 0 else { return }
    if info.st_mode & S_IFMT == S_IFDIR {
      for name in try entries(of: path) { try removeTree(path + "/" + name) }
      guard rmdir(path) == 0 else { throw failure("remove", path) }
    } else {
      guard unlink(path) == 0 else { throw failure("remove", path) }
    }
  }

  static func failure(_ verb: String, _ path: String) -> FileError { FileError(cannot: verb, path) }
}

extension FileSystem {
  /// Whether something stands under this path, readable or not.
  package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}

// MARK: - Damaged files

extension FileSystem {
  /// A lock that other processes see, until it is released or the process ends.
  package struct Lock {
    fileprivate let descriptor: Int32

    package func release() { close(descriptor) }
  }

  /// Waits until no other process holds the lock. The file stays.
  package static func lock(_ path: String) throws -> Lock {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("create", path) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else {
        let error = failure("lock", path)
        close(descriptor)
        throw error
      }
    }
    return Lock(descriptor: descriptor)
  }

  /// The same with a limit. - Returns: nil when another holder keeps the lock for longer than `patienceMs`.
  package static func lock(_ path: String, patienceMs: Int64) throws -> Lock? {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("create", path) }
    let end = SystemClock.monotonicMilliseconds() + patienceMs
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EINTR || (errno == EWOULDBLOCK && SystemClock.monotonicMilliseconds() < end) else {
        let isBusy = errno == EWOULDBLOCK, error = failure("lock", path)
        close(descriptor)
        if isBusy { return nil }
        throw error
      }
      usleep(5_000)
    }
    return Lock(descriptor: descriptor)
  }

  /// Gives a file, and those beside it whose names go on behind its own, the first free name `<path>.damaged-<n>`.
  /// - Returns: The file's new path.
  package static func moveAside(_ path: String, sideFiles: [String]) throws -> String {
    var n = 1
    while ([""] + sideFiles).contains(where: { exists("\(path).damaged-\(n)\($0)") }) { n += 1 }
    let aside = "\(path).damaged-\(n)"
    // The side files first: they hold what the database lacks, and must not meet a new one. They may be all that is left.
    for suffix in sideFiles + [""] where exists(path + suffix) {
      guard rename(path + suffix, aside + suffix) == 0 else { throw failure("rename", path + suffix) }
    }
    return aside
  }
}
