/// A date as a server wrote it, read.
///
/// Watermarks compare ``position``. Dates that decide a conflict compare as text first; only different texts compare as
/// `ServerDate`, with all digits of the fraction.
struct ServerDate: Sendable, Equatable, Comparable {
  /// Milliseconds since 1970 UTC; for the format `integer`, the number itself.
  let position: Int64
  /// What the fraction says beyond milliseconds: 0 to 999,999.
  let nanoseconds: Int

  init(position: Int64, nanoseconds: Int = 0) {
    self.position = position
    self.nanoseconds = nanoseconds
  }

  /// nil when the instant does not fit.
  init?(seconds: Int64, nanoseconds: Int) {
    let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflows, whole < Int64.max - 1000 else { return nil }
    position = whole + Int64(nanoseconds / 1_000_000)
    self.nanoseconds = nanoseconds % 1_000_000
  }

  static func < (a: ServerDate, b: ServerDate) -> Bool { (a.position, a.nanoseconds) < (b.position, b.nanoseconds) }
}
