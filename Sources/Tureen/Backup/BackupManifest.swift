import Glibc
import JSON
import SmartStore
import Support

/// `backup.json`: what a backup holds, so that a damaged one is noticed before it replaces anything.
struct BackupManifest: Sendable, Equatable {
  static let fileName = "backup.json"
  private static let format = "tureen-backup/1"

  struct File: Sendable, Equatable {
    /// Relative to the backup, as in the home.
    let path: String
    let bytes: Int64
    let digest: String
  }

  /// Ms since 1970 UTC.
  let madeAt: Int64
  private(set) var files: [File]

  init(madeAt: Int64, files: [File]) {
    self.madeAt = madeAt
    self.files = files
  }

  var json: JSONValue {
    [
      "format": .string(Self.format), "madeAt": .integer(madeAt), "version": .string(Tureen.version),
      "files": .array(
        files.map { ["path": .string($0.path), "bytes": .integer($0.bytes), "digest": .string($0.digest)] }),
    ]
  }

  /// Reads and checks the manifest of a backup.
  /// - Throws: ``SmartStore/StoreError`` `.cannotOpenStore`, `.notADatabase`.
  init(readingFrom folder: String) throws {
    let path = "\(folder)/\(Self.fileName)"
    guard let text = FileSystem.read(path) else {
      let why = errno == ENOENT ? "" : " (\(String(cString: strerror(errno))))"
      throw StoreError(
        .cannotOpenStore, "\(folder) is not a backup of stores: it has no \(Self.fileName)\(why). tureen store backup makes one")
    }
    func damaged(_ what: String) -> StoreError { StoreError(.notADatabase, "\(path) is damaged: \(what)") }
    guard let value = try? JSONValue(parsing: text), let format = value["format"]?.stringValue else {
      throw damaged("it is not valid JSON with a format")
    }
    guard format == Self.format else {
      throw StoreError(.newerSchema, "\(path) has the format '\(format)', which this version of Tureen does not know")
    }
    guard let time = value["madeAt"]?.integerValue, let list = value["files"]?.arrayValue else {
      throw damaged("'madeAt' or 'files' is missing")
    }
    madeAt = time
    files = []
    for file in list {
      guard let path = file["path"]?.stringValue, let bytes = file["bytes"]?.integerValue,
        let digest = file["digest"]?.stringValue
      else { throw damaged("a file has no path, size or digest") }
      guard BackupPath(path) != nil else { throw damaged("'\(path)' is not a path of a home") }
      files.append(File(path: path, bytes: bytes, digest: digest))
    }
  }
}

/// A path that a backup may hold. Others would lead elsewhere, or bring settings that a backup does not have.
enum BackupPath: Equatable {
  /// `orgs.json`, or the `org.json` of an org.
  case org(String)
  /// A file of a store in this folder.
  case store(folder: String, file: String)

  init?(_ path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.allSatisfy(Self.isName) else { return nil }
    switch parts.count {
    case 1 where path == "orgs.json": self = .org(path)
    case 3 where parts[0] == "orgs" && parts[2] == "org.json": self = .org(path)
    case 6 where parts[0] == "orgs" && parts[3] == "stores": self.init(store: parts)
    case 4 where parts[0] == "global" && parts[1] == "stores": self.init(store: parts)
    default: return nil
    }
  }

  private init?(store parts: [String]) {
    guard let file = parts.last, ["name", "store.sqlite"].contains(file) else { return nil }
    self = .store(folder: parts.dropLast().joined(separator: "/"), file: file)
  }

  /// The encoded names of folders, those that were set aside, and the files.
  private static func isName(_ part: String) -> Bool {
    !part.isEmpty && !part.hasPrefix(".")
      && part.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_%~.".utf8.contains($0) }
  }
}

/// Copies files and computes their digests without holding them in memory.
enum DigestedFile {
  private static let block = 1 << 20

  /// - Parameter onBlock: Called with each block of the file.
  /// - Returns: The size and the digest: the SHA-256 of the SHA-256 of each MiB.
  static func read(_ path: String, onBlock: ([UInt8]) throws -> Void = { _ in }) throws -> (bytes: Int64, digest: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw failure("open", path) }
    defer { close(descriptor) }
    var digests: [UInt8] = [], bytes: Int64 = 0
    while true {
      let next = try fill(descriptor, path)
      guard !next.isEmpty else { break }
      try onBlock(next)
      digests += try Digest.sha256(next)
      bytes += Int64(next.count)
    }
    return (bytes, "sha256-1M:" + Digest.hex(try Digest.sha256(digests)))
  }

  /// Copies a file; the copy has reached the disk when this returns.
  static func copy(
    _ path: String, to target: String, onBlock: (Int) throws -> Void = { _ in }
  ) throws -> (bytes: Int64, digest: String) {
    let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("create", target) }
    defer { close(descriptor) }
    let result = try read(path) { bytes in
      guard FileSystem.write(bytes, to: descriptor) == bytes.count else { throw failure("write", target) }
      try onBlock(bytes.count)
    }
    guard fsync(descriptor) == 0 else { throw failure("write", target) }
    return result
  }

  private static func fill(_ descriptor: Int32, _ path: String) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: block), filled = 0
    while filled < block {
      let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress.map { $0 + filled }, block - filled) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("read", path) }
      if count == 0 { break }
      filled += count
    }
    return Array(bytes.prefix(filled))
  }

  static func failure(_ verb: String, _ path: String) -> HostError {
    HostError(.fileNotWritable, "cannot \(verb) \(path): \(String(cString: strerror(errno)))")
  }
}
