import JSON
import SandboxServer

/// Serves objects of any class, also under the short paths of the built-in classes.
enum ClassRoutes {
  private static let names = [
    ("/users", "_User"), ("/roles", "_Role"), ("/sessions", "_Session"), ("/installations", "_Installation"),
  ]

  static func add(to table: inout RouteTable<ParseHandler>) {
    for (path, name) in names {
      add(to: &table, path) { _ in name }
    }
    add(to: &table, "/classes/:className") { $0.parameter("className") }
  }

  private static func add(
    to table: inout RouteTable<ParseHandler>, _ path: String, _ className: @escaping @Sendable (ParseCall) -> String
  ) {
    table.add("GET", path) { call, state in
      try ParseAnswer(QueryRun(state: state, call: call).list(className(call), QueryOptions(call.options)))
    }
    table.add("POST", path) { call, state in try create(className(call), call, &state) }
    table.add("GET", path + "/:id") { call, state in try read(className(call), call, &state) }
    table.add("PUT", path + "/:id") { call, state in try update(className(call), call, &state) }
    table.add("DELETE", path + "/:id") { call, state in try delete(className(call), call, &state) }
  }

  private static func create(_ className: String, _ call: ParseCall, _ state: inout ParseState) throws -> ParseAnswer {
    let writer = ObjectWriter(call: call, className: className)
    switch className {
    case "_User": return try UserWriter(call: call).signUp(call.body, &state)
    case "_Session": return try createSession(call, &state)
    default: break
    }
    let outcome = try writer.create(call.body, &state) { object, state throws(ParseError) in
      try check(object, className, state)
    }
    var answer: JSONObject = [
      "objectId": .string(outcome.object.id), "createdAt": ParseTime.json(outcome.object.createdAt),
    ]
    for (name, value) in outcome.reported { answer[name] = value }
    return ParseAnswer(.object(answer), status: 201, location: "\(home(className))/\(outcome.object.id)")
  }

  private static func home(_ className: String) -> String {
    names.first { $0.1 == className && className == "_User" }?.0 ?? "/classes/\(className)"
  }

  /// Checks the requirements of the built-in classes for a new object.
  private static func check(_ object: ParseObject, _ className: String, _ state: ParseState) throws(ParseError) {
    switch className {
    case "_Role":
      guard let name = object.fields["name"], !name.isNull else { throw ParseError(.incorrectType, "name is required.") }
      guard object.access != nil else { throw ParseError(.incorrectType, "ACL is required.") }
      try checkName(object, state)
    case "_Installation":
      guard object.fields["deviceToken"] != nil || object.fields["installationId"] != nil else {
        throw ParseError(
          .missingField, "at least one ID field (deviceToken, installationId) must be specified in this operation")
      }
      guard object.fields["deviceType"] != nil else {
        throw ParseError(.missingField, "deviceType must be specified in this operation")
      }
    default: break
    }
  }

  private static func checkName(_ role: ParseObject, _ state: ParseState) throws(ParseError) {
    let isTaken = state.classes["_Role"]?.objects.contains { $0.id != role.id && $0.fields["name"] == role.fields["name"] }
    if isTaken == true { throw .duplicateValue }
  }

  private static func read(_ className: String, _ call: ParseCall, _ state: inout ParseState) throws -> ParseAnswer {
    let id = call.parameter("id")
    var value = try QueryRun(state: state, call: call).one(className, id, QueryOptions(ofOne: call.options))
    if className == "_User", id == call.caller.userId { value["sessionToken"] = call.caller.token.map { .string($0) } }
    return ParseAnswer(.object(value))
  }

  private static func update(_ className: String, _ call: ParseCall, _ state: inout ParseState) throws -> ParseAnswer {
    let id = call.parameter("id")
    if className == "_User" { return try UserWriter(call: call).update(id, call.body, &state) }
    if className == "_Session" { try checkSession(call) }
    let outcome = try ObjectWriter(call: call, className: className).update(id, call.body, &state) {
      object, state throws(ParseError) in
      if className == "_Role" { try checkName(object, state) }
    }
    var answer = outcome.reported
    answer["updatedAt"] = ParseTime.json(outcome.object.updatedAt)
    return ParseAnswer(.object(answer))
  }

  private static func delete(_ className: String, _ call: ParseCall, _ state: inout ParseState) throws -> ParseAnswer {
    let id = call.parameter("id")
    if className == "_User" { return try UserWriter(call: call).delete(id, &state) }
    if className == "_Session", !call.caller.isMaster, call.caller.userId == nil { throw ParseError.invalidSession }
    try ObjectWriter(call: call, className: className).delete(id, &state)
    return ParseAnswer([:])
  }

  // MARK: Sessions

  /// - Throws: ``ParseError`` 105 or 209.
  private static func checkSession(_ call: ParseCall) throws(ParseError) {
    guard call.caller.isMaster || call.caller.userId != nil else {
      throw ParseError(.invalidSessionToken, "Session token required.")
    }
    if call.body["ACL"] != nil { throw ParseError(.invalidKeyName, "Cannot set ACL on a Session.") }
    guard !call.caller.isMaster else { return }
    for name in ["user", "sessionToken", "installationId", "createdWith", "expiresAt"] where call.body[name] != nil {
      throw ParseError(.invalidKeyName, "\(name) is an invalid field name.")
    }
  }

  /// Creates another session for the same user.
  private static func createSession(_ call: ParseCall, _ state: inout ParseState) throws -> ParseAnswer {
    try checkSession(call)
    guard let user = call.caller.userId else { throw ParseError(.invalidSessionToken, "Session token required.") }
    var other = call
    other.caller.installationId = nil
    let session = Sessions(call: other).begin(user, "create", &state)
    return ParseAnswer(
      .object(Renderer(state: state, call: call).json(session, of: "_Session")), status: 201,
      location: "/sessions/\(session.id)")
  }
}
