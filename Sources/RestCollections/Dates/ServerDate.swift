/// A date parsed from a server's text.
///
/// Watermarks compare ``position``. Dates that decide a conflict are compared as text first; only
/// if the texts differ are they compared as `ServerDate`, with all fractional digits.
struct ServerDate: Sendable, Equatable, Comparable {
  /// Milliseconds since 1970 UTC. For the format `integer`, this is the number itself.
  let position: Int64
  /// The remainder below one millisecond: 0 to 999,999.
  let nanoseconds: Int

  init(position: Int64, nanoseconds: Int = 0) {
    self.position = position
    self.nanoseconds = nanoseconds
  }

  /// Fails if the instant is out of range.
  init?(seconds: Int64, nanoseconds: Int) {
    let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflows, whole < Int64.max - 1000 else { return nil }
    position = whole + Int64(nanoseconds / 1_000_000)
    self.nanoseconds = nanoseconds % 1_000_000
  }

  static func < (a: ServerDate, b: ServerDate) -> Bool { (a.position, a.nanoseconds) < (b.position, b.nanoseconds) }
}
