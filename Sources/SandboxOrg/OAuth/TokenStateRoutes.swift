import JSON

/// Serves revocation, introspection, and single access to the browser.
enum TokenStateRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.open("GET", "/services/oauth2/revoke", revoke)
    table.open("POST", "/services/oauth2/revoke", revoke)
    table.open("POST", "/services/oauth2/introspect", introspect)
  }

  private static func revoke(_ call: Call) throws -> ServerReply {
    let isKnown = try call.org.sessions.revoke(Form(call.request)["token"] ?? "")
    guard isKnown else {
      let body = "error=unsupported_token_type&error_description=this+token+type+is+not+supported"
      return .text(400, body, type: "application/x-www-form-urlencoded")
    }
    return .empty(200)
  }

  /// Describes a client's own token; tokens of other clients look unknown.
  private static func introspect(_ call: Call) throws -> ServerReply {
    let form = Form(call.request)
    do {
      let client = try TokenRoutes.client(call, form, needsSecret: true)
      return .json(200, .object(try state(try form.required("token"), client, call)))
    } catch let refusal as OAuthRefusal {
      return refusal.reply
    }
  }

  private static func state(_ token: String, _ client: SandboxClient, _ call: Call) throws -> JSONObject {
    let sessions = call.org.sessions
    let found = sessions.session(ofAccessToken: token, keepingAlive: false) ?? sessions.session(ofRefreshToken: token, of: client)
    guard let session = found, session.grant.client == client.id, let user = try UserRecord(session.grant.user, call.org)
    else { return ["active": false] }
    var state: JSONObject = [
      "active": true, "scope": .string(session.grant.scope), "client_id": .string(client.id),
      "username": .string(user.username),
      "sub": .string("\(call.origin)/id/\(call.org.organizationId)/\(session.grant.user)"),
      "token_type": session.kind == .access ? "access_token" : "refresh_token",
    ]
    if session.kind == .access {
      state["exp"] = .integer(session.lastUsed + call.org.configuration.accessTokenLifetime)
    }
    state["iat"] = .integer(session.issued)
    state["nbf"] = .integer(session.issued)
    return state
  }
}
