import JSON

/// Decides what a caller may see of a class.
struct Visibility {
  let state: ParseState
  let caller: Caller

  /// Returns the pointer columns that must name the user; nil if there is no such requirement.
  ///
  /// - Throws: ``ParseError`` 119 or 101 if the class denies the operation.
  func check(_ operation: String, _ className: String) throws(ParseError) -> [String]? {
    guard !caller.isMaster, let parseClass = state.classes[className] else { return nil }
    switch parseClass.permissions.verdict(operation, caller.groups) {
    case .allowed: return nil
    case .onlyNamedUsers(let columns): return columns
    case .needsUser: throw ParseError(.objectNotFound, "Permission denied, user needs to be authenticated.")
    case .denied:
      throw ParseError(
        .operationForbidden, "Permission denied for action \(operation) on class \(className).")
    }
  }

  func canRead(_ object: ParseObject) -> Bool { caller.isMaster || object.access?.canRead(caller.groups) ?? true }
  func canWrite(_ object: ParseObject) -> Bool { caller.isMaster || object.access?.canWrite(caller.groups) ?? true }

  /// Returns true if one of the columns names the user, or if `columns` is nil.
  func namesCaller(_ object: ParseObject, _ columns: [String]?) -> Bool {
    guard let columns else { return true }
    guard let user = caller.userId.map({ Values.pointer("_User", $0) }) else { return false }
    return columns.contains { column in
      guard let value = object.fields[column] else { return false }
      return value == user || value.arrayValue?.contains(user) == true
    }
  }

  /// Returns the columns that are hidden from this caller.
  ///
  /// - Parameter id: The object's id; users see all columns of themselves.
  func hidden(in className: String, of id: String?) -> IdSet {
    guard !caller.isMaster else { return [] }
    var hidden = state.classes[className]?.permissions.hidden(caller.groups) ?? []
    guard className == "_User" else { return hidden }
    if let id, id == caller.userId { return [] }
    hidden.insert("email")
    return hidden
  }
}

/// Finds the objects of a class that a caller may read.
struct Finder {
  let reader: ConditionReader
  let className: String

  private var visibility: Visibility { Visibility(state: reader.state, caller: reader.caller) }

  /// Returns the objects in the order of their creation.
  ///
  /// - Parameter operation: `find`, `get` or `count`; nil chooses `get` if the query names one
  ///   object, else `find`.
  /// - Throws: ``ParseError``, as parse-server does.
  func objects(_ given: JSONObject, _ operation: String? = nil) throws(ParseError) -> [ParseObject] {
    try matches(given, operation).objects
  }

  func matches(_ given: JSONObject, _ operation: String? = nil) throws(ParseError) -> (
    objects: [ParseObject], condition: Condition
  ) {
    let caller = reader.caller
    try checkClass()
    let isOne = given.count == 1 && given["objectId"]?.stringValue != nil
    try caller.check(operation ?? "find", className)
    let columns = try visibility.check(operation ?? (isOne ? "get" : "find"), className)
    var condition = try reader.condition(given, of: className)
    if className == "_Session", !caller.isMaster {
      guard let user = caller.userId else { throw .invalidSession }
      condition = .all([condition, .column(path: ["user"], [.equals(Values.pointer("_User", user))])])
    }
    guard let parseClass = reader.state.classes[className] else { return ([], condition) }
    let rows = if let id = given["objectId"]?.stringValue { [parseClass[id]].compactMap { $0 } } else { parseClass.objects }
    let visibility = visibility
    var found: [ParseObject] = []
    for row in rows where visibility.canRead(row) && visibility.namesCaller(row, columns) {
      if try condition.matches(row) { found.append(row) }
    }
    return (found, condition)
  }

  /// - Throws: ``ParseError`` 119 for a missing class that clients may not create.
  private func checkClass() throws(ParseError) {
    guard !reader.settings.allowClientClassCreation, !reader.caller.isMaster, reader.state.classes[className] == nil else {
      return
    }
    throw .unknownClass(className)
  }
}
