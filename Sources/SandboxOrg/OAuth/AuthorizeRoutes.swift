import JSON

/// `/services/oauth2/authorize`: a user signs in with a browser and allows a client.
///
/// Each page carries a ticket that is good once and only together with the cookie of the browser that got it, so no other
/// site can sign a user in or press a button for them.
enum AuthorizeRoutes {
  static let scopes = [
    "api", "web", "full", "id", "profile", "email", "address", "phone", "openid", "refresh_token", "offline_access",
    "chatter_api", "visualforce", "lightning", "content", "custom_permissions", "wave_api", "eclair_api", "pardot_api",
  ]

  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.open("GET", "/services/oauth2/authorize", begin)
    table.open("POST", "/services/oauth2/authorize", proceed)
  }

  // MARK: The client's request

  private static func begin(_ call: Call) throws -> ServerReply {
    let form = Form(call.request)
    let request: AuthorizationRequest
    do {
      // Whoever fails before this point may be anyone: no redirect.
      guard let client = call.org.directory.client(form["client_id"]) else { throw OAuthRefusal.unknownClient }
      guard let redirect = form["redirect_uri"], client.redirectURIs.contains(redirect) else {
        throw OAuthRefusal.redirectURI
      }
      do {
        request = try Self.request(form, client, redirect)
        guard form["immediate"] != "true" else { throw OAuthRefusal.notImmediate }
      } catch let refusal as OAuthRefusal {
        return errorRedirect(refusal, to: redirect, form["state"], isImplicit: form["response_type"] != "code")
      }
    } catch let refusal as OAuthRefusal {
      return AuthorizePages.error(refusal)
    }
    let browser = cookie(call.request) ?? RandomText.make(43)
    return loginPage(call, .init(request: request, browser: browser, created: call.org.configuration.clock.now()))
  }

  private static func request(
    _ form: Form, _ client: SandboxClient, _ redirect: String
  ) throws(OAuthRefusal) -> AuthorizationRequest {
    let type = try form.required("response_type")
    guard ["code", "token", "hybrid_token", "token id_token"].contains(type) else { throw .responseType }
    let wanted = (form["scope"] ?? "").split(separator: " ").map(String.init)
    let allowed =
      client.scopes.contains("full")
      ? Self.scopes : client.scopes + (client.scopes.contains("refresh_token") ? ["offline_access"] : [])
    guard wanted.allSatisfy({ allowed.contains($0) }) else { throw .scope }
    let challenge = form["code_challenge"].flatMap { $0.isEmpty ? nil : $0 }
    guard challenge != nil || !client.requiresPKCE else { throw .noChallenge }
    guard challenge == nil || ["S256", "s256", ""].contains(form["code_challenge_method"] ?? "") else {
      throw .challengeMethod
    }
    let prompt = (form["prompt"] ?? "").split(separator: " ")
    return AuthorizationRequest(
      client: client.id, redirectURI: redirect, isImplicit: type != "code",
      scope: (wanted.isEmpty ? client.scopes : wanted).joined(separator: " "), state: form["state"], nonce: form["nonce"],
      challenge: challenge, asksAgain: prompt.contains("consent"), loginHint: form["login_hint"] ?? "")
  }

  // MARK: The user's answers

  private static func proceed(_ call: Call) throws -> ServerReply {
    let form = Form(call.request), now = call.org.configuration.clock.now()
    if let origin = call.request.header("origin"), origin != call.origin { return AuthorizePages.foreign }
    guard let browser = cookie(call.request),
      var entry = call.org.authorizations.take(form["ticket"] ?? "", browser: browser, now: now),
      let client = call.org.directory.client(entry.request.client)
    else { return AuthorizePages.stale }
    guard let user = entry.user else { return try signIn(call, form, &entry, client) }
    guard form["decision"] == "allow" else {
      return errorRedirect(.denied, to: entry.request.redirectURI, entry.request.state, isImplicit: entry.request.isImplicit)
    }
    try call.org.sessions.approve(.init(user: user, client: client.id, scope: entry.request.scope))
    return try complete(call, entry.request, client, user)
  }

  private static func signIn(
    _ call: Call, _ form: Form, _ entry: inout AuthorizationTable.Pending, _ client: SandboxClient
  ) throws -> ServerReply {
    // A person at a browser is on a trusted network: no security token.
    guard let person = call.org.directory.person(form["username"], secret: form["password"], withToken: false),
      (try? TokenRoutes.checkActive(person.id, call.org)) != nil
    else {
      entry.failures += 1
      guard entry.failures < Tuning.signInAttempts else { return AuthorizePages.stale }
      return loginPage(call, entry, problem: "Please check your username and password.")
    }
    do {
      try TokenRoutes.checkAllowed(client, person.user.username)
    } catch {
      return errorRedirect(error, to: entry.request.redirectURI, entry.request.state, isImplicit: entry.request.isImplicit)
    }
    entry.user = person.id
    let wanted = Set(entry.request.scope.split(separator: " ").map(String.init))
    let approved = try call.org.sessions.approvedScopes(client: client.id, user: person.id) ?? []
    let isAsked = client.approval == .byUser && (entry.request.asksAgain || !wanted.isSubset(of: approved))
    guard isAsked else { return try complete(call, entry.request, client, person.id) }
    let ticket = call.org.authorizations.begin(entry)
    return AuthorizePages.approval(entry.request, user: person.user.username, ticket: ticket)
  }

  private static func loginPage(
    _ call: Call, _ entry: AuthorizationTable.Pending, problem: String? = nil
  ) -> ServerReply {
    let ticket = call.org.authorizations.begin(entry)
    var reply = AuthorizePages.login(entry.request, ticket: ticket, problem: problem)
    let secure = call.request.scheme == "https" ? "; Secure" : ""
    reply.headers.append(
      ("Set-Cookie", "\(cookieName)=\(entry.browser); Path=/services/oauth2; HttpOnly; SameSite=Strict\(secure)"))
    return reply
  }

  private static func complete(
    _ call: Call, _ request: AuthorizationRequest, _ client: SandboxClient, _ user: String
  ) throws -> ServerReply {
    guard request.isImplicit else {
      let now = call.org.configuration.clock.now()
      let code = call.org.authorizations.issueCode(request, user: user, now: now)
      return redirect(request.redirectURI, [("code", code)] + state(request.state), inFragment: false)
    }
    let grant = SessionRegistry.Grant(user: user, client: client.id, scope: request.scope)
    let token = try TokenRoutes.refreshToken(for: grant, call.org)
    let answer = try TokenAnswer(call, client, grant, refreshToken: token, isNew: true, request.nonce)
    let fields = answer.fields.map { (name: $0.key, value: $0.value.stringValue ?? "") }
    return redirect(request.redirectURI, fields + state(request.state), inFragment: true)
  }

  // MARK: Redirects

  private static func state(_ state: String?) -> [(name: String, value: String)] {
    state.map { [(name: "state", value: $0)] } ?? []
  }

  private static func errorRedirect(
    _ refusal: OAuthRefusal, to uri: String, _ state: String?, isImplicit: Bool
  ) -> ServerReply {
    let fields = [(name: "error", value: refusal.error), (name: "error_description", value: refusal.description)]
    return redirect(uri, fields + Self.state(state), inFragment: isImplicit)
  }

  /// - Parameter uri: One of the client's own.
  private static func redirect(
    _ uri: String, _ fields: [(name: String, value: String)], inFragment: Bool
  ) -> ServerReply {
    let mark = inFragment ? "#" : uri.contains("?") ? "&" : "?"
    let target = uri + mark + URLCoding.form(fields)
    return ServerReply(status: 302, headers: [("Location", target), ("Cache-Control", "no-store")], body: [])
  }

  // MARK: The cookie

  private static let cookieName = "sandbox_browser"

  private static func cookie(_ request: ServerRequest) -> String? {
    for pair in (request.header("cookie") ?? "").split(separator: ";") {
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
      if parts.count == 2, parts[0] == cookieName, parts[1].utf8.count == 43 { return String(parts[1]) }
    }
    return nil
  }
}
