import Glibc

/// Starts programs whose file is open for writing for a moment: while it is updated, or while a process that has written it
/// starts another one, which holds its descriptors until it becomes that program.
enum BusyProgram {
  /// Attempts, and microseconds between them.
  private static let attempts = 500, pause: UInt32 = 10_000

  /// Calls `start` again as long as the file is busy, for about five seconds.
  /// - Parameter start: Returns 0 or an `errno`.
  /// - Returns: The last result.
  static func start(_ start: () -> Int32) -> Int32 {
    for _ in 1..<attempts {
      let code = start()
      guard code == ETXTBSY else { return code }
      usleep(pause)
    }
    return start()
  }
}
