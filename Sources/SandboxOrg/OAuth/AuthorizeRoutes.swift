import JSON

/// Serves `/services/oauth2/authorize`: a user signs in with a browser and approves a client. The
/// browser then stays signed in for the lifetime of an access token.
///
/// Each page has a ticket that is valid once and only with the cookie of the browser that got it,
/// so that no other site can sign a user in or approve on their behalf.
enum AuthorizeRoutes {
  static let scopes = [
    "api", "web", "full", "id", "profile", "email", "address", "phone", "openid", "refresh_token", "offline_access",
    "chatter_api", "visualforce", "lightning", "content", "custom_permissions", "wave_api", "eclair_api", "pardot_api",
  ]

  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.open("GET", "/services/oauth2/authorize", begin)
    table.open("POST", "/services/oauth2/authorize", proceed)
    table.open("GET", errorPath, errorPage)
  }

  // MARK: The client's request

  private static func begin(_ call: Call) throws -> ServerReply {
    let form = Form(call.request)
    let client: SandboxClient, redirect: String
    do throws(OAuthRefusal) {
      (client, redirect) = try sender(form, call.org)
    } catch {
      // The client is not verified: do not redirect.
      return AuthorizePages.error(error)
    }
    let request: AuthorizationRequest
    do throws(OAuthRefusal) {
      request = try Self.request(form, client, redirect)
    } catch {
      return errorRedirect(error, to: redirect, form["state"], isImplicit: form["response_type"] != "code")
    }
    let visit = BrowserVisit(call)
    let signedIn = visit.user
    if !request.asksPassword, let signedIn { return try admit(signedIn, visit, request, client) }
    guard !request.isImmediate else { return errorRedirect(.notImmediate, request) }
    // Fill in the signed-in user's name, or else the client's hint.
    return visit.loginPage(
      .init(request: request, browser: visit.ticketCookie ?? RandomText.make(43), created: visit.now),
      username: signedIn.flatMap { call.org.directory.person(id: $0)?.user.username } ?? form["login_hint"] ?? "")
  }

  /// Returns the client and its redirect URI.
  private static func sender(
    _ form: Form, _ org: Org
  ) throws(OAuthRefusal) -> (client: SandboxClient, redirect: String) {
    guard let client = org.directory.client(form["client_id"]) else { throw .unknownClient }
    guard let redirect = form["redirect_uri"], client.redirectURIs.contains(redirect),
      SandboxClient.isPermitted(redirectURI: redirect)
    else { throw .redirectURI }
    return (client, redirect)
  }

  private static func request(
    _ form: Form, _ client: SandboxClient, _ redirect: String
  ) throws(OAuthRefusal) -> AuthorizationRequest {
    let type = try form.required("response_type")
    guard ["code", "token", "hybrid_token", "token id_token"].contains(type) else { throw .responseType }
    try TokenRoutes.requireFlow(type == "code" ? .webServer : .userAgent, client)
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
      challenge: challenge, asksPassword: prompt.contains("login") || prompt.contains("select_account"),
      asksAgain: prompt.contains("consent"), isImmediate: form["immediate"] == "true")
  }

  // MARK: The user's answers

  private static func proceed(_ call: Call) throws -> ServerReply {
    let form = Form(call.request), visit = BrowserVisit(call)
    if let origin = call.request.header("origin"), origin != call.origin { return AuthorizePages.foreign }
    guard let browser = visit.ticketCookie,
      var entry = call.org.authorizations.take(form["ticket"] ?? "", browser: browser, now: visit.now),
      let client = call.org.directory.client(entry.request.client)
    else { return AuthorizePages.stale }
    guard let user = entry.user else { return try signIn(visit, form, &entry, client) }
    guard form["decision"] == "allow" else { return errorRedirect(.denied, entry.request) }
    try call.org.sessions.approve(.init(user: user, client: client.id, scope: entry.request.scope))
    return try complete(call, entry.request, client, user)
  }

  private static func signIn(
    _ visit: BrowserVisit, _ form: Form, _ entry: inout AuthorizationTable.Pending, _ client: SandboxClient
  ) throws -> ServerReply {
    let org = visit.call.org
    var signIn = SandboxSignIn(grant: "browser")
    signIn.client = client.id
    signIn.username = org.directory.person(form["username"])?.user.username
    defer { org.signIns.add(signIn, now: visit.now) }
    // Users at a browser count as on a trusted network: no security token.
    let person = org.person(form["username"], secret: form["password"], withToken: false, at: visit.call.request.mountPath)
    let isRestricted = org.guards.addresses.apply(to: person?.user.username, client.id)
    guard let person, !isRestricted, (try? TokenRoutes.checkActive(person.id, org)) != nil else {
      signIn.refused(isRestricted ? .addressRestricted : .authentication)
      entry.failures += 1
      guard entry.failures < Tuning.signInAttempts else { return AuthorizePages.stale }
      return visit.loginPage(
        entry, username: form["username"] ?? "",
        problem: isRestricted
          ? "You cannot sign in from this address." : "Please check your username and password.")
    }
    var reply = try admit(person.id, visit, entry.request, client)
    reply.headers.append(visit.sessionCookie(org.browsers.begin(person.id, at: person.sitePath, now: visit.now)))
    return reply
  }

  /// Continues the request once the user is known.
  private static func admit(
    _ user: String, _ visit: BrowserVisit, _ request: AuthorizationRequest, _ client: SandboxClient
  ) throws -> ServerReply {
    let org = visit.call.org
    let username = try org.directory.person(id: user)?.user.username ?? UserRecord(user, org)?.username ?? ""
    if client.isBlocked { return errorRedirect(.blockedRedirect, request) }
    guard try TokenRoutes.isInstalled(client, for: user, org) else {
      guard client.kind == .connected else { return errorRedirect(.notFoundRedirect, request) }
      return errorPage(.appNotInstalled)
    }
    do {
      try TokenRoutes.checkAllowed(client, username)
    } catch {
      return errorRedirect(error, request)
    }
    let wanted = Set(request.scope.split(separator: " ").map(String.init))
    let approved = try org.sessions.approvedScopes(client: client.id, user: user) ?? []
    let isAsked = client.approval == .byUser && (request.asksAgain || !wanted.isSubset(of: approved))
    guard isAsked else { return try complete(visit.call, request, client, user) }
    guard !request.isImmediate else { return errorRedirect(.notImmediate, request) }
    return visit.approvalPage(request, user: user, username: username)
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

  // MARK: The error page

  private static let errorPath = "/setup/secur/RemoteAccessErrorPage.apexp"

  /// Shows the error page if the org has not installed the app; nothing is sent back to the app.
  private static func errorPage(_ refusal: OAuthRefusal) -> ServerReply {
    let query = URLCoding.form([(name: "error", value: refusal.error), (name: "error_description", value: refusal.description)])
    return ServerReply(
      status: 302, headers: [("Location", "\(errorPath)?\(query)"), ("Cache-Control", "no-store")], body: [])
  }

  private static func errorPage(_ call: Call) -> ServerReply {
    AuthorizePages.error(
      call.request.parameter("error") ?? "", call.request.parameter("error_description") ?? "", status: 200)
  }

  // MARK: Redirects

  private static func state(_ state: String?) -> [(name: String, value: String)] {
    state.map { [(name: "state", value: $0)] } ?? []
  }

  private static func errorRedirect(_ refusal: OAuthRefusal, _ request: AuthorizationRequest) -> ServerReply {
    errorRedirect(refusal, to: request.redirectURI, request.state, isImplicit: request.isImplicit)
  }

  private static func errorRedirect(
    _ refusal: OAuthRefusal, to uri: String, _ state: String?, isImplicit: Bool
  ) -> ServerReply {
    let fields = [(name: "error", value: refusal.error), (name: "error_description", value: refusal.description)]
    return redirect(uri, fields + Self.state(state), inFragment: isImplicit)
  }

  /// - Parameter uri: One of the client's registered URIs.
  private static func redirect(
    _ uri: String, _ fields: [(name: String, value: String)], inFragment: Bool
  ) -> ServerReply {
    let mark = inFragment ? "#" : uri.contains("?") ? "&" : "?"
    let target = uri + mark + URLCoding.form(fields)
    return ServerReply(status: 302, headers: [("Location", target), ("Cache-Control", "no-store")], body: [])
  }
}
