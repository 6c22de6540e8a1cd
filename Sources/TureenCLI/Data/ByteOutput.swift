import Glibc
import Support

/// The output of a command: standard output, or a file that appears when it is complete.
final class ByteOutput {
  enum Failure: Error {
    /// The reader of a pipe, such as `head`, has closed it.
    case noReader
    /// The message for the user.
    case failed(String)
  }

  private static let chunk = 1 << 16

  private let descriptor: Int32
  private let name: String
  private var file: (temporary: String, path: String)?
  private var buffer: [UInt8] = []

  /// Standard output.
  init() {
    descriptor = STDOUT_FILENO
    name = "standard output"
  }

  /// A file that replaces `path` in ``finish()`` and is invisible until then. It gets the mode of the file that it replaces.
  /// - Throws: ``Failure`` `.failed`.
  init(replacing path: String) throws {
    var info = stat()
    let exists = stat(path, &info) == 0
    guard !exists || info.st_mode & S_IFMT == S_IFREG else { throw Failure.failed("\(path) is not a regular file") }
    var template = Array("\(path).XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw Failure.failed("\(path) cannot be written: \(String(cString: strerror(errno)))") }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let mask = umask(0)
    umask(mask)
    _ = fchmod(descriptor, exists ? info.st_mode & 0o777 : 0o666 & ~mask)
    name = path
    file = (String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self), path)
  }

  deinit {
    guard let file else { return }
    close(descriptor)
    unlink(file.temporary)
  }

  /// - Throws: ``Failure``.
  func write(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= Self.chunk { try flush() }
  }

  func write(_ text: String) throws { try write(Array(text.utf8)) }

  /// - Throws: ``Failure``.
  func flush() throws {
    let done = FileSystem.write(buffer, to: descriptor)
    defer { buffer.removeFirst(done) }
    guard done < buffer.count else { return }
    if errno == EPIPE, file == nil { throw Failure.noReader }
    throw failure
  }

  /// Writes the remaining bytes, and gives a file its name.
  /// - Throws: ``Failure``. An existing file is then unchanged.
  func finish() throws {
    try flush()
    guard let file else { return }
    guard fsync(descriptor) == 0, rename(file.temporary, file.path) == 0 else { throw failure }
    self.file = nil
    close(descriptor)
    try? FileSystem.sync(FileSystem.folder(of: file.path))
  }

  private var failure: Failure { .failed("\(name) cannot be written: \(String(cString: strerror(errno)))") }
}
