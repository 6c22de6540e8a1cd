import JSON

// Control actions that every pretend server has.
extension HTTPServer {
  /// The action names, in the order the documentation lists them.
  package static let controlActions = [
    "addFault", "removeFault", "faults", "clearFaults", "resetFaults", "faultKinds", "requests", "clearRequests", "clock",
  ]

  /// Runs a built-in action, or else an action of one of the server's services.
  ///
  /// - Returns: nil if there is no such action.
  /// - Throws: ``SandboxError`` `INVALID_FAULT` or `INVALID_ARGUMENT`, which name the field, or the
  ///   error of the service.
  package func control(_ action: String, _ arguments: JSONObject) throws -> JSONValue? {
    let given = ControlArguments(arguments)
    switch action {
    case "addFault": return try addFaults(arguments)
    case "removeFault": return .bool(faults.remove(try given.integer("id")))
    case "faults": return .object(["seed": .integer(Int64(bitPattern: faults.seed)), "rules": .array(faults.active.map(\.json))])
    case "clearFaults": faults.clear()
    case "resetFaults": faults.reset(seed: try given.optionalInteger("seed").map { UInt64(bitPattern: Int64($0)) })
    case "faultKinds": return .array(faults.kinds.map(\.json))
    case "requests": return .array(try logged(given).map { .object($0.json) })
    case "clearRequests": log.clear()
    case "clock": return try steer(given)
    default:
      for service in mounts.services {
        if let value = try service.control(action, given) { return value }
      }
      return nil
    }
    return "OK"
  }

  /// Resets every service to its state after the start, or to the state that the arguments
  /// describe.
  package func resetServices(_ arguments: JSONObject = [:]) throws {
    for service in mounts.services { try service.reset(ControlArguments(arguments)) }
  }

  /// Adds one rule, or all rules of the array `rules`; if one of them is invalid, none is added.
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
    return log.requests.filter { request in
      request.sequence > since && (method.map { $0.uppercased() == request.method } ?? true)
        && (fault.map(request.faults.contains) ?? true) && (path.map { $0.matches(request.path) } ?? true)
    }
  }

  private func steer(_ given: ControlArguments) throws -> JSONValue {
    let set = try given.optionalInteger("set", 0...253_402_300_799)
    let advance = try given.optionalInteger("advance", -ServerTuning.faultSeconds...ServerTuning.faultSeconds)
    let hold = try given.optionalFlag("hold")
    if hold == true { clock.hold() }
    if let set { clock.set(Int64(set)) }
    if let advance { clock.advance(by: Int64(advance)) }
    if hold == false { clock.release() }
    let now = clock.now()
    return .object(["now": .integer(now), "text": .string(Timestamp.text(now)), "held": .bool(clock.isHeld)])
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
