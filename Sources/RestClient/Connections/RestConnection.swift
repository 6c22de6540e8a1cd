import Logging
import Support
import Synchronization

/// A named server in use: its limits, its authorization, its cache and its log. Threads: any. ``shutdown()`` ends it.
///
/// A request goes this way: a stored answer if the mode allows one; a place among the requests in flight, the server's quota
/// and the pause between writes; authorization; the network, again after what passes; redirects; then storing the answer.
public final class RestConnection: Sendable {
  /// What a connection needs from its host.
  public struct Environment: Sendable {
    /// Where caches and tokens are kept; nil keeps both in memory.
    public var home: String?
    public var secrets: SecretReading
    /// Asked for each request.
    public var userAgent: @Sendable () -> String = { "tureen" }
    /// Trusted beside the machine's own and the connection's `caFile`.
    public var authorities: TrustedCertificates?
    /// In place of the connection's own log.
    public var log: RequestLog?
    public var observer: (any RestObserver)?
    public var logger = Logger(label: "tureen.rest")
    public var retry = RetryEnvironment.live
    /// True: no request is sent. Stored answers are served, anything else fails with a 504.
    public var isOffline = false

    public init(home: String?, secrets: SecretReading) {
      self.home = home
      self.secrets = secrets
    }
  }

  public let settings: ConnectionSettings
  let environment: Environment
  let transport: HTTPTransport
  let authorization: ConnectionAuthorization
  let gate: RequestGate
  let log: RequestLog
  package let cache: ResponseCache?
  private let moves = Mutex<[String: String]>([:])
  /// Validations of answers that were served stale.
  private let background = Mutex<(isClosed: Bool, next: Int, tasks: [Int: Task<Void, Never>])>((false, 0, [:]))
  /// While true, requests of the default mode get stored answers alone.
  private let isOffline = Atomic(false)

  public var name: String { settings.name }

  /// - Parameters:
  ///   - settings: The connection as `connections.json` defines it.
  ///   - authorities: What `caFile` holds; read by ``TrustedCertificates``.
  ///   - environment: What the connection needs from its host.
  public init(_ settings: ConnectionSettings, authorities: [TrustedCertificates] = [], environment: Environment) {
    self.settings = settings
    self.environment = environment
    log = environment.log ?? RequestLog(level: settings.log.level, file: settings.log.file)
    transport = HTTPTransport(settings.transport(TrustedCertificates(joining: authorities + [environment.authorities])))
    gate = RequestGate(settings, environment.retry)
    cache = settings.cache.map { limits in
      ResponseCache(
        path: environment.home.map { ResponseCache.path(home: $0, connection: settings.name) }, limits: limits,
        logger: environment.logger, now: environment.retry.now)
    }
    let tokens = RestConnection.tokens(settings, environment, transport, log)
    authorization = ConnectionAuthorization(
      settings, environment.secrets, tokens: tokens,
      folder: environment.home.map { "\($0)/connections/\(settings.name.lowercased())" })
  }

  /// Sends a request and waits for the whole answer.
  ///
  /// - Parameters:
  ///   - request: Its path is appended to the path of `baseURL`, one slash between; an absolute URL is taken as it is.
  ///   - options: Cache mode, further headers, and the pause between two writes.
  /// - Returns: Answers with status 2xx, and 304 to a request with conditions of its own.
  /// - Throws: ``RestError``: `.quotaExhausted` with ``RestError/resumeAt`` instead of a wait longer than `maxWaitS`,
  ///   `.notAuthenticated` for a missing or refused secret, `.redirectRefused`, and what any request may fail with.
  public func send(_ request: RestRequest, _ options: ConnectionOptions = ConnectionOptions()) async throws(RestError)
    -> ConnectionResponse
  {
    let url = try url(of: request, options)
    var exchange = PreparedRequest(request, options, url: url, headers: try await authorization.texts(of: options.headers))
    if environment.isOffline {
      guard !exchange.isWrite, options.usesStoredAnswers, cache != nil else { throw unavailable(exchange) }
      exchange.mode = .offline
    }
    if isOffline.load(ordering: .relaxed), options.cache == .default { exchange.mode = .offline }
    if !exchange.isWrite || settings.redirectWrites, let moved = moves.withLock({ $0[exchange.url] }) { exchange.url = moved }
    var visited = [exchange.url], isMovedForGood = true, wasLost = false
    while true {
      var answer: Answer
      do throws(RestError) {
        answer = try await hop(exchange)
      } catch {
        throw error.following(lostTry: wasLost)
      }
      wasLost = wasLost || answer.followsLostTry
      answer.followsLostTry = wasLost
      let next = Redirect.of(
        answer.response, method: exchange.method, url: exchange.url, visited: visited, settings: settings,
        sameOrigin: options.sameOrigin)
      switch next {
      case .none:
        let moved = visited.count > 1 && isMovedForGood ? exchange.url : nil
        return try result(answer, exchange, movedTo: moved, hidesSecrets: options.hidesSecrets)
      case .refuse(let why):
        throw refused(why, answer.response).without(answer.secrets).following(lostTry: wasLost)
      case .follow(let url, let method, let keepsBody, let isPermanent):
        isMovedForGood = isMovedForGood && isPermanent
        if isMovedForGood { remember(visited, url) }
        exchange.go(to: url, method, keepsBody: keepsBody)
        visited.append(url)
      }
    }
  }

  /// Whether the machine has no network: then requests of the default mode get stored answers, or a 504.
  public func report(isOnline: Bool) { isOffline.store(!isOnline, ordering: .relaxed) }

  /// Drops stored answers: a write has changed what they say. Writes drop those of their own URL by themselves.
  /// - Parameter paths: As in a request; with every query.
  public func forgetCached(_ paths: [String]) async {
    let urls = paths.compactMap { try? ConnectionURL.absolute($0, query: [], settings) }
    await cache?.invalidate(urls.map { String($0.prefix { $0 != "?" }) }, withQueries: true)
  }

  /// Ends what is under way: it gets ``RestError`` `.shutDown`. Safe twice.
  public func shutdown() async {
    let tasks = background.withLock { state in
      state.isClosed = true
      defer { state.tasks = [:] }
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
    await gate.close()
    await transport.shutdown()
    for task in tasks { await task.value }
    await cache?.close()
  }

  // MARK: Parts

  private func url(of request: RestRequest, _ options: ConnectionOptions) throws(RestError) -> String {
    let url = try ConnectionURL.absolute(request.path, query: request.query, settings)
    if let why = Redirect.refusal(of: url, from: settings.origin, settings, sameOrigin: options.sameOrigin) {
      throw RestError(code: .invalidURL, message: "connection '\(name)': \(why)", outcome: .notSent)
    }
    return url
  }

  private func result(
    _ answer: Answer, _ exchange: PreparedRequest, movedTo: String?, hidesSecrets: Bool
  ) throws(RestError) -> ConnectionResponse {
    let status = answer.response.status
    if status == 304, !exchange.hasConditions {
      throw answer.response.invalidBody("304 answers a request that had no conditions")
    }
    guard (200..<300).contains(status) || status == 304 || status == 300 else {
      throw settings.error(answer.response).without(answer.secrets).following(lostTry: answer.followsLostTry)
    }
    let response = hidesSecrets ? TokenRedaction(answer.secrets).cleaned(answer.response) : answer.response
    return ConnectionResponse(
      response: response, url: exchange.url, movedTo: movedTo, cache: answer.cache, age: answer.age)
  }

  private func refused(_ why: String, _ response: RestResponse) -> RestError {
    RestError(
      code: .redirectRefused, message: "connection '\(name)': \(why)", status: response.status, headers: response.headers)
  }

  private func remember(_ visited: [String], _ target: String) {
    moves.withLock { moves in
      if moves.count >= Tuning.rememberedMoves { moves.removeAll() }
      for url in visited { moves[url] = target }
    }
  }

  /// A salt for ``accountMark(salt:)``, to be kept with what the mark is compared with.
  package static func newSalt() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

  /// Tells accounts and their secrets apart without saying anything of them.
  package func accountMark(salt: String) async throws(RestError) -> String {
    String(SHA2.hex(salt + (try await authorization.headers().account)).prefix(16))
  }

  /// The session of a user who signed in or out while the program ran; nil: the settings' own holds, if there is one.
  /// - Throws: ``RestError`` `.notAuthenticated`.
  package func userSession() async throws(RestError) -> UserSession? { try await authorization.session() }

  /// Requests act with this session from now on, also those of other processes of the home.
  /// - Throws: ``RestError`` `.notAuthenticated` when it cannot be kept.
  package func keep(_ session: UserSession) async throws(RestError) { try await authorization.keep(session) }

  /// Whether requests carry a user's session.
  package func hasUserSession() async throws(RestError) -> Bool {
    try await authorization.session().map { $0.token != nil } ?? settings.hasParseSession
  }

  /// Waits, by the clock of the connection's own pauses.
  /// - Throws: ``RestError`` `.cancelled`.
  package func wait(seconds: Double) async throws(RestError) {
    do {
      try await environment.retry.sleep(seconds)
    } catch {
      throw .cancelled(outcome: .notSent)
    }
  }

  /// In 0..<1, by the connection's own source of chance.
  package func random() -> Double { environment.retry.random() }

  /// Waits for the validations that are under way.
  package func backgroundEnded() async {
    for task in background.withLock({ Array($0.tasks.values) }) { await task.value }
  }

  /// Runs a validation in the background; ``shutdown()`` ends it.
  func inBackground(_ work: @escaping @Sendable () async -> Void) {
    background.withLock { state in
      guard !state.isClosed else { return }
      let id = state.next
      state.next += 1
      state.tasks[id] = Task {
        await work()
        self.background.withLock { $0.tasks[id] = nil }
      }
    }
  }
}

extension ConnectionSettings {
  fileprivate func transport(_ authorities: TrustedCertificates?) -> TransportConfiguration {
    var configuration = TransportConfiguration()
    configuration.connectTimeoutMs = Int64(connectTimeoutS * 1000)
    // The whole request has a limit of its own.
    configuration.idleTimeoutMs = max(1, Int64(timeoutS * 1000))
    configuration.largestResponse = maxBytes
    configuration.authorities = authorities
    configuration.connectionsPerHost = maxParallel.total ?? (maxParallel.reads + maxParallel.writes)
    return configuration
  }
}

/// The URLs of a connection's requests.
enum ConnectionURL {
  /// - Throws: ``RestError`` `.invalidURL`.
  static func absolute(
    _ path: String, query: [(name: String, value: String)], _ settings: ConnectionSettings
  ) throws(RestError) -> String {
    let isAbsolute = path.hasPrefix("http://") || path.hasPrefix("https://") || path.firstRange(ofASCII: "://") != nil
    if isAbsolute { return try WebAddress.url(path: path, query: query, base: settings.baseURL) }
    let isQuery = path.isEmpty || path.hasPrefix("?")
    let relative = isQuery ? path : "/" + path.drop { $0 == "/" }
    return try WebAddress.url(path: settings.baseURL + relative, query: query, base: settings.baseURL)
  }
}
