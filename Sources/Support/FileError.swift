import Glibc

/// Why an operation on a file or folder failed.
package struct FileError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reason, with the path.
  package let message: String

  package init(_ message: String) { self.message = message }

  /// Describes the failure of the last system call (`errno`) on `path`.
  init(cannot verb: String, _ path: String) {
    self.init("cannot \(verb) \(path): \(String(cString: strerror(errno)))")
  }

  package var description: String { message }
}
