import Dispatch
import Glibc

/// Standard input, read line by line while something else goes on.
enum StandardInput {
  /// Bytes of the longest line; a longer one is nothing that a person pastes.
  private static let longestLine = 65_536

  /// Ends with the input. The thread that reads ends with the process.
  static func lines() -> AsyncStream<String> {
    // A command in the background reads nothing and goes on: the browser may answer.
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
