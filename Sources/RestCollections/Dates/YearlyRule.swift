import Support

/// A zone's yearly rule for daylight saving time in POSIX notation: `CET-1CEST,M3.5.0,M10.5.0/3`.
struct YearlyRule: Sendable, Equatable {
  /// Seconds east of UTC.
  let standardOffset: Int
  private let summer: Summer?

  private struct Summer: Sendable, Equatable {
    let offset: Int
    let start: Change
    let end: Change
  }

  private enum Day: Sendable, Equatable {
    /// Day of a year without leap days, from 1.
    case julian(Int)
    /// Day of the year including leap days, from 0.
    case ofYear(Int)
    /// Week 1 to 5, where 5 means the last one; weekday 0 is Sunday.
    case weekday(month: Int, week: Int, weekday: Int)
  }

  private struct Change: Sendable, Equatable {
    let day: Day
    /// Wall-clock seconds from midnight; may be negative or exceed a day.
    let clock: Int
  }

  /// Hours of an offset, and of the clock of a change (RFC 9636, section 3.3.1).
  private static let offsetHours = 24, changeHours = 167

  /// Fails for an empty text and for an invalid rule.
  init?(_ text: String) {
    var reader = RuleReader(text: Substring(text))
    guard reader.name(), let west = reader.clock(upTo: YearlyRule.offsetHours) else { return nil }
    standardOffset = -west
    guard !reader.isAtEnd else {
      summer = nil
      return
    }
    guard reader.name() else { return nil }
    guard let summerWest = reader.isAt(",") ? west - 3600 : reader.clock(upTo: YearlyRule.offsetHours),
      let start = YearlyRule.change(&reader), let end = YearlyRule.change(&reader), reader.isAtEnd
    else { return nil }
    summer = Summer(offset: -summerWest, start: start, end: end)
  }

  private static func change(_ reader: inout RuleReader) -> Change? {
    guard reader.skip(",") else { return nil }
    let day: Day
    if reader.skip("M") {
      guard let month = reader.number(), reader.skip("."), let week = reader.number(), reader.skip("."),
        let weekday = reader.number(), (1...12).contains(month), (1...5).contains(week), (0...6).contains(weekday)
      else { return nil }
      day = .weekday(month: month, week: week, weekday: weekday)
    } else if reader.skip("J") {
      guard let number = reader.number(), (1...365).contains(number) else { return nil }
      day = .julian(number)
    } else {
      guard let number = reader.number(), (0...365).contains(number) else { return nil }
      day = .ofYear(number)
    }
    guard reader.skip("/") else { return Change(day: day, clock: 7200) }
    return reader.clock(upTo: changeHours).map { Change(day: day, clock: $0) }
  }

  /// Returns the offset in seconds east of UTC.
  func offset(at seconds: Int64) -> Int {
    guard let summer else { return standardOffset }
    let year = CivilDay(number: Int(CivilDay.floorDivide(seconds + Int64(standardOffset), 86_400))).year
    let start = YearlyRule.seconds(summer.start, year) - Int64(standardOffset)
    let end = YearlyRule.seconds(summer.end, year) - Int64(summer.offset)
    // In the southern hemisphere, summer spans the turn of the year.
    let isSummer = start < end ? seconds >= start && seconds < end : seconds >= start || seconds < end
    return isSummer ? summer.offset : standardOffset
  }

  /// Returns when a change takes effect, in wall-clock seconds since 1970.
  private static func seconds(_ change: Change, _ year: Int) -> Int64 {
    func number(_ month: Int, _ day: Int) -> Int { CivilDay(year: year, month: month, day: day)?.number ?? 0 }
    let first = number(1, 1)
    let day: Int
    switch change.day {
    case .ofYear(let count): day = first + count
    case .julian(let count):
      day = first + count - 1 + (CivilDay.daysIn(month: 2, of: year) == 29 && count > 59 ? 1 : 0)
    case .weekday(let month, let week, let weekday):
      let start = number(month, 1)
      let toWeekday = CivilDay.floorModulo(weekday - CivilDay(number: start).weekday, 7)
      var found = start + toWeekday + (week - 1) * 7
      if found >= start + CivilDay.daysIn(month: month, of: year) { found -= 7 }
      day = found
    }
    return Int64(day) * 86_400 + Int64(change.clock)
  }
}

private struct RuleReader {
  var text: Substring

  var isAtEnd: Bool { text.isEmpty }
  func isAt(_ character: Character) -> Bool { text.first == character }

  mutating func skip(_ character: Character) -> Bool {
    guard text.first == character else { return false }
    text.removeFirst()
    return true
  }

  /// Skips a zone name: letters, or any text in angle brackets.
  mutating func name() -> Bool {
    if skip("<") {
      guard let end = text.firstIndex(of: ">") else { return false }
      text = text[text.index(after: end)...]
      return true
    }
    let letters = text.prefix { $0.isLetter }
    text = text.dropFirst(letters.count)
    return !letters.isEmpty
  }

  mutating func number() -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }.prefix(6)
    text = text.dropFirst(digits.count)
    return Int(digits)
  }

  /// Parses `[+-]hh[:mm[:ss]]` as seconds.
  mutating func clock(upTo hours: Int) -> Int? {
    let sign = skip("-") ? -1 : 1
    if sign == 1 { _ = skip("+") }
    guard let whole = number(), whole <= hours else { return nil }
    var seconds = whole * 3600
    for unit in [60, 1] where skip(":") {
      guard let part = number(), part < 60 else { return nil }
      seconds += part * unit
    }
    return sign * seconds
  }
}
