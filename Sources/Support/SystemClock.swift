import Glibc

/// The machine's clocks. Code that tests run with a manual clock takes a closure instead, with one
/// of these as its default.
package enum SystemClock {
  package static func millisecondsSince1970() -> Int64 { milliseconds(read(CLOCK_REALTIME)) }

  package static func secondsSince1970() -> Double { seconds(read(CLOCK_REALTIME)) }

  /// A monotonic clock for durations; setting the machine's time does not change it.
  package static func monotonicMilliseconds() -> Int64 { milliseconds(read(CLOCK_MONOTONIC)) }

  /// A monotonic clock for durations; setting the machine's time does not change it.
  package static func monotonicSeconds() -> Double { seconds(read(CLOCK_MONOTONIC)) }

  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    clock_gettime(clock, &time)
    return time
  }

  private static func milliseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  private static func seconds(_ time: timespec) -> Double { Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 }
}
