import Support

/// A client's request to the authorize resource.
struct AuthorizationRequest: Equatable {
  let client: String
  let redirectURI: String
  let isImplicit: Bool
  let scope: String
  let state: String?
  let nonce: String?
  /// The SHA-256 of the verifier, in base64url; nil without PKCE.
  let challenge: String?
  /// Ask for the password even if the browser is signed in; ask for approval even if the user has
  /// given it before.
  let asksPassword: Bool, asksAgain: Bool
  /// Never ask: if the request cannot be answered at once, it fails.
  let isImmediate: Bool
}

/// Browser sign-ins in progress and codes not yet exchanged. In memory, since both live for
/// minutes. On the org's queue.
struct AuthorizationTable {
  struct Pending {
    let request: AuthorizationRequest
    /// The cookie of the browser that it belongs to.
    let browser: String
    /// The user, once signed in.
    var user: String?
    let created: Int64
    var failures = 0
  }

  struct Code {
    let request: AuthorizationRequest
    let user: String
    let created: Int64
    /// The tokens it was exchanged for; nil until then.
    var tokens: [String]?
  }

  private var pending: [String: Pending] = [:]
  private var codes: [String: Code] = [:]

  /// - Returns: The ticket that the next page has to send.
  mutating func begin(_ entry: Pending) -> String {
    Self.shorten(&pending, to: Tuning.openAuthorizations) { $0.created }
    let ticket = RandomText.make(43)
    pending[ticket] = entry
    return ticket
  }

  /// Redeems a ticket, which is valid once and only for the browser that got it.
  mutating func take(_ ticket: String, browser: String, now: Int64) -> Pending? {
    guard let entry = pending[ticket], SignInDirectory.equal(entry.browser, browser) else { return nil }
    pending[ticket] = nil
    return now - entry.created <= Tuning.authorizationSeconds ? entry : nil
  }

  mutating func issueCode(_ request: AuthorizationRequest, user: String, now: Int64) -> String {
    Self.shorten(&codes, to: Tuning.openAuthorizations) { $0.created }
    let code = "aPrx\(RandomText.make(60))=="
    codes[code] = Code(request: request, user: user, created: now)
    return code
  }

  /// Returns an issued code, used or not.
  func code(_ code: String) -> Code? { codes[code] }
  mutating func used(_ code: String, for tokens: [String]) { codes[code]?.tokens = tokens }

  private static func shorten<Value>(_ table: inout [String: Value], to count: Int, by age: (Value) -> Int64) {
    guard table.count >= count, let oldest = table.min(by: { age($0.value) < age($1.value) })?.key else { return }
    table[oldest] = nil
  }
}

/// Proof key for code exchange (RFC 7636). Lengths are not checked: clients use verifiers of up to
/// 171 characters.
enum PKCE {
  static func challenge(_ verifier: String) throws -> String { Base64.urlText(try Digest.sha256(verifier.utf8)) }
}
