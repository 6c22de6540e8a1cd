/// A day of the proleptic Gregorian calendar, without locale or time zone.
package struct CivilDay: Sendable, Equatable {
  package let year: Int
  /// 1 to 12.
  package let month: Int
  package let day: Int

  /// Returns nil if the calendar has no such day.
  package init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month), day >= 1, day <= CivilDay.daysIn(month: month, of: year) else { return nil }
    self.year = year
    self.month = month
    self.day = day
  }

  /// - Parameter number: Days since 1970-01-01.
  package init(number: Int) {
    let shifted = number + 719_468
    let era = CivilDay.floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Days since 1970-01-01. The computation starts years in March, so that the leap day comes last.
  package var number: Int {
    let y = month <= 2 ? year - 1 : year
    let era = CivilDay.floorDivide(y, 400)
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The day of the week; 0 is Sunday.
  package var weekday: Int { CivilDay.floorModulo(number + 4, 7) }

  package static func daysIn(month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Divides and rounds towards negative infinity.
  package static func floorDivide<T: BinaryInteger>(_ a: T, _ b: T) -> T { a >= 0 || a % b == 0 ? a / b : a / b - 1 }

  /// Returns the remainder of ``floorDivide(_:_:)``: never negative for a positive divisor.
  package static func floorModulo<T: BinaryInteger>(_ a: T, _ b: T) -> T {
    let rest = a % b
    return rest < 0 ? rest + b : rest
  }
}
