import Support

extension RestConnection {
  /// What one URL answered, whatever its status.
  struct Answer: Sendable {
    var response: RestResponse
    var cache = CacheResult.bypass
    var age: Double?
    /// Seconds since 1970.
    var requestTime = 0.0, responseTime = 0.0
    var secrets: [String] = []
  }

  /// One URL of a request: from the cache, or from the server.
  func hop(_ request: PreparedRequest) async throws(RestError) -> Answer {
    let authorized = try await authorization(for: request)
    var answer = try await hop(request, authorized)
    answer.secrets += (authorized?.secrets ?? []) + request.secrets
    return answer
  }

  private func hop(_ request: PreparedRequest, _ authorized: AuthorizedHeaders?) async throws(RestError) -> Answer {
    guard let cache, request.usesCache else {
      guard request.mode != .offline else { throw unavailable(request) }
      let answer = try await fetch(request, authorized)
      await forget(after: request, answer.response)
      return answer
    }
    let key = ResponseCache.Key(url: request.url, account: authorized?.account ?? "")
    let fields = Headers(fields: request.fields(userAgent: userAgent, authorized: authorized))
    let found = await cache.find(key, request: fields), now = environment.retry.now()
    switch CacheDecision.of(stored: found?.response, mode: request.mode, request: request.control, now: now) {
    case .unavailable: throw unavailable(request)
    case .serve(let isStale, let refresh):
      guard let found else { throw unavailable(request) }
      if refresh { validateLater(request, found, key) }
      return served(found.response, request, isStale ? .stale : .hit, now)
    case .fetch:
      return try await fetched(request, authorized, key, fallback: found)
    case .validate:
      guard let found else { return try await fetched(request, authorized, key, fallback: nil) }
      return try await validated(request, authorized, key, found)
    }
  }

  // MARK: Cache

  private func served(_ stored: CachedResponse, _ request: PreparedRequest, _ result: CacheResult, _ now: Double) -> Answer {
    if log.level >= .info {
      var record = ExchangeRecord(name, request.method, url: request.url, headers: [], body: nil)
      record.end(with: stored.response)
      record.cache = result
      log.write(record)
    }
    return Answer(response: stored.response, cache: result, age: stored.age(at: now))
  }

  private func fetched(
    _ request: PreparedRequest, _ authorized: AuthorizedHeaders?, _ key: ResponseCache.Key, fallback: ResponseCache.Found?
  ) async throws(RestError) -> Answer {
    var answer = try await fetchOrStale(request, authorized, fallback: fallback, conditions: [])
    guard answer.cache != .stale else { return answer }
    answer.cache = .miss
    await store(answer, request, key, authorized, replacing: fallback)
    return answer
  }

  private func validated(
    _ request: PreparedRequest, _ authorized: AuthorizedHeaders?, _ key: ResponseCache.Key, _ found: ResponseCache.Found
  ) async throws(RestError) -> Answer {
    let answer = try await fetchOrStale(request, authorized, fallback: found, conditions: found.response.conditions)
    guard answer.cache != .stale else { return answer }
    guard answer.response.status == 304 else {
      var fresh = answer
      fresh.cache = .miss
      await store(answer, request, key, authorized, replacing: found)
      return fresh
    }
    guard
      let renewed = found.response.renewed(
        by: answer.response, requestTime: answer.requestTime, responseTime: answer.responseTime)
    else {
      // The 304 is about another answer.
      await cache?.remove(found, key)
      return try await fetched(request, authorized, key, fallback: nil)
    }
    await put(renewed, request, key, authorized, replacing: found)
    return Answer(
      response: renewed.response, cache: .revalidated, age: renewed.age(at: environment.retry.now()),
      requestTime: answer.requestTime, responseTime: answer.responseTime, secrets: answer.secrets)
  }

  /// The server's answer, or the stored one where that may stand in for a failure.
  private func fetchOrStale(
    _ request: PreparedRequest, _ authorized: AuthorizedHeaders?, fallback: ResponseCache.Found?,
    conditions: [(name: String, value: String)]
  ) async throws(RestError) -> Answer {
    let mayServe = { (status: Int?, now: Double) in
      fallback.map {
        CacheDecision.mayServeStale($0.response, mode: request.mode, request: request.control, status: status, now: now)
      } ?? false
    }
    do throws(RestError) {
      let answer = try await fetch(request, authorized, conditions)
      let now = environment.retry.now()
      guard let fallback, mayServe(answer.response.status, now) else { return answer }
      return served(fallback.response, request, .stale, now)
    } catch {
      let now = environment.retry.now()
      guard error.code == .noResponse, let fallback, mayServe(nil, now) else { throw error }
      return served(fallback.response, request, .stale, now)
    }
  }

  private func store(
    _ answer: Answer, _ request: PreparedRequest, _ key: ResponseCache.Key, _ authorized: AuthorizedHeaders?,
    replacing old: ResponseCache.Found?
  ) async {
    let fresh = CachedResponse(
      storing: answer.response, request: request.control, requestTime: answer.requestTime, responseTime: answer.responseTime)
    if let fresh {
      await put(fresh, request, key, authorized, replacing: old)
    } else if let old, answer.response.status < 500 {
      // What is not stored has still taken the place of what was.
      await cache?.remove(old, key)
    }
  }

  private func put(
    _ response: CachedResponse, _ request: PreparedRequest, _ key: ResponseCache.Key, _ authorized: AuthorizedHeaders?,
    replacing old: ResponseCache.Found?
  ) async {
    let fields = Headers(fields: request.fields(userAgent: userAgent, authorized: authorized))
    // Of another `Vary` it would stand beside the new one.
    if let old { await cache?.remove(old, key) }
    await cache?.put(response, key, request: fields)
  }

  private func validateLater(_ request: PreparedRequest, _ found: ResponseCache.Found, _ key: ResponseCache.Key) {
    var quiet = request
    quiet.mode = .revalidate
    inBackground { [quiet] in
      guard let authorized = try? await self.authorization(for: quiet) else { return }
      _ = try? await self.validated(quiet, authorized, key, found)
    }
  }

  /// Drops what a write has changed: its URL, and those of the same origin that the answer names.
  private func forget(after request: PreparedRequest, _ response: RestResponse) async {
    guard let cache, request.isWrite, (200..<400).contains(response.status) else { return }
    var urls = [request.url]
    for name in ["Location", "Content-Location"] {
      guard let value = response.header(name) else { continue }
      let url = URLReference.resolve(value, against: request.url)
      if WebAddress(url) == settings.origin { urls.append(url) }
    }
    await cache.invalidate(urls)
  }

  /// The same as a gateway's 504.
  private func unavailable(_ request: PreparedRequest) -> RestError {
    RestError(
      code: .httpStatus,
      message: "connection '\(name)': nothing is stored for '\(Redaction.url(request.url))' that may be used offline",
      status: 504,
      outcome: .notSent)
  }

  // MARK: Network

  var userAgent: String { settings.userAgent ?? environment.userAgent() }

  /// - Returns: Nil for a request that carries no secrets of the connection.
  private func authorization(for request: PreparedRequest) async throws(RestError) -> AuthorizedHeaders? {
    guard WebAddress(request.url) == settings.origin else { return nil }
    guard request.wantsAuthorization else {
      return AuthorizedHeaders(fields: settings.openHeaders, account: "", secrets: [], generation: -1)
    }
    return try await authorization.headers()
  }

  /// Sends a request until its answer stands.
  private func fetch(
    _ request: PreparedRequest, _ first: AuthorizedHeaders?, _ conditions: [(name: String, value: String)] = []
  ) async throws(RestError) -> Answer {
    var retry = ConnectionRetry(isRepeatable: request.isRepeatable, maxWaitS: settings.maxWaitS, quota: settings.quota)
    var authorized = first, isRenewed = false
    while true {
      let tried = await attempt(request, authorized, conditions, &retry)
      switch tried {
      case .failed(let error): throw error
      case .again(let seconds): try await pause(seconds)
      case .answered(let answer):
        guard answer.response.status == 401, let refused = authorized, request.wantsAuthorization, !isRenewed,
          !request.replaces(refused)
        else {
          return answer
        }
        isRenewed = true
        let error = ConnectionErrors.error(answer.response, of: name, paths: settings.errors, code: .notAuthenticated)
        guard let fresh = try await authorization.headers(replacing: refused, because: error.without(refused.secrets)) else {
          return answer
        }
        authorized = fresh
      }
    }
  }

  private enum Tried {
    case answered(Answer)
    case again(seconds: Double)
    case failed(RestError)
  }

  /// One try, from the wait for a place to the decision about the next one.
  private func attempt(
    _ request: PreparedRequest, _ authorized: AuthorizedHeaders?, _ conditions: [(name: String, value: String)],
    _ retry: inout ConnectionRetry
  ) async -> Tried {
    let retrying = environment.retry
    do throws(RestError) {
      try await gate.enter(isWrite: request.isWrite, pause: request.pause)
    } catch {
      return .failed(error)
    }
    let fields = request.fields(userAgent: userAgent, authorized: authorized, conditions: conditions)
    var record = ExchangeRecord(name, request.method, url: request.url, headers: fields, body: request.body)
    record.secrets = (authorized?.secrets ?? []) + request.secrets
    let start = retrying.now()
    do throws(RestError) {
      let response = try await transport.exchange(
        request.method, url: request.url, headers: fields, body: request.body, timeoutS: settings.timeoutS)
      record.end(with: response)
      record.remaining = await gate.note(response.headers)?.remaining
      await gate.leave(isWrite: request.isWrite, pause: request.pause)
      let step = retry.step(after: response, now: retrying.now(), random: retrying.random())
      finish(&record, request, step)
      switch step {
      case .stop:
        return .answered(
          Answer(response: response, requestTime: start, responseTime: retrying.now(), secrets: record.secrets))
      case .wait(let seconds): return .again(seconds: seconds)
      case .tooLong(let until):
        return .failed(.quotaExhausted(name, until: until, after: response).without(record.secrets))
      }
    } catch {
      await gate.leave(isWrite: request.isWrite, pause: request.pause)
      let step = retry.step(after: error, random: retrying.random())
      record.end(with: error)
      finish(&record, request, step)
      guard case .wait(let seconds) = step else { return .failed(error) }
      return .again(seconds: seconds)
    }
  }

  private func finish(_ record: inout ExchangeRecord, _ request: PreparedRequest, _ step: ConnectionRetry.Step) {
    if case .wait(let seconds) = step { record.repeatsIn = seconds }
    if request.usesCache, cache != nil { record.cache = record.response?.status == 304 ? .revalidated : .miss }
    log.write(record)
  }

  private func pause(_ seconds: Double) async throws(RestError) {
    do {
      try await environment.retry.sleep(seconds)
    } catch {
      throw .cancelled(outcome: .notSent)
    }
  }

  // MARK: Tokens

  /// Asks the token resource, which is no part of the connection's own limits.
  static func tokens(
    _ settings: ConnectionSettings, _ environment: Environment, _ transport: HTTPTransport, _ log: RequestLog
  ) -> TokenKeeper? {
    guard case .clientCredentials(let credentials) = settings.authorization else { return nil }
    let folder = environment.home.map { "\($0)/connections/\(settings.name.lowercased())" }
    let retrying = environment.retry
    return TokenKeeper(name: settings.name, credentials: credentials, folder: folder, now: retrying.now) {
      (headers, form) throws(RestError) in
      var retry = ConnectionRetry(isRepeatable: true, maxWaitS: settings.maxWaitS, quota: .init())
      let fields = headers + [(name: "User-Agent", value: settings.userAgent ?? environment.userAgent())]
      while true {
        var record = ExchangeRecord(settings.name, .POST, url: credentials.tokenURL, headers: fields, body: Array(form.utf8))
        let step: ConnectionRetry.Step, outcome: Result<RestResponse, RestError>
        do throws(RestError) {
          let response = try await transport.exchange(
            .POST, url: credentials.tokenURL, headers: fields, body: Array(form.utf8), timeoutS: settings.timeoutS)
          record.end(with: response)
          step = response.status == 403 ? .stop : retry.step(after: response, now: retrying.now(), random: retrying.random())
          outcome = .success(response)
        } catch {
          record.end(with: error)
          step = retry.step(after: error, random: retrying.random())
          outcome = .failure(error)
        }
        if case .wait(let seconds) = step { record.repeatsIn = seconds }
        log.write(record)
        guard case .wait(let seconds) = step else { return try outcome.get() }
        do {
          try await retrying.sleep(seconds)
        } catch {
          throw .cancelled(outcome: .notSent)
        }
      }
    }
  }
}

extension ConnectionSettings {
  /// The headers without secrets.
  fileprivate var openHeaders: [(name: String, value: String)] {
    headers.compactMap { header in
      guard case .text(let text) = header.value else { return nil }
      return (header.name, text)
    }
  }
}

extension RestError {
  /// Without secrets that a server says back.
  func without(_ secrets: [String]) -> RestError { secrets.isEmpty ? self : TokenRedaction(secrets).cleaned(self) }
}
