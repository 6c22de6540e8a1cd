/// A day of the proleptic Gregorian calendar, UTC. Uses no locale and no time zone database.
package struct CivilDate: Equatable, Sendable {
  package var year: Int, month: Int, day: Int

  /// Days since 1970-01-01.
  package var dayNumber: Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  package init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  package init(dayNumber: Int) {
    let shifted = dayNumber + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Reads `YYYY-MM-DD`; nil for any other text and for days that do not exist.
  package init?(parsing text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
      (1...12).contains(month), day >= 1, day <= Self.daysIn(month: month, year: year)
    else { return nil }
    self.init(year: year, month: month, day: day)
  }

  package static func daysIn(month: Int, year: Int) -> Int {
    switch month {
    case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }

  /// Returns the first day of the month that is `count` months away.
  package func firstOfMonth(adding count: Int) -> CivilDate {
    let months = year * 12 + (month - 1) + count
    let wholeYears = months >= 0 ? months / 12 : (months - 11) / 12
    return CivilDate(year: wholeYears, month: months - wholeYears * 12 + 1, day: 1)
  }

  /// `YYYY-MM-DD`. Clamps to the years 0...9999, so that text order equals time order.
  package var text: String {
    if year < 0 { return "0000-01-01" }
    if year > 9999 { return "9999-12-31" }
    return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
  }
}

/// Timestamps in the org's only format, `YYYY-MM-DDThh:mm:ss.000+0000`, whose text order is its
/// time order.
package enum Timestamp {
  /// - Parameter seconds: Seconds since 1970 UTC.
  package static func text(_ seconds: Int64) -> String {
    let day = Int((seconds >= 0 ? seconds : seconds - 86_399) / 86_400)
    let second = Int(seconds - Int64(day) * 86_400)
    let clock = padded(second / 3600, 2) + ":" + padded(second / 60 % 60, 2) + ":" + padded(second % 60, 2)
    return CivilDate(dayNumber: day).text + "T" + clock + ".000+0000"
  }

  /// Reads `YYYY-MM-DDThh:mm:ss`, an optional fraction, and `Z`, `+0000` or `±hh:mm`.
  ///
  /// - Returns: Milliseconds since 1970 UTC, or nil if the text is not a valid timestamp.
  package static func milliseconds(parsing text: some StringProtocol) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: "t"),
      let date = CivilDate(parsing: String(decoding: bytes[0..<10], as: UTF8.self)),
      bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
      let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
      hour < 24, minute < 60, second < 60
    else { return nil }
    var index = 19
    guard let fraction = fractionMilliseconds(bytes, &index), let offset = zoneSeconds(bytes[index...]) else {
      return nil
    }
    let seconds = date.dayNumber * 86_400 + hour * 3600 + minute * 60 + second - offset
    return Int64(seconds) * 1000 + Int64(fraction)
  }

  private static func fractionMilliseconds(_ bytes: [UInt8], _ index: inout Int) -> Int? {
    guard bytes[index] == UInt8(ascii: ".") else { return 0 }
    index += 1
    var value = 0
    var digits = 0
    while index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]), digits < 9 {
      if digits < 3 { value = value * 10 + Int(bytes[index] - UInt8(ascii: "0")) }
      digits += 1
      index += 1
    }
    guard digits > 0 else { return nil }
    for _ in min(digits, 3)..<3 { value *= 10 }
    return value
  }

  private static func zoneSeconds(_ zone: ArraySlice<UInt8>) -> Int? {
    if zone.elementsEqual([UInt8(ascii: "Z")]) || zone.elementsEqual([UInt8(ascii: "z")]) { return 0 }
    guard let sign = zone.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    let digits = zone.dropFirst().filter { $0 != UInt8(ascii: ":") }
    guard digits.count == 4, zone.count == 5 || (zone.count == 6 && zone[zone.startIndex + 3] == UInt8(ascii: ":")),
      let hours = number(digits[0..<2]), let minutes = number(digits[2..<4]), hours < 24, minutes < 60
    else { return nil }
    return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
  }
}

/// Times of day in the org's only format, `hh:mm:ss.SSSZ`.
package enum TimeOfDay {
  /// Reads `hh:mm` with optional seconds, fraction and `Z`; nil for any other text.
  package static func text(parsing text: String) -> String? {
    let bare = text.hasSuffix("Z") ? String(text.dropLast()) : text
    let whole = bare.utf8.count == 5 ? bare + ":00" : bare
    guard whole.utf8.count >= 8, let milliseconds = Timestamp.milliseconds(parsing: "1970-01-01T\(whole)Z") else { return nil }
    let fraction = String(1000 + milliseconds % 1000).dropFirst()
    return Timestamp.text(milliseconds / 1000).dropFirst(11).prefix(8) + "." + fraction + "Z"
  }
}

private func number(_ digits: ArraySlice<UInt8>) -> Int? {
  var value = 0
  for digit in digits {
    guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
    value = value * 10 + Int(digit - UInt8(ascii: "0"))
  }
  return value
}

private func padded(_ value: Int, _ width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
