import SmartStore

/// The functions of smart SQL.
extension SmartSqlTranslation {
  mutating func function(_ name: String, _ i: Int) throws -> Int {
    let end = try close(i + 1), inner = (i + 2)..<end, arguments = parts(inner)
    switch name {
    case "count":
      if inner.count == 1, isSign("*", i + 2) {
        put("count(*)")
      } else if let call = pathCall(i + 2), call.end == end {
        put("count(\(call.sql("val", schema)))")
      } else {
        try call("count", inner)
      }
    case "min", "max":
      guard arguments.count == 1 else { throw refused("\(name)() of several values") }
      try call(name, inner)
    case "sum":
      let found = classes(inner)
      guard !found.hasUnknown else { throw refused("sum() of numbers of an unknown kind") }
      put("(")
      try sum(inner)
      put(found.hasReal ? ")::double precision" : ")::bigint")
    case "total":
      put("coalesce((")
      try sum(inner)
      put(")::double precision, 0)")
    case "avg":
      // As SQLite: the sum as a real by the number.
      guard !inner.contains(where: { isSign("?", $0) }) else { throw refused("avg() with '?'") }
      // It is emitted twice, and one in another would double the whole again.
      guard !inner.contains(where: { isWord("select", $0) }) else { throw refused("avg() of a query") }
      put("((")
      try sum(inner)
      put(")::double precision / nullif(")
      if let call = pathCall(inner.lowerBound), call.end == end {
        put("count(\(call.sql("val", schema)))")
      } else {
        try call("count", inner)
      }
      put(", 0))")
    case "lower", "upper":
      put("\(name)((")
      try emit(inner)
      put(") COLLATE \"C\")")
    case "coalesce", "ifnull", "nullif":
      if let mixed = mixture(inner) { throw refused("\(name)() of \(mixed)") }
      try call(name == "ifnull" ? "coalesce" : name, inner)
    case "substr": try substring(inner, arguments)
    case "trim": try call("btrim", inner)
    case "instr": try call("strpos", inner)
    default: try call(name, inner)
    }
    return end + 1
  }

  /// A path is summed if all its values are whole numbers.
  private mutating func sum(_ inner: Range<Int>) throws {
    guard let path = pathCall(inner.lowerBound), path.end == inner.upperBound else { return try call("sum", inner) }
    put("sum(\(path.sql("int", schema)))")
  }

  private mutating func call(_ name: String, _ inner: Range<Int>) throws {
    put(name + "(")
    try emit(inner)
    put(")")
  }

  /// Positions before the first character mean different things.
  private mutating func substring(_ inner: Range<Int>, _ arguments: [Range<Int>]) throws {
    let bounds = arguments.dropFirst().map { part -> Int? in
      guard part.count == 1, case .number(let text) = tokens[part.lowerBound] else { return nil }
      return Int(text)
    }
    guard bounds.first.map({ $0 ?? 0 > 0 }) ?? false, bounds.allSatisfy({ $0 != nil }) else {
      throw refused("substr() with a computed position, or one before the first character")
    }
    try call("substr", inner)
  }
}
