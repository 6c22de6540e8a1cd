import JSON

/// Serves `/services/oauth2/token`: every grant type.
enum TokenRoutes {
  /// A token request in progress, with its entry for the login history.
  struct Attempt {
    let call: Call
    let form: Form
    var signIn: SandboxSignIn

    var org: Org { call.org }
    var now: Int64 { call.org.configuration.clock.now() }
  }

  /// Grants by name; requests with another one are logged as `other`.
  static let grants: [String: @Sendable (inout Attempt) throws -> ServerReply] = [
    "password": password, "client_credentials": clientCredentials, "authorization_code": authorizationCode,
    "hybrid_auth_code": authorizationCode, "refresh_token": refresh, "hybrid_refresh": refresh,
    "urn:ietf:params:oauth:grant-type:jwt-bearer": assertion,
  ]

  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.open("POST", "/services/oauth2/token", token)
  }

  /// Returns the grant of a token request; nil for any other request.
  static func grant(of request: ServerRequest) -> String? {
    guard isTokenRequest(request) else { return nil }
    let name = Form(request)["grant_type"] ?? ""
    return grants[name] == nil ? "other" : name.hasSuffix("jwt-bearer") ? "jwt-bearer" : name
  }

  static func isTokenRequest(_ request: ServerRequest) -> Bool {
    request.method == "POST" && request.segments.map { $0.lowercased() } == ["services", "oauth2", "token"]
  }

  private static func token(_ call: Call) throws -> ServerReply {
    if let redirect = call.org.tokenRedirect?.reply(to: call.request) { return redirect }
    let signIn = SandboxSignIn(grant: grant(of: call.request) ?? "other")
    var attempt = Attempt(call: call, form: Form(call.request), signIn: signIn)
    defer { call.org.signIns.add(attempt.signIn, now: attempt.now) }
    do {
      let refused = call.request.faults.first { $0.kind == "signInRefusal" }
      if let refused { throw OAuthRefusal(refused) }
      guard let answer = grants[attempt.form["grant_type"] ?? ""] else { throw OAuthRefusal.grantType }
      return try answer(&attempt)
    } catch let refusal as OAuthRefusal {
      attempt.signIn.refused(refusal)
      return refusal.reply
    }
  }

  // MARK: Without a browser

  private static func password(_ attempt: inout Attempt) throws -> ServerReply {
    let client = try client(&attempt, needsSecret: true)
    attempt.signIn.username = attempt.org.directory.person(attempt.form["username"])?.user.username
    let isOffered = client.passwordFlow && client.kind == .connected && client.flows.contains(.password)
    guard isOffered,
      let person = attempt.org.person(
        attempt.form["username"], secret: attempt.form["password"], at: attempt.call.request.mountPath),
      try isInstalled(client, for: person.id, attempt.org)
    else { throw OAuthRefusal.authentication }
    try admit(person.id, client, &attempt)
    return try issue(attempt, client, user: person.id, scopes: client.scopes.filter { $0 != "refresh_token" })
  }

  private static func clientCredentials(_ attempt: inout Attempt) throws -> ServerReply {
    guard !isSharedLoginHost(attempt.call.request) else { throw OAuthRefusal.wrongDomain }
    let client = try client(&attempt, needsSecret: true)
    try requireFlow(.clientCredentials, client)
    guard client.isInstalled, let person = attempt.org.directory.person(client.runsAs) else { throw OAuthRefusal.noRunAsUser }
    try checkActive(person.id, attempt.org)
    try checkLimits(person.id, client, &attempt)
    // Omit scopes that only make sense with a user at a browser.
    return try issue(
      attempt, client, user: person.id, scopes: client.scopes.filter { !["refresh_token", "web", "full"].contains($0) })
  }

  private static func assertion(_ attempt: inout Attempt) throws -> ServerReply {
    let assertion = try Assertion(try attempt.form.required("assertion"))
    guard let client = attempt.org.directory.client(assertion.issuer) else { throw OAuthRefusal.unknownClient }
    attempt.signIn.client = client.id
    try checkApp(client, attempt.call.request)
    try requireFlow(.jwtBearer, client)
    guard let certificate = client.certificate, assertion.isSigned(by: certificate) else { throw OAuthRefusal.assertion }
    // External client apps only work on My Domains.
    if client.kind == .external, assertion.audiences.contains(where: Self.sharedAudiences.contains) {
      throw OAuthRefusal.appNotFound
    }
    try assertion.check(audiences: audiences(attempt.call), now: attempt.now, isStrict: client.strictAssertions)
    guard let person = attempt.org.directory.person(assertion.subject),
      person.sitePath == attempt.call.request.mountPath, try isInstalled(client, for: person.id, attempt.org)
    else { throw OAuthRefusal.notApproved }
    let approved = try attempt.org.sessions.approvedScopes(client: client.id, user: person.id)
    guard client.approval != .byUser || approved != nil else { throw OAuthRefusal.notApproved }
    try admit(person.id, client, &attempt)
    if let id = assertion.id, !attempt.org.guards.assertions.use(id, of: client.id) { throw OAuthRefusal.usedAssertion }
    return try issue(attempt, client, user: person.id, scopes: client.scopes.filter { $0 != "refresh_token" })
  }

  private static let sharedAudiences: Set = [
    "https://login.salesforce.com", "https://test.salesforce.com", "https://login.salesforce.com/",
    "https://test.salesforce.com/",
  ]

  /// Returns the accepted audiences; under a site only its own URLs.
  private static func audiences(_ call: Call) -> [String] {
    let own = [call.base, call.origin + call.request.path]
    return call.request.mountPath.isEmpty ? sharedAudiences + own : own
  }

  // MARK: After a browser

  private static func authorizationCode(_ attempt: inout Attempt) throws -> ServerReply {
    let client = try client(&attempt, needsSecret: false), org = attempt.org
    let text = try attempt.form.required("code")
    guard let code = org.authorizations.code(text), code.request.client == client.id else { throw OAuthRefusal.unknownCode }
    if let tokens = code.tokens {
      // A code that is used twice has leaked: end the tokens it was exchanged for.
      for token in tokens { _ = try org.sessions.revoke(token) }
      throw OAuthRefusal.expiredCode
    }
    guard attempt.now - code.created <= Tuning.authorizationSeconds else { throw OAuthRefusal.expiredCode }
    guard attempt.form["redirect_uri"] == code.request.redirectURI else { throw OAuthRefusal.redirectURI }
    if let challenge = code.request.challenge {
      guard let verifier = attempt.form["code_verifier"], SignInDirectory.equal(try PKCE.challenge(verifier), challenge) else {
        throw OAuthRefusal.codeVerifier
      }
    }
    try admit(code.user, client, &attempt)
    let grant = SessionRegistry.Grant(user: code.user, client: client.id, scope: code.request.scope)
    let tokens = try TokenAnswer(
      attempt.call, client, grant, refreshToken: refreshToken(for: grant, org), isNew: true, code.request.nonce)
    org.authorizations.used(text, for: tokens.tokens)
    return tokens.reply
  }

  /// Issues a refresh token if a scope of the grant allows it.
  static func refreshToken(for grant: SessionRegistry.Grant, _ org: Org) throws -> String? {
    let scopes = grant.scope.split(separator: " ")
    guard scopes.contains("refresh_token") || scopes.contains("offline_access") else { return nil }
    return try org.sessions.issueRefreshToken(grant)
  }

  private static func refresh(_ attempt: inout Attempt) throws -> ServerReply {
    let client = try client(&attempt, needsSecret: false), org = attempt.org
    let old = attempt.form["refresh_token"] ?? ""
    guard !org.refreshesInWork.contains(old) else { throw OAuthRefusal.busy }
    guard let grant = try org.sessions.grant(ofRefreshToken: old, of: client) else { throw OAuthRefusal.expiredToken }
    guard try isInstalled(client, for: grant.user, org) else { throw OAuthRefusal.appNotInstalled }
    try admit(grant.user, client, &attempt)
    let token = client.rotatesRefreshTokens ? try org.sessions.rotate(old) : old
    return try TokenAnswer(attempt.call, client, grant, refreshToken: token, isNew: token != old).reply
  }

  private static func issue(
    _ attempt: Attempt, _ client: SandboxClient, user: String, scopes: [String]
  ) throws -> ServerReply {
    let grant = SessionRegistry.Grant(user: user, client: client.id, scope: scopes.joined(separator: " "))
    return try TokenAnswer(attempt.call, client, grant, refreshToken: nil, isNew: false).reply
  }
}
