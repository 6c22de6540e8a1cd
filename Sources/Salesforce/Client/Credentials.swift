import RestClient

/// How to get a session. Comes from the environment, a file or a command; never printed.
public enum Credentials: Sendable, Equatable {
  /// - Note: `password` is followed by the security token where the org asks for one.
  case password(loginURL: String, clientId: String, clientSecret: String, username: String, password: String)
  case clientCredentials(loginURL: String, clientId: String, clientSecret: String)
  case refreshToken(loginURL: String, clientId: String, clientSecret: String?, refreshToken: String)

  public var loginURL: String {
    switch self {
    case .password(let url, _, _, _, _), .clientCredentials(let url, _, _), .refreshToken(let url, _, _, _):
      WebAddress.withoutTrailingSlashes(url)
    }
  }

  /// The form fields of the grant.
  ///
  /// - Parameter latest: A refresh token the server handed out later than the one in here.
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
      let secret = clientSecret.map { [(name: "client_secret", value: $0)] } ?? []
      return [
        ("grant_type", "refresh_token"), ("client_id", clientId), ("refresh_token", latest ?? refreshToken),
      ] + secret
    }
  }

  /// What to look at when the login host has refused with an error of this name.
  func remedy(for serverCode: String) -> String {
    switch (serverCode, self) {
    case ("invalid_client", _), ("invalid_client_id", _): "check the client id and the client secret"
    case ("inactive_user", _): "the user is inactive: an administrator of the org can activate it"
    case ("inactive_org", _): "the org is inactive"
    case ("invalid_grant", .password):
      "check the user name and the password, with the security token behind it where the org asks for one"
    case ("invalid_grant", .refreshToken): "the refresh token is no longer good: sign in anew to get another"
    default: "check what the connected app allows"
    }
  }

  /// What must not be shown.
  var secrets: [String] {
    form().filter { ["client_secret", "password", "refresh_token"].contains($0.name) }.map(\.value)
  }

  /// Which app signs in.
  public var clientId: String {
    switch self {
    case .password(_, let id, _, _, _), .clientCredentials(_, let id, _), .refreshToken(_, let id, _, _): id
    }
  }

  /// As whom, where the grant says so.
  public var username: String? {
    if case .password(_, _, _, let name, _) = self { name } else { nil }
  }

  /// The refresh token a new session keeps when the server repeats none.
  func refreshToken(latest: String?) -> String? {
    if case .refreshToken(_, _, _, let own) = self { latest ?? own } else { nil }
  }

  var grant: String {
    switch self {
    case .password: "password"
    case .clientCredentials: "client_credentials"
    case .refreshToken: "refresh_token"
    }
  }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "Credentials(\(grant), \(loginURL))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["grant": grant, "loginURL": loginURL]) }
}
