import JSON
import SandboxServer

/// Serves logging in, logging out, and the current user.
enum AccountRoutes {
  static func add(to table: inout RouteTable<ParseHandler>) {
    for method in ["POST", "GET"] {
      table.add(method, "/login") { call, state in try UserWriter(call: call).logIn(call.signInOptions, &state) }
      table.add(method, "/verifyPassword") { call, state in try UserWriter(call: call).verify(call.signInOptions, state) }
    }
    table.add("POST", "/logout") { call, state in
      if let token = call.caller.token, let session = state.sessions[token] { state.remove("_Session", session) }
      return ParseAnswer([:])
    }
    table.add("POST", "/loginAs") { call, state in
      guard call.caller.isMaster else { throw ParseError(.operationForbidden, "master key is required") }
      guard let id = call.options["userId"]?.stringValue, !id.isEmpty else {
        throw ParseError(.invalidValue, "userId must not be empty, null, or undefined")
      }
      guard state.object("_User", id) != nil else {
        throw ParseError(.objectNotFound, "user not found")
      }
      let session = Sessions(call: call).begin(id, "login", provider: "masterkey", &state)
      return ParseAnswer(.object(try UserWriter(call: call).whole(id, session.fields["sessionToken"], state)))
    }
    table.add("GET", "/users/me") { call, state in
      guard let id = call.caller.userId, let token = call.caller.token else { throw ParseError.invalidSession }
      var value: JSONObject = try UserWriter(call: call).whole(id, .string(token), state)
      value["__type"] = "Object"
      value["className"] = "_User"
      return ParseAnswer(.object(value))
    }
    table.add("GET", "/sessions/me") { call, state in
      guard let token = call.caller.token else { throw ParseError(.invalidSessionToken, "Session token required.") }
      guard let session = Sessions.session(token, state) else {
        throw ParseError(.invalidSessionToken, "Session token not found.")
      }
      return ParseAnswer(.object(Renderer(state: state, call: call).json(session, of: "_Session")))
    }
  }
}
