import Glibc
import Support
import Tureen

/// A file of records that is read twice: to check it, then to store its records. An input that cannot be read twice,
/// such as a pipe, is first copied to a file without a name.
final class InputFile {
  /// Its name in messages.
  let name: String
  private let descriptor: Int32

  private static let chunk = 1 << 16

  /// - Parameter path: `-` is standard input.
  /// - Throws: ``CommandFailure``.
  init(_ path: String) throws {
    let isStandardInput = path == "-"
    name = isStandardInput ? "standard input" : path
    let opened = isStandardInput ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    var info = stat()
    guard opened >= 0, fstat(opened, &info) == 0 else { throw Self.failure("\(name) cannot be read") }
    if info.st_mode & S_IFMT == S_IFDIR {
      close(opened)
      throw CommandFailure("\(name) is a folder; name a file", status: ExitStatus.fileNotFound)
    }
    if info.st_mode & S_IFMT == S_IFREG {
      descriptor = opened
      return
    }
    defer { close(opened) }
    descriptor = try Self.copy(opened, name)
  }

  deinit { close(descriptor) }

  private static func copy(_ source: Int32, _ name: String) throws -> Int32 {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(folder)/tureen-import-XXXXXX".utf8CString)
    let made = mkstemp(&template)
    guard made >= 0 else { throw failure("\(name) cannot be copied to \(folder)") }
    unlink(template)
    while true {
      let bytes = try read(source, name)
      if bytes.isEmpty { return made }
      guard FileSystem.write(bytes, to: made) == bytes.count else {
        defer { close(made) }
        throw failure("a copy of \(name) cannot be written in \(folder)")
      }
    }
  }

  /// Returns the bytes from the beginning.
  func reader() -> ByteReader {
    lseek(descriptor, 0, SEEK_SET)
    return ByteReader { [descriptor, name] in try Self.read(descriptor, name) }
  }

  private static func read(_ descriptor: Int32, _ name: String) throws -> [UInt8] {
    while true {
      var failed: Int32 = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: chunk) { buffer, count in
        let found = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        failed = found < 0 ? errno : 0
        count = max(0, found)
      }
      if failed == 0 { return bytes }
      if failed != EINTR { throw failure("\(name) cannot be read") }
    }
  }

  private static func failure(_ what: String) -> CommandFailure {
    CommandFailure("\(what): \(String(cString: strerror(errno)))", status: ExitStatus.fileNotFound)
  }
}
