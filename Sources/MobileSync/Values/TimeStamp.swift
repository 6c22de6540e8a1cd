import Support

/// Converts server time stamps between text and milliseconds since 1970 UTC. Gregorian calendar, no
/// leap seconds, no locale.
public enum TimeStamp {
  /// The value of a time stamp that was never set.
  public static let never: Int64 = -1

  /// Returns the form of date literals in queries and of fields in records:
  /// `2015-02-05T21:12:03.956+0000`. Always UTC.
  public static func text(_ milliseconds: Int64) -> String {
    let days = floorDivide(milliseconds, 86_400_000)
    let rest = milliseconds - days * 86_400_000
    let (year, month, day) = civil(fromDays: days)
    let second = rest / 1000
    return pad(year, 4) + "-" + pad(month, 2) + "-" + pad(day, 2) + "T" + pad(second / 3600, 2) + ":"
      + pad(second / 60 % 60, 2) + ":" + pad(second % 60, 2) + "." + pad(rest % 1000, 3) + "+0000"
  }

  /// Returns the form of request parameters: `2015-02-05T21:12:03.956Z`.
  public static func isoText(_ milliseconds: Int64) -> String { String(text(milliseconds).dropLast(5)) + "Z" }

  /// Parses `yyyy-MM-ddTHH:mm:ss`, with or without a fraction, followed by `Z`, `+0000`, `+00:00`
  /// or another offset.
  /// - Returns: nil for anything else. Digits after the third one of a fraction are dropped.
  public static func milliseconds(_ text: String) -> Int64? {
    var text = text
    return text.withUTF8 { milliseconds(UnsafeRawBufferPointer($0)) }
  }

  /// Parses the bytes of a time stamp without creating a string.
  public static func milliseconds(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    if let plain = millisecondsOfPlainForm(bytes) { return plain }
    var reader = DigitReader(bytes: bytes)
    guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
      let day = reader.number(2), reader.skip("T") || reader.skip("t"), let hour = reader.number(2), reader.skip(":"),
      let minute = reader.number(2), reader.skip(":"), let second = reader.number(2)
    else { return nil }
    guard (1...12).contains(month), day >= 1, day <= daysIn(month: month, of: year), hour < 24, minute < 60, second < 61
    else { return nil }
    guard let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd else { return nil }
    let seconds = daysSince1970(year: year, month: month, day: day) * 86400 + hour * 3600 + minute * 60 + second
    return (seconds - offset) * 1000 + fraction
  }

  /// Returns whether a stamp has the usual form of records, `2015-02-05T21:12:03.956+0000`, without
  /// checking its digits. Of two such stamps the later one has the greater bytes, so that they can
  /// be compared without parsing.
  static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count == 28 else { return false }
    func has(_ marks: UInt64, at offset: Int, of mask: UInt64) -> Bool {
      UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) & mask == marks
    }
    // Compares the separators between the digits, eight bytes at a time, then the zone.
    return has(0x2d00_002d_0000_0000, at: 0, of: 0xff00_00ff_0000_0000)
      && has(0x0000_3a00_0054_0000, at: 8, of: 0x0000_ff00_00ff_0000)
      && has(0x2b00_0000_2e00_003a, at: 16, of: 0xff00_0000_ff00_00ff)
      && has(0x3030_3030_2b00_0000, at: 20, of: 0xffff_ffff_ff00_0000)
  }

  /// Parses a stamp of the usual form; every record of a sync down has one. Returns nil for other
  /// forms and invalid dates.
  private static func millisecondsOfPlainForm(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    guard isPlain(bytes) else { return nil }
    var areDigits = true
    func number(_ start: Int, _ width: Int) -> Int64 {
      var value: Int64 = 0
      for i in start..<start + width {
        let digit = bytes[i] &- UInt8(ascii: "0")
        areDigits = areDigits && digit < 10
        value = value &* 10 &+ Int64(digit)
      }
      return value
    }
    let year = number(0, 4), month = number(5, 2), day = number(8, 2)
    let hour = number(11, 2), minute = number(14, 2), second = number(17, 2), fraction = number(20, 3)
    guard areDigits, (1...12).contains(month), day >= 1, day <= daysIn(month: month, of: year), hour < 24, minute < 60,
      second < 61
    else { return nil }
    let seconds = daysSince1970(year: year, month: month, day: day) * 86400 + hour * 3600 + minute * 60 + second
    return seconds * 1000 + fraction
  }

  /// Returns the form of HTTP headers, in whole seconds: `Sun, 06 Nov 1994 08:49:37 GMT`.
  public static func httpDate(_ milliseconds: Int64) -> String {
    let days = floorDivide(milliseconds, 86_400_000), iso = text(milliseconds)
    let (year, month, day) = civil(fromDays: days)
    // 1970-01-01 was a Thursday.
    let weekday = weekdayNames[Int(((days + 4) % 7 + 7) % 7)]
    return "\(weekday), \(pad(day, 2)) \(monthNames[Int(month) - 1]) \(pad(year, 4)) \(iso.dropFirst(11).prefix(8)) GMT"
  }

  private static let weekdayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

  /// Parses the date of an HTTP header: `Sun, 06 Nov 1994 08:49:37 GMT`. Returns nil for the two
  /// obsolete forms.
  public static func milliseconds(httpDate text: String) -> Int64? {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), let year = Int64(parts[3]),
      let month = monthNames.firstIndex(of: String(parts[2]))
    else { return nil }
    let clock = parts[4].split(separator: ":").compactMap { Int64($0) }
    guard clock.count == 3, (1...31).contains(day), (1970...9999).contains(year), (0..<24).contains(clock[0]),
      (0..<60).contains(clock[1]), (0...60).contains(clock[2])
    else { return nil }
    let days = daysSince1970(year: year, month: Int64(month + 1), day: day)
    return (days * 86400 + clock[0] * 3600 + clock[1] * 60 + clock[2]) * 1000
  }

  private static let monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  // MARK: Calendar

  /// Returns the days since 1970-01-01. The computation starts years in March, so that the leap day
  /// comes last.
  private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let y = month <= 2 ? year - 1 : year
    let era = floorDivide(y, 400)
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static func daysIn(month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 { a >= 0 ? a / b : -((-a + b - 1) / b) }

  private static func pad(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

/// Reads the parts of a time stamp from left to right.
private struct DigitReader {
  let bytes: UnsafeRawBufferPointer
  var position = 0

  var isAtEnd: Bool { position == bytes.count }
  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard current == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// Reads a number of exactly `width` digits.
  mutating func number(_ width: Int) -> Int64? {
    guard position + width <= bytes.count else { return nil }
    var value: Int64 = 0
    for i in position..<position + width {
      let digit = bytes[i] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      value = value * 10 + Int64(digit)
    }
    position += width
    return value
  }

  /// Reads the milliseconds of `.956`; returns 0 if there is no fraction, nil if the point has no
  /// digit after it.
  mutating func fraction() -> Int64? {
    guard skip(".") else { return 0 }
    var value: Int64 = 0, digits = 0
    while let c = current, c.isASCIIDigit {
      if digits < 3 { value = value * 10 + Int64(c - UInt8(ascii: "0")) }
      digits += 1
      position += 1
    }
    guard digits > 0 else { return nil }
    for _ in 0..<max(0, 3 - digits) { value *= 10 }
    return value
  }

  /// Reads an offset in seconds east of UTC: `Z`, `+HH`, `+HHmm` or `+HH:mm`.
  mutating func offset() -> Int64? {
    if skip("Z") || skip("z") { return 0 }
    let sign: Int64
    if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
    guard let hours = number(2), hours < 24 else { return nil }
    guard !isAtEnd else { return sign * hours * 3600 }
    _ = skip(":")
    guard let minutes = number(2), minutes < 60 else { return nil }
    return sign * (hours * 3600 + minutes * 60)
  }
}
