import JSON
import Support

/// Obtains and stores the access token of a connection with client credentials. All requests of all
/// processes share one renewal.
actor TokenKeeper {
  struct Token: Sendable, Equatable {
    let text: String
    /// Increases with every new token.
    let generation: Int
  }

  /// Sends a form to the token endpoint, with safe retries, and returns the response with any
  /// status.
  typealias Ask = @Sendable (_ headers: [(name: String, value: String)], _ form: String) async throws(RestError) -> RestResponse

  private let name: String
  private let credentials: ConnectionSettings.ClientCredentials
  /// The folder that stores the token; nil keeps it in memory.
  private let folder: String?
  private let ask: Ask
  private let now: @Sendable () -> Double
  private var kept: StoredToken?
  private var generation = 0
  private var renewal: Task<Result<StoredToken, RestError>, Never>?

  init(
    name: String, credentials: ConnectionSettings.ClientCredentials, folder: String?, now: @escaping @Sendable () -> Double,
    ask: @escaping Ask
  ) {
    self.name = name
    self.credentials = credentials
    self.folder = folder
    self.now = now
    self.ask = ask
  }

  func token(secret: String) async throws(RestError) -> Token {
    if let kept, let text = kept.accessToken, try kept.key == key(secret, kept.salt), now() < kept.renewAt ?? .infinity {
      return Token(text: text, generation: generation)
    }
    return try await renewed(refused: nil, secret)
  }

  /// Returns a token to replace one that the server has refused, identified by its generation.
  func token(replacing refused: Int, secret: String) async throws(RestError) -> Token {
    if generation != refused { return try await token(secret: secret) }
    return try await renewed(refused: kept?.accessToken, secret)
  }

  private func renewed(refused: String?, _ secret: String) async throws(RestError) -> Token {
    let task = renewal ?? Task { await self.renew(refused: refused, secret) }
    renewal = task
    let fresh = try await task.value.get()
    guard let text = fresh.accessToken else { throw refusalError(fresh) }
    return Token(text: text, generation: generation)
  }

  private func renew(refused: String?, _ secret: String) async -> Result<StoredToken, RestError> {
    let before = kept?.accessToken
    let result = await kept(refused: refused, secret)
    renewal = nil
    if case .success(let fresh) = result {
      kept = fresh
      if fresh.accessToken != before { generation += 1 }
    }
    return result
  }

  /// Returns the stored token if it is still usable, else a new one.
  private func kept(refused: String?, _ secret: String) async -> Result<StoredToken, RestError> {
    do {
      let file = try await self.file()
      let known = try file?.read() ?? kept
      if let known, try known.key == key(secret, known.salt), isUsable(known, refused: refused) { return .success(known) }
      try file?.reserve()
      let fresh = try await requestToken(secret, after: known)
      try file?.write(fresh)
      return .success(fresh)
    } catch let error as RestError {
      return .failure(error)
    } catch {
      return .failure(
        RestError(
          code: .notAuthenticated, message: "connection '\(name)': its token cannot be stored: \(error)", outcome: .notSent)
      )
    }
  }

  /// Whether the token is neither refused nor due for renewal, or an earlier refusal still applies.
  private func isUsable(_ known: StoredToken, refused: String?) -> Bool {
    if let refusal = known.refusal { return refusal.holds(at: now()) }
    guard let text = known.accessToken, text != refused else { return false }
    return now() < known.renewAt ?? .infinity
  }

  private func file() async throws -> TokenFile? {
    guard let folder else { return nil }
    return try await TokenFile.locked(folder: folder, patienceMs: Tuning.signInPatienceMs)
  }

  // MARK: Asking

  private func requestToken(_ secret: String, after known: StoredToken?) async throws(RestError) -> StoredToken {
    let salt = known?.salt ?? Base64.text((0..<12).map { _ in UInt8.random(in: .min ... .max) })
    var fresh = StoredToken(key: try key(secret, salt), salt: salt)
    let response = try await ask(headers(secret), form(secret))
    guard (200..<300).contains(response.status) else {
      guard (400..<500).contains(response.status), response.status != 408, response.status != 429 else {
        let clean = redaction(secret).cleaned(response)
        throw ConnectionErrors.error(clean, of: "\(name): \(credentials.tokenURL)", paths: .init())
      }
      let count = known?.key == fresh.key ? (known?.refusal?.count ?? 0) + 1 : 1
      fresh.refusal = refusal(response, count, redaction(secret))
      return fresh
    }
    let answer = try? response.body.json()
    guard let token = answer?["access_token"]?.stringValue, !token.isEmpty else {
      throw RestError(
        code: .invalidBody, message: "connection '\(name)': the response of \(credentials.tokenURL) has no access_token",
        status: response.status)
    }
    if let type = answer?["token_type"]?.stringValue, type.lowercased() != "bearer" {
      throw RestError(
        code: .invalidBody,
        message: "connection '\(name)': \(credentials.tokenURL) returned a token of type '\(type)', not bearer",
        status: response.status)
    }
    fresh.accessToken = token
    let lifetime = answer?["expires_in"]?.doubleValue ?? answer?["expires_in"]?.stringValue.flatMap { Double($0) }
    fresh.renewAt = lifetime.map { DeltaSeconds.bounded($0) }.map { now() + max($0 - 60, $0 / 2) }
    return fresh
  }

  private func headers(_ secret: String) -> [(name: String, value: String)] {
    let common = [
      (name: "Accept", value: "application/json"), (name: "Content-Type", value: "application/x-www-form-urlencoded"),
    ]
    guard credentials.clientAuth == .basic else { return common }
    // Not form-encoded, unlike RFC 6749, section 2.3.1: some servers refuse encoded values.
    return common + [("Authorization", "Basic " + Base64.text("\(credentials.clientId):\(secret)".utf8))]
  }

  private func form(_ secret: String) -> String {
    var fields = [(name: "grant_type", value: "client_credentials")]
    if !credentials.scopes.isEmpty { fields.append(("scope", credentials.scopes.joined(separator: " "))) }
    if let audience = credentials.audience { fields.append(("audience", audience)) }
    if credentials.clientAuth == .body { fields += [("client_id", credentials.clientId), ("client_secret", secret)] }
    return PercentEncoding.form(fields)
  }

  private func key(_ secret: String, _ salt: String) throws(RestError) -> String {
    let parts = [credentials.tokenURL, credentials.clientId, secret, credentials.audience ?? "", credentials.clientAuth.rawValue]
    do throws(OpenSSLProblem) {
      return try Digest.sha256Hex(([salt] + parts + credentials.scopes).joined(separator: "\n"))
    } catch {
      throw RestError(error, connection: name)
    }
  }

  // MARK: Refusals

  /// The server may repeat the secrets in its response.
  private func redaction(_ secret: String) -> TokenRedaction {
    TokenRedaction([secret, Base64.text("\(credentials.clientId):\(secret)".utf8)])
  }

  private func refusal(_ response: RestResponse, _ count: Int, _ redaction: TokenRedaction) -> StoredToken.Refusal {
    let code = (try? response.body.json())?["error"]?.stringValue
    let isFinal = [401, 403].contains(response.status) || ["invalid_client", "unauthorized_client"].contains(code)
    let said = ConnectionErrors.message(of: redaction.cleaned(response), paths: .init())
    return StoredToken.Refusal(
      reason: isFinal ? "wrongCredentials" : "refused",
      message: "status \(response.status)" + (said.map { ": \($0.prefix(Tuning.shownCharacters))" } ?? ""),
      until: isFinal ? nil : now() + StoredToken.Refusal.wait(after: count), count: count)
  }

  private func refusalError(_ kept: StoredToken) -> RestError {
    let refusal = kept.refusal
    let until =
      refusal?.until.map { "; no token is requested before \(LogText.time($0))" } ?? "; no token is requested until they change"
    var error = RestError(
      code: .notAuthenticated,
      message: "connection '\(name)': \(credentials.tokenURL) refused the client credentials (\(refusal?.message ?? "")): check "
        + "clientId and clientSecret, and 'clientAuth' and 'scopes', which some servers require\(until)",
      outcome: .notSent)
    error.reason = refusal?.reason
    return error
  }
}
