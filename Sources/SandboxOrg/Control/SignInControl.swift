import JSON

/// The target of a token resource that redirects.
public enum TokenDestination: Sendable, Equatable {
  /// A second port of the sandbox, which answers.
  case secondPort
  /// Another origin, such as `https://elsewhere.example`.
  case elsewhere(String)
}

// Actions of administrators and of Salesforce on an org, its users and its apps.
extension SandboxServer {
  /// Moves the org to another instance: a new port. The first port remains the login host. Access
  /// tokens end, and `old` selects the response to data requests at the old port.
  ///
  /// - Returns: The new instance's URL.
  @discardableResult
  public func migrate(old: OldInstance = .refused) async throws -> String {
    let port = try await http.listenAlso(), url = http.url(of: port)
    try await org.perform { org in
      org.instance.move(to: port, at: url, old: old)
      try org.sessions.expireAccessTokens()
    }
    return url
  }

  /// Changes the org's Id but keeps records, users and names, like a sandbox refresh. Tokens and
  /// approvals are deleted, and browsers are signed out.
  ///
  /// - Returns: The new Id.
  @discardableResult
  public func refreshOrg() throws -> String {
    let id = try org.performAndWait { org in
      org.organizationId = try org.transaction {
        try org.sessions.endAll()
        return try OrganizationRecord(org.connection).refresh(number: org.configuration.organizationNumber)
      }
      org.browsers.removeAll()
      org.authorizations = AuthorizationTable()
      return org.organizationId
    }
    setOrganizationId(id)
    return id
  }

  /// Makes the token resource redirect; nil ends that.
  ///
  /// - Returns: The target URL.
  @discardableResult
  public func redirectTokens(to destination: TokenDestination?, status: Int = 302) async throws -> String? {
    var target: TokenRedirect.Target?, place: String?
    switch destination {
    case nil: break
    case .elsewhere(let url): (target, place) = (.elsewhere(url), url)
    case .secondPort:
      let port = try await secondPort()
      (target, place) = (.port(port), http.url(of: port))
    }
    try await org.perform { [target] org in org.tokenRedirect = target.map { TokenRedirect(target: $0, status: status) } }
    return place
  }

  /// Returns the port of the instance if the org has moved, else a new one.
  private func secondPort() async throws -> Int {
    if let port = try await org.perform({ $0.instance.port }) { return port }
    return try await http.listenAlso()
  }

  /// Restricts a user or a client by its address, or lifts the restriction.
  public func restrictAddress(user: String? = nil, client: String? = nil, _ isRestricted: Bool = true) throws {
    try org.performAndWait { org in
      if let user {
        guard let name = org.directory.person(user)?.user.username.lowercased() else { throw Self.unknown("user", user) }
        if isRestricted { org.guards.addresses.usernames.insert(name) } else { org.guards.addresses.usernames.remove(name) }
      }
      if let client {
        guard org.directory.client(client) != nil else { throw Self.unknown("client", client) }
        if isRestricted { org.guards.addresses.clients.insert(client) } else { org.guards.addresses.clients.remove(client) }
      }
    }
  }

  /// The most recent sign-ins, oldest first: every token request and every attempt at a sign-in
  /// page.
  public func signIns() throws -> [SandboxSignIn] { try org.performAndWait { $0.signIns.recent } }

  private static func unknown(_ what: String, _ name: String) -> SandboxError {
    SandboxError(
      status: 400, code: "INVALID_ARGUMENT", message: "argument '\(what)': '\(name)' does not exist in the org", fields: [what])
  }
}

// The control actions for these.
extension SandboxServer {
  static let signInActions = ["migrate", "refreshOrg", "redirectTokens", "restrictAddress", "signIns"]

  func controlSignIn(_ action: String, _ given: ControlArguments) throws -> JSONValue? {
    switch action {
    case "migrate":
      let old = try given.old()
      return ["instanceUrl": .string(try Offload.wait { try await self.migrate(old: old) })]
    case "refreshOrg": return ["organizationId": .string(try refreshOrg())]
    case "redirectTokens":
      let destination = try given.destination(), status = try given.redirectStatus()
      let place = try Offload.wait { try await self.redirectTokens(to: destination, status: status) }
      return ["to": place.map { .string($0) } ?? .null]
    case "restrictAddress":
      let user = try given.optionalText("user"), client = try given.optionalText("client")
      guard user != nil || client != nil else { throw given.wrong("user", "a user name, or 'client' an id") }
      try restrictAddress(user: user, client: client, try given.optionalFlag("restricted") ?? true)
      return "OK"
    case "signIns":
      let since = try given.optionalInteger("since") ?? 0
      return .array(try signIns().filter { $0.sequence > since }.map(\.json))
    default: return nil
    }
  }
}

extension ControlArguments {
  fileprivate func old() throws(SandboxError) -> OldInstance {
    guard let text = try optionalText("old") else { return .refused }
    guard let old = OldInstance(rawValue: text) else {
      throw wrong("old", "one of \(OldInstance.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return old
  }

  fileprivate func destination() throws(SandboxError) -> TokenDestination? {
    guard let text = try optionalText("to") else { return nil }
    if text == "secondPort" { return .secondPort }
    let isOrigin = ["http://", "https://"].contains { text.hasPrefix($0) && text.utf8.count > $0.utf8.count }
    guard isOrigin, !text.dropFirst(8).contains("/"), !text.utf8.contains(where: { $0 <= 32 || $0 == 127 }) else {
      throw wrong("to", "\"secondPort\" or an origin such as https://elsewhere.example")
    }
    return .elsewhere(text)
  }

  fileprivate func redirectStatus() throws(SandboxError) -> Int {
    let status = try optionalInteger("status") ?? 302
    guard [301, 302, 303, 307, 308].contains(status) else { throw wrong("status", "301, 302, 303, 307 or 308") }
    return status
  }
}
