import RestClient
import Support

/// A person's sign-in in a browser, as this side knows it: the URL that the browser opens, and what its answer means. A value: no
/// network, no clock.
///
/// - Note: Source: RFC 6749 section 4.1, RFC 7636, RFC 8252, and the OAuth 2.0 web server flow in Salesforce's help.
public struct AuthorizationRequest: Sendable, Equatable {
  /// What the login page asks for although the browser has a session.
  public enum Prompt: String, CaseIterable, Sendable {
    /// Whatever the browser's session and earlier approvals say.
    case none
    case login, consent
    case selectAccount = "select_account"
  }

  public let loginURL: String
  public let clientId: String
  /// Compared by the org character by character.
  public let redirectURI: String
  /// Separated by blanks; nil asks for what the app has.
  public var scope: String?
  public var prompt = Prompt.login
  /// The user name that the page shows.
  public var loginHint: String?
  /// Ties the browser's answer to this sign-in.
  let state: String
  let proof: PKCE

  public init(loginURL: String, clientId: String, redirectURI: String) {
    self.init(loginURL: loginURL, clientId: clientId, redirectURI: redirectURI, state: RandomToken.make(), proof: PKCE())
  }

  init(loginURL: String, clientId: String, redirectURI: String, state: String, proof: PKCE) {
    self.loginURL = WebAddress.withoutTrailingSlashes(loginURL)
    self.clientId = clientId
    self.redirectURI = redirectURI
    self.state = state
    self.proof = proof
  }

  /// Where the browser goes.
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

  /// What the token resource gets for a code.
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
  /// What a browser, or a person who pasted something, brings.
  public enum Answer: Sendable, Equatable {
    /// The code of this sign-in. Secret until it is exchanged, which works once.
    case code(String)
    /// The org refused this sign-in, and it is over.
    case refused(RestError)
    /// Not an answer to this sign-in; the text says why.
    case foreign(String)
  }

  /// Judges the query of the redirect, without its `?`.
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

  /// Judges what a person pasted: the address that the browser could not load, all of it from `code=` on, or the address of the
  /// org's error page.
  public func answer(pasted text: String) -> Answer {
    let text = withScheme(text.withoutBlanksAround)
    let reference = URLReference(text)
    guard reference.scheme != nil, reference.authority != nil || reference.query != nil else { return answer(pastedPart: text) }
    let redirect = URLReference(redirectURI)
    if reference.isSamePage(as: redirect) { return answer(query: reference.query ?? "") }
    if let page = errorPage(reference) { return page }
    return .foreign("it is not the address of this sign-in's answer, which begins with \(redirectURI)?")
  }

  /// Some browsers show addresses, and hand them out, without `http://`.
  private func withScheme(_ text: String) -> String {
    guard let end = redirectURI.firstRange(ofASCII: "://")?.upperBound, text.hasPrefix(redirectURI[end...]) else { return text }
    return redirectURI[..<end] + text
  }

  private func answer(pastedPart text: String) -> Answer {
    let query = text.hasPrefix("?") ? String(text.dropFirst()) : text
    let part = String(query.prefix { $0 != "#" })
    guard part.containsASCII("=") else { return bareCode }
    guard let fields = FormFields(part) else { return .foreign("its parameters cannot be read") }
    // A code ends with signs that look like those of a parameter.
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

  /// An org's own page for what it must not send back, such as an app that is not installed.
  private func errorPage(_ reference: URLReference) -> Answer? {
    guard WebAddress(reference.text) != nil, let query = reference.query, let fields = FormFields(query),
      let error = fields.only("error")
    else { return nil }
    return .refused(refusal(error, fields.only("error_description") ?? ""))
  }

  /// Which reason an error of the authorize resource has, and what to do about it.
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
  /// Whether both name the same resource, queries apart. Browsers leave out the port that belongs to the scheme, and add a slash
  /// where there is no path.
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

/// Whether two texts are equal, in a time that says nothing about where they differ.
private func hasEqualBytes(_ a: String, _ b: String) -> Bool {
  let left = Array(a.utf8), right = Array(b.utf8)
  guard left.count == right.count else { return false }
  return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
