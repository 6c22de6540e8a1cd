/// The left side of a comparison, a column to sort or to group by: SQL and what SOQL knows of it.
struct Operand {
  var sql: String
  /// What literals are checked against.
  var type: FieldType
  /// For error messages.
  let name: String
  let position: Int
  var isThroughParent = false
  /// Values of a multi-select picklist, `a;b;c`.
  var isMultiPicklist = false
  /// The values of a picklist in their order, by which it is sorted; empty for everything else.
  var picklist: [String] = []
  /// How an output column of it is written.
  var form: JSONForm
  /// Null cannot be among its values.
  var isNeverNull = false

  /// The SQL to sort, group and compare by: text without regard to case in any alphabet.
  var collated: String { type.isText ? "\(sql) COLLATE \(TextComparison.collation)" : sql }

  /// The position of a picklist's value in the list, behind all of them for a value that it lacks, null for null.
  var rank: String {
    let places = picklist.enumerated().map { "WHEN '\($1.replacing("'", with: "''"))' THEN \($0)" }
    return "CASE WHEN \(sql) IS NULL THEN NULL ELSE CASE \(sql) COLLATE NOCASE \(places.joined(separator: " ")) "
      + "ELSE \(picklist.count) END END"
  }
}

/// Where the operands of conditions and of ORDER BY come from: rows, or groups of rows.
protocol OperandSource {
  /// - Parameter use: The word error messages use: `filtered`, `sorted`, `grouped`.
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
      // Labels are the values themselves here, and there is one currency.
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
    // The sandbox user lives in UTC.
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

  /// The great-circle distance from a pair of fields, `BillingLatitude` and `BillingLongitude`, as a compound field has them.
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

  /// `BillingAddress` is made of `BillingLatitude` and `BillingLongitude`, `Place__c` of `Place__Latitude__s` and its like.
  private static func coordinateNames(_ compound: String) -> (String, String) {
    let lower = compound.lowercased()
    if lower.hasSuffix("__c") { return (compound.dropLast(3) + "__Latitude__s", compound.dropLast(3) + "__Longitude__s") }
    let stem = lower.hasSuffix("address") ? String(compound.dropLast(7)) : compound
    return (stem + "Latitude", stem + "Longitude")
  }
}

extension FieldSchema {
  /// Whether it may be `filtered`, `sorted` or `grouped`.
  func allows(use: String) -> Bool {
    switch use {
    case "grouped": return isGroupable
    case "sorted": return isSortable
    default: return isFilterable
    }
  }
}
