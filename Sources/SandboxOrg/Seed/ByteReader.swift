import Glibc

/// Reads a file byte by byte and tracks the line. Holds one chunk in memory.
final class ByteReader {
  let name: String
  /// The line of the next byte, from 1.
  private(set) var line = 1
  private let descriptor: Int32
  private var chunk: [UInt8]
  private var index = 0, count = 0

  private static let chunkBytes = 1 << 18

  /// - Throws: ``SandboxError`` `INVALID_SEED_FILE` if the file cannot be opened.
  init(path: String) throws(SandboxError) {
    name = path.split(separator: "/").last.map(String.init) ?? path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
    guard descriptor >= 0 else { throw SeedError.file(path, "cannot be read: \(String(cString: strerror(errno)))") }
    // Skip a byte order mark.
    if try peek() == 0xEF {
      for byte: UInt8 in [0xEF, 0xBB, 0xBF] {
        guard try take() == byte else { throw failure("is not UTF-8 text") }
      }
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Returns the next byte without consuming it; nil at the end.
  func peek() throws(SandboxError) -> UInt8? {
    if index < count { return chunk[index] }
    var got = 0
    repeat {
      got = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    } while got < 0 && errno == EINTR
    guard got >= 0 else { throw SeedError.file(name, "cannot be read: \(String(cString: strerror(errno)))") }
    index = 0
    count = got
    return got > 0 ? chunk[0] : nil
  }

  func take() throws(SandboxError) -> UInt8? {
    guard let byte = try peek() else { return nil }
    index += 1
    if byte == UInt8(ascii: "\n") { line += 1 }
    return byte
  }

  func failure(_ message: String, line: Int? = nil) -> SandboxError { SeedError.at(name, line ?? self.line, message) }
}

/// Errors in seed files, with file and line.
enum SeedError {
  static func file(_ name: String, _ message: String) -> SandboxError {
    SandboxError(status: 0, code: "INVALID_SEED_FILE", message: "\(name): \(message)")
  }

  static func at(_ name: String, _ line: Int, _ message: String) -> SandboxError { file("\(name):\(line)", message) }
}
