import JSON
import RestClient
import Support

/// A sign-in with signed assertions, for programs that run without a user.
///
/// - Note: Source: RFC 7523, and the OAuth 2.0 JWT bearer flow in Salesforce's help.
public struct JWTBearer: Sendable, Equatable {
  public var loginURL: String
  public var clientId: String
  public var username: String
  /// Whom the assertion is for; nil takes the login host.
  public var audience: String?
  public var key: SigningKeySource

  public init(loginURL: String, clientId: String, username: String, audience: String? = nil, key: SigningKeySource) {
    self.loginURL = loginURL
    self.clientId = clientId
    self.username = username
    self.audience = audience
    self.key = key
  }

  /// Seconds until an assertion ends.
  static let lifetime: Int64 = 180
  /// Seconds that the clocks may differ before the server's is believed.
  static let clockLeeway = 30.0
  private static let login = "https://login.salesforce.com", test = "https://test.salesforce.com"

  var firstAudience: String { WebAddress.withoutTrailingSlashes(audience ?? loginURL) }

  /// The one other audience to try after a refusal; nil where there is none.
  func audience(after refused: String) -> String? {
    guard let host = WebAddress(loginURL)?.host, !Self.isShared(host) else { return nil }
    let isSandbox = host.containsASCII("--") || host.containsASCII(".sandbox.") || host.containsASCII(".scratch.")
    let other = isSandbox ? Self.test : Self.login
    return other == refused ? nil : other
  }

  /// Whether a host is the login or test host, which all orgs share.
  package static func isShared(_ host: String) -> Bool { host == "login.salesforce.com" || host == "test.salesforce.com" }

  /// A compact JWT with the four claims that Salesforce asks for, and no others: each more is one more way to fail.
  /// - Parameter now: Seconds since 1970.
  /// - Throws: ``RestError`` `.notAuthenticated` when the key cannot be read.
  func assertion(audience: String, now: Double) throws(RestError) -> String {
    let header: JSONObject = ["alg": "RS256", "typ": "JWT"]
    let claims: JSONObject = [
      "iss": .string(clientId), "sub": .string(username), "aud": .string(audience), "exp": .integer(Int64(now) + Self.lifetime),
    ]
    let signed = [header, claims].map { Base64.urlText(JSONValue.object($0).serialized()) }.joined(separator: ".")
    do {
      return try signed + "." + Base64.urlText(key.read().signature(of: signed))
    } catch {
      throw RestError(code: .notAuthenticated, message: "\(error)", outcome: .notSent)
    }
  }
}
