import Support

/// Parses SELECT lists and functions.
extension Parser {
  mutating func selection() throws(SOQLError) -> SOQLQuery.Selection {
    if current.isKeyword("COUNT"), peek(1).isSymbol("("), peek(2).isSymbol(")") {
      let position = current.position
      index += 3
      return .count(position: position)
    }
    var items = [try item()]
    while takeSymbol(",") { items.append(try item()) }
    return .items(items)
  }

  private mutating func item() throws(SOQLError) -> SelectItem {
    let position = current.position
    if current.isSymbol("("), peek(1).isKeyword("SELECT") {
      advance()
      let query = try self.query()
      try expectSymbol(")")
      return .children(query, position: position)
    }
    if current.isKeyword("FIELDS"), peek(1).isSymbol("(") { return try fieldGroup(position) }
    if current.isKeyword("TYPEOF"), peek(1).kind == .identifier { return .typeOf(try typeOf()) }
    return .expression(try expression(), alias: try alias())
  }

  private mutating func fieldGroup(_ position: Int) throws(SOQLError) -> SelectItem {
    index += 2
    guard current.kind == .identifier, let group = SelectItem.FieldGroup(rawValue: current.text.uppercased()) else {
      throw .unexpected(current)
    }
    advance()
    try expectSymbol(")")
    return .fields(group, position: position)
  }

  private mutating func typeOf() throws(SOQLError) -> TypeOf {
    advance()
    let relationship = try path()
    var branches: [TypeOf.Branch] = []
    while take("WHEN") {
      let type = try name()
      try expect("THEN")
      branches.append(TypeOf.Branch(type: type, paths: try paths()))
    }
    guard !branches.isEmpty else { throw .unexpected(current) }
    let otherwise = take("ELSE") ? try paths() : nil
    try expect("END")
    return TypeOf(relationship: relationship, branches: branches, otherwise: otherwise)
  }

  private mutating func paths() throws(SOQLError) -> [FieldPath] {
    var paths = [try path()]
    while takeSymbol(",") { paths.append(try path()) }
    return paths
  }

  // MARK: Expressions

  /// Parses a path, or a function of one: `CALENDAR_YEAR(CONVERTTIMEZONE(CreatedDate))`.
  mutating func expression() throws(SOQLError) -> Expression {
    guard current.kind == .identifier, peek(1).isSymbol("(") else { return .field(try path()) }
    let position = current.position
    let word = current.text.uppercased()
    if word == "DISTANCE" { return .distance(try distance()) }
    guard let function = SOQLFunction(rawValue: word) else { throw .unexpected(peek(1)) }
    index += 2
    depth += 1
    defer { depth -= 1 }
    guard depth <= Tuning.conditionDepth else {
      throw .malformed("expressions are nested more than \(Tuning.conditionDepth) deep", at: current.position)
    }
    let argument = try expression()
    try expectSymbol(")")
    return .call(function, argument, position: position)
  }

  private mutating func distance() throws(SOQLError) -> Distance {
    let position = current.position
    index += 2
    let place = try path()
    try expectSymbol(",")
    try expect("GEOLOCATION")
    try expectSymbol("(")
    let latitude = try coordinate(90)
    try expectSymbol(",")
    let longitude = try coordinate(180)
    try expectSymbol(")")
    try expectSymbol(",")
    guard case .string(let unit, _, _) = current.kind, ["mi", "km"].contains(unit.lowercased()) else {
      throw .malformed("DISTANCE needs the unit 'mi' or 'km'", at: current.position)
    }
    advance()
    try expectSymbol(")")
    return Distance(
      place: place, latitude: latitude, longitude: longitude, inMiles: unit.lowercased() == "mi", position: position)
  }

  private mutating func coordinate(_ limit: Double) throws(SOQLError) -> Double {
    let start = current.position
    let sign = takeSymbol("-") ? -1.0 : 1.0
    guard current.kind == .number, let value = Double(current.text), value <= limit else {
      throw .malformed("a coordinate must lie between -\(Int(saturating: limit)) and \(Int(saturating: limit))", at: start)
    }
    advance()
    return sign * value
  }
}
