import JSON
import RestClient

/// The reason why a login host refused a sign-in. Scripts see it as `reason` of a `notAuthenticated` error.
public enum SignInReason: String, CaseIterable, Sendable {
  /// The refresh token has expired, was revoked, or another program used it.
  case sessionEnded
  case wrongCredentials
  case userInactive, orgInactive
  /// The org does not allow sign-ins from this machine's address or at this hour.
  case ipRestricted
  /// Neither the user nor an administrator has approved the app for this user.
  case notApproved
  /// The org does not know the app, or has disabled the app or this flow.
  case appRefused
  case wrongHost
  case noRunAsUser
  case audience
  /// The clocks of this machine and the server are too far apart.
  case clock
  case rateLimited
  /// Any other reason.
  case refused
  case denied
  case needsPerson
}

/// Classifies an error response of the token endpoint.
///
/// - Note: The texts change between Salesforce releases, so only parts of them are compared, ignoring case.
enum TokenVerdict: Equatable {
  case refused(SignInReason)
  /// The server is processing another request for the same refresh token. The same request succeeds moments later.
  case busy
  /// The server is temporarily unable to check the credentials.
  case passing
  /// Not a response of a token endpoint.
  case other

  init(_ error: RestError, grant: Credentials.Grant) {
    guard error.code == .httpStatus || error.code == .requestLimitExceeded, let status = error.status else {
      self = .other
      return
    }
    guard (400..<500).contains(status) else {
      self = status >= 500 ? .passing : .other
      return
    }
    let body = error.body ?? ""
    guard let code = error.serverCode?.lowercased() else {
      self = Self.withoutCode(status, isEmpty: body.isEmpty, isPage: body.utf8.first { $0 > 32 } == UInt8(ascii: "<"))
      return
    }
    let text = (error.errors.first?["error_description"]?.stringValue ?? "").lowercased()
    self = status == 429 ? .refused(.rateLimited) : Self.judged(code, text, grant)
  }

  /// Classifies an error that the authorize endpoint returned through the browser. Its codes may be upper or lower case.
  init(redirectError code: String, description: String) {
    let (code, text) = (code.lowercased(), description.lowercased())
    // At this step no secret was sent, so an invalid client means the app.
    let isOfApp = code == "invalid_client" || text.containsASCII("app must be installed")
    self = isOfApp ? .refused(.appRefused) : Self.judged(code, text, .authorizationCode)
  }

  private static func withoutCode(_ status: Int, isEmpty: Bool, isPage: Bool) -> TokenVerdict {
    if status == 429 { return .refused(.rateLimited) }
    if isEmpty, [400, 401, 403].contains(status) { return .refused(.refused) }
    return isPage ? .passing : .other
  }

  private static let passingCodes: Set<String> = [
    "unknown_error", "server_error", "service_unavailable", "system_down", "slow_down", "client_blocked_retry",
    "temporarily_unavailable",
  ]

  private static func judged(_ code: String, _ text: String, _ grant: Credentials.Grant) -> TokenVerdict {
    if passingCodes.contains(code) { return .passing }
    if code == "invalid_grant" {
      if text.containsASCII("token request is already being processed") { return .busy }
      // The text of the same error before Winter '25.
      if text.containsASCII("expired authorization code"), grant == .refreshToken { return .busy }
      return .refused(invalidGrant(text, grant))
    }
    return .refused(reasons[code] ?? appRefusal(code) ?? (text.containsASCII("login rate exceeded") ? .rateLimited : .refused))
  }

  private static let reasons: [String: SignInReason] = [
    "invalid_client": .wrongCredentials, "invalid_basic_auth_header": .wrongCredentials, "inactive_user": .userInactive,
    "inactive_org": .orgInactive, "invalid_app_access": .notApproved, "oauth_app_access_denied": .notApproved,
    "access_denied": .denied, "access-denied": .denied, "rate_limit_exceeded": .rateLimited,
    "invalid_client_id": .appRefused, "app_not_found": .appRefused,
  ]

  private static func appRefusal(_ code: String) -> SignInReason? {
    let isRefusal =
      code.hasSuffix("_blocked") || code.hasSuffix("_disabled") || code.hasSuffix("policy_not_found")
      || code.containsASCII("dpop") || code.hasPrefix("oauth_")
    return isRefusal ? .appRefused : nil
  }

  /// Parts of `invalid_grant` descriptions. The first match decides.
  private static let parts: [(part: String, reason: SignInReason)] = [
    ("inactive user", .userInactive), ("user is inactive", .userInactive), ("inactive org", .orgInactive),
    ("login rate exceeded", .rateLimited), ("audience", .audience), ("expired access/refresh token", .sessionEnded),
    ("hasn't approved this consumer", .notApproved), ("not admin approved", .notApproved),
    ("not supported on this domain", .wrongHost), ("no client credentials user enabled", .noRunAsUser),
    ("authentication failure", .wrongCredentials), ("invalid assertion", .wrongCredentials),
  ]

  private static func invalidGrant(_ text: String, _ grant: Credentials.Grant) -> SignInReason {
    if let known = parts.first(where: { text.containsASCII($0.part) }) { return known.reason }
    if text.containsASCII("restricted"), text.split(whereSeparator: { !$0.isLetter }).contains("ip") { return .ipRestricted }
    if text.containsASCII("expired authorization code"), grant == .jwtBearer { return .clock }
    return .refused
  }
}
