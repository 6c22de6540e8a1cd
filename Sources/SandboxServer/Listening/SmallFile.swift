import Glibc

/// Reads files that people write by hand, whole and up to a limit.
package enum SmallFile {
  package struct Unreadable: Error { package let reason: String }

  /// Reads a file. Blocks.
  package static func read(_ path: String, upTo limit: Int) throws(Unreadable) -> [UInt8] {
    guard let file = fopen(path, "re") else { throw Unreadable(reason: String(cString: strerror(errno))) }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    let count = fread(&bytes, 1, bytes.count, file)
    guard ferror(file) == 0 else { throw Unreadable(reason: "it cannot be read") }
    guard count <= limit else { throw Unreadable(reason: "it is larger than \(limit) bytes") }
    return Array(bytes[..<count])
  }
}
