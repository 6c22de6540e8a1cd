import Support

/// What a server says of the requests it still allows.
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

  /// - Parameter now: Seconds since 1970, for resets that are counted from now.
  /// - Returns: Nil when the headers say nothing of it.
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
    limit = value(settings.limit, "limit").flatMap { Quota.number($0) }.map { Int($0) }
    remaining = value(settings.remaining, "remaining").flatMap { Quota.number($0) }.map { Int($0) }
    resetAt = value(settings.reset, "reset").flatMap { Quota.reset($0, settings.resetAs, now: now) }
    if remaining == nil && limit == nil && resetAt == nil { return nil }
  }

  /// Seconds since 1970 at which requests may go on; nil when they may now.
  func blockedUntil(minRemaining: Int?, now: Double) -> Double? {
    guard let remaining, let resetAt, resetAt > now else { return nil }
    // A limit of five a second would otherwise never be above ten.
    let least = minRemaining ?? min(10, limit.map { $0 / 2 } ?? 10)
    return remaining <= least ? resetAt + 1 : nil
  }

  /// The number a value begins with: `100`, `100, 100;w=60`, `59.0`. Nil without one, and for what is too large to count.
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
    // Some count milliseconds; as seconds that would be in the year 30,000.
    case .epoch: return value > 1e11 ? value / 1000 : value
    default: return value > 1e9 ? (value > 1e11 ? value / 1000 : value) : now + value
    }
  }
}

/// ISO 8601 as servers write it in headers: `2026-11-23T08:46:02Z`, with a fraction or an offset if need be.
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

  /// Seconds east of Greenwich; nothing and `Z` are none.
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
