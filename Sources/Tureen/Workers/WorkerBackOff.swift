import Support

/// The pauses between attempts to reach a database: each twice as long as the one before, up to a limit.
struct WorkerBackOff: Equatable {
  private let firstMs: Int64
  private var pauseMs: Int64

  init(firstMs: Int64) {
    self.firstMs = firstMs
    pauseMs = firstMs
  }

  /// Returns the next pause, up to a quarter shorter, so that workers do not come back together.
  /// - Parameter random: 0 to 1.
  mutating func next(random: Double) -> Int64 {
    defer { pauseMs = min(pauseMs * 2, Tuning.longestDatabasePauseMs) }
    return pauseMs - Int64(saturating: Double(pauseMs) / 4 * random)
  }

  mutating func reset() { pauseMs = firstMs }
}
