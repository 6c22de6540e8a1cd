import Glibc
import SmartStore
import Support

/// The lines of earlier prompts, in a file under the home that only its owner can read.
struct History {
  private let home: String
  private var path: String { home + "/repl_history" }
  /// Lines to offer. The file is cut to as many when it has twice as many.
  private static let limit = 1000

  init(home: String) { self.home = home }

  /// The newest lines, oldest first.
  func load() -> [String] {
    let lines = String(decoding: FileSystem.read(path) ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
    let newest = Array(lines.suffix(Self.limit))
    if lines.count > 2 * Self.limit {
      try? FileSystem.write(Array((newest.joined(separator: "\n") + "\n").utf8), to: path)
    }
    return newest
  }

  /// Adds a line. A history that cannot be written is not an error.
  func append(_ line: String) {
    try? FileSystem.makeDirectory(home)
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    fchmod(file, 0o600)
    write(line + "\n", to: file)
  }
}
