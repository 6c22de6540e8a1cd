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
    /// An earlier try may have been carried out.
    var followsLostTry = false
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

  // MARK: Network

  var userAgent: String { settings.userAgent ?? environment.userAgent() }

  /// - Returns: Nil for a request that carries no secrets of the connection.
  func authorization(for request: PreparedRequest) async throws(RestError) -> AuthorizedHeaders? {
    guard WebAddress(request.url) == settings.origin else { return nil }
    guard request.wantsAuthorization else {
      return AuthorizedHeaders(fields: settings.openHeaders, account: "", secrets: [], generation: -1)
    }
    return try await authorization.headers(signsIn: request.leavesOutSession)
  }

  /// Sends a request until its answer stands.
  func fetch(
    _ request: PreparedRequest, _ first: AuthorizedHeaders?, _ conditions: [(name: String, value: String)] = []
  ) async throws(RestError) -> Answer {
    var retry = ConnectionRetry(isRepeatable: request.isRepeatable, maxWaitS: settings.maxWaitS, quota: settings.quota)
    // Code 1 of a Parse server may mean that the query itself is wrong: it is not worth many tries.
    if settings.kind == .parse { retry.internalErrorAttempts = Tuning.parseInternalErrorAttempts }
    var authorized = first, isRenewed = false, number = 1, wasLost = false
    while true {
      let tried = await attempt(number, request, authorized, conditions, &retry)
      switch tried {
      case .failed(let error): throw error.following(lostTry: wasLost)
      case .again(let seconds, let isLost):
        wasLost = wasLost || isLost
        try await pause(seconds, afterLostTry: wasLost)
        number += 1
      case .answered(var answer):
        answer.followsLostTry = wasLost
        guard settings.refusesSecrets(answer.response), let refused = authorized, request.wantsAuthorization, !isRenewed,
          !request.replaces(refused)
        else {
          return answer
        }
        isRenewed = true
        let error = settings.error(answer.response)
        do throws(RestError) {
          guard let fresh = try await authorization.headers(replacing: refused, because: error.without(refused.secrets)) else {
            return answer
          }
          authorized = fresh
        } catch {
          throw error.following(lostTry: wasLost)
        }
      }
    }
  }

  private enum Tried {
    case answered(Answer)
    /// - Parameter isLost: The server may have carried it out.
    case again(seconds: Double, isLost: Bool)
    case failed(RestError)
  }

  /// One try, from the wait for a place to the decision about the next one.
  private func attempt(
    _ number: Int, _ request: PreparedRequest, _ authorized: AuthorizedHeaders?, _ conditions: [(name: String, value: String)],
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
    let start = retrying.now(), began = SystemClock.monotonicSeconds()
    do throws(RestError) {
      let response = try await transport.exchange(
        request.method, url: request.url, headers: fields, body: request.body, timeoutS: settings.timeoutS)
      record.end(with: response)
      record.isExpected = request.expectedStatuses.contains(response.status)
      report(number, request, response, nil, since: began)
      record.remaining = await gate.note(response.headers)?.remaining
      await gate.leave(isWrite: request.isWrite, pause: request.pause)
      let step = retry.step(after: response, now: retrying.now(), random: retrying.random())
      finish(&record, request, step)
      switch step {
      case .stop:
        return .answered(
          Answer(response: response, requestTime: start, responseTime: retrying.now(), secrets: record.secrets))
      case .wait(let seconds): return .again(seconds: seconds, isLost: ConnectionRetry.mayHaveActed(response))
      case .tooLong(let until):
        return .failed(.quotaExhausted(name, until: until, after: response).without(record.secrets))
      }
    } catch {
      report(number, request, nil, error, since: began)
      await gate.leave(isWrite: request.isWrite, pause: request.pause)
      let step = retry.step(after: error, random: retrying.random())
      record.end(with: error)
      finish(&record, request, step)
      guard case .wait(let seconds) = step else { return .failed(error) }
      return .again(seconds: seconds, isLost: error.mayHaveHappened)
    }
  }

  private func report(
    _ number: Int, _ request: PreparedRequest, _ response: RestResponse?, _ error: RestError?, since start: Double
  ) {
    guard let observer = environment.observer else { return }
    observer.requestFinished(
      RestTrace(
        method: request.method, path: RestTrace.path(of: request.url), status: response?.status,
        errorCode: error?.code, attempt: number, bytesSent: request.body?.count ?? 0, bytesReceived: response?.body.count ?? 0,
        durationMs: (SystemClock.monotonicSeconds() - start) * 1000))
  }

  private func finish(_ record: inout ExchangeRecord, _ request: PreparedRequest, _ step: ConnectionRetry.Step) {
    if case .wait(let seconds) = step { record.repeatsIn = seconds }
    if request.usesCache, cache != nil { record.cache = record.response?.status == 304 ? .revalidated : .miss }
    log.write(record)
  }

  private func pause(_ seconds: Double, afterLostTry wasLost: Bool) async throws(RestError) {
    do {
      try await environment.retry.sleep(seconds)
    } catch {
      throw .cancelled(outcome: .notSent).following(lostTry: wasLost)
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
