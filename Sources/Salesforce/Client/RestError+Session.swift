import RestClient

extension RestError {
  /// True if a new session may help: after a 401, the 403 of the identity pages, or an instance that the org has left. Two
  /// error texts of a 401 say that it will not.
  ///
  /// - Note: Source: Salesforce REST API as other clients handle it; retrying after these two texts would loop forever.
  var isSessionRefusal: Bool {
    if serverCode == "URL_NOT_RESET" { return true }
    if status == 403 { return body == "Bad_OAuth_Token" }
    guard status == 401 else { return false }
    let hopeless = ["This session is not valid for use with the REST API", "Connected app is not attached to Agent"]
    return !hopeless.contains { (body ?? "").containsASCII($0) }
  }

  /// Returns true if the instance did not process the request: it could not be reached, or it redirects elsewhere, as an
  /// instance does that the org has left.
  func isUnreachable(_ instanceURL: String) -> Bool {
    if code == .noResponse { return outcome == .notSent }
    guard let status, [301, 302, 303, 307, 308].contains(status), let target = header("Location") else { return false }
    return WebAddress(target).map { $0 != WebAddress(instanceURL) } ?? false
  }

  /// True if only a person or other credentials can restore the session.
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

  /// - Parameter refused: The session so far; nil if there was none.
  static func cannotRenew(_ refused: Session?) -> RestError {
    guard let refused, refused.flow == nil || refused.flow == "token" else { return .needsPerson(refused) }
    return RestError(
      code: .sessionExpired, message: "there are no credentials to renew it: sign in again", outcome: .notSent)
  }

  private static func needsPerson(_ refused: Session?) -> RestError {
    let message =
      refused.map { "the session at \($0.instanceURL) has ended and has no refresh token; sign in with `tureen login`" }
      ?? "there is no session and there are no credentials to sign in with; give some, or sign in with `tureen login`"
    var error = RestError(code: .notAuthenticated, message: message, outcome: .notSent)
    error.reason = SignInReason.needsPerson.rawValue
    return error
  }

  /// The error for a new session that belongs to a different org or user than the stored one. Such a session is not used.
  static func other(_ what: String, at loginURL: String, kept: String, given: String) -> RestError {
    RestError(
      code: .otherOrg,
      message: "\(loginURL) signed in to \(what) \(given), but the data in this home belong to \(what) \(kept); a sandbox that "
        + "was refreshed is a new org: `tureen login --new-org` sets the old data aside and starts again",
      outcome: .answered)
  }

  /// Converts an error of a session store.
  init(keeping error: any Error) {
    switch error {
    case let error as RestError: self = error
    case is CancellationError: self = .cancelled(outcome: .notSent)
    default:
      self.init(code: .notAuthenticated, message: "the session cannot be read or stored: \(error)", outcome: .notSent)
    }
  }
}
