import Dispatch
import Glibc

/// Reads standard input line by line in the background.
enum StandardInput {
  /// The maximum length of a line in bytes. Pasted addresses are shorter.
  private static let longestLine = 65_536

  /// Ends at the end of the input. The reading thread lives until the process ends.
  static func lines() -> AsyncStream<String> {
    // A command in the background cannot read, but the browser may still answer.
    signal(SIGTTIN, SIG_IGN)
    let (lines, continuation) = AsyncStream<String>.makeStream()
    DispatchQueue(label: "tureen.standardInput").async {
      var line: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(STDIN_FILENO, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        for byte in chunk[..<count] {
          guard byte == UInt8(ascii: "\n") else {
            if line.count < longestLine { line.append(byte) }
            continue
          }
          continuation.yield(String(decoding: line, as: UTF8.self))
          line = []
        }
      }
      if !line.isEmpty { continuation.yield(String(decoding: line, as: UTF8.self)) }
      continuation.finish()
    }
    return lines
  }
}
