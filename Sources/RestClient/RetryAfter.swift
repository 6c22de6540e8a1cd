import Support

/// Parses `Retry-After`: a number of seconds, possibly with a fraction (Shopify sends `2.0`), or an
/// HTTP date.
package enum RetryAfter {
  /// Returns the seconds to wait, 0 for a date in the past, nil for an unreadable value.
  package static func seconds(_ header: String, now: Double) -> Double? {
    if let first = header.utf8.first, first.isASCIIDigit, let seconds = Double(header), seconds.isFinite {
      return DeltaSeconds.bounded(seconds)
    }
    guard let date = HTTPDate.secondsSince1970(header) else { return nil }
    return DeltaSeconds.bounded(Double(date) - now)
  }
}

/// Numbers of seconds in headers, such as `Age` and the arguments of `Cache-Control`.
///
/// - Note: Source: RFC 9111, section 1.2.2: a number that is too large counts as 2^31.
enum DeltaSeconds {
  static let longest = 2_147_483_648.0

  static func bounded(_ seconds: Double) -> Double { min(max(0, seconds), longest) }

  /// Returns nil for a text that does not consist of digits.
  static func parse(_ text: String) -> Double? {
    guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
    return Double(text).map(bounded) ?? longest
  }
}

/// Parses HTTP dates such as `Tue, 10 Aug 2027 08:00:00 GMT`.
enum HTTPDate {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// - Note: Source: RFC 9110, section 5.6.7; only the form that senders must use. The day of the
  ///   week is not checked.
  static func secondsSince1970(_ text: String) -> Int? {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", let day = Int(parts[1]), (1...31).contains(day),
      let month = months.firstIndex(of: String(parts[2])), let year = Int(parts[3]), (1970...9999).contains(year)
    else { return nil }
    let time = parts[4].split(separator: ":").compactMap { Int($0) }
    guard time.count == 3, (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2]) else {
      return nil
    }
    return days(year: year, month: month + 1, day: day) * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]
  }

  /// Days since 1970-01-01 in the Gregorian calendar, computed with years that start in March.
  static func days(year: Int, month: Int, day: Int) -> Int {
    let y = month <= 2 ? year - 1 : year
    let monthFromMarch = (month + 9) % 12
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * monthFromMarch + 2) / 5 + day - 1 - 719_468
  }
}
