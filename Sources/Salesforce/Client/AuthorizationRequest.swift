import RestClient
import Support

/// The client's side of a browser sign-in: builds the URL that the browser opens and interprets the redirect that comes back.
/// A plain value that uses neither network nor clock.
///
/// - Note: Source: RFC 6749 section 4.1, RFC 7636, RFC 8252, and the OAuth 2.0 web server flow in Salesforce's help.
public struct AuthorizationRequest: Sendable, Equatable {
  /// The step that the login page shows even if the browser already has a session.
  public enum Prompt: String, CaseIterable, Sendable {
    /// Nothing beyond what the browser's session and earlier approvals require.
    case none
    case login, consent
    case selectAccount = "select_account"
  }

  public let loginURL: String
  public let clientId: String
  /// The callback URL. The org compares it character by character with the one registered for the app.
  public let redirectURI: String
  /// OAuth scopes separated by spaces; nil requests all scopes of the app.
  public var scope: String?
  public var prompt = Prompt.login
  /// The user name that the login page fills in.
  public var loginHint: String?
  /// A random value that ties the redirect to this sign-in.
  let state: String
  let proof: PKCE

  /// - Throws: ``RestError`` `.notAuthenticated` if OpenSSL is missing.
  public init(loginURL: String, clientId: String, redirectURI: String) throws(RestError) {
    self.init(loginURL: loginURL, clientId: clientId, redirectURI: redirectURI, state: RandomToken.make(), proof: try PKCE())
  }

  init(loginURL: String, clientId: String, redirectURI: String, state: String, proof: PKCE) {
    self.loginURL = WebAddress.withoutTrailingSlashes(loginURL)
    self.clientId = clientId
    self.redirectURI = redirectURI
    self.state = state
    self.proof = proof
  }

  /// The URL that the browser opens.
  public var url: String {
    var fields = [
      (name: "response_type", value: "code"), ("client_id", clientId), ("redirect_uri", redirectURI), ("state", state),
      ("code_challenge", proof.challenge), ("code_challenge_method", "S256"),
    ]
    if prompt != .none { fields.append(("prompt", prompt.rawValue)) }
    if let loginHint { fields.append(("login_hint", loginHint)) }
    if let scope { fields.append(("scope", scope)) }
    return loginURL + "/services/oauth2/authorize?" + PercentEncoding.form(fields)
  }

  /// Returns the form that exchanges a code at the token endpoint.
  func form(code: String, clientSecret: String?) -> [(name: String, value: String)] {
    [
      ("grant_type", "authorization_code"), ("code", code), ("client_id", clientId), ("redirect_uri", redirectURI),
      ("code_verifier", proof.verifier),
    ] + (clientSecret.map { [(name: "client_secret", value: $0)] } ?? [])
  }
}

extension AuthorizationRequest: CustomStringConvertible, CustomReflectable {
  public var description: String { "AuthorizationRequest(\(loginURL), \(clientId))" }
  public var customMirror: Mirror { Mirror(self, children: ["loginURL": loginURL, "clientId": clientId]) }
}

// MARK: - Answers

extension AuthorizationRequest {
  /// The outcome of a sign-in, as the browser's redirect or pasted text reports it.
  public enum Answer: Sendable, Equatable {
    /// The authorization code. It is secret until it is exchanged, and can be exchanged only once.
    case code(String)
    /// The org refused the sign-in, which is over.
    case refused(RestError)
    /// The input does not belong to this sign-in; the text says why.
    case foreign(String)
  }

  /// Interprets the query of the redirect, given without its `?`.
  public func answer(query: String) -> Answer {
    guard let fields = FormFields(query) else { return .foreign("its parameters cannot be read") }
    guard let given = fields.only("state"), hasEqualBytes(given, state) else {
      return .foreign("its state does not belong to this sign-in; it may come from another one")
    }
    if let error = fields.only("error") {
      return .refused(refusal(error, fields.only("error_description") ?? ""))
    }
    guard let code = fields.only("code"), !code.isEmpty else { return .foreign("it has neither a code nor an error") }
    return .code(code)
  }

  /// Interprets pasted text: the address that the browser could not load, the part of it that starts with `code=`, or the
  /// address of the org's error page.
  public func answer(pasted text: String) -> Answer {
    let text = withScheme(text.withoutBlanksAround)
    let reference = URLReference(text)
    guard reference.scheme != nil, reference.authority != nil || reference.query != nil else { return answer(pastedPart: text) }
    let redirect = URLReference(redirectURI)
    if reference.isSamePage(as: redirect) { return answer(query: reference.query ?? "") }
    if let page = errorPage(reference) { return page }
    return .foreign("it is not the address of this sign-in's answer, which begins with \(redirectURI)?")
  }

  /// Adds the scheme, because some browsers show and copy addresses without `http://`.
  private func withScheme(_ text: String) -> String {
    guard let end = redirectURI.firstRange(ofASCII: "://")?.upperBound, text.hasPrefix(redirectURI[end...]) else { return text }
    return redirectURI[..<end] + text
  }

  private func answer(pastedPart text: String) -> Answer {
    let query = text.hasPrefix("?") ? String(text.dropFirst()) : text
    let part = String(query.prefix { $0 != "#" })
    guard part.containsASCII("=") else { return bareCode }
    guard let fields = FormFields(part) else { return .foreign("its parameters cannot be read") }
    // A code ends with `=` signs, which look like a parameter's.
    guard fields.contains("code") || fields.contains("error") else { return bareCode }
    if fields.only("state") == nil, let error = fields.only("error") {
      return .refused(refusal(error, fields.only("error_description") ?? ""))
    }
    guard fields.only("state") != nil else { return bareCode }
    return answer(query: part)
  }

  private var bareCode: Answer {
    .foreign(
      "a code alone does not say which sign-in it belongs to; paste the whole address, which begins with \(redirectURI)?")
  }

  /// Recognizes the error page that an org shows when it must not redirect, for example if the app is not installed.
  private func errorPage(_ reference: URLReference) -> Answer? {
    guard WebAddress(reference.text) != nil, let query = reference.query, let fields = FormFields(query),
      let error = fields.only("error")
    else { return nil }
    return .refused(refusal(error, fields.only("error_description") ?? ""))
  }

  /// Translates an error code of the authorize endpoint into an error with a reason and a remedy.
  private func refusal(_ code: String, _ description: String) -> RestError {
    let shown = String(code.prefix(100))
    let said = description.isEmpty ? shown : "\(shown): \(description.prefix(200))"
    let start = "\(loginURL) refused the sign-in in the browser: \(said)"
    switch TokenVerdict(redirectError: code, description: description) {
    case .refused(let reason):
      var error = RestError(code: .notAuthenticated, message: "\(start); \(Self.remedy(reason, description))")
      error.reason = reason.rawValue
      return error
    default:
      var error = RestError(code: .httpStatus, message: "\(start); try again later")
      error.passing = .soon
      return error
    }
  }

  static func remedy(_ reason: SignInReason, _ description: String) -> String {
    switch reason {
    case .denied: "sign in again and allow access"
    case .appRefused where description.lowercased().containsASCII("installed"):
      "an administrator of the org can install the app, in Setup under Connected Apps OAuth Usage"
    case .appRefused: "check the client id, and whether the app is installed and allowed in this org"
    case .notApproved: "an administrator of the org can allow the app to this user, by profile or permission set"
    default: "check what the app allows, and the client id"
    }
  }
}

extension URLReference {
  /// Returns true if both URLs are equal apart from their queries. Browsers drop the scheme's default port and replace an empty
  /// path by a slash.
  fileprivate func isSamePage(as other: URLReference) -> Bool {
    guard path == other.path || ["", "/"].contains(path) && ["", "/"].contains(other.path) else { return false }
    if let mine = WebAddress(text), let others = WebAddress(other.text) { return mine == others }
    return scheme?.lowercased() == other.scheme?.lowercased() && authority?.lowercased() == other.authority?.lowercased()
  }
}

extension String {
  fileprivate var withoutBlanksAround: String {
    var rest = self[...]
    while rest.first?.isWhitespace == true { rest.removeFirst() }
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return String(rest)
  }
}

/// Compares two texts of equal length in constant time.
private func hasEqualBytes(_ a: String, _ b: String) -> Bool {
  let left = Array(a.utf8), right = Array(b.utf8)
  guard left.count == right.count else { return false }
  return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
