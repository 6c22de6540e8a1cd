/// An application that may sign users in: a connected app or an external client app.
public struct SandboxClient: Sendable, Equatable {
  public enum Approval: Sendable, Equatable {
    /// Each user allows it, once.
    case byUser
    /// Nobody is asked; only these users may use it, all of them when nil.
    case byAdministrator(usernames: [String]?)
  }

  public enum Kind: String, CaseIterable, Sendable {
    /// A connected app.
    case connected
    /// An external client app: works only where it is installed, only on My Domains, and without passwords.
    case external
  }

  /// Ways of getting tokens that an administrator can switch off one by one.
  public enum Flow: String, CaseIterable, Sendable {
    case webServer, userAgent, jwtBearer, clientCredentials, password
  }

  /// How long refresh tokens are good for.
  public enum RefreshTokens: Sendable, Equatable {
    case untilRevoked
    /// Never: they are given out and refused.
    case immediately
    /// Until so many seconds have passed without a refresh.
    case idle(seconds: Int64)
    /// Until so many seconds after the sign-in.
    case total(seconds: Int64)
  }

  public var id: String
  /// nil for an application that can keep none, such as one on a phone.
  public var secret: String?
  public var kind = Kind.connected
  /// False: the org has never installed it. Only users who allowed it before may go on with a connected app.
  public var isInstalled = true
  /// True: an administrator has blocked it.
  public var isBlocked = false
  public var flows = Set(Flow.allCases)
  public var refreshTokens = RefreshTokens.untilRevoked
  /// Whether the secret is wanted for authorization codes and refresh tokens too, not only where there is no user.
  public var requiresSecret = false
  /// Compared as they are: no wildcards, no prefixes. Plain http only for the host `localhost`.
  public var redirectURIs: [String] = []
  public var scopes = ["api", "web", "refresh_token", "openid", "id"]
  /// Refuses authorization requests without a code challenge.
  public var requiresPKCE = false
  /// Each refresh gives a new refresh token and ends the old one; using an old one ends them all.
  public var rotatesRefreshTokens = false
  /// Whose rights the client credentials flow has; nil turns that flow off.
  public var runsAs: String?
  /// PEM of a certificate or public key (RSA) that signs JWT assertions; nil turns that flow off.
  public var certificate: String?
  /// Refuses assertions that are good for more than the three minutes Salesforce documents; real orgs take them.
  public var strictAssertions = false
  /// False refuses user names with passwords, as orgs made since Summer '23 do, in the words for a wrong password.
  public var passwordFlow = true
  public var approval = Approval.byUser

  public init(id: String, secret: String? = nil) {
    self.id = id
    self.secret = secret
  }

  /// Whether Salesforce takes the address for an app: plain http for `localhost` alone, not for `127.0.0.1`.
  static func isPermitted(redirectURI uri: String) -> Bool {
    guard uri.lowercased().hasPrefix("http://") else { return true }
    return MountTable.name(String(uri.dropFirst(7).prefix { !"/?#".contains($0) })) == "localhost"
  }
}
