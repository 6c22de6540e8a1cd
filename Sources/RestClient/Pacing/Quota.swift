import Support

/// The number of requests that a server still allows, as reported in its headers.
package struct Quota: Sendable, Equatable {
  package var limit: Int?
  package var remaining: Int?
  /// Seconds since 1970.
  package var resetAt: Double?

  init(limit: Int? = nil, remaining: Int? = nil, resetAt: Double? = nil) {
    self.limit = limit
    self.remaining = remaining
    self.resetAt = resetAt
  }

  private static let prefixes = ["x-ratelimit-", "ratelimit-", "x-rate-limit-"]

  /// - Parameter now: Seconds since 1970, the base of resets given in seconds from now.
  /// - Returns: Nil if the headers report no quota.
  package init?(
    _ headers: [(name: String, value: String)], _ settings: ConnectionSettings.QuotaHeaders, now: Double
  ) {
    func value(_ configured: String?, _ suffix: String) -> String? {
      let names = configured.map { [$0] } ?? Quota.prefixes.map { $0 + suffix }
      for name in names {
        if let found = headers.first(where: { $0.name.equalsIgnoringCase(name) }) { return found.value }
      }
      return nil
    }
    limit = value(settings.limit, "limit").flatMap { Quota.number($0) }.map { Int(saturating: $0) }
    remaining = value(settings.remaining, "remaining").flatMap { Quota.number($0) }.map { Int(saturating: $0) }
    resetAt = value(settings.reset, "reset").flatMap { Quota.reset($0, settings.resetAs, now: now) }
    if remaining == nil && limit == nil && resetAt == nil { return nil }
  }

  /// Returns when requests may continue, in seconds since 1970; nil if they may continue now.
  func blockedUntil(minRemaining: Int?, now: Double) -> Double? {
    guard let remaining, let resetAt, resetAt > now else { return nil }
    // Half of a small limit, such as five a second, because the remainder would never exceed ten.
    let least = minRemaining ?? min(10, limit.map { $0 / 2 } ?? 10)
    return remaining <= least ? resetAt + 1 : nil
  }

  /// Parses the number at the start of a value: `100`, `100, 100;w=60`, `59.0`. Nil without one,
  /// and for numbers from 1e15.
  private static func number(_ text: String) -> Double? {
    let digits = text.drop { $0 == " " }.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let value = Double(String(digits)), value < 1e15 else { return nil }
    return value
  }

  private static func reset(_ text: String, _ form: ConnectionSettings.QuotaHeaders.ResetForm?, now: Double) -> Double? {
    if form == .iso8601 || (form == nil && text.containsASCII("T")) { return ISODate.secondsSince1970(text) }
    guard let value = number(text) else { return nil }
    switch form {
    case .seconds: return now + value
    // Some servers use milliseconds, which would be far in the future as seconds.
    case .epoch: return value > 1e11 ? value / 1000 : value
    default: return value > 1e9 ? (value > 1e11 ? value / 1000 : value) : now + value
    }
  }
}

/// Parses ISO 8601 dates in headers: `2026-11-23T08:46:02Z`, optionally with a fraction or an
/// offset.
enum ISODate {
  static func secondsSince1970(_ text: String) -> Double? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 19, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"),
      bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"), let year = number(bytes[0..<4]),
      let month = number(bytes[5..<7]), (1...12).contains(month), let day = number(bytes[8..<10]), (1...31).contains(day),
      let hour = number(bytes[11..<13]), hour < 24, let minute = number(bytes[14..<16]), minute < 60,
      let second = number(bytes[17..<19]), second <= 60
    else { return nil }
    var rest = bytes[19...], fraction = 0.0
    if rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: ",") {
      let digits = rest.dropFirst().prefix(while: \.isASCIIDigit)
      fraction = Double("0." + String(decoding: digits, as: UTF8.self)) ?? 0
      rest = rest.dropFirst(1 + digits.count)
    }
    guard let offset = offset(rest) else { return nil }
    let days = HTTPDate.days(year: year, month: month, day: day)
    return Double(days * 86_400 + hour * 3600 + minute * 60 + second - offset) + fraction
  }

  /// Seconds east of UTC; 0 for an empty text or `Z`.
  private static func offset(_ bytes: ArraySlice<UInt8>) -> Int? {
    if bytes.isEmpty || (bytes.count == 1 && bytes.first == UInt8(ascii: "Z")) { return 0 }
    guard let sign = bytes.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    let digits = bytes.dropFirst().filter { $0 != UInt8(ascii: ":") }
    guard digits.count == 4, let hours = number(digits[..<2]), let minutes = number(digits[2...]) else { return nil }
    return (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard digits.allSatisfy(\.isASCIIDigit) else { return nil }
    return Int(String(decoding: digits, as: UTF8.self))
  }
}
