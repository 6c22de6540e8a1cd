/// Checks on clients and users before they get a token.
extension TokenRoutes {
  static func client(_ attempt: inout Attempt, needsSecret: Bool) throws(OAuthRefusal) -> SandboxClient {
    let (id, secret) = try attempt.form.client()
    attempt.signIn.client = attempt.org.directory.client(id)?.id
    return try client(id, secret, attempt.call, needsSecret: needsSecret)
  }

  /// - Parameter needsSecret: Public clients do not need a secret for flows with a user, but one
  ///   that is sent must be correct.
  static func client(_ call: Call, _ form: Form, needsSecret: Bool) throws(OAuthRefusal) -> SandboxClient {
    let (id, secret) = try form.client()
    return try client(id, secret, call, needsSecret: needsSecret)
  }

  private static func client(
    _ id: String?, _ secret: String?, _ call: Call, needsSecret: Bool
  ) throws(OAuthRefusal) -> SandboxClient {
    guard let client = call.org.directory.client(id) else { throw .unknownClient }
    try checkApp(client, call.request)
    if let secret, !secret.isEmpty {
      guard let own = client.secret, SignInDirectory.equal(secret, own) else { throw .clientSecret }
    } else if needsSecret || client.requiresSecret {
      throw .clientSecret
    }
    return client
  }

  /// Checks that an administrator has not blocked or uninstalled the app.
  static func checkApp(_ client: SandboxClient, _ request: ServerRequest) throws(OAuthRefusal) {
    guard !client.isBlocked else { throw .appBlocked }
    guard client.kind == .connected || client.isInstalled && !isSharedLoginHost(request) else { throw .appNotFound }
  }

  static func requireFlow(_ flow: SandboxClient.Flow, _ client: SandboxClient) throws(OAuthRefusal) {
    guard client.flows.contains(flow) else { throw .flowDisabled }
  }

  /// Returns true if the app is installed, or if it is a connected app that the user has approved
  /// before.
  static func isInstalled(_ client: SandboxClient, for user: String, _ org: Org) throws -> Bool {
    if client.isInstalled { return true }
    return try client.kind == .connected && org.sessions.approvedScopes(client: client.id, user: user) != nil
  }

  /// Returns true for the hosts that all orgs share, by the `Host` header.
  static func isSharedLoginHost(_ request: ServerRequest) -> Bool {
    ["login.salesforce.com", "test.salesforce.com"].contains(MountTable.name(request.header("host") ?? ""))
  }

  /// A user who is there, may use the client, and is neither at the wrong place nor too often here.
  static func admit(_ user: String, _ client: SandboxClient, _ attempt: inout Attempt) throws {
    try checkActive(user, attempt.org)
    let name = try UserRecord(user, attempt.org)?.username ?? ""
    try checkAllowed(client, attempt.org.directory.person(id: user)?.user.username ?? name)
    try checkLimits(user, client, &attempt)
  }

  static func checkLimits(_ user: String, _ client: SandboxClient, _ attempt: inout Attempt) throws(OAuthRefusal) {
    let person = attempt.org.directory.person(id: user)
    attempt.signIn.username = person?.user.username
    guard !attempt.org.guards.addresses.apply(to: person?.user.username, client.id) else { throw .addressRestricted }
    let limit = person?.user.loginLimit ?? .max
    guard attempt.org.guards.rate.admits(user, limit: limit, now: attempt.now) else { throw .loginRate }
  }

  static func checkActive(_ user: String, _ org: Org) throws {
    let active = try org.connection.firstValue("SELECT IsActive FROM \"User\" WHERE Id = ?", [.text(user)])
    guard active == .integer(1) else { throw OAuthRefusal.inactiveUser }
  }

  static func checkAllowed(_ client: SandboxClient, _ username: String) throws(OAuthRefusal) {
    guard case .byAdministrator(let names?) = client.approval else { return }
    guard names.contains(where: { $0.lowercased() == username.lowercased() }) else { throw .notAdminApproved }
  }
}
