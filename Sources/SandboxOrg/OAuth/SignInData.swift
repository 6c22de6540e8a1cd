import JSON

/// A user who can sign in. A missing `User` record is created.
public struct SandboxUser: Sendable, Equatable {
  public var username: String
  public var password: String
  /// The token that password sign-ins append to the password; empty if the user's network is
  /// trusted.
  public var securityToken = ""
  public var firstName = ""
  public var lastName: String
  public var email: String
  public var isActive = true
  /// Sign-ins allowed per hour of the org's clock; the default is Salesforce's.
  public var loginLimit = 3_600

  public init(username: String, password: String) {
    self.username = username
    self.password = password
    lastName = String(username.prefix { $0 != "@" })
    email = username
  }
}

/// A site for customers or partners: a path of the org under which its users sign in and access
/// data.
public struct SandboxSite: Sendable, Equatable {
  /// Such as `/portal`.
  public var path: String
  /// User names; these users cannot sign in elsewhere.
  public var users: [String]

  public init(path: String, users: [String]) {
    self.path = "/" + URLCoding.segments(path).joined(separator: "/")
    self.users = users
  }
}

/// Users, clients and sites from a file:
/// `{"users":[{"username",…}],"clients":[{"id",…}],"sites":[{"path","users"}]}`.
///
/// Keys are named like the properties, except `installed` and `blocked`. `approval` is `"user"`,
/// `"administrator"` or a list of user names; `refreshTokens` is `"untilRevoked"`, `"immediately"`,
/// `{"idleSeconds":n}` or `{"totalSeconds":n}`.
public struct SandboxSignInData: Sendable, Equatable {
  public var users: [SandboxUser] = []
  public var clients: [SandboxClient] = []
  public var sites: [SandboxSite] = []

  public init() {}

  /// Reads a file. Blocks.
  ///
  /// - Throws: The same errors as `init(_:)`, which name the file.
  public init(file path: String) throws(SandboxError) {
    let bytes: [UInt8], json: JSONValue
    do {
      bytes = try SmallFile.read(path, upTo: Tuning.signInDataBytes)
    } catch {
      throw SandboxError(status: 0, code: "BAD_SIGN_IN_DATA", message: "\(path): \(error.reason)")
    }
    do {
      json = try JSONValue(parsing: bytes)
    } catch {
      let place = error.position(in: bytes)
      let text = "\(path):\(place.line):\(place.column): \(error.message)"
      throw SandboxError(status: 0, code: "BAD_SIGN_IN_DATA", message: text)
    }
    try self.init(json)
  }

  /// - Throws: ``SandboxError`` `BAD_SIGN_IN_DATA`, which names the key and its problem.
  public init(_ json: JSONValue) throws(SandboxError) {
    let fields = try SignInFields(json, "the sign-in data", ["users", "clients", "sites"])
    for (index, value) in try fields.array("users").enumerated() { users.append(try Self.user(value, index)) }
    for (index, value) in try fields.array("clients").enumerated() { clients.append(try Self.client(value, index)) }
    for (index, value) in try fields.array("sites").enumerated() { sites.append(try site(value, index)) }
  }

  private static func user(_ json: JSONValue, _ index: Int) throws(SandboxError) -> SandboxUser {
    let known = ["username", "password", "securityToken", "firstName", "lastName", "email", "isActive", "loginLimit"]
    let fields = try SignInFields(json, "users[\(index)]", known)
    var user = SandboxUser(username: try fields.required("username"), password: try fields.required("password"))
    user.securityToken = try fields.text("securityToken") ?? ""
    user.firstName = try fields.text("firstName") ?? ""
    user.lastName = try fields.text("lastName") ?? user.lastName
    user.email = try fields.text("email") ?? user.email
    user.isActive = try fields.flag("isActive") ?? true
    if let limit = fields.object["loginLimit"] {
      guard let count = limit.integerValue, (1...1_000_000).contains(count) else {
        throw fields.wrong("loginLimit", "must be a number of sign-ins per hour, 1 to 1000000")
      }
      user.loginLimit = Int(count)
    }
    return user
  }

  private static func client(_ json: JSONValue, _ index: Int) throws(SandboxError) -> SandboxClient {
    let known = [
      "id", "secret", "kind", "installed", "blocked", "flows", "refreshTokens", "requiresSecret", "redirectURIs", "scopes",
      "requiresPKCE", "rotatesRefreshTokens", "runsAs", "certificate", "strictAssertions", "passwordFlow", "approval",
    ]
    let fields = try SignInFields(json, "clients[\(index)]", known)
    var client = SandboxClient(id: try fields.required("id"), secret: try fields.text("secret"))
    client.requiresSecret = try fields.flag("requiresSecret") ?? false
    client.redirectURIs = try fields.texts("redirectURIs") ?? []
    if let uri = client.redirectURIs.first(where: { !SandboxClient.isPermitted(redirectURI: $0) }) {
      throw fields.wrong("redirectURIs", "has \(uri): plain http is only allowed for the host localhost; use https or localhost")
    }
    client.kind = try fields.choice("kind") ?? .connected
    client.isInstalled = try fields.flag("installed") ?? true
    client.isBlocked = try fields.flag("blocked") ?? false
    client.flows = try fields.choices("flows") ?? client.flows
    client.refreshTokens = try refreshTokens(fields)
    client.scopes = try fields.texts("scopes") ?? client.scopes
    client.requiresPKCE = try fields.flag("requiresPKCE") ?? false
    client.rotatesRefreshTokens = try fields.flag("rotatesRefreshTokens") ?? false
    client.runsAs = try fields.text("runsAs")
    client.certificate = try fields.text("certificate")
    client.strictAssertions = try fields.flag("strictAssertions") ?? false
    client.passwordFlow = try fields.flag("passwordFlow") ?? true
    switch fields.object["approval"] {
    case nil, "user"?: break
    case "administrator"?: client.approval = .byAdministrator(usernames: nil)
    case .array?: client.approval = .byAdministrator(usernames: try fields.texts("approval"))
    default: throw fields.wrong("approval", "must be \"user\", \"administrator\" or a list of user names")
    }
    return client
  }

  private static func refreshTokens(_ fields: SignInFields) throws(SandboxError) -> SandboxClient.RefreshTokens {
    switch fields.object["refreshTokens"] {
    case nil, "untilRevoked"?: return .untilRevoked
    case "immediately"?: return .immediately
    case .object?:
      let policy = try SignInFields(
        fields.object["refreshTokens"] ?? .null, fields.place(of: "refreshTokens"), ["idleSeconds", "totalSeconds"])
      switch (try policy.seconds("idleSeconds"), try policy.seconds("totalSeconds")) {
      case (let idle?, nil): return .idle(seconds: idle)
      case (nil, let total?): return .total(seconds: total)
      default: break
      }
    default: break
    }
    throw fields.wrong(
      "refreshTokens", "must be \"untilRevoked\", \"immediately\", {\"idleSeconds\": n} or {\"totalSeconds\": n}")
  }

  /// Reads a site. Its users must be in the file; the org's default user signs in at the org
  /// itself.
  private func site(_ json: JSONValue, _ index: Int) throws(SandboxError) -> SandboxSite {
    let fields = try SignInFields(json, "sites[\(index)]", ["path", "users"])
    let site = SandboxSite(path: try fields.required("path"), users: try fields.texts("users") ?? [])
    let first = site.path.split(separator: "/").first.map { $0.lowercased() }
    guard let first, !Self.takenPaths.contains(first), !sites.contains(where: { $0.path == site.path }) else {
      throw fields.wrong("path", "must be an unused path such as /portal; '\(site.path)' is in use")
    }
    let known = Set(users.map { $0.username.lowercased() }), taken = Set(sites.flatMap(\.users).map { $0.lowercased() })
    for name in site.users where !known.contains(name.lowercased()) || taken.contains(name.lowercased()) {
      throw fields.wrong("users", "must name users of this file, each in one site; '\(name)' is not one of them")
    }
    return site
  }

  /// Paths that the org and the other services of its server use.
  private static let takenPaths: Set = ["services", "id", "setup", "secur", ".well-known", "__sandbox", "api", "parse", "1"]
}
