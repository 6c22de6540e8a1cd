/// A span of whole days relative to today, such as `LAST_N_DAYS:7`. Days are in UTC, the sandbox
/// user's time zone.
struct DateLiteral: Equatable {
  enum Unit: String, CaseIterable { case day, week, month, quarter, year }
  let unit: Unit
  /// Offsets in units from the current one to the first and last of the span.
  let first: Int, last: Int

  /// Returns the literal with this name.
  ///
  /// - Parameter count: The number after the colon, for names that take one.
  /// - Returns: nil if there is no such literal, or if the number is missing or not allowed.
  init?(name: String, count: Int?) {
    if let count {
      guard let literal = Self.counted(name, count) else { return nil }
      self = literal
    } else {
      guard let literal = Self.named(name) else { return nil }
      self = literal
    }
  }

  static func takesCount(_ name: String) -> Bool { counted(name.uppercased(), 1) != nil }

  private init(_ unit: Unit, _ first: Int, _ last: Int) {
    self.unit = unit
    self.first = first
    self.last = last
  }

  private static func named(_ name: String) -> DateLiteral? {
    switch name {
    case "YESTERDAY": return DateLiteral(.day, -1, -1)
    case "TODAY": return DateLiteral(.day, 0, 0)
    case "TOMORROW": return DateLiteral(.day, 1, 1)
    case "LAST_90_DAYS": return DateLiteral(.day, -90, 0)
    case "NEXT_90_DAYS": return DateLiteral(.day, 1, 90)
    default: break
    }
    let shifts = ["LAST_": -1, "THIS_": 0, "NEXT_": 1]
    for (prefix, shift) in shifts where name.hasPrefix(prefix) {
      guard let unit = unit(singular: name.dropFirst(5)), unit != .day else { return nil }
      return DateLiteral(unit, shift, shift)
    }
    return nil
  }

  private static func counted(_ name: String, _ count: Int) -> DateLiteral? {
    if name.hasPrefix("LAST_N_"), let unit = unit(plural: name.dropFirst(7)) {
      return unit == .day ? DateLiteral(unit, -count, 0) : DateLiteral(unit, -count, -1)
    }
    if name.hasPrefix("NEXT_N_"), let unit = unit(plural: name.dropFirst(7)) { return DateLiteral(unit, 1, count) }
    if name.hasPrefix("N_"), name.hasSuffix("_AGO"), let unit = unit(plural: name.dropFirst(2).dropLast(4)) {
      return DateLiteral(unit, -count, -count)
    }
    return nil
  }

  private static func unit(plural: Substring) -> Unit? {
    plural.hasSuffix("S") ? unit(singular: plural.dropLast()) : nil
  }

  /// Fiscal units equal calendar units in the sandbox.
  private static func unit(singular: Substring) -> Unit? {
    let name = singular.hasPrefix("FISCAL_") ? singular.dropFirst(7) : singular
    guard let unit = Unit(rawValue: name.lowercased()) else { return nil }
    return name.count != singular.count && unit != .quarter && unit != .year ? nil : unit
  }

  /// Returns the first day of the span and the first day after it.
  func days(today: CivilDate) -> (start: CivilDate, end: CivilDate) {
    guard first <= last else { return (start(first, today), start(first, today)) }
    return (start(first, today), start(last + 1, today))
  }

  private func start(_ shift: Int, _ today: CivilDate) -> CivilDate {
    switch unit {
    case .day: return CivilDate(dayNumber: today.dayNumber + shift)
    case .week:
      // Day 0 was a Thursday; weeks start on Sunday.
      let sunday = today.dayNumber - ((today.dayNumber + 4) % 7 + 7) % 7
      return CivilDate(dayNumber: sunday + 7 * shift)
    case .month: return today.firstOfMonth(adding: shift)
    case .quarter: return today.firstOfMonth(adding: 3 * shift - (today.month - 1) % 3)
    case .year: return CivilDate(year: today.year + shift, month: 1, day: 1)
    }
  }
}
