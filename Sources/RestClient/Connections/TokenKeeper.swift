import JSON
import Support

/// Gets and keeps the access token of a connection with client credentials: one renewal for all requests of all processes.
actor TokenKeeper {
  struct Token: Sendable, Equatable {
    let text: String
    /// Raised with every new token.
    let generation: Int
  }

  /// Sends a form to the token resource, as often as is safe; gets whatever the server answered.
  typealias Ask = @Sendable (_ headers: [(name: String, value: String)], _ form: String) async throws(RestError) -> RestResponse

  private let name: String
  private let credentials: ConnectionSettings.ClientCredentials
  /// Where the token is kept; nil keeps it in memory.
  private let folder: String?
  private let ask: Ask
  private let now: @Sendable () -> Double
  private var kept: KeptToken?
  private var generation = 0
  private var renewal: Task<Result<KeptToken, RestError>, Never>?

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
    if let kept, let text = kept.accessToken, kept.key == key(secret, kept.salt), now() < kept.renewAt ?? .infinity {
      return Token(text: text, generation: generation)
    }
    return try await renewed(refused: nil, secret)
  }

  /// A token other than the one of a generation that the server has refused.
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

  private func renew(refused: String?, _ secret: String) async -> Result<KeptToken, RestError> {
    let before = kept?.accessToken
    let result = await kept(refused: refused, secret)
    renewal = nil
    if case .success(let fresh) = result {
      kept = fresh
      if fresh.accessToken != before { generation += 1 }
    }
    return result
  }

  /// The file's token where it will do, else a new one.
  private func kept(refused: String?, _ secret: String) async -> Result<KeptToken, RestError> {
    do {
      let file = try await self.file()
      let known = try file?.read() ?? kept
      if let known, known.key == key(secret, known.salt), stillHolds(known, refused: refused) { return .success(known) }
      try file?.reserve()
      let fresh = try await asked(secret, after: known)
      try file?.write(fresh)
      return .success(fresh)
    } catch let error as RestError {
      return .failure(error)
    } catch {
      return .failure(
        RestError(code: .notAuthenticated, message: "connection '\(name)': its token cannot be kept: \(error)", outcome: .notSent)
      )
    }
  }

  /// A token that was not refused and is not due, or a refusal that nothing has changed about.
  private func stillHolds(_ known: KeptToken, refused: String?) -> Bool {
    if let refusal = known.refusal { return now() < refusal.until ?? .infinity }
    guard let text = known.accessToken, text != refused else { return false }
    return now() < known.renewAt ?? .infinity
  }

  private func file() async throws -> TokenFile? {
    guard let folder else { return nil }
    return try await TokenFile.locked(folder: folder, patienceMs: Tuning.signInPatienceMs)
  }

  // MARK: Asking

  private func asked(_ secret: String, after known: KeptToken?) async throws(RestError) -> KeptToken {
    let salt = known?.salt ?? Base64.text((0..<12).map { _ in UInt8.random(in: .min ... .max) })
    var fresh = KeptToken(key: key(secret, salt), salt: salt)
    let response = try await ask(headers(secret), form(secret))
    guard (200..<300).contains(response.status) else {
      guard (400..<500).contains(response.status), response.status != 408, response.status != 429 else {
        throw redaction(secret).cleaned(
          ConnectionErrors.error(response, of: "\(name): \(credentials.tokenURL)", paths: .init()))
      }
      let count = known?.key == fresh.key ? (known?.refusal?.count ?? 0) + 1 : 1
      fresh.refusal = refusal(response, count, redaction(secret))
      return fresh
    }
    let answer = try? response.body.json()
    guard let token = answer?["access_token"]?.stringValue, !token.isEmpty else {
      throw RestError(
        code: .invalidBody, message: "connection '\(name)': the answer of \(credentials.tokenURL) has no access_token",
        status: response.status)
    }
    if let type = answer?["token_type"]?.stringValue, type.lowercased() != "bearer" {
      throw RestError(
        code: .invalidBody, message: "connection '\(name)': \(credentials.tokenURL) gave a token of type '\(type)', not bearer",
        status: response.status)
    }
    fresh.accessToken = token
    let lifetime = answer?["expires_in"]?.doubleValue ?? answer?["expires_in"]?.stringValue.flatMap { Double($0) }
    fresh.renewAt = lifetime.map { now() + max($0 - 60, $0 / 2) }
    return fresh
  }

  private func headers(_ secret: String) -> [(name: String, value: String)] {
    let common = [
      (name: "Accept", value: "application/json"), (name: "Content-Type", value: "application/x-www-form-urlencoded"),
    ]
    guard credentials.clientAuth == .basic else { return common }
    // Id and secret as they are: some servers refuse them form-encoded.
    return common + [("Authorization", "Basic " + Base64.text("\(credentials.clientId):\(secret)".utf8))]
  }

  private func form(_ secret: String) -> String {
    var fields = [(name: "grant_type", value: "client_credentials")]
    if !credentials.scopes.isEmpty { fields.append(("scope", credentials.scopes.joined(separator: " "))) }
    if let audience = credentials.audience { fields.append(("audience", audience)) }
    if credentials.clientAuth == .body { fields += [("client_id", credentials.clientId), ("client_secret", secret)] }
    return PercentEncoding.form(fields)
  }

  private func key(_ secret: String, _ salt: String) -> String {
    let parts = [credentials.tokenURL, credentials.clientId, secret, credentials.audience ?? "", credentials.clientAuth.rawValue]
    return SHA2.hex(([salt] + parts + credentials.scopes).joined(separator: "\n"))
  }

  // MARK: Refusals

  /// A server may repeat what it was sent.
  private func redaction(_ secret: String) -> TokenRedaction {
    TokenRedaction([secret, Base64.text("\(credentials.clientId):\(secret)".utf8)])
  }

  private func refusal(_ response: RestResponse, _ count: Int, _ redaction: TokenRedaction) -> KeptToken.Refusal {
    let code = (try? response.body.json())?["error"]?.stringValue
    let isFinal = [401, 403].contains(response.status) || ["invalid_client", "unauthorized_client"].contains(code)
    let said = ConnectionErrors.message(of: response, paths: .init()).map { redaction.cleaned($0) }
    // Minutes.
    let waits = [1.0, 5, 15, 60]
    return KeptToken.Refusal(
      reason: isFinal ? "wrongCredentials" : "refused",
      message: "status \(response.status)" + (said.map { ": \($0.prefix(Tuning.shownCharacters))" } ?? ""),
      until: isFinal ? nil : now() + 60 * waits[min(count, waits.count) - 1], count: count)
  }

  private func refusalError(_ kept: KeptToken) -> RestError {
    let refusal = kept.refusal
    let until = refusal?.until.map { "; it is asked again after \(LogText.time($0))" } ?? "; it is asked again when they change"
    var error = RestError(
      code: .notAuthenticated,
      message: "connection '\(name)': \(credentials.tokenURL) refused the client credentials (\(refusal?.message ?? "")): check "
        + "clientId, clientSecret, and 'clientAuth' and 'scopes', which some servers demand\(until)",
      outcome: .notSent)
    error.reason = refusal?.reason
    return error
  }
}
