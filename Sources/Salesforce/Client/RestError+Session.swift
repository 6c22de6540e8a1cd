import RestClient

extension RestError {
  /// True when a new session may help: 401, the sign-in pages' 403, or an instance that the org has left. Two 401 texts say
  /// that it will not.
  ///
  /// - Note: Source: Salesforce REST API as other clients handle it; the two texts otherwise lead to refresh loops.
  var isSessionRefusal: Bool {
    if serverCode == "URL_NOT_RESET" { return true }
    if status == 403 { return body == "Bad_OAuth_Token" }
    guard status == 401 else { return false }
    let hopeless = ["This session is not valid for use with the REST API", "Connected app is not attached to Agent"]
    return !hopeless.contains { (body ?? "").containsASCII($0) }
  }

  /// Whether the instance gives no answer of its own, as one that an org has left: nothing was done there.
  func isUnreachable(_ instanceURL: String) -> Bool {
    if code == .noResponse { return outcome == .notSent }
    guard let status, [301, 302, 303, 307, 308].contains(status), let target = header("Location") else { return false }
    return WebAddress(target).map { $0 != WebAddress(instanceURL) } ?? false
  }

  /// Whether only a person or other credentials bring a session back.
  var isLoss: Bool {
    switch code {
    case .sessionExpired, .otherOrg: return true
    case .notAuthenticated:
      let reason = reason.flatMap { SignInReason(rawValue: $0) }
      return reason == .needsPerson || reason?.isFinal == true
    default: return false
    }
  }

  static var signedOut: RestError {
    RestError(code: .notAuthenticated, message: "signed out; oauth.authenticate signs in again", outcome: .notSent)
  }

  /// - Parameter refused: The session in use so far; nil when there was none.
  static func cannotRenew(_ refused: Session?) -> RestError {
    guard let refused, refused.flow == nil || refused.flow == "token" else { return .needsPerson(refused) }
    return RestError(
      code: .sessionExpired, message: "there are no credentials to renew it with: sign in anew", outcome: .notSent)
  }

  private static func needsPerson(_ refused: Session?) -> RestError {
    let message =
      refused.map { "the session at \($0.instanceURL) has ended and has no refresh token; sign in with `tureen login`" }
      ?? "there is no session and there are no credentials to sign in with; give some, or sign in with `tureen login`"
    var error = RestError(code: .notAuthenticated, message: message, outcome: .notSent)
    error.reason = SignInReason.needsPerson.rawValue
    return error
  }

  /// The login host gave a session of another org or user than the one that is kept: it is not used.
  static func other(_ what: String, at loginURL: String, kept: String, given: String) -> RestError {
    RestError(
      code: .otherOrg,
      message: "\(loginURL) signed in to \(what) \(given), and the data kept here are of \(what) \(kept); a sandbox that "
        + "was refreshed is another org: keep the old data and begin anew with `tureen login --new-org`",
      outcome: .answered)
  }

  /// What a place that keeps sessions threw.
  init(keeping error: any Error) {
    switch error {
    case let error as RestError: self = error
    case is CancellationError: self = .cancelled(outcome: .notSent)
    default:
      self.init(code: .notAuthenticated, message: "the session cannot be read or kept: \(error)", outcome: .notSent)
    }
  }
}
