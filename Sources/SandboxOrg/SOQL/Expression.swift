/// A field, or a function applied to one.
indirect enum Expression {
  case field(FieldPath)
  case call(SOQLFunction, Expression, position: Int)
  case distance(Distance)

  /// The index of its first character.
  var position: Int {
    switch self {
    case .field(let path): return path.position
    case .call(_, _, let position): return position
    case .distance(let distance): return distance.position
    }
  }

  /// The form in error messages.
  var text: String {
    switch self {
    case .field(let path): return path.text
    case .call(let function, let argument, _): return "\(function.rawValue)(\(argument.text))"
    case .distance(let distance): return "DISTANCE(\(distance.place.text))"
    }
  }

  /// True if it is computed from a group of rows.
  var aggregates: Bool {
    guard case .call(let function, let argument, _) = self else { return false }
    return function.kind == .aggregate || function == .GROUPING || argument.aggregates
  }
}

/// Such as `DISTANCE(Location__c, GEOLOCATION(37.7, -122.4), 'mi')`.
struct Distance {
  let place: FieldPath
  let latitude: Double, longitude: Double
  let inMiles: Bool
  let position: Int
}

/// Functions with one argument.
enum SOQLFunction: String, CaseIterable {
  case COUNT, COUNT_DISTINCT, SUM, AVG, MIN, MAX
  case GROUPING
  case TOLABEL, FORMAT, CONVERTCURRENCY
  case CONVERTTIMEZONE
  case CALENDAR_YEAR, CALENDAR_QUARTER, CALENDAR_MONTH, FISCAL_YEAR, FISCAL_QUARTER, FISCAL_MONTH
  case DAY_IN_YEAR, DAY_IN_MONTH, DAY_IN_WEEK, DAY_ONLY, HOUR_IN_DAY, WEEK_IN_YEAR, WEEK_IN_MONTH

  enum Kind { case aggregate, grouping, display, zone, date }

  var kind: Kind {
    switch self {
    case .COUNT, .COUNT_DISTINCT, .SUM, .AVG, .MIN, .MAX: return .aggregate
    case .GROUPING: return .grouping
    case .TOLABEL, .FORMAT, .CONVERTCURRENCY: return .display
    case .CONVERTTIMEZONE: return .zone
    default: return .date
    }
  }

  /// Returns SQL for a part of a date or time, from the text in its column. Null stays null.
  ///
  /// As in SOQL, weeks of a month or year count from its first day, and days of the week from
  /// Sunday. The sandbox's fiscal year is the calendar year.
  func part(of moment: String) -> String {
    func number(_ start: Int, _ length: Int) -> String { "CAST(substr(\(moment), \(start), \(length)) AS INTEGER)" }
    func clock(_ format: String) -> String { "CAST(strftime('\(format)', substr(\(moment), 1, 10)) AS INTEGER)" }
    switch self {
    case .CALENDAR_YEAR, .FISCAL_YEAR: return number(1, 4)
    case .CALENDAR_QUARTER, .FISCAL_QUARTER: return "((\(number(6, 2)) + 2) / 3)"
    case .CALENDAR_MONTH, .FISCAL_MONTH: return number(6, 2)
    case .DAY_IN_MONTH: return number(9, 2)
    case .DAY_IN_WEEK: return "(\(clock("%w")) + 1)"
    case .DAY_IN_YEAR: return clock("%j")
    case .WEEK_IN_MONTH: return "((\(number(9, 2)) + 6) / 7)"
    case .WEEK_IN_YEAR: return "((\(clock("%j")) + 6) / 7)"
    case .HOUR_IN_DAY: return number(12, 2)
    case .DAY_ONLY: return "substr(\(moment), 1, 10)"
    default: return moment
    }
  }
}
