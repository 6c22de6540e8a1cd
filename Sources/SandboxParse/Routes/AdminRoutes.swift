import JSON
import SandboxServer

/// Serves purging, configuration and server information, and answers calls of cloud functions,
/// which it does not have.
enum AdminRoutes {
  static let version = "7.4.0"

  static func add(to table: inout RouteTable<ParseHandler>) {
    table.add("DELETE", "/purge/:className") { call, state in
      try call.caller.requireMaster(toWrite: true)
      state.removeAll(of: call.parameter("className"))
      return ParseAnswer([:])
    }
    table.add("GET", "/serverInfo") { call, _ in
      try call.caller.requireMaster()
      return ParseAnswer(["features": [:], "parseServerVersion": .string(version)])
    }
    table.add("GET", "/config") { call, state in ParseAnswer(parameters(state, call.caller)) }
    table.add("PUT", "/config") { call, state in
      try call.caller.requireMaster(toWrite: true)
      change(&state.parameters, call.body["params"])
      if call.body["masterKeyOnly"] != nil {
        var hidden = state.hiddenParameters ?? JSONObject()
        change(&hidden, call.body["masterKeyOnly"])
        state.hiddenParameters = hidden
      } else if state.hiddenParameters == nil {
        state.hiddenParameters = JSONObject()
      }
      return ParseAnswer(["result": true])
    }
    table.add("POST", "/functions/:name") { call, _ in
      throw ParseError(.scriptFailed, "Invalid function: \"\(call.parameter("name"))\"")
    }
    for (method, path) in [("GET", "/aggregate/:className"), ("GET", "/jobs"), ("POST", "/jobs"), ("POST", "/jobs/:name")] {
      table.add(method, path) { call, _ in
        try call.caller.requireMaster()
        var answer = ParseAnswer(.null)
        answer.reply = .noRoute(call.method, call.path)
        return answer
      }
    }
  }

  private static func parameters(_ state: ParseState, _ caller: Caller) -> JSONValue {
    var shown = state.parameters
    guard var hidden = state.hiddenParameters else { return ["params": .object(shown)] }
    if !caller.isMaster {
      for name in shown.keys where hidden[name] == true {
        shown[name] = nil
        hidden[name] = nil
      }
    }
    return ["params": .object(shown), "masterKeyOnly": .object(hidden)]
  }

  private static func change(_ values: inout JSONObject, _ given: JSONValue?) {
    for (name, value) in given?.objectValue ?? [:] { values[name] = value["__op"] == "Delete" ? nil : value }
  }
}
