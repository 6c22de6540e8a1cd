import JSON

/// What can be asked of a running sandbox from outside, by name: over HTTP, from Lua.
///
/// An action takes an object and gives a value. Any thread but an event loop: those about records wait for the org.
extension SandboxServer {
  /// The names, in the order the documentation lists them.
  public static let controlActions = [
    "addFault", "removeFault", "faults", "clearFaults", "resetFaults", "faultKinds", "requests", "clearRequests", "clock",
    "expireSessions", "expireLocators", "revokeToken", "create", "update", "delete", "query", "snapshot", "restore", "reset",
  ]

  /// - Returns: nil when there is no such action.
  /// - Throws: ``SandboxError``: `INVALID_FAULT` or `INVALID_ARGUMENT`, which name the field, or what the org refuses with.
  public func control(_ action: String, _ arguments: JSONObject) throws -> JSONValue? {
    let given = ControlArguments(arguments)
    switch action {
    case "addFault": return try addFaults(arguments)
    case "removeFault": return .bool(faults.remove(try given.integer("id")))
    case "faults": return .object(["seed": .integer(Int64(bitPattern: faults.seed)), "rules": .array(faults.active.map(\.json))])
    case "clearFaults": faults.clear()
    case "resetFaults": faults.reset(seed: try given.optionalInteger("seed").map { UInt64(bitPattern: Int64($0)) })
    case "faultKinds": return .array(faults.kinds.map(\.json))
    case "requests": return .array(try logged(given).map { .object($0.json) })
    case "clearRequests": clearRequests()
    case "clock": return try steer(given)
    case "expireSessions": try expireSessions()
    case "expireLocators": try expireQueryLocators()
    case "revokeToken": try revoke(try given.text("token"))
    case "create", "update", "delete": return try change(action, given)
    case "query": return try found(try given.text("soql"))
    case "snapshot": try takeSnapshot(try given.optionalText("name") ?? "default")
    case "restore": try restoreSnapshot(try given.optionalText("name") ?? "default")
    case "reset": try reset()
    default: return nil
    }
    return "OK"
  }

  /// The records of a statement; of `SELECT COUNT()`, which has none, how many there are.
  private func found(_ soql: String) throws -> JSONValue {
    let answer = try query(soql)
    if case .count = try Parser.parse(Array(soql.unicodeScalars)).selection { return answer["totalSize"] ?? 0 }
    return answer["records"] ?? []
  }

  /// One rule, or several as `rules`; all of them or none.
  private func addFaults(_ arguments: JSONObject) throws -> JSONValue {
    guard let rules = arguments["rules"] else {
      return .integer(Int64(try faults.add(FaultRule(json: .object(arguments)))))
    }
    guard let list = rules.arrayValue else { throw SandboxError.fault("rules", "must be an array, got \(rules.kindName)") }
    let ids = try faults.add(try list.map { rule throws(SandboxError) in try FaultRule(json: rule) })
    return .array(ids.map { .integer(Int64($0)) })
  }

  private func logged(_ given: ControlArguments) throws -> [LoggedRequest] {
    let since = try given.optionalInteger("since") ?? 0
    let method = try given.optionalText("method"), fault = try given.optionalText("fault")
    let path = try given.optionalText("path").map { text throws(SandboxError) in try PathPattern(text) }
    return requests().filter { request in
      request.sequence > since && (method.map { $0.uppercased() == request.method } ?? true)
        && (fault.map(request.faults.contains) ?? true) && (path.map { $0.matches(request.path) } ?? true)
    }
  }

  private func steer(_ given: ControlArguments) throws -> JSONValue {
    let set = try given.optionalInteger("set", 0...253_402_300_799)
    let advance = try given.optionalInteger("advance", -Tuning.faultSeconds...Tuning.faultSeconds)
    let hold = try given.optionalFlag("hold")
    if hold == true { clock.hold() }
    if let set { clock.set(Int64(set)) }
    if let advance { clock.advance(by: Int64(advance)) }
    if hold == false { clock.release() }
    let now = clock.now()
    return .object(["now": .integer(now), "text": .string(Timestamp.text(now)), "held": .bool(clock.isHeld)])
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

/// Arguments of an action. - Throws: ``SandboxError`` `INVALID_ARGUMENT`, naming the field and what it takes.
private struct ControlArguments {
  private let values: JSONObject

  init(_ values: JSONObject) { self.values = values }

  func optionalText(_ name: String) throws(SandboxError) -> String? {
    guard let value = values[name], !value.isNull else { return nil }
    guard let text = value.stringValue else { throw wrong(name, "a string") }
    return text
  }

  func optionalInteger(
    _ name: String, _ range: ClosedRange<Int> = -(1 << 52)...(1 << 52)
  ) throws(SandboxError) -> Int? {
    guard let value = values[name], !value.isNull else { return nil }
    guard let number = value.integerValue, range.contains(Int(number)) else {
      throw wrong(name, "an integer, \(range.lowerBound) to \(range.upperBound)")
    }
    return Int(number)
  }

  func optionalFlag(_ name: String) throws(SandboxError) -> Bool? {
    guard let value = values[name], !value.isNull else { return nil }
    guard let flag = value.boolValue else { throw wrong(name, "true or false") }
    return flag
  }

  func text(_ name: String) throws(SandboxError) -> String {
    guard let text = try optionalText(name) else { throw wrong(name, "a string") }
    return text
  }

  func integer(_ name: String) throws(SandboxError) -> Int {
    guard let number = try optionalInteger(name) else { throw wrong(name, "an integer") }
    return number
  }

  func fields() throws(SandboxError) -> JSONObject {
    guard let fields = values["fields"]?.objectValue else { throw wrong("fields", "an object") }
    return fields
  }

  /// `{"requests":2}` or `{"seconds":60}`.
  func moment() throws(SandboxError) -> CommitMoment? {
    guard let value = values["after"], !value.isNull else { return nil }
    if let count = value["requests"]?.integerValue, (0...Int64(Tuning.faultCount)).contains(count) {
      return .requests(Int(count))
    }
    if let seconds = value["seconds"]?.integerValue, (0...Int64(Tuning.faultSeconds)).contains(seconds) {
      return .seconds(Int(seconds))
    }
    throw wrong("after", "{\"requests\":n} or {\"seconds\":n}")
  }

  private func wrong(_ name: String, _ what: String) -> SandboxError {
    let got = values[name].map { ", got \($0.kindName)" } ?? ""
    return SandboxError(
      status: 400, code: "INVALID_ARGUMENT", message: "argument '\(name)' must be \(what)\(got)", fields: [name])
  }
}

extension ActiveFault {
  var json: JSONValue {
    var object: JSONObject = ["id": .integer(Int64(id))]
    for (name, value) in rule.json { object[name] = value }
    object["matched"] = .integer(Int64(matched))
    object["fired"] = .integer(Int64(fired))
    return .object(object)
  }
}

extension FaultKind {
  var json: JSONValue {
    let parameters = parameters.map { parameter -> JSONValue in
      [
        "name": .string(parameter.name), "allowed": .string(parameter.allowed), "default": parameter.fallback,
        "meaning": .string(parameter.meaning),
      ]
    }
    return [
      "kind": .string(name), "layer": .string(layer.rawValue), "summary": .string(summary), "parameters": .array(parameters),
    ]
  }
}
