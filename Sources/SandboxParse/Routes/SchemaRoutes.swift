import JSON
import SandboxServer

/// Serves classes and their columns to callers with the master key.
enum SchemaRoutes {
  static func add(to table: inout RouteTable<ParseHandler>) {
    table.add("GET", "/schemas") { call, state in
      try call.caller.requireMaster()
      // Two built-in classes are listed only once they have objects.
      let classes = state.classes.values.filter { !Names.lateClasses.contains($0.name) || $0.count > 0 }
        .sorted { Values.precedes($0.name, $1.name) }
      return ParseAnswer(["results": .array(classes.map(\.json))])
    }
    table.add("GET", "/schemas/:className") { call, state in
      try call.caller.requireMaster()
      return ParseAnswer(try one(call, state).json)
    }
    for path in ["/schemas", "/schemas/:className"] { table.add("POST", path, create) }
    table.add("PUT", "/schemas/:className", update)
    table.add("DELETE", "/schemas/:className", drop)
  }

  private static func one(_ call: ParseCall, _ state: ParseState) throws(ParseError) -> ParseClass {
    let name = call.parameter("className")
    guard Names.isClass(name) else { throw ParseError(.invalidClassName, Names.badClass(name)) }
    guard let found = state.classes[name] else {
      throw ParseError(.invalidClassName, "Class \(name) does not exist.")
    }
    return found
  }

  private static func name(_ call: ParseCall) throws(ParseError) -> String {
    let path = call.parameter("className"), body = call.body["className"]?.stringValue
    if let body, !path.isEmpty, body != path {
      throw ParseError(.invalidClassName, "Class name mismatch between \(body) and \(path).")
    }
    let name = path.isEmpty ? body ?? "" : path
    guard !name.isEmpty else { throw ParseError(.missingField, "POST /schemas needs a class name.") }
    guard Names.isClass(name) else { throw ParseError(.invalidClassName, Names.badClass(name)) }
    return name
  }

  private static func create(_ call: ParseCall, _ state: inout ParseState) throws -> ParseAnswer {
    try call.caller.requireMaster(toWrite: true)
    let name = try name(call)
    guard state.classes[name] == nil || (Names.systemClasses.contains(name) && call.body["fields"] == nil) else {
      throw ParseError(.invalidClassName, "Class \(name) already exists.")
    }
    return try change(state.classes[name] ?? ParseClass(name), call, &state)
  }

  private static func update(_ call: ParseCall, _ state: inout ParseState) throws -> ParseAnswer {
    try call.caller.requireMaster(toWrite: true)
    _ = try name(call)
    let known = try one(call, state)
    return try change(known, call, &state)
  }

  /// A column to add or whose rule to change; without a type, a column to remove.
  private typealias Change = (name: String, type: ColumnType?, rule: ColumnRule?)

  private static func fields(_ call: ParseCall, _ known: ParseClass) throws(ParseError) -> [Change] {
    var changes: [Change] = []
    for (name, value) in call.body["fields"]?.objectValue ?? [:] {
      if value["__op"] == "Delete" {
        guard known.type(of: name) != nil else {
          throw ParseError(.invalidSchemaOperation, "Field \(name) does not exist, cannot delete.")
        }
        try checkName(name, known)
        changes.append((name, nil, nil))
        continue
      }
      let type = try ColumnType(schema: value)
      let rule = try ColumnRule(schema: value, type, "\(known.name).\(name)")
      // Clients may read a schema and send it back, with its existing columns.
      if known.type(of: name) == type {
        if rule != nil, !Names.serverColumns.contains(name) { changes.append((name, type, rule)) }
        continue
      }
      guard known.type(of: name) == nil else {
        throw ParseError(.invalidSchemaOperation, "Field \(name) exists, cannot update.")
      }
      try checkName(name, known)
      changes.append((name, type, rule))
    }
    let removed = Set(changes.filter { $0.type == nil }.map(\.name))
    let points =
      known.columns.filter { $0.type == .geoPoint && !removed.contains($0.name) }.map(\.name)
      + changes.filter { $0.type == .geoPoint && known.type(of: $0.name) == nil }.map(\.name)
    if points.count > 1 {
      throw ParseError(
        .incorrectType,
        "currently, only one GeoPoint field may exist in an object. Adding \(points[1]) when \(points[0]) already exists.")
    }
    return changes
  }

  private static func checkName(_ name: String, _ known: ParseClass) throws(ParseError) {
    guard Names.isColumn(name) else { throw ParseError(.invalidKeyName, "invalid field name: \(name)") }
    guard !Names.serverColumns.contains(name), !Names.columns(of: known.name).contains(where: { $0.name == name }) else {
      throw ParseError(.immutableField, "field \(name) cannot be changed")
    }
  }

  /// Validates everything before it changes anything.
  private static func change(_ known: ParseClass, _ call: ParseCall, _ state: inout ParseState) throws -> ParseAnswer {
    let name = known.name, changes = try fields(call, known)
    var after = known
    for change in changes {
      if let type = change.type { after.add(change.name, type) } else { after.drop(change.name) }
    }
    let permissions = try permissions(call.body["classLevelPermissions"], after)
    let indexes = try SchemaIndexes.changed(known.indexes, by: call.body["indexes"], after, isNew: state.classes[name] == nil)
    state.add(name)
    if let permissions { state.set(permissions, of: name) }
    for change in changes {
      if let type = change.type { state.add(change.name, type, to: name) } else { state.drop(change.name, of: name) }
      if let rule = change.rule { state.set(rule, of: change.name, in: name) }
    }
    state.set(indexes, of: name)
    return ParseAnswer(state.classes[name]?.json ?? [:])
  }

  /// Returns the new permissions; nil leaves them unchanged.
  private static func permissions(_ given: JSONValue?, _ known: ParseClass) throws(ParseError) -> ClassPermissions? {
    switch given {
    case nil: nil
    case .null?: ClassPermissions()
    case let value?: try ClassPermissions(value.objectValue ?? [:], of: known)
    }
  }

  private static func drop(_ call: ParseCall, _ state: inout ParseState) throws -> ParseAnswer {
    try call.caller.requireMaster(toWrite: true)
    let name = call.parameter("className")
    guard Names.isClass(name) else { throw ParseError(.invalidClassName, Names.badClass(name)) }
    if let count = state.classes[name]?.count, count > 0 {
      throw ParseError(
        .invalidSchemaOperation, "Class \(name) is not empty, contains \(count) objects, cannot drop schema.")
    }
    if Names.systemClasses.contains(name) { return ParseAnswer([:]) }
    state.drop(name)
    return ParseAnswer([:])
  }
}
