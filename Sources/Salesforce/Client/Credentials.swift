import RestClient

/// The means to get a session, read from the environment, a file or a command. Never printed.
public enum Credentials: Sendable, Equatable {
  /// - Note: If the org requires a security token, it is appended to `password`.
  case password(loginURL: String, clientId: String, clientSecret: String, username: String, password: String)
  case clientCredentials(loginURL: String, clientId: String, clientSecret: String)
  /// - Note: If `refreshToken` is nil, the refresh token of the stored session is used, which a browser sign-in left there.
  case refreshToken(loginURL: String, clientId: String, clientSecret: String?, refreshToken: String?)

  case jwtBearer(JWTBearer)

  /// An access token that another program obtained. It cannot be renewed: once the org refuses it, the session has expired. If
  /// `accessToken` is nil, the token of the stored session is used.
  case accessToken(instanceURL: String, accessToken: String?)
  /// A program that owns the session: the sf CLI, a command that prints a token, or the program that embeds the host.
  case external(ExternalToken)

  /// The kind of OAuth grant or other source of a session.
  public enum Grant: String, Sendable {
    case password
    case clientCredentials = "client_credentials"
    case refreshToken = "refresh_token"
    case jwtBearer = "jwt_bearer"
    case accessToken = "access_token"
    case external
    case authorizationCode = "authorization_code"
  }

  /// The URL of the login host; empty for an external source, whose sessions name it.
  public var loginURL: String {
    switch self {
    case .password(let url, _, _, _, _), .clientCredentials(let url, _, _), .refreshToken(let url, _, _, _):
      WebAddress.withoutTrailingSlashes(url)
    case .jwtBearer(let bearer): WebAddress.withoutTrailingSlashes(bearer.loginURL)
    case .accessToken(let url, _): WebAddress.withoutTrailingSlashes(url)
    case .external: ""
    }
  }

  /// Returns the form fields of the grant.
  ///
  /// - Parameter latest: A refresh token that the server issued after the one in these credentials.
  func form(latest: String? = nil) -> [(name: String, value: String)] {
    switch self {
    case .password(_, let clientId, let clientSecret, let username, let password):
      return [
        ("grant_type", "password"), ("client_id", clientId), ("client_secret", clientSecret), ("username", username),
        ("password", password),
      ]
    case .clientCredentials(_, let clientId, let clientSecret):
      return [("grant_type", "client_credentials"), ("client_id", clientId), ("client_secret", clientSecret)]
    case .refreshToken(_, let clientId, let clientSecret, let refreshToken):
      let token = (latest ?? refreshToken).map { [(name: "refresh_token", value: $0)] } ?? []
      let secret = clientSecret.map { [(name: "client_secret", value: $0)] } ?? []
      return [("grant_type", "refresh_token"), ("client_id", clientId)] + token + secret
    // Assertions are signed for each attempt; given tokens need no token request.
    case .jwtBearer, .accessToken, .external: return []
    }
  }

  /// Returns advice for a refusal with this reason.
  func remedy(for reason: SignInReason, _ serverCode: String?) -> String {
    let isShared = WebAddress(loginURL).map { JWTBearer.isShared($0.host) } ?? false
    let myDomain = "give the org's My Domain as loginUrl, such as https://acme.my.salesforce.com"
    switch reason {
    case .wrongCredentials: return wrongCredentialsRemedy
    case .sessionEnded: return "the refresh token is no longer valid: sign in again to get a new one"
    case .userInactive: return "the user is inactive: an administrator of the org can activate it"
    case .orgInactive: return "the org is inactive"
    case .ipRestricted: return "the profile or the app allows neither this machine's address nor this hour"
    case .notApproved: return "approve the app for the user, by profile or permission set, or once in a browser"
    case .appRefused where serverCode == "app_not_found" && isShared: return myDomain
    case .appRefused: return "check the client id, and whether the app is installed and allowed in this org"
    case .wrongHost: return myDomain
    case .noRunAsUser: return "name a run-as user in the app's settings of the client credentials flow"
    case .audience: return isShared ? myDomain : "set 'audience' to the login host that the org expects"
    case .clock: return "set this machine's clock"
    case .rateLimited: return "the org counts sign-ins by user and hour: keep the session, and try again later"
    case .refused: return "check what the connected app allows"
    case .denied, .needsPerson: return "a person has to sign in"
    }
  }

  private var wrongCredentialsRemedy: String {
    switch self {
    case .password:
      "check the user name and the password, followed by the security token if the org asks for one; a locked user, "
        + "multi-factor sign-in and a disabled password flow get the same answer"
    case .jwtBearer: "check that the app has the certificate of this private key, and that clientId is its consumer key"
    case .clientCredentials, .refreshToken: "check the client id and the client secret"
    case .accessToken: "give a new access token"
    case .external(let source): "look at \(source.name)"
    }
  }

  /// The sign-in method, in the terms of a credentials file.
  var flow: String {
    switch grant {
    case .password: "password"
    case .clientCredentials: "clientCredentials"
    case .refreshToken: "refreshToken"
    case .jwtBearer: "jwt"
    case .accessToken, .external: "token"
    case .authorizationCode: "browser"
    }
  }

  /// Names the signing-in user or app in messages.
  var subject: String {
    switch self {
    case .accessToken: "the given access token"
    case .external(let source): "the token of \(source.name)"
    default: username.map { "the sign-in of \($0)" } ?? "the sign-in of client \(clientId)"
    }
  }

  /// The values that must not appear in messages and logs.
  var secrets: [String] {
    if case .accessToken(_, let token) = self { return token.map { [$0] } ?? [] }
    return form().filter { ["client_secret", "password", "refresh_token"].contains($0.name) }.map(\.value)
  }

  /// The client id of the app that signs in; empty if another program signed in.
  public var clientId: String {
    switch self {
    case .password(_, let id, _, _, _), .clientCredentials(_, let id, _), .refreshToken(_, let id, _, _): id
    case .jwtBearer(let bearer): bearer.clientId
    case .accessToken, .external: ""
    }
  }

  /// The user name, if the grant has one.
  public var username: String? {
    switch self {
    case .password(_, _, _, let name, _): name
    case .jwtBearer(let bearer): bearer.username
    case .clientCredentials, .refreshToken, .accessToken, .external: nil
    }
  }

  /// Returns the refresh token that a new session keeps if the response does not contain one.
  func refreshToken(latest: String?) -> String? {
    if case .refreshToken(_, _, _, let own) = self { latest ?? own } else { nil }
  }

  public var grant: Grant {
    switch self {
    case .password: .password
    case .clientCredentials: .clientCredentials
    case .refreshToken: .refreshToken
    case .jwtBearer: .jwtBearer
    case .accessToken: .accessToken
    case .external: .external
    }
  }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String {
    if case .external(let source) = self { return "Credentials(\(source.name))" }
    return "Credentials(\(grant.rawValue), \(loginURL))"
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["grant": grant.rawValue, "loginURL": loginURL]) }
}
