import JSON
import RestClient
import Support

/// A sign-in with signed assertions, for programs that run unattended.
///
/// - Note: Source: RFC 7523, and the OAuth 2.0 JWT bearer flow in Salesforce's help.
public struct JWTBearer: Sendable, Equatable {
  public var loginURL: String
  public var clientId: String
  public var username: String
  /// The assertion's `aud` claim; nil uses the login host.
  public var audience: String?
  public var key: SigningKeySource

  public init(loginURL: String, clientId: String, username: String, audience: String? = nil, key: SigningKeySource) {
    self.loginURL = loginURL
    self.clientId = clientId
    self.username = username
    self.audience = audience
    self.key = key
  }

  /// Seconds until an assertion expires.
  static let lifetime: Int64 = 180
  /// The clock difference, in seconds, above which assertions are dated by the server's clock.
  static let clockLeeway = 30.0
  private static let login = "https://login.salesforce.com", test = "https://test.salesforce.com"

  var firstAudience: String { WebAddress.withoutTrailingSlashes(audience ?? loginURL) }

  /// Returns the other audience to try after a refusal; nil if there is none.
  func audience(after refused: String) -> String? {
    guard let host = WebAddress(loginURL)?.host, !Self.isShared(host) else { return nil }
    let isSandbox = host.containsASCII("--") || host.containsASCII(".sandbox.") || host.containsASCII(".scratch.")
    let other = isSandbox ? Self.test : Self.login
    return other == refused ? nil : other
  }

  /// Returns true for the login and test hosts, which all orgs share.
  package static func isShared(_ host: String) -> Bool { host == "login.salesforce.com" || host == "test.salesforce.com" }

  /// Returns a compact JWT with exactly the four claims that Salesforce requires; any other claim could be refused.
  /// - Parameter now: Seconds since 1970.
  /// - Throws: ``RestError`` `.notAuthenticated` if the key cannot be read.
  func assertion(audience: String, now: Double) throws(RestError) -> String {
    let header: JSONObject = ["alg": "RS256", "typ": "JWT"]
    let claims: JSONObject = [
      "iss": .string(clientId), "sub": .string(username), "aud": .string(audience),
      "exp": .integer(Int64(saturating: now) + Self.lifetime),
    ]
    let signed = [header, claims].map { Base64.urlText(JSONValue.object($0).serialized()) }.joined(separator: ".")
    do {
      return try signed + "." + Base64.urlText(key.read().signature(of: signed))
    } catch {
      throw RestError(code: .notAuthenticated, message: "\(error)", outcome: .notSent)
    }
  }
}
