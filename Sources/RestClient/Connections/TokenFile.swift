import Glibc
import JSON
import Support

/// What is kept of a connection's OAuth token, mode 0600, shared by all processes of a home.
struct KeptToken: Sendable, Equatable {
  struct Refusal: Sendable, Equatable {
    let reason: String
    let message: String
    /// Seconds since 1970; nil stands until the credentials change.
    let until: Double?
    let count: Int
  }

  /// A salted digest of the credentials it was got with: others get another token.
  var key: String
  var salt: String
  var accessToken: String?
  /// Seconds since 1970: when it is renewed ahead of its end; nil when the server did not say how long it lives.
  var renewAt: Double?
  var refusal: Refusal?

  var json: JSONValue {
    var object: JSONObject = ["version": 1, "key": .string(key), "salt": .string(salt)]
    object["accessToken"] = accessToken.map { .string($0) }
    object["renewAt"] = renewAt.map { .number($0) }
    object["refused"] = refusal.map { refusal in
      var entry: JSONObject = [
        "reason": .string(refusal.reason), "message": .string(refusal.message), "count": .integer(Int64(refusal.count)),
      ]
      entry["until"] = refusal.until.map { .number($0) }
      return .object(entry)
    }
    return .object(object)
  }

  init(key: String, salt: String) {
    self.key = key
    self.salt = salt
  }

  /// Nil for anything else: such a file is as good as none.
  init?(json: JSONValue) {
    guard json["version"]?.integerValue == 1, let key = json["key"]?.stringValue, let salt = json["salt"]?.stringValue else {
      return nil
    }
    self.init(key: key, salt: salt)
    accessToken = json["accessToken"]?.stringValue
    renewAt = json["renewAt"]?.doubleValue
    if let entry = json["refused"], let reason = entry["reason"]?.stringValue, let message = entry["message"]?.stringValue {
      refusal = Refusal(
        reason: reason, message: message, until: entry["until"]?.doubleValue, count: Int(entry["count"]?.integerValue ?? 1))
    }
  }
}

/// The file of a kept token or session, while no other process changes it. Blocks; called off the cooperative pool.
final class TokenFile: @unchecked Sendable {  // used by one renewal at a time
  private let path: String
  private let lock: Int32
  private var temporary: (path: String, descriptor: Int32)?

  /// Bytes set aside before a token is asked for: none must be lost to a full disk.
  private static let reserved = 32 * 1024

  /// Waits for other processes.
  /// - Parameter name: Of the file, without its ending.
  /// - Throws: ``RestError`` `.signInBusy` when one takes too long; `FileError` when the folder cannot be used.
  init(folder: String, name: String = "session", patienceMs: Int64) throws {
    try FileSystem.makeDirectory(folder)
    path = "\(folder)/\(name).json"
    let lockPath = "\(folder)/\(name).lock"
    lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw FileError("cannot create \(lockPath): \(String(cString: strerror(errno)))") }
    let end = SystemClock.monotonicMilliseconds() + patienceMs
    while flock(lock, LOCK_EX | LOCK_NB) != 0 {
      guard SystemClock.monotonicMilliseconds() < end else {
        close(lock)
        throw RestError(
          code: .signInBusy, message: "another process has been signing in for too long: it holds \(lockPath)",
          outcome: .notSent)
      }
      usleep(20_000)
    }
  }

  deinit {
    discard()
    close(lock)
  }

  func read() throws -> KeptToken? { try readJSON().flatMap { KeptToken(json: $0) } }

  /// nil for a file that is not there or not JSON: it is as good as none.
  func readJSON() throws -> JSONValue? { try Self.readJSON(path) }

  /// Without waiting for the process that changes it: the file is replaced whole.
  static func readJSON(_ path: String) throws -> JSONValue? {
    guard let text = FileSystem.read(path) else { return nil }
    var info = stat()
    if stat(path, &info) == 0 {
      guard info.st_uid == geteuid() else { throw FileError("\(path) belongs to another user; remove it") }
      if info.st_mode & 0o077 != 0 { chmod(path, 0o600) }
    }
    return try? JSONValue(parsing: text)
  }

  /// Makes sure that there is room for what ``write(_:)`` will write.
  func reserve() throws {
    var name = Array("\(path).XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    let made = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard descriptor >= 0 else { throw FileError("cannot create a file beside \(path): \(String(cString: strerror(errno)))") }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    temporary = (made, descriptor)
    let zeros = [UInt8](repeating: 0, count: Self.reserved)
    guard pwrite(descriptor, zeros, zeros.count, 0) == zeros.count, fsync(descriptor) == 0 else {
      let reason = String(cString: strerror(errno))
      discard()
      throw FileError("cannot write \(path): \(reason)")
    }
  }

  func write(_ token: KeptToken) throws { try write(token.json) }

  func write(_ json: JSONValue) throws {
    if temporary == nil { try reserve() }
    guard let (made, descriptor) = temporary else { return }
    let bytes = json.serialized()
    guard bytes.count <= Self.reserved, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count,
      ftruncate(descriptor, bytes.count) == 0, fsync(descriptor) == 0, rename(made, path) == 0
    else {
      let reason = String(cString: strerror(errno))
      discard()
      throw FileError("cannot write \(path): \(reason)")
    }
    close(descriptor)
    temporary = nil
  }

  private func discard() {
    guard let (made, descriptor) = temporary else { return }
    close(descriptor)
    unlink(made)
    temporary = nil
  }
}
