import Support

/// A point in time as people write it: `2026-11-28T02:15Z`, with seconds or an offset if you like, or `02:15` for the next time
/// that it is a quarter past two in UTC.
package enum JobTime {
  /// How to write one, for messages.
  package static let shape = "a time such as 2026-11-28T02:15Z, 2026-11-28T02:15+01:00, or 02:15 for the next time of day in UTC"

  private static let dayMs: Int64 = 86_400_000

  /// - Parameter now: Ms since 1970 UTC.
  /// - Returns: Ms since 1970 UTC; nil if the text is not such a time.
  package static func parse(_ text: String, now: Int64) -> Int64? {
    guard let split = text.firstIndex(where: { $0 == "T" || $0 == "t" || $0 == " " }) else {
      guard let time = timeOfDay(text[...]) else { return nil }
      let today = CivilDay.floorDivide(now, dayMs) * dayMs + time
      return today > now ? today : today + dayMs
    }
    guard let day = day(text[..<split]), let (time, offset) = zoned(text[text.index(after: split)...]),
      let milliseconds = timeOfDay(time)
    else { return nil }
    return Int64(day.number) * dayMs + milliseconds - offset
  }

  private static func day(_ text: Substring) -> CivilDay? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let year = number(parts[0], 4), let month = number(parts[1], 2), let day = number(parts[2], 2) else {
      return nil
    }
    return CivilDay(year: year, month: month, day: day)
  }

  /// Separates the zone from a time. - Returns: The time, and the offset of the zone in ms.
  private static func zoned(_ text: Substring) -> (Substring, Int64)? {
    if let last = text.last, last == "Z" || last == "z" { return (text.dropLast(), 0) }
    guard let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }) else { return nil }
    let zone = text[text.index(after: sign)...].filter { $0 != ":" }
    guard zone.count == 4, let hours = number(zone.prefix(2), 2), let minutes = number(zone.suffix(2), 2), hours <= 14,
      minutes < 60
    else { return nil }
    let offset = Int64(hours * 60 + minutes) * 60_000
    return (text[..<sign], text[sign] == "+" ? offset : -offset)
  }

  /// Parses `HH:MM` or `HH:MM:SS`. - Returns: Ms since midnight.
  private static func timeOfDay(_ text: Substring) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let hours = number(parts[0], 2), let minutes = number(parts[1], 2),
      let seconds = parts.count == 3 ? number(parts[2], 2) : 0, hours < 24, minutes < 60, seconds < 60
    else { return nil }
    return Int64((hours * 60 + minutes) * 60 + seconds) * 1000
  }

  private static func number(_ text: some StringProtocol, _ digits: Int) -> Int? {
    guard text.utf8.count == digits, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
    return Int(text)
  }
}
