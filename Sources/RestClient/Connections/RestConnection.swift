import Logging
import Support
import Synchronization

/// Sends requests to a named server, with its limits, authorization, cache and log. Threads: any.
/// ``shutdown()`` ends it.
///
/// Each request passes these stages: the stored response, if the cache mode allows it; the gate,
/// which applies the limit of requests in flight, the server's quota and the pause between writes;
/// authorization; the network, with retries after transient failures; redirects; and finally
/// storing the response.
public final class RestConnection: Sendable {
  /// Dependencies that a connection gets from its host.
  public struct Environment: Sendable {
    /// The folder of caches and tokens; nil keeps both in memory.
    public var home: String?
    public var secrets: SecretReading
    /// Called for each request.
    public var userAgent: @Sendable () -> String = { "tureen" }
    /// Certificates to trust in addition to the system's and the connection's `caFile`.
    public var authorities: TrustedCertificates?
    /// The proxies of connections without a `proxy` of their own.
    public var proxies = Proxies()
    /// Replaces the connection's own log.
    public var log: RequestLog?
    public var observer: (any RestObserver)?
    public var logger = Logger.tureen("rest")
    public var retry = RetryEnvironment.live
    /// If true, no request is sent: stored responses are served, and all other requests fail with a
    /// 504.
    public var isOffline = false
    /// The hosts that requests and redirects may lead to; nil for all that the settings allow. The
    /// `tokenURL` of the settings is not limited, because callers cannot choose it.
    public var reachableHosts: ReachableHosts?
    /// The seconds that a request to a URL may take; nil, also as its result, for the connection's `timeoutS`. Tests give up a
    /// single request with it.
    package var timeoutS: (@Sendable (_ url: String) -> Double?)?

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
  /// Tasks that validate responses served stale.
  private let background = Mutex<(isClosed: Bool, next: Int, tasks: [Int: Task<Void, Never>])>((false, 0, [:]))
  /// While true, requests in the default cache mode use stored responses only.
  private let isOffline = Atomic(false)

  public var name: String { settings.name }

  /// Makes a connection; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - settings: The connection as `connections.json` defines it.
  ///   - authorities: The certificates in `caFile`; see ``RestConnections/authorities(of:)``.
  ///   - environment: The dependencies from the host.
  public init(_ settings: ConnectionSettings, authorities: [TrustedCertificates] = [], environment: Environment) {
    self.settings = settings
    self.environment = environment
    log = environment.log ?? RequestLog(level: settings.log.level, file: settings.log.file)
    transport = HTTPTransport(
      settings.transport(TrustedCertificates(joining: authorities + [environment.authorities]), environment.proxies))
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

  /// Sends a request and waits for the whole response.
  ///
  /// - Parameters:
  ///   - request: Its path is appended to the path of `baseURL` with one slash in between; an
  ///     absolute URL is used as it is.
  ///   - options: Cache mode, further headers, and the pause between two writes.
  /// - Returns: A response with status 2xx or 300, or a 304 if the request had its own conditions.
  /// - Throws: ``RestError``: `.quotaExhausted` with ``RestError/resumeAt`` if the wait would
  ///   exceed `maxWaitS`, `.notAuthenticated` for a missing or refused secret, `.redirectRefused`,
  ///   `.restricted`, and the errors of any request.
  public func send(_ request: RestRequest, _ options: ConnectionOptions = ConnectionOptions()) async throws(RestError)
    -> ConnectionResponse
  {
    let url = try url(of: request, options)
    var exchange = PreparedRequest(request, options, url: url, headers: try await authorization.texts(of: options.headers))
    if environment.isOffline {
      guard !exchange.isWrite, options.usesResponseCache, cache != nil else { throw unavailable(exchange) }
      exchange.mode = .offline
    }
    if isOffline.load(ordering: .relaxed), options.cache == .default { exchange.mode = .offline }
    if !exchange.isWrite || settings.redirectWrites, let moved = moves.withLock({ $0[exchange.url] }) { exchange.url = moved }
    var visited = [exchange.url], isPermanentMove = true, wasLost = false
    while true {
      var answer: Answer
      do throws(RestError) {
        answer = try await hop(exchange)
      } catch {
        throw error.following(lostAttempt: wasLost)
      }
      wasLost = wasLost || answer.response.followsLostAttempt
      answer.response.followsLostAttempt = wasLost
      let next = Redirect.of(
        answer.response, method: exchange.method, url: exchange.url, visited: visited, settings: settings,
        sameOrigin: options.sameOrigin)
      switch next {
      case .none:
        let moved = visited.count > 1 && isPermanentMove ? exchange.url : nil
        return try result(answer, exchange, movedTo: moved, hidesSecrets: options.hidesSecrets)
      case .refuse(let why):
        throw refused(why, answer.response).without(answer.secrets).following(lostAttempt: wasLost)
      case .follow(let url, let method, let keepsBody, let isPermanent):
        if let refusal = unreachable(url) { throw refusal.following(lostAttempt: wasLost) }
        isPermanentMove = isPermanentMove && isPermanent
        if isPermanentMove { remember(visited, url) }
        exchange.go(to: url, method, keepsBody: keepsBody)
        visited.append(url)
      }
    }
  }

  /// Reports whether the machine has a network. While offline, requests in the default cache mode
  /// get stored responses or a 504.
  public func report(isOnline: Bool) { isOffline.store(!isOnline, ordering: .relaxed) }

  /// Invalidates stored responses that a write has changed. A write already invalidates its own
  /// URL.
  ///
  /// - Parameter paths: As in a request; each applies with any query.
  public func forgetCached(_ paths: [String]) async {
    let urls = paths.compactMap { try? ConnectionURL.absolute($0, query: [], settings) }
    await cache?.invalidate(urls.map { String($0.prefix { $0 != "?" }) }, withQueries: true)
  }

  /// Ends requests in flight with ``RestError`` `.shutDown` and closes the connection. Safe to call
  /// twice.
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
    if let refusal = unreachable(url) { throw refusal }
    return url
  }

  /// Returns the error for a URL that this host's script may not reach; nil if it may.
  private func unreachable(_ url: String) -> RestError? {
    guard let hosts = environment.reachableHosts else { return nil }
    let prefix = "connection '\(name)': "
    guard WebAddress(url).map({ hosts.contains($0) }) == true else { return hosts.refusal(of: url, prefix: prefix) }
    // The folder of a restricted script names this proxy.
    if case .through(let proxy)? = settings.proxy, !hosts.contains(proxy.address) {
      return hosts.refusal(of: proxy.origin, prefix: prefix)
    }
    return nil
  }

  private func result(
    _ answer: Answer, _ exchange: PreparedRequest, movedTo: String?, hidesSecrets: Bool
  ) throws(RestError) -> ConnectionResponse {
    let status = answer.response.status
    if status == 304, !exchange.hasConditions {
      throw answer.response.invalidBody("304 was sent for an unconditional request")
    }
    guard (200..<300).contains(status) || status == 304 || status == 300 else {
      throw settings.error(answer.response, hiding: answer.secrets).following(lostAttempt: answer.response.followsLostAttempt)
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

  /// Returns a salt for ``accountMark(salt:)``, to store along with the mark.
  package static func newSalt() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

  /// Returns a digest that distinguishes accounts and their secrets without revealing them.
  package func accountMark(salt: String) async throws(RestError) -> String {
    let account = try await authorization.headers().account
    do throws(OpenSSLProblem) {
      return String(try Digest.sha256Hex(salt + account).prefix(16))
    } catch {
      throw RestError(error, connection: name)
    }
  }

  /// Returns the session of a user who signed in or out at run time; nil if the session of the
  /// settings, if any, still applies.
  ///
  /// - Throws: ``RestError`` `.notAuthenticated`.
  package func userSession() async throws(RestError) -> UserSession? { try await authorization.session() }

  /// Makes all further requests use this session, including those of other processes of the home.
  ///
  /// - Throws: ``RestError`` `.notAuthenticated` if the session cannot be stored.
  package func keep(_ session: UserSession) async throws(RestError) { try await authorization.keep(session) }

  /// Tells whether requests act as a user.
  package func hasUserSession() async throws(RestError) -> Bool {
    try await authorization.session().map { $0.token != nil } ?? settings.hasParseSession
  }

  /// Waits on the connection's clock.
  ///
  /// - Throws: ``RestError`` `.cancelled`.
  package func wait(seconds: Double) async throws(RestError) {
    do {
      try await environment.retry.sleep(seconds)
    } catch {
      throw .cancelled(outcome: .notSent)
    }
  }

  /// Returns a number in 0..<1 from the connection's random source.
  package func random() -> Double { environment.retry.random() }

  /// Waits for running background validations.
  package func backgroundEnded() async {
    for task in background.withLock({ Array($0.tasks.values) }) { await task.value }
  }

  /// Starts a validation in the background; ``shutdown()`` cancels it.
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
  fileprivate func transport(_ authorities: TrustedCertificates?, _ proxies: Proxies) -> TransportConfiguration {
    var configuration = TransportConfiguration()
    configuration.connectTimeoutMs = Int64(saturating: connectTimeoutS * 1000)
    // `timeoutS` limits the whole request, so the idle timeout need not be shorter.
    configuration.idleTimeoutMs = max(1, Int64(saturating: timeoutS * 1000))
    configuration.largestResponse = maxBytes
    configuration.authorities = authorities
    configuration.proxies = proxies.replaced(by: proxy, keepsExceptions: false)
    configuration.connectionsPerHost = maxParallel.total ?? (maxParallel.reads + maxParallel.writes)
    return configuration
  }
}

/// Builds the URLs of a connection's requests.
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
