import JSON

/// Creates, changes and removes objects of one class for one caller. The rules of the built-in
/// classes are elsewhere.
struct ObjectWriter {
  let call: ParseCall
  let className: String

  /// The result of a write.
  struct Outcome {
    var object: ParseObject
    /// The fields that the server changed, for the response.
    var reported = JSONObject()
  }

  private var caller: Caller { call.caller }

  // MARK: Checks

  /// - Throws: ``ParseError`` 107 for an invalid name, 119 for a class that clients may not create.
  func checkClass(_ state: ParseState) throws(ParseError) {
    guard state.classes[className] == nil else { return }
    guard call.settings.allowClientClassCreation || caller.isMaster else { throw .unknownClass(className) }
    guard Names.isClass(className) else {
      throw ParseError(.invalidJSON, "schema class name does not revalidate")
    }
  }

  /// - Throws: ``ParseError`` 101, 105, 111, 119 or 121.
  private func operations(
    _ body: JSONObject, _ state: ParseState, _ action: String
  ) throws(ParseError) -> [(path: [String], operation: Operation, type: ColumnType?)] {
    var found: [(path: [String], operation: Operation, type: ColumnType?)] = []
    var points = 0
    for (name, value) in body where name != "ACL" {
      let path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard Names.isColumn(path[0]), path.allSatisfy({ !$0.isEmpty && !$0.contains("$") }) else { throw .badField(path[0]) }
      let type = try ColumnType.of(value)
      if type == .geoPoint { points += 1 }
      guard points <= 1 else {
        throw ParseError(.incorrectType, "there can only be one geopoint field in a class")
      }
      let column: ColumnType? = path.count == 1 ? type : Names.isNumber(path[1]) ? .array : .object
      if let column { try check(path[0], column, state) }
      found.append((path, try Operation(value), column))
    }
    let isNew = found.contains { row in
      guard state.type(of: row.path[0], in: className) == nil else { return false }
      if case .delete = row.operation { return false }
      return row.type != nil
    }
    if isNew { _ = try Visibility(state: state, caller: caller).check("addField", className) }
    return found
  }

  private func check(_ column: String, _ type: ColumnType, _ state: ParseState) throws(ParseError) {
    // A class that this write creates already has the server's own columns.
    let known = state.type(of: column, in: className) ?? ParseClass(className).type(of: column)
    guard let expected = known, expected != type else { return }
    throw ParseError(
      .incorrectType, "schema mismatch for \(className).\(column); expected \(expected.text) but got \(type.text)")
  }

  // MARK: Writing

  /// - Parameter prepare: Checks or changes the object right before it is inserted; it may look up
  ///   other objects.
  func create(
    _ body: JSONObject, _ state: inout ParseState,
    prepare: (inout ParseObject, ParseState) throws(ParseError) -> Void = { _, _ in }
  ) throws(ParseError) -> Outcome {
    try caller.check("create", className)
    try checkClass(state)
    let id = try newId(body, &state)
    var body = body
    body["objectId"] = nil
    if state.classes[className] != nil { _ = try Visibility(state: state, caller: caller).check("create", className) }
    let defaults = if let known = state.classes[className] { try ColumnRule.fill(&body, of: known) } else { JSONObject() }
    let rows = try operations(body, state, "create")
    let stamp = call.stamp(&state)
    var object = ParseObject(id: id, createdAt: stamp, updatedAt: stamp, fields: [:])
    object.access = body["ACL"].flatMap(AccessList.init)
    var reported = JSONObject()
    for row in rows { try apply(row.path, row.operation, to: &object, isNew: true, &reported) }
    try prepare(&object, state)
    state.add(className)
    addColumns(rows, &state)
    relate(rows, object.id, &state)
    state.put(object, in: className)
    return Outcome(object: object, reported: rendered(defaults, state))
  }

  private func newId(_ body: JSONObject, _ state: inout ParseState) throws(ParseError) -> String {
    guard call.settings.allowCustomObjectId else {
      if body["objectId"] != nil { throw ParseError(.invalidKeyName, "objectId is an invalid field name.") }
      return unusedId(&state)
    }
    guard let given = body["objectId"] else { return unusedId(&state) }
    guard let id = given.stringValue, !id.isEmpty else {
      throw ParseError(.missingObjectId, "objectId must not be empty, null or undefined")
    }
    guard state.object(className, id) == nil else { throw .duplicateValue }
    return id
  }

  private func unusedId(_ state: inout ParseState) -> String {
    var id = state.newId()
    while state.object(className, id) != nil { id = state.newId() }
    return id
  }

  func update(
    _ id: String, _ body: JSONObject, _ state: inout ParseState,
    prepare: (inout ParseObject, ParseState) throws(ParseError) -> Void = { _, _ in }
  ) throws(ParseError) -> Outcome {
    try caller.check("update", className)
    if state.classes[className] == nil { try checkClass(state) }
    guard body["objectId"] == nil || body["objectId"] == .string(id) else {
      throw ParseError(.invalidKeyName, "objectId is an invalid field name.")
    }
    var body = body
    body["objectId"] = nil
    var object = try writable(id, "update", state)
    if let rules = state.classes[className]?.rules {
      for (name, value) in body { try rules[name]?.check(value, name) }
    }
    let rows = try operations(body, state, "update")
    if let access = body["ACL"].map(AccessList.init), access != nil { object.access = access }
    if body["ACL"]?["__op"] == "Delete" { object.access = nil }
    var reported = JSONObject()
    for row in rows { try apply(row.path, row.operation, to: &object, isNew: false, &reported) }
    try prepare(&object, state)
    object.updatedAt = call.stamp(&state)
    addColumns(rows, &state)
    relate(rows, id, &state)
    state.put(object, in: className)
    return Outcome(object: object, reported: rendered(reported, state))
  }

  /// - Throws: ``ParseError`` 101 if the object does not exist or may not be written, 119.
  private func writable(_ id: String, _ operation: String, _ state: ParseState) throws(ParseError) -> ParseObject {
    let visibility = Visibility(state: state, caller: caller)
    let columns = try visibility.check(operation, className)
    guard let object = state.object(className, id), visibility.canWrite(object), visibility.namesCaller(object, columns) else {
      throw .notFound
    }
    return object
  }

  func delete(_ id: String, _ state: inout ParseState) throws(ParseError) {
    try caller.check("delete", className)
    _ = try writable(id, "delete", state)
    state.remove(className, id)
  }

  // MARK: Parts

  /// Reported values look as they do when they are read.
  private func rendered(_ reported: JSONObject, _ state: ParseState) -> JSONObject {
    let renderer = Renderer(state: state, call: call)
    return JSONObject(reported.map { ($0.key, renderer.expanded($0.value)) })
  }

  private func apply(
    _ path: [String], _ operation: Operation, to object: inout ParseObject, isNew: Bool, _ reported: inout JSONObject
  ) throws(ParseError) {
    switch operation {
    case .keep, .relate: return
    case .set(let value) where path == ["createdAt"]:
      object.createdAt = ParseTime.milliseconds(of: value) ?? object.createdAt
      return
    case _ where path == ["createdAt"] || path == ["updatedAt"]: return
    // Removing from a missing list changes nothing; a new object gets an empty list.
    case .remove where !isNew && object.fields.get(path[...]) == nil: return
    default: break
    }
    let value = try operation.applied(to: object.fields.get(path[...]))
    guard object.fields.set(path[...], value) else {
      throw .unexpected("Cannot create field '\(path.last ?? "")' in the value of '\(path[0])'")
    }
    guard operation.isReported, let value else { return }
    // After a change to a list element, report the whole list.
    if path.count > 1, let list = object.fields[path[0]], list.arrayValue != nil {
      reported[path[0]] = list
    } else {
      reported.set(path[...], value)
    }
  }

  private func addColumns(
    _ rows: [(path: [String], operation: Operation, type: ColumnType?)], _ state: inout ParseState
  ) {
    for row in rows { if let type = row.type { state.add(row.path[0], type, to: className) } }
  }

  private func relate(
    _ rows: [(path: [String], operation: Operation, type: ColumnType?)], _ owner: String, _ state: inout ParseState
  ) {
    for row in rows {
      guard case .relate(let added, let removed) = row.operation else { continue }
      let column = Relations.Column(className: className, name: row.path[0])
      for id in added { state.relations.add(column, owner, id) }
      for id in removed { state.relations.remove(column, owner, id) }
    }
  }
}

extension Names {
  static func isNumber(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isDigit) }
}
