import Support

/// Parses the parts of a date from left to right.
struct DateReader {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ text: some Sequence<UInt8>) { bytes = Array(text) }

  var isAtEnd: Bool { position == bytes.count }
  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard current == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  mutating func skip(_ text: some Collection<UInt8>) -> Bool {
    guard bytes[position...].starts(with: text) else { return false }
    position += text.count
    return true
  }

  /// Parses a number of exactly `width` digits.
  mutating func number(_ width: Int) -> Int? {
    guard position + width <= bytes.count else { return nil }
    var value = 0
    for byte in bytes[position..<(position + width)] {
      guard byte.isASCIIDigit else { return nil }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
    }
    position += width
    return value
  }

  /// Parses a fraction such as `.956` as nanoseconds. Returns 0 without a fraction, nil for a point
  /// that is not followed by 1 to 9 digits.
  mutating func fraction() -> Int? {
    guard skip(".") || skip(",") else { return 0 }
    var value = 0, digits = 0
    while let byte = current, byte.isASCIIDigit {
      guard digits < 9 else { return nil }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
      digits += 1
      position += 1
    }
    guard digits > 0 else { return nil }
    for _ in digits..<9 { value *= 10 }
    return value
  }

  /// Parses an offset as seconds east of UTC: `Z`, `+HH`, `+HHmm` or `+HH:mm`.
  mutating func offset() -> Int? {
    if skip("Z") || skip("z") { return 0 }
    let sign: Int
    if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
    guard let hours = number(2), hours < 24 else { return nil }
    guard skip(":") || (current.map { $0.isASCIIDigit } ?? false) else { return sign * hours * 3600 }
    guard let minutes = number(2), minutes < 60 else { return nil }
    return sign * (hours * 3600 + minutes * 60)
  }

  /// Parses `2015-02-05`, optionally followed by `T` or a blank and a time. Seconds, fraction and
  /// offset are optional, too.
  mutating func iso8601(_ zone: TimeZoneRules) -> ServerDate? {
    guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
      let date = CivilDay(year: year, month: month, day: day)
    else { return nil }
    guard !isAtEnd else { return DateReader.instant(date, (0, 0, 0), 0, offset: nil, zone) }
    guard skip("T") || skip("t") || skip(" "), let hour = number(2), skip(":"), let minute = number(2) else { return nil }
    var second = 0, nanoseconds = 0
    if skip(":") {
      guard let whole = number(2), let part = fraction() else { return nil }
      (second, nanoseconds) = (whole, part)
    }
    var offset: Int?
    if !isAtEnd {
      guard let found = self.offset() else { return nil }
      offset = found
    }
    return DateReader.instant(date, (hour, minute, second), nanoseconds, offset: offset, zone)
  }

  /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`. Requires a day of the week but does not check that it
  /// is the right one.
  mutating func rfc1123() -> ServerDate? {
    guard DateFormat.weekdays.contains(where: { skip($0.utf8) }), skip(","), skip(" "), let day = number(2) ?? number(1),
      skip(" "), let month = DateFormat.months.firstIndex(where: { skip($0.utf8) }), skip(" "), let year = number(4), skip(" "),
      let date = CivilDay(year: year, month: month + 1, day: day), let hour = number(2), skip(":"), let minute = number(2),
      skip(":"), let second = number(2), skip(" ")
    else { return nil }
    guard let offset = skip("GMT".utf8) || skip("UTC".utf8) ? 0 : offset() else { return nil }
    return DateReader.instant(date, (hour, minute, second), 0, offset: offset, .utc)
  }

  /// Parses `1700000000` or `1700000000.25`.
  mutating func epoch() -> ServerDate? {
    let isNegative = current == UInt8(ascii: "-")
    guard let seconds = integer(), let nanoseconds = fraction() else { return nil }
    // The fraction of a time before 1970 counts away from zero.
    if isNegative, nanoseconds > 0, seconds > Int64.min {
      return ServerDate(seconds: seconds - 1, nanoseconds: 1_000_000_000 - nanoseconds)
    }
    return ServerDate(seconds: seconds, nanoseconds: nanoseconds)
  }

  /// Parses digits with an optional minus sign; nil if the number does not fit in 64 bits.
  mutating func integer() -> Int64? {
    let start = position
    _ = skip("-")
    let digits = position
    while let byte = current, byte.isASCIIDigit { position += 1 }
    guard position > digits else { return nil }
    return Int64(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  /// - Parameter offset: The offset in the text; without one the zone applies.
  static func instant(
    _ date: CivilDay, _ clock: (hour: Int, minute: Int, second: Int), _ nanoseconds: Int, offset: Int?, _ zone: TimeZoneRules
  ) -> ServerDate? {
    guard clock.hour < 24, clock.minute < 60, clock.second < 61 else { return nil }
    let local = Int64(date.number * 86_400 + clock.hour * 3600 + clock.minute * 60 + clock.second)
    let seconds = offset.map { local - Int64($0) } ?? zone.seconds(ofLocal: local)
    return ServerDate(seconds: seconds, nanoseconds: nanoseconds)
  }
}
