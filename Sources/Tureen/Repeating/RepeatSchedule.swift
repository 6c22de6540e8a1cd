import Support

/// When work that is repeated runs next. No clock: the caller gives the time.
///
/// Regular times are whole intervals after the start, however long a run takes. Those that pass during a run are skipped. After a
/// failure the pauses of ``pausesMs`` take the place of regular times, so that an interval of a minute does not press a server
/// that is down.
package struct RepeatSchedule: Sendable, Equatable {
  /// The first and the longest pause after failures in a row; each is twice the one before. As for jobs.
  package static let pausesMs: ClosedRange<Int64> = 10_000...3_600_000

  private let everyMs: Int64
  private let jitterMs: Int64
  private let startMs: Int64
  private var pauseMs = Self.pausesMs.lowerBound

  /// - Parameters:
  ///   - every: The time between two starts.
  ///   - jitter: How much later a run may start at random; less than `every`.
  ///   - startMs: The time of the first run.
  package init(every: JobInterval, jitter: JobInterval? = nil, from startMs: Int64) {
    everyMs = every.milliseconds
    jitterMs = jitter?.milliseconds ?? 0
    self.startMs = startMs
  }

  /// Returns the time of the next run.
  /// - Parameters:
  ///   - hasFailed: Whether the run that has ended failed in a way that another attempt may mend.
  ///   - nowMs: The time now.
  ///   - random: 0 to 1.
  package mutating func next(hasFailed: Bool, nowMs: Int64, random: Double) -> Int64 {
    guard !hasFailed else {
      defer { pauseMs = min(pauseMs * 2, Self.pausesMs.upperBound) }
      return nowMs + pauseMs
    }
    pauseMs = Self.pausesMs.lowerBound
    let passed = max(0, nowMs - startMs) / everyMs
    return startMs + (passed + 1) * everyMs + Int64(saturating: Double(jitterMs) * random)
  }
}
