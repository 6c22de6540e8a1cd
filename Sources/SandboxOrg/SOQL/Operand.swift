import Support

/// An expression to compare, sort or group by: its SQL and its properties in SOQL.
struct Operand {
  var sql: String
  /// The type that literals must have.
  var type: FieldType
  /// The name in error messages.
  let name: String
  let position: Int
  var isThroughParent = false
  /// True for a multi-select picklist, whose values are stored as `a;b;c`.
  var isMultiPicklist = false
  /// The values of a picklist in sort order; empty for other types.
  var picklist: [String] = []
  /// The output form of its column.
  var form: JSONForm
  /// True if the column is never null.
  var isNeverNull = false

  /// SQL to sort, group and compare by; text ignores case in all alphabets.
  var collated: String { type.isText ? "\(sql) COLLATE \(TextComparison.collation)" : sql }

  /// SQL for the position of a value in the picklist; other values come after all of them, and null
  /// stays null.
  var rank: String {
    let places = picklist.enumerated().map { "WHEN \($1.quoted(with: UInt8(ascii: "'"))) THEN \($0)" }
    return "CASE WHEN \(sql) IS NULL THEN NULL ELSE CASE \(sql) COLLATE NOCASE \(places.joined(separator: " ")) "
      + "ELSE \(picklist.count) END END"
  }
}

/// Provides the operands of conditions and of ORDER BY: from rows, or from groups of rows.
protocol OperandSource {
  /// - Parameter use: The word for error messages: `filtered`, `sorted` or `grouped`.
  mutating func operand(_ expression: Expression, use: String) throws(SOQLError) -> Operand
}

/// Operands of single rows.
struct RowOperands: OperandSource {
  var graph: JoinGraph

  mutating func operand(_ expression: Expression, use: String) throws(SOQLError) -> Operand {
    switch expression {
    case .field(let path): return try field(path, use: use)
    case .distance(let distance): return try self.distance(distance)
    case .call(let function, let argument, let position):
      return try call(function, argument, position: position, use: use)
    }
  }

  private mutating func field(_ path: FieldPath, use: String) throws(SOQLError) -> Operand {
    let resolved = try graph.resolve(path)
    let field = resolved.field
    guard field.allows(use: use) else {
      throw .invalidField("field '\(field.name)' can not be \(use) in a query call", at: resolved.position)
    }
    // A flag of a missing parent counts as false.
    let isOptionalFlag = resolved.isThroughParent && field.type == .boolean
    return Operand(
      sql: isOptionalFlag ? "coalesce(\(resolved.expression), 0)" : resolved.expression, type: field.type,
      name: field.name, position: resolved.position, isThroughParent: resolved.isThroughParent,
      isMultiPicklist: field.type == .multipicklist, picklist: field.type == .picklist ? field.picklist : [], form: field.form,
      isNeverNull: field.isNeverNull && (!resolved.isThroughParent || isOptionalFlag))
  }

  private mutating func call(
    _ function: SOQLFunction, _ argument: Expression, position: Int, use: String
  ) throws(SOQLError) -> Operand {
    switch function.kind {
    case .aggregate, .grouping:
      throw .malformed("aggregate expressions cannot be \(use) here: \(function.rawValue)", at: position)
    case .display:
      // Labels equal values here, and there is only one currency.
      guard function != .FORMAT else { throw .malformed("FORMAT can only be selected", at: position) }
      return try operand(argument, use: use)
    case .zone: throw .malformed("CONVERTTIMEZONE can only be used inside a date function", at: position)
    case .date: return try datePart(function, argument, position: position)
    }
  }

  private mutating func datePart(
    _ function: SOQLFunction, _ argument: Expression, position: Int
  ) throws(SOQLError) -> Operand {
    var inner = argument
    // The sandbox user's time zone is UTC.
    if case .call(.CONVERTTIMEZONE, let moment, _) = argument { inner = moment }
    guard case .field = inner else { throw .malformed("unexpected expression in \(function.rawValue)", at: inner.position) }
    let moment = try operand(inner, use: "filtered")
    let needsTime = function == .HOUR_IN_DAY || function == .DAY_ONLY
    guard moment.type == .datetime || (moment.type == .date && !needsTime) else {
      throw .invalidField(
        "field \(moment.name) does not support the date function \(function.rawValue)", at: moment.position)
    }
    return Operand(
      sql: function.part(of: moment.sql), type: function == .DAY_ONLY ? .date : .int, name: function.rawValue,
      position: position, isThroughParent: moment.isThroughParent,
      form: function == .DAY_ONLY ? .plainText : .integer)
  }

  /// Returns SQL for the great-circle distance from the coordinates of a compound field, such as
  /// `BillingLatitude` and `BillingLongitude`.
  private mutating func distance(_ distance: Distance) throws(SOQLError) -> Operand {
    let last = distance.place.names[distance.place.names.count - 1]
    let (latitude, longitude) = Self.coordinateNames(last.text)
    let parents = distance.place.names.dropLast()
    func path(_ name: String) -> FieldPath { FieldPath(names: parents + [Name(text: name, position: last.position)]) }
    let y = try graph.resolve(path(latitude)).expression, x = try graph.resolve(path(longitude)).expression
    let radius = distance.inMiles ? 3_958.7613 : 6_371.0088
    let rise = "sin(radians(\(y) - \(distance.latitude)) / 2)", run = "sin(radians(\(x) - \(distance.longitude)) / 2)"
    let square = "(\(rise) * \(rise) + cos(radians(\(y))) * cos(radians(\(distance.latitude))) * \(run) * \(run))"
    return Operand(
      sql: "(2 * \(radius) * asin(min(1, sqrt(\(square)))))", type: .double, name: "DISTANCE",
      position: distance.position, form: .real)
  }

  /// Returns the coordinate fields of a compound: `BillingLatitude` and `BillingLongitude` for
  /// `BillingAddress`, `Place__Latitude__s` and its counterpart for `Place__c`.
  private static func coordinateNames(_ compound: String) -> (String, String) {
    let lower = compound.lowercased()
    if lower.hasSuffix("__c") { return (compound.dropLast(3) + "__Latitude__s", compound.dropLast(3) + "__Longitude__s") }
    let stem = lower.hasSuffix("address") ? String(compound.dropLast(7)) : compound
    return (stem + "Latitude", stem + "Longitude")
  }
}

extension FieldSchema {
  /// Returns true if the field can be `filtered`, `sorted` or `grouped`.
  func allows(use: String) -> Bool {
    switch use {
    case "grouped": return isGroupable
    case "sorted": return isSortable
    default: return isFilterable
    }
  }
}
