import Glibc
import JSON
import Logging
import Support

/// Reads and replaces the file of a token or session, holding a lock against other processes.
/// Blocks, so call it off the cooperative pool.
package final class TokenFile: @unchecked Sendable {  // used by one renewal at a time
  /// The file, such as `session.json`; its lock is `session.lock` in the same folder.
  package let path: String
  private let lockPath: String
  private var lock: Int32
  private var temporary: Int32?

  /// Bytes reserved before a token is requested, more than a session needs: a full disk must not
  /// cost a new token.
  private static let reserved = 64 * 1024
  /// Milliseconds between two attempts to take the lock.
  private static let lookEveryMs: UInt32 = 20
  /// Attempts during which the holder is stopped before the wait ends, two seconds: a debugger or a shell may continue it.
  private static let looksAtStopped = 100

  /// Takes the lock, blocking the thread while another process holds it.
  ///
  /// - Parameters:
  ///   - name: The file's name without its extension.
  ///   - patienceMs: The longest wait in milliseconds.
  /// - Throws: ``RestError`` `.signInBusy` if another process holds the lock for longer;
  ///   `FileError` if the folder is not usable.
  package convenience init(folder: String, name: String = "session", patienceMs: Int64) throws {
    try self.init(unlocked: folder, name)
    var wait = Wait(patienceMs)
    while try !isLocked() {
      if let problem = problem(&wait) { throw problem }
      usleep(Self.lookEveryMs * 1_000)
    }
  }

  /// How long this process has waited for the lock.
  private struct Wait {
    let end: Int64
    /// Attempts in a row before which the holder was stopped.
    var stops = 0

    init(_ patienceMs: Int64) { end = SystemClock.monotonicMilliseconds() + patienceMs }
  }

  /// Takes the lock without blocking a thread. Throws ``RestError`` `.cancelled` if the task is
  /// cancelled.
  package static func locked(folder: String, name: String = "session", patienceMs: Int64) async throws -> TokenFile {
    let file = try TokenFile(unlocked: folder, name)
    var wait = Wait(patienceMs)
    while try !file.isLocked() {
      if let problem = file.problem(&wait) { throw problem }
      do {
        try await Task.sleep(nanoseconds: UInt64(lookEveryMs) * 1_000_000)
      } catch {
        throw RestError.cancelled(outcome: .notSent)
      }
    }
    return file
  }

  private init(unlocked folder: String, _ name: String) throws {
    try FileSystem.makeDirectory(folder)
    path = "\(folder)/\(name).json"
    lockPath = "\(folder)/\(name).lock"
    lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { throw FileError("cannot create \(lockPath): \(String(cString: strerror(errno)))") }
  }

  private func isLocked() throws -> Bool {
    if flock(lock, LOCK_EX | LOCK_NB) == 0 {
      LockHolder.sign(lock)
      return true
    }
    guard errno == EWOULDBLOCK || errno == EINTR else {
      throw FileError("cannot lock \(lockPath): \(String(cString: strerror(errno)))")
    }
    return false
  }

  /// Returns why the wait ends without the lock: it was too long, or the holder is stopped and stays so.
  private func problem(_ wait: inout Wait) -> RestError? {
    let holder = LockHolder(lock), isLate = SystemClock.monotonicMilliseconds() >= wait.end
    wait.stops = holder?.isStopped == true ? wait.stops + 1 : 0
    let isStopped = wait.stops >= Self.looksAtStopped
    guard isLate || isStopped else { return nil }
    let name = holder?.name ?? "another process"
    let what = isStopped ? "\(name) is signing in and is stopped" : "\(name) has been signing in for too long"
    let remedy = holder.map { "; " + $0.remedy(isStopped: isStopped) } ?? ""
    return RestError(code: .signInBusy, message: "\(what): it holds \(lockPath)\(remedy)", outcome: .notSent)
  }

  deinit { release() }

  /// Releases the lock. The file must not be written after that.
  package func release() {
    discard()
    guard lock >= 0 else { return }
    close(lock)
    lock = -1
  }

  func read() throws -> StoredToken? { try readJSON().flatMap { StoredToken(json: $0) } }

  /// Returns nil if the file is missing or not JSON, which the caller treats alike.
  package func readJSON() throws -> JSONValue? { try Self.readJSON(path) }

  /// Reads a file without the lock, which is safe because writers replace the file atomically. If
  /// other users can access it, restricts its mode to 0600 and logs a warning.
  ///
  /// - Throws: `FileError` for a file that belongs to another user.
  package static func readJSON(_ path: String, logger: Logger = Logger.tureen("rest")) throws -> JSONValue? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard errno == ENOENT || errno == ENOTDIR else {
        throw FileError("cannot read \(path): \(String(cString: strerror(errno)))")
      }
      return nil
    }
    defer { close(descriptor) }
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
      throw FileError("\(path) is not a regular file; remove it")
    }
    guard info.st_uid == geteuid() else {
      throw FileError("\(path) belongs to another user (id \(info.st_uid)); remove it, or choose a home of your own")
    }
    if info.st_mode & 0o077 != 0 {
      let mode = String(info.st_mode & 0o777, radix: 8)
      let isNarrow = fchmod(descriptor, 0o600) == 0
      let remedy = isNarrow ? "it is 600 now" : "make it private: chmod 600"
      logger.warning("\(path) could be read or written by others (mode \(mode)); \(remedy)")
    }
    guard let text = FileSystem.read(descriptor) else {
      throw FileError("cannot read \(path): \(String(cString: strerror(errno)))")
    }
    return try? JSONValue(parsing: text)
  }

  // MARK: Writing

  /// A process that dies leaves this unfinished file behind; the next one replaces it.
  private var temporaryPath: String { path + ".new" }

  /// Allocates the disk space that ``write(_:)`` needs.
  package func reserve() throws {
    guard temporary == nil else { return }
    guard lock >= 0 else { throw FileError("cannot write \(path): its lock has been released") }
    unlink(temporaryPath)
    let descriptor = open(temporaryPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("create a file next to") }
    temporary = descriptor
    let zeros = [UInt8](repeating: 0, count: Self.reserved)
    guard fchmod(descriptor, 0o600) == 0, Self.write(zeros, to: descriptor), fsync(descriptor) == 0 else {
      throw discarded("write")
    }
  }

  func write(_ token: StoredToken) throws { try write(token.json) }

  /// Replaces the file durably.
  package func write(_ json: JSONValue) throws {
    try reserve()
    guard let descriptor = temporary else { return }
    let bytes = json.serialized()
    guard Self.write(bytes, to: descriptor), ftruncate(descriptor, bytes.count) == 0, fsync(descriptor) == 0,
      rename(temporaryPath, path) == 0
    else { throw discarded("write") }
    close(descriptor)
    temporary = nil
    try? FileSystem.sync(FileSystem.folder(of: path))
  }

  /// Removes the file, if it exists.
  package func erase() throws {
    guard unlink(path) == 0 || errno == ENOENT else { throw failure("remove") }
    try? FileSystem.sync(FileSystem.folder(of: path))
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(done)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  private func failure(_ verb: String) -> FileError { FileError("cannot \(verb) \(path): \(String(cString: strerror(errno)))") }

  private func discarded(_ verb: String) -> FileError {
    let error = failure(verb)
    discard()
    return error
  }

  private func discard() {
    guard let descriptor = temporary else { return }
    close(descriptor)
    unlink(temporaryPath)
    temporary = nil
  }
}
