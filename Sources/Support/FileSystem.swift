import Glibc

/// File operations outside of SQLite. Paths are absolute. New folders and files are accessible to
/// their owner only.
/// Functions that fail throw ``FileError``.
package enum FileSystem {
  /// Creates a folder and its missing parents.
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

  /// Returns the names in a folder without `.` and `..`; an empty array if the folder does not
  /// exist. A folder that may not be read is an error, as it is not known to be empty.
  package static func entries(of directory: String) throws -> [String] {
    guard let handle = opendir(directory) else {
      guard errno == ENOENT || errno == ENOTDIR else { throw failure("read folder", directory) }
      return []
    }
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

  /// The most bytes of a file that is read as a whole. No settings, keys or scripts are that large.
  package static let mostBytes = 64 << 20

  /// Reads a whole file; returns nil if it cannot be read, and sets `errno`: `EFBIG` for a file that
  /// is too large.
  ///
  /// A named pipe that no program writes to is empty.
  package static func read(_ path: String, most: Int = mostBytes) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    let contents = read(descriptor, most: most), failure = errno
    close(descriptor)
    errno = failure
    return contents
  }

  /// Reads the rest of an open file; returns nil if that fails, and sets `errno`.
  package static func read(_ descriptor: Int32, most: Int = mostBytes) -> [UInt8]? {
    var contents: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&event, 1, -1)
        continue
      }
      guard count >= 0 else { return nil }
      if count == 0 { return contents }
      guard contents.count + count <= most else {
        errno = EFBIG
        return nil
      }
      contents.append(contentsOf: chunk[..<count])
    }
  }

  /// Replaces a file atomically: readers see the old or the new contents, never a mixture. The mode
  /// is 0600. If several writers, in this process or others, write at once, the last one wins.
  package static func write(_ contents: [UInt8], to path: String) throws {
    var name = Array("\(path).XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw failure("create a temporary file next to", path) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let temporary = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard write(contents, to: descriptor) == contents.count else {
      let error = failure("write", temporary)
      close(descriptor)
      unlink(temporary)
      throw error
    }
    close(descriptor)
    guard rename(temporary, path) == 0 else {
      let error = failure("replace", path)
      unlink(temporary)
      throw error
    }
  }

  /// Writes to an open file, however many calls of the system that takes.
  /// - Returns: The number of bytes written; if it is less than all, `errno` says why.
  @discardableResult
  package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      done += count
    }
    return done
  }

  /// Waits until a file, or a folder's list of names, has reached the disk.
  package static func sync(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open", path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("sync", path) }
  }

  /// Returns the folder part of a path; `.` for a bare name.
  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Replaces a file with another one. The replacement is durable when this returns.
  package static func replace(_ path: String, with fresh: String) throws {
    guard rename(fresh, path) == 0 else { throw failure("replace", path) }
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try sync(String(path[..<slash])) }
  }

  /// Renames a file or folder.
  package static func move(_ path: String, to target: String) throws {
    guard rename(path, target) == 0 else { throw failure("rename", path) }
  }

  /// Removes a file, or a folder with everything in it. Does nothing if the path does not exist.
  /// Removes symbolic links instead of following them.
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
  /// - Throws: ``FileError`` if it is a folder whose files this process may not reach.
  package static func checkSearchable(_ path: String) throws {
    guard access(path + "/.", F_OK) != 0, errno == EACCES else { return }
    throw failure("read folder", path)
  }

  /// Returns whether a file or folder of this path exists, readable or not.
  package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}

// MARK: - Damaged files

extension FileSystem {
  /// A lock that excludes other processes until it is released or this process ends.
  package struct Lock {
    fileprivate let descriptor: Int32

    package func release() { close(descriptor) }
  }

  /// Waits until no other process holds the lock, then takes it. The lock file is never removed.
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

  /// Like ``lock(_:)``, but returns nil if another holder keeps the lock for longer than
  /// `patienceMs`.
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

  /// Renames a file, and the side files next to it, to the first free name `<path>.damaged-<n>`.
  /// - Returns: The file's new path.
  package static func moveAside(_ path: String, sideFiles: [String]) throws -> String {
    var n = 1
    while ([""] + sideFiles).contains(where: { exists("\(path).damaged-\(n)\($0)") }) { n += 1 }
    let aside = "\(path).damaged-\(n)"
    // The side files go first: they hold data that the database lacks, and a new database must not
    // find them. The database itself may be missing.
    for suffix in sideFiles + [""] where exists(path + suffix) {
      guard rename(path + suffix, aside + suffix) == 0 else { throw failure("rename", path + suffix) }
    }
    return aside
  }
}
