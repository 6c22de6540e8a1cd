import JSON

/// Control actions of a running sandbox, which HTTP and Lua call by name.
///
/// An action takes an object and returns a value. Any thread except an event loop: actions on
/// records wait for the org's queue.
extension SandboxServer {
  /// The action names, in the order the documentation lists them.
  public static let controlActions =
    HTTPServer.controlActions + [
      "expireSessions", "expireLocators", "revokeToken", "create", "update", "delete", "query", "snapshot", "restore", "reset",
    ] + signInActions

  /// Runs an action.
  ///
  /// - Returns: nil if there is no such action.
  /// - Throws: ``SandboxError`` `INVALID_FAULT` or `INVALID_ARGUMENT`, which name the field, or the
  ///   org's own error.
  public func control(_ action: String, _ arguments: JSONObject) throws -> JSONValue? {
    let given = ControlArguments(arguments)
    switch action {
    case "expireSessions": try expireSessions()
    case "expireLocators": try expireQueryLocators()
    case "revokeToken": try revoke(try given.text("token"))
    case "create", "update", "delete": return try change(action, given)
    case "query":
      let soql = try given.text("soql")
      return try QueryRunner.found(soql, in: try query(soql))
    case "snapshot": try takeSnapshot(try given.optionalText("name") ?? "default")
    case "restore": try restoreSnapshot(try given.optionalText("name") ?? "default")
    case "reset":
      try reset()
      try http.resetServices(arguments)
    default: return try controlSignIn(action, given) ?? http.control(action, arguments)
    }
    return "OK"
  }

  private func change(_ action: String, _ given: ControlArguments) throws -> JSONValue {
    let type = try given.text("type")
    let change: RecordChange =
      switch action {
      case "create": .create(type, try given.fields())
      case "update": .update(type, id: try given.text("id"), try given.fields())
      default: .delete(type, id: try given.text("id"))
      }
    if let moment = try given.moment() {
      try changeLate(change, after: moment)
      return "OK"
    }
    return .string(try self.change(change) ?? "OK")
  }
}

extension ControlArguments {
  fileprivate func fields() throws(SandboxError) -> JSONObject {
    guard let fields = values["fields"]?.objectValue else { throw wrong("fields", "an object") }
    return fields
  }

  /// Reads `{"requests":2}` or `{"seconds":60}`.
  fileprivate func moment() throws(SandboxError) -> CommitMoment? {
    guard let value = values["after"], !value.isNull else { return nil }
    if let count = value["requests"]?.integerValue, (0...Int64(ServerTuning.faultCount)).contains(count) {
      return .requests(Int(count))
    }
    if let seconds = value["seconds"]?.integerValue, (0...Int64(ServerTuning.faultSeconds)).contains(seconds) {
      return .seconds(Int(seconds))
    }
    throw wrong("after", "{\"requests\":n} or {\"seconds\":n}")
  }
}
