import JSON
import Support

/// Why an OAuth resource refused a request. Its format differs from the data API's error array.
struct OAuthRefusal: Error, Equatable {
  let error: String, description: String
  var status = 400

  var reply: ServerReply {
    .json(
      status, .object(["error": .string(error), "error_description": .string(description)]),
      headers: [("Cache-Control", "no-store")])
  }

  private init(_ error: String, _ description: String) {
    self.error = error
    self.description = description
  }

  private static func grant(_ description: String) -> Self { Self("invalid_grant", description) }

  static let authentication = grant("authentication failure")
  static let expiredToken = grant("expired access/refresh token")
  static let expiredCode = grant("expired authorization code")
  static let unknownCode = grant("invalid authorization code")
  static let notApproved = grant("user hasn't approved this consumer")
  static let notAdminApproved = Self("invalid_app_access", "user is not admin approved to access this app")
  static let noRunAsUser = grant("no client credentials user enabled")
  static let wrongDomain = grant("request not supported on this domain")
  static let audience = grant("audience is invalid")
  static let assertion = grant("invalid assertion")
  static let codeVerifier = grant("invalid code verifier")
  static let unknownClient = Self("invalid_client_id", "client identifier invalid")
  static let appBlocked = Self("app_blocked", "this app is blocked by admin")
  static let appNotFound = Self("app_not_found", "External client app is not installed in this org")
  static let appNotInstalled = Self("invalid_client", "app must be installed into org")
  static let flowDisabled = Self("oauth_flow_disabled", "this flow is not enabled for the app")
  static let usedAssertion = Self("bad_jti_claim", "the jti claim has been used before")
  static let addressRestricted = grant("ip restricted")
  static let loginRate = grant("login rate exceeded")
  static let busy = grant("token request is already being processed")
  static let clientSecret = Self("invalid_client", "invalid client credentials")
  static let redirectURI = Self("redirect_uri_mismatch", "redirect_uri must match configuration")
  static let grantType = Self("unsupported_grant_type", "grant type not supported")
  static let responseType = Self("unsupported_response_type", "response type not supported")
  static let inactiveUser = grant("inactive user")
  static let basicHeader: Self = {
    var refusal = Self("invalid_basic_auth_header", "the Authorization header has no client id and secret")
    refusal.status = 401
    return refusal
  }()
  static let scope = Self("invalid_scope", "the requested scope is not allowed")
  static let noChallenge = Self("invalid_request", "missing required code challenge")
  static let challengeMethod = Self("invalid_request", "code challenge method must be S256")
  static let denied = Self("access_denied", "end-user denied authorization")
  static let notImmediate = Self("immediate_unsuccessful", "the user must sign in and allow access")

  /// The errors that pages send back to the app.
  static let blockedRedirect = Self("OAUTH_APP_BLOCKED", "this app is blocked by admin")
  static let notFoundRedirect = Self("OAUTH_EC_APP_NOT_FOUND", "External client app is not installed in this org")

  /// The refusal that a fault rule describes.
  init(_ draw: FaultDraw) {
    self.init(draw.text("error") ?? "", draw.text("description") ?? "")
    status = draw.integer("status") ?? 400
  }

  static func missing(_ parameter: String) -> Self { Self("invalid_request", "missing required parameter: \(parameter)") }
}

/// Parameters of a form body, or of the query if there is no body.
struct Form {
  private let fields: [(name: String, value: String)]
  private let authorization: String?

  init(_ request: ServerRequest) {
    fields = URLCoding.fields(String(decoding: request.body, as: UTF8.self)) + request.query
    authorization = request.header("authorization")
  }

  subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// - Throws: `invalid_request` if it is missing or empty.
  func required(_ name: String) throws(OAuthRefusal) -> String {
    guard let value = self[name], !value.isEmpty else { throw .missing(name) }
    return value
  }

  /// Returns the client id and secret, from HTTP Basic or else from the form.
  ///
  /// - Throws: `invalid_basic_auth_header` if a Basic header cannot be read.
  func client() throws(OAuthRefusal) -> (id: String?, secret: String?) {
    guard let authorization, authorization.lowercased().hasPrefix("basic ") else {
      return (self["client_id"], self["client_secret"])
    }
    guard let bytes = Base64.decodeLenient(String(authorization.dropFirst(6))) else { throw .basicHeader }
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw .basicHeader }
    return (String(parts[0]), String(parts[1]))
  }
}
