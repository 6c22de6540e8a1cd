import Glibc

/// The machine's clocks. Code whose tests set the time takes a closure instead and gives one of these as its default.
package enum SystemClock {
  package static func millisecondsSince1970() -> Int64 { milliseconds(read(CLOCK_REALTIME)) }

  package static func secondsSince1970() -> Double { seconds(read(CLOCK_REALTIME)) }

  /// For durations: setting the machine's time does not move it.
  package static func monotonicMilliseconds() -> Int64 { milliseconds(read(CLOCK_MONOTONIC)) }

  /// For durations: setting the machine's time does not move it.
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
