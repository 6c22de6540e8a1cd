import Support

/// A server's date format. Follows POSIX conventions: English names and Western digits, independent
/// of the locale.
enum DateFormat: Sendable, Equatable {
  /// For example `2015-02-05T21:12:03.956Z`: with an offset, `Z` or neither, and 0 to 9 fractional
  /// digits.
  case iso8601
  /// For example `Sun, 06 Nov 1994 08:49:37 GMT`.
  case rfc1123
  /// Seconds since 1970 UTC, with or without a fraction.
  case epoch
  /// Milliseconds since 1970 UTC.
  case epochMs
  /// Not a time: a serial number or an id that is compared as a number.
  case integer
  case pattern(DatePattern)

  /// - Throws: ``DatePattern/Problem`` if the text is neither a name nor a pattern.
  init(_ text: String) throws(DatePattern.Problem) {
    switch text {
    case "iso8601": self = .iso8601
    case "rfc1123": self = .rfc1123
    case "epoch": self = .epoch
    case "epochMs": self = .epochMs
    case "integer": self = .integer
    default: self = .pattern(try DatePattern(text))
    }
  }

  /// The name or the pattern.
  var text: String {
    switch self {
    case .iso8601: "iso8601"
    case .rfc1123: "rfc1123"
    case .epoch: "epoch"
    case .epochMs: "epochMs"
    case .integer: "integer"
    case .pattern(let pattern): pattern.text
    }
  }

  /// Parses a date.
  ///
  /// - Parameters:
  ///   - text: The contents of a string, or the digits of a number.
  ///   - zone: The zone of a date without an offset.
  /// - Returns: nil if the text is not a date of this format.
  func date(_ text: some Sequence<UInt8>, zone: TimeZoneRules) -> ServerDate? {
    var reader = DateReader(text)
    let date: ServerDate? =
      switch self {
      case .iso8601: reader.iso8601(zone)
      case .rfc1123: reader.rfc1123()
      case .epoch: reader.epoch()
      case .epochMs, .integer: reader.integer().map { ServerDate(position: $0) }
      case .pattern(let pattern): pattern.read(&reader, zone: zone)
      }
    return reader.isAtEnd ? date : nil
  }

  /// Whether two received dates mean the same moment. Equal texts do, even if they cannot be
  /// parsed; different texts are compared with all fractional digits.
  func isSame(_ a: String, _ b: String, zone: TimeZoneRules) -> Bool {
    if Array(a.utf8) == Array(b.utf8) { return true }
    guard let first = date(a.utf8, zone: zone), let second = date(b.utf8, zone: zone) else { return false }
    return first == second
  }

  /// Formats a position of ``ServerDate`` for a request, rounded down to the precision of the
  /// format.
  ///
  /// - Parameter zone: The zone of the wall-clock time that the server expects.
  func text(_ position: Int64, zone: TimeZoneRules) -> String {
    switch self {
    case .iso8601: DateFormat.iso8601Text(position, zone)
    case .rfc1123: DateFormat.rfc1123Text(position)
    case .epoch: String(CivilDay.floorDivide(position, 1000))
    case .epochMs, .integer: String(position)
    case .pattern(let pattern): pattern.text(CivilTime(position, zone: zone))
    }
  }

  /// Omits a fraction of zero, because a server that stamps whole seconds may not parse one.
  private static func iso8601Text(_ position: Int64, _ zone: TimeZoneRules) -> String {
    let time = CivilTime(position, zone: zone)
    let fraction = time.millisecond == 0 ? "" : "." + padded(time.millisecond, 3)
    return "\(padded(time.day.year, 4))-\(padded(time.day.month, 2))-\(padded(time.day.day, 2))T"
      + "\(time.clockText)\(fraction)\(time.offsetText(separator: ":"))"
  }

  private static func rfc1123Text(_ position: Int64) -> String {
    let time = CivilTime(position, zone: .utc)
    return "\(weekdays[time.day.weekday]), \(padded(time.day.day, 2)) \(months[time.day.month - 1]) "
      + "\(padded(time.day.year, 4)) \(time.clockText) GMT"
  }

  static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number.magnitude)
    return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

/// A moment as wall-clock time in a zone.
struct CivilTime: Sendable, Equatable {
  var day: CivilDay
  var hour: Int
  var minute: Int
  var second: Int
  var millisecond: Int
  /// Seconds east of UTC.
  var offset: Int
  var isUTC: Bool

  /// The years 0 to 9999, which fit in four digits, less a day at each end for the zone's offset.
  private static let writable: ClosedRange<Int64> = -62_167_132_800_000...253_402_214_400_000

  /// - Parameter position: Milliseconds since 1970 UTC, clamped to the range that can be formatted.
  init(_ position: Int64, zone: TimeZoneRules) {
    let position = min(max(position, CivilTime.writable.lowerBound), CivilTime.writable.upperBound)
    let seconds = CivilDay.floorDivide(position, 1000)
    offset = zone.offset(at: seconds)
    isUTC = zone == .utc
    let local = seconds + Int64(offset)
    day = CivilDay(number: Int(CivilDay.floorDivide(local, 86_400)))
    let rest = Int(CivilDay.floorModulo(local, 86_400))
    (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
    millisecond = Int(CivilDay.floorModulo(position, 1000))
  }

  /// For example `21:12:03`.
  var clockText: String {
    [hour, minute, second].map { DateFormat.padded($0, 2) }.joined(separator: ":")
  }

  /// `Z` for UTC, otherwise such as `+05:30`.
  func offsetText(separator: String) -> String {
    guard !isUTC else { return "Z" }
    let minutes = abs(offset) / 60
    return (offset < 0 ? "-" : "+") + DateFormat.padded(minutes / 60, 2) + separator + DateFormat.padded(minutes % 60, 2)
  }
}
