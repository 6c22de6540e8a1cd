import Glibc

/// Why something could not be done to a file or folder.
package struct FileError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Names the path and the reason.
  package let message: String

  package init(_ message: String) { self.message = message }

  /// What the last system call said about `path`.
  init(cannot verb: String, _ path: String) {
    self.init("cannot \(verb) \(path): \(String(cString: strerror(errno)))")
  }

  package var description: String { message }
}
