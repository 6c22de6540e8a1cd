import Crypto
import JSON
import Support

/// `/services/oauth2/token`: every grant type.
enum TokenRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.open("POST", "/services/oauth2/token", token)
  }

  private static func token(_ call: Call) throws -> ServerReply {
    let form = Form(call.request)
    do {
      switch form["grant_type"] {
      case "password"?: return try password(call, form)
      case "client_credentials"?: return try clientCredentials(call, form)
      case "authorization_code"?, "hybrid_auth_code"?: return try authorizationCode(call, form)
      case "refresh_token"?, "hybrid_refresh"?: return try refresh(call, form)
      case "urn:ietf:params:oauth:grant-type:jwt-bearer"?: return try assertion(call, form)
      default: throw OAuthRefusal.grantType
      }
    } catch let refusal as OAuthRefusal {
      return refusal.reply
    }
  }

  // MARK: Without a browser

  private static func password(_ call: Call, _ form: Form) throws -> ServerReply {
    let client = try client(call, form, needsSecret: true)
    guard client.passwordFlow, let person = call.org.directory.person(form["username"], secret: form["password"]) else {
      throw OAuthRefusal.authentication
    }
    try checkActive(person.id, call.org)
    try checkAllowed(client, person.user.username)
    return try issue(call, client, user: person.id, scope: scope(client.scopes.filter { $0 != "refresh_token" }))
  }

  private static func clientCredentials(_ call: Call, _ form: Form) throws -> ServerReply {
    let host = MountTable.name(call.request.header("host") ?? "")
    guard !["login.salesforce.com", "test.salesforce.com"].contains(host) else { throw OAuthRefusal.wrongDomain }
    let client = try client(call, form, needsSecret: true)
    guard let person = call.org.directory.person(client.runsAs) else { throw OAuthRefusal.noRunAsUser }
    try checkActive(person.id, call.org)
    // What only a person at a browser can use is left out.
    let scopes = client.scopes.filter { !["refresh_token", "web", "full"].contains($0) }
    return try issue(call, client, user: person.id, scope: scope(scopes))
  }

  private static func assertion(_ call: Call, _ form: Form) throws -> ServerReply {
    let assertion = try Assertion(try form.required("assertion"))
    guard let client = call.org.directory.client(assertion.issuer) else { throw OAuthRefusal.unknownClient }
    guard let certificate = client.certificate, assertion.isSigned(by: certificate) else { throw OAuthRefusal.assertion }
    let hosts = ["https://login.salesforce.com", "https://test.salesforce.com", call.origin, call.origin + call.request.path]
    try assertion.check(
      audiences: hosts, now: call.org.configuration.clock.now(), isStrict: client.strictAssertions)
    guard let person = call.org.directory.person(assertion.subject) else { throw OAuthRefusal.notApproved }
    try checkActive(person.id, call.org)
    try checkAllowed(client, person.user.username)
    let scopes = client.scopes.filter { $0 != "refresh_token" }
    if client.approval == .byUser {
      guard try call.org.sessions.approvedScopes(client: client.id, user: person.id) != nil else {
        throw OAuthRefusal.notApproved
      }
    }
    return try issue(call, client, user: person.id, scope: scope(scopes))
  }

  // MARK: After a browser

  private static func authorizationCode(_ call: Call, _ form: Form) throws -> ServerReply {
    let client = try client(call, form, needsSecret: false)
    let text = try form.required("code")
    guard let code = call.org.authorizations.code(text), code.request.client == client.id else {
      throw OAuthRefusal.unknownCode
    }
    if let tokens = code.tokens {
      // Used twice: somebody else has it, so what it brought ends too.
      for token in tokens { _ = try call.org.sessions.revoke(token) }
      throw OAuthRefusal.expiredCode
    }
    guard call.org.configuration.clock.now() - code.created <= Tuning.authorizationSeconds else {
      throw OAuthRefusal.expiredCode
    }
    guard form["redirect_uri"] == code.request.redirectURI else { throw OAuthRefusal.redirectURI }
    if let challenge = code.request.challenge {
      guard let verifier = form["code_verifier"], SignInDirectory.equal(PKCE.challenge(verifier), challenge) else {
        throw OAuthRefusal.codeVerifier
      }
    }
    try checkActive(code.user, call.org)
    let grant = SessionRegistry.Grant(user: code.user, client: client.id, scope: code.request.scope)
    let tokens = try TokenAnswer(
      call, client, grant, refreshToken: refreshToken(for: grant, call.org), isNew: true, code.request.nonce)
    call.org.authorizations.used(text, for: tokens.tokens)
    return tokens.reply
  }

  /// Only who was allowed to stay signed in gets one.
  static func refreshToken(for grant: SessionRegistry.Grant, _ org: Org) throws -> String? {
    let scopes = grant.scope.split(separator: " ")
    guard scopes.contains("refresh_token") || scopes.contains("offline_access") else { return nil }
    return try org.sessions.issueRefreshToken(grant)
  }

  private static func refresh(_ call: Call, _ form: Form) throws -> ServerReply {
    let client = try client(call, form, needsSecret: false)
    let old = form["refresh_token"] ?? ""
    guard let grant = try call.org.sessions.grant(ofRefreshToken: old), grant.client == client.id else {
      throw OAuthRefusal.expiredToken
    }
    try checkActive(grant.user, call.org)
    let token = client.rotatesRefreshTokens ? try call.org.sessions.rotate(old) : old
    return try TokenAnswer(call, client, grant, refreshToken: token, isNew: token != old).reply
  }

  // MARK: Checks

  /// - Parameter needsSecret: Public clients have none for flows with a user; one that is sent must be right.
  static func client(_ call: Call, _ form: Form, needsSecret: Bool) throws(OAuthRefusal) -> SandboxClient {
    let (id, secret) = try form.client()
    guard let client = call.org.directory.client(id) else { throw .unknownClient }
    if let secret, !secret.isEmpty {
      guard let own = client.secret, SignInDirectory.equal(secret, own) else { throw .clientSecret }
    } else if needsSecret || client.requiresSecret {
      throw .clientSecret
    }
    return client
  }

  static func checkActive(_ user: String, _ org: Org) throws {
    let active = try org.connection.firstValue("SELECT IsActive FROM \"User\" WHERE Id = ?", [.text(user)])
    guard active == .integer(1) else { throw OAuthRefusal.inactiveUser }
  }

  static func checkAllowed(_ client: SandboxClient, _ username: String) throws(OAuthRefusal) {
    guard case .byAdministrator(let names?) = client.approval else { return }
    guard names.contains(where: { $0.lowercased() == username.lowercased() }) else { throw .notAdminApproved }
  }

  private static func scope(_ names: [String]) -> String { names.joined(separator: " ") }

  private static func issue(_ call: Call, _ client: SandboxClient, user: String, scope: String) throws -> ServerReply {
    try TokenAnswer(call, client, .init(user: user, client: client.id, scope: scope), refreshToken: nil, isNew: false).reply
  }
}

/// New tokens, in the form of the token resource.
struct TokenAnswer {
  private(set) var fields: JSONObject
  /// The tokens in it.
  let tokens: [String]

  /// - Parameter isNew: Whether the client does not have the refresh token yet.
  init(
    _ call: Call, _ client: SandboxClient, _ grant: SessionRegistry.Grant, refreshToken: String?, isNew: Bool,
    _ nonce: String? = nil
  ) throws {
    let org = call.org
    let token = try org.sessions.issueAccessToken(grant, organization: org.organizationId, refreshToken: refreshToken)
    let id = "\(call.origin)/id/\(org.organizationId)/\(grant.user)"
    let now = org.configuration.clock.now()
    let key = SymmetricKey(data: Array((client.secret ?? "").utf8))
    let code = HMAC<SHA256>.authenticationCode(for: Array("\(id)\(now * 1000)".utf8), using: key)
    fields = ["access_token": .string(token)]
    if let refreshToken, isNew { fields["refresh_token"] = .string(refreshToken) }
    fields["signature"] = .string(Base64.text(code))
    fields["scope"] = .string(grant.scope)
    if grant.scope.split(separator: " ").contains("openid") {
      fields["id_token"] = .string(
        try OpenID.token(call, subject: id, client: client.id, accessToken: token, nonce: nonce, now: now))
    }
    fields["instance_url"] = .string(call.origin)
    fields["id"] = .string(id)
    fields["token_type"] = "Bearer"
    fields["issued_at"] = .string("\(now * 1000)")
    tokens = [token] + (isNew ? [refreshToken].compactMap { $0 } : [])
  }

  var reply: ServerReply { .json(200, .object(fields), headers: [("Cache-Control", "no-store")]) }
}
