/// An application that can sign users in: a connected app or an external client app.
public struct SandboxClient: Sendable, Equatable {
  public enum Approval: Sendable, Equatable {
    /// Each user approves it once.
    case byUser
    /// No user is asked; only these users may use it, or all if nil.
    case byAdministrator(usernames: [String]?)
  }

  public enum Kind: String, CaseIterable, Sendable {
    /// A connected app.
    case connected
    /// An external client app. It works only where it is installed, only on My Domains, and without
    /// passwords.
    case external
  }

  /// OAuth flows that an administrator can switch off separately.
  public enum Flow: String, CaseIterable, Sendable {
    case webServer, userAgent, jwtBearer, clientCredentials, password
  }

  /// How long refresh tokens are valid.
  public enum RefreshTokens: Sendable, Equatable {
    case untilRevoked
    /// Never: tokens are issued but refused.
    case immediately
    /// Until this many seconds pass without a refresh.
    case idle(seconds: Int64)
    /// For this many seconds after the sign-in.
    case total(seconds: Int64)
  }

  public var id: String
  /// nil for an application that cannot keep a secret, such as a mobile app.
  public var secret: String?
  public var kind = Kind.connected
  /// False if the org has not installed it. Only users who have approved it before can continue to
  /// use a connected app.
  public var isInstalled = true
  /// True if an administrator has blocked it.
  public var isBlocked = false
  public var flows = Set(Flow.allCases)
  public var refreshTokens = RefreshTokens.untilRevoked
  /// Whether authorization codes and refresh tokens require the secret as well, not only flows
  /// without a user.
  public var requiresSecret = false
  /// Compared exactly, without wildcards or prefixes. Plain http is only valid for the host
  /// `localhost`.
  public var redirectURIs: [String] = []
  public var scopes = ["api", "web", "refresh_token", "openid", "id"]
  /// Refuses authorization requests without a code challenge.
  public var requiresPKCE = false
  /// Each refresh returns a new refresh token and ends the old one; reusing an old one ends them
  /// all.
  public var rotatesRefreshTokens = false
  /// The user whose rights the client credentials flow has; nil disables that flow.
  public var runsAs: String?
  /// PEM of the certificate or public key (RSA) of JWT assertions; nil disables that flow.
  public var certificate: String?
  /// Refuses assertions that are valid for more than the three minutes that Salesforce documents;
  /// real orgs accept them.
  public var strictAssertions = false
  /// False refuses user names with passwords with the error for a wrong password, as orgs created
  /// since Summer '23 do.
  public var passwordFlow = true
  public var approval = Approval.byUser

  public init(id: String, secret: String? = nil) {
    self.id = id
    self.secret = secret
  }

  /// Returns true if Salesforce accepts the redirect URI: plain http only for `localhost`, not for
  /// `127.0.0.1`.
  static func isPermitted(redirectURI uri: String) -> Bool {
    guard uri.lowercased().hasPrefix("http://") else { return true }
    return MountTable.name(String(uri.dropFirst(7).prefix { !"/?#".contains($0) })) == "localhost"
  }
}
