import Dispatch
import Support

/// Headers that a connection sends only to its own origin.
struct AuthorizedHeaders: Sendable {
  let fields: [(name: String, value: String)]
  /// Identifies the account whose responses are cached. May contain secrets, so it is only ever
  /// hashed.
  let account: String
  /// Values that must not appear in logs and errors.
  let secrets: [String]
  /// Increases with every change of a secret or token.
  let generation: Int
  /// The session of a user who signed in or out at run time.
  var session: UserSession?
}

/// Reads a connection's secrets once for all requests, and again after the server refuses them.
actor ConnectionAuthorization {
  private struct Values: Sendable, Equatable {
    /// The headers from the settings, plus the authorization header unless it needs a token
    /// request.
    var headers: [(name: String, value: String)] = []
    /// The secret from `auth`; nil if it is missing and optional.
    var secret: String?
    var secrets: [String] = []
    /// The session of a user who signed in or out at run time.
    var session: UserSession?

    static func == (a: Values, b: Values) -> Bool {
      a.secret == b.secret && a.secrets == b.secrets && a.session == b.session
    }

    /// Replaces the session token of the settings by the given session.
    mutating func take(_ session: UserSession?) {
      guard let session else { return }
      self.session = session
      headers.removeAll { $0.name.equalsIgnoringCase(ConnectionSettings.parseSessionHeader) }
      guard let token = session.token else { return }
      headers.append((ConnectionSettings.parseSessionHeader, token))
      secrets.append(token)
    }
  }

  private let settings: ConnectionSettings
  private let reading: SecretReading
  private let tokens: TokenKeeper?
  /// The session file; nil keeps sessions in memory.
  private let sessionFile: UserSessionFile?
  private var sessionInMemory: UserSession?
  private var values: Values?
  /// Secrets already read for targets' headers.
  private var headerSecrets: [(source: SecretSource, text: String)] = []
  private var loading: Task<Result<Values, RestError>, Never>?
  private var generation = 0
  /// The server's refusal of the current values; they are not sent again.
  private var refusal: RestError?

  /// - Parameter folder: The folder of the user's session file; nil keeps the session in memory.
  init(_ settings: ConnectionSettings, _ reading: SecretReading, tokens: TokenKeeper?, folder: String? = nil) {
    self.settings = settings
    self.reading = reading
    self.tokens = tokens
    sessionFile = folder.map { UserSessionFile(folder: $0) }
  }

  /// Returns the headers for a request, reading the secrets first if necessary.
  ///
  /// - Parameter signsIn: The request obtains a new session, so an earlier refusal of the old one
  ///   does not matter.
  /// - Throws: ``RestError`` `.notAuthenticated` if a secret is missing, or if the server has
  ///   already refused the current ones.
  func headers(signsIn: Bool = false) async throws(RestError) -> AuthorizedHeaders {
    if let refusal, !signsIn {
      // The secret may have been corrected since.
      guard try await reloaded() else { throw refusal }
    }
    let values: Values = if let known = self.values { known } else { try await load() }
    return try await complete(values)
  }

  /// Returns new headers to replace those that the server refused.
  ///
  /// - Parameter error: The server's refusal.
  /// - Returns: Nil if there are none. The refusal then applies to all further requests.
  func headers(replacing refused: AuthorizedHeaders, because error: RestError) async throws(RestError) -> AuthorizedHeaders? {
    guard let values, values.secret != nil || !values.secrets.isEmpty else { return nil }
    if let tokens, let secret = values.secret {
      let token = try await tokens.token(replacing: refused.generation, secret: secret)
      return token.generation == refused.generation ? nil : authorized(values, token)
    }
    if generation != refused.generation { return try await replacement(values, refused) }
    if refusal == nil, try await reloaded(), let fresh = self.values { return try await replacement(fresh, refused) }
    if generation != refused.generation, let fresh = self.values { return try await replacement(fresh, refused) }
    refusal = refusal ?? error
    return nil
  }

  /// Returns nil if a different user has signed in, or this one has signed out: a request of one
  /// user must not be repeated as another.
  private func replacement(_ values: Values, _ refused: AuthorizedHeaders) async throws(RestError) -> AuthorizedHeaders? {
    let before = refused.session, now = values.session
    guard before?.token == nil || now?.token != nil && now?.userId == before?.userId else { return nil }
    return try await complete(values)
  }

  // MARK: Users

  /// Returns the session of the user who signed in at run time, or nil.
  func session() async throws(RestError) -> UserSession? {
    let values: Values = if let known = self.values { known } else { try await load() }
    return values.session
  }

  /// Makes all further requests use this session. Other processes pick it up when theirs is
  /// refused.
  ///
  /// - Throws: ``RestError`` `.notAuthenticated` if the session cannot be stored.
  func keep(_ session: UserSession) async throws(RestError) {
    let result = await Self.runBlocking { [settings, reading, sessionFile] in
      Result { () throws(RestError) in
        guard let sessionFile else { return }
        let values = try Self.read(settings, reading).get()
        do {
          try sessionFile.write(session, configured: Self.configured(settings, values))
        } catch let error as RestError {
          throw error
        } catch {
          throw RestError(
            code: .notAuthenticated, message: "connection '\(settings.name)': the session cannot be stored: \(error)")
        }
      }
    }
    try result.get()
    sessionInMemory = session
    refusal = nil
    _ = try await load()
  }

  /// Describes the server and credentials that a session belongs to.
  private static func configured(_ settings: ConnectionSettings, _ values: Values) -> String {
    ([settings.baseURL] + values.headers.map { "\($0.name): \($0.value)" }).joined(separator: "\n")
  }

  /// Resolves the values of a target's headers.
  func texts(of headers: [ConnectionSettings.Header]) async throws(RestError) -> [(name: String, value: String)] {
    var result: [(name: String, value: String)] = []
    for header in headers {
      switch header.value {
      case .text(let text), .secret(.plain(let text)): result.append((header.name, text))
      case .secret(.source(let source)): result.append((header.name, try await text(of: source, "headers.\(header.name)")))
      }
    }
    return result
  }

  private func text(of source: SecretSource, _ key: String) async throws(RestError) -> String {
    if let (_, known) = headerSecrets.first(where: { $0.source == source }) { return known }
    let result = await Self.runBlocking { [settings, reading] in
      Result { () throws(RestError) in try Self.text(of: .source(source), key, settings, reading) }
    }
    let text = try result.get()
    headerSecrets.append((source, text))
    return text
  }

  private static func runBlocking<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      // A secret's command may take a minute.
      DispatchQueue.global().async { continuation.resume(returning: work()) }
    }
  }

  /// Reads everything again.
  ///
  /// - Returns: Whether anything has changed.
  private func reloaded() async throws(RestError) -> Bool {
    let before = values
    headerSecrets = []
    let fresh = try await load()
    guard fresh != before else { return false }
    refusal = nil
    return true
  }

  private func complete(_ values: Values) async throws(RestError) -> AuthorizedHeaders {
    guard let tokens, let secret = values.secret else {
      return AuthorizedHeaders(
        fields: values.headers, account: account(values), secrets: values.secrets, generation: generation,
        session: values.session)
    }
    return authorized(values, try await tokens.token(secret: secret))
  }

  private func authorized(_ values: Values, _ token: TokenKeeper.Token) -> AuthorizedHeaders {
    AuthorizedHeaders(
      fields: values.headers + [("Authorization", "Bearer " + token.text)], account: account(values),
      secrets: values.secrets + [token.text], generation: token.generation)
  }

  /// Excludes the token of an OAuth grant: it changes while the account stays the same.
  private func account(_ values: Values) -> String {
    let who: String =
      switch settings.authorization {
      case .basic(let username, _): username
      case .clientCredentials(let credentials): credentials.clientId + " " + credentials.scopes.joined(separator: " ")
      default: ""
      }
    // The same holds for the session token of a known user.
    let token = values.session?.userId == nil ? nil : values.session?.token
    let user = values.session.map { "user \($0.userId ?? "")" }
    return ([who, values.secret ?? ""] + values.secrets.filter { $0 != token } + [user].compactMap { $0 })
      .joined(separator: "\n")
  }

  // MARK: Reading

  private func load() async throws(RestError) -> Values {
    let task =
      loading
      ?? Task { [settings, reading, sessionFile, sessionInMemory] in
        await Self.runBlocking { Self.read(settings, reading, sessionFile, sessionInMemory) }
      }
    loading = task
    let result = await task.value
    loading = nil
    let fresh = try result.get()
    if fresh != values { generation += 1 }
    values = fresh
    return fresh
  }

  private static func read(
    _ settings: ConnectionSettings, _ reading: SecretReading, _ file: UserSessionFile?, _ inMemory: UserSession?
  ) -> Result<Values, RestError> {
    Result { () throws(RestError) in
      var values = try read(settings, reading).get()
      guard settings.kind == .parse else { return values }
      do {
        values.take(try file.map { try $0.read(configured: configured(settings, values)) } ?? inMemory)
      } catch {
        throw RestError(
          code: .notAuthenticated, message: "connection '\(settings.name)': the session cannot be read: \(error)",
          outcome: .notSent)
      }
      return values
    }
  }

  private static func read(_ settings: ConnectionSettings, _ reading: SecretReading) -> Result<Values, RestError> {
    Result { () throws(RestError) in
      var values = Values()
      for header in settings.headers {
        switch header.value {
        case .text(let text): values.headers.append((header.name, text))
        case .secret(let secret):
          let text = try self.text(of: secret, settings.key(ofHeader: header.name), settings, reading)
          values.headers.append((header.name, text))
          values.secrets.append(text)
        }
      }
      try add(settings, reading, to: &values)
      return values
    }
  }

  private static func add(
    _ settings: ConnectionSettings, _ reading: SecretReading, to values: inout Values
  ) throws(RestError) {
    func secret(_ value: SecretValue, _ key: String) throws(RestError) -> String? {
      do throws(SecretReading.Failure) {
        guard case .source(let source) = value else { return try text(of: value, reading) }
        return try reading.read(source)
      } catch {
        guard error.isMissing, settings.isAuthorizationOptional else { throw Self.missing(settings, "auth.\(key)", error) }
        return nil
      }
    }
    switch settings.authorization {
    case .none: return
    case .bearer(let token):
      values.secret = try secret(token, "token")
      if let text = values.secret { values.headers.append(("Authorization", "Bearer " + text)) }
    case .basic(let username, let password):
      values.secret = try secret(password, "password")
      guard let text = values.secret else { return }
      let encoded = Base64.text("\(username):\(text)".utf8)
      values.headers.append(("Authorization", "Basic " + encoded))
      values.secrets.append(encoded)
    case .header(let name, let prefix, let value):
      values.secret = try secret(value, "value")
      if let text = values.secret { values.headers.append((name, prefix + text)) }
    case .clientCredentials(let credentials):
      values.secret = try secret(credentials.clientSecret, "clientSecret")
    }
    if let text = values.secret { values.secrets.append(text) }
  }

  private static func text(
    of secret: SecretValue, _ key: String, _ settings: ConnectionSettings, _ reading: SecretReading
  ) throws(RestError) -> String {
    do throws(SecretReading.Failure) {
      return try text(of: secret, reading)
    } catch {
      throw missing(settings, key, error)
    }
  }

  private static func text(of secret: SecretValue, _ reading: SecretReading) throws(SecretReading.Failure) -> String {
    switch secret {
    case .plain(let text): text
    case .source(let source): try reading.read(source)
    }
  }

  private static func missing(
    _ settings: ConnectionSettings, _ key: String, _ failure: SecretReading.Failure
  ) -> RestError {
    RestError(
      code: .notAuthenticated, message: "connection '\(settings.name)': '\(key)': \(failure.message)", outcome: .notSent)
  }
}
