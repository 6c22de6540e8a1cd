import Support

extension RestConnection {
  /// The response of one URL, with any status.
  struct Answer: Sendable {
    var response: RestResponse
    var cache = CacheResult.bypass
    var age: Double?
    /// Seconds since 1970.
    var requestTime = 0.0, responseTime = 0.0
    var secrets: [String] = []
  }

  /// Requests one URL, from the cache or the server.
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
      await invalidateCache(after: request, answer.response)
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

  /// Returns the headers to authorize a request; nil for a foreign origin, which gets no secrets.
  func authorization(for request: PreparedRequest) async throws(RestError) -> AuthorizedHeaders? {
    guard WebAddress(request.url) == settings.origin else { return nil }
    guard request.wantsAuthorization else {
      return AuthorizedHeaders(fields: settings.openHeaders, account: "", secrets: [], generation: -1)
    }
    return try await authorization.headers(signsIn: request.omitsSession)
  }

  /// Sends a request, with retries and at most one renewal of the authorization, until there is a
  /// final response.
  func fetch(
    _ request: PreparedRequest, _ first: AuthorizedHeaders?, _ conditions: [(name: String, value: String)] = []
  ) async throws(RestError) -> Answer {
    var retry = ConnectionRetry(isRepeatable: request.isRepeatable, maxWaitS: settings.maxWaitS, quota: settings.quota)
    // Code 1 of a Parse server may mean that the query itself is wrong, so it gets fewer attempts.
    if settings.kind == .parse { retry.internalErrorAttempts = Tuning.parseInternalErrorAttempts }
    var authorized = first, isRenewed = false, number = 1, wasLost = false
    while true {
      let result = await attempt(number, request, authorized, conditions, &retry)
      switch result {
      case .failed(let error): throw error.following(lostAttempt: wasLost)
      case .again(let seconds, let isLost):
        wasLost = wasLost || isLost
        try await pause(seconds, afterLostTry: wasLost)
        number += 1
      case .answered(var answer):
        answer.response.followsLostAttempt = wasLost
        guard settings.refusesSecrets(answer.response), let refused = authorized, request.wantsAuthorization, !isRenewed,
          !request.overridesAuthorization(refused)
        else {
          return answer
        }
        isRenewed = true
        let error = settings.error(answer.response, hiding: answer.secrets)
        do throws(RestError) {
          guard let fresh = try await authorization.headers(replacing: refused, because: error) else {
            return answer
          }
          authorized = fresh
        } catch {
          throw error.following(lostAttempt: wasLost)
        }
      }
    }
  }

  private enum AttemptResult {
    case answered(Answer)
    /// - Parameter isLost: Whether the server may have executed the attempt.
    case again(seconds: Double, isLost: Bool)
    case failed(RestError)
  }

  /// Makes one attempt: waits for the gate, sends the request and decides about the next attempt.
  private func attempt(
    _ number: Int, _ request: PreparedRequest, _ authorized: AuthorizedHeaders?, _ conditions: [(name: String, value: String)],
    _ retry: inout ConnectionRetry
  ) async -> AttemptResult {
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
        request.method, url: request.url, headers: fields, body: request.body,
        timeoutS: environment.timeoutS?(request.url) ?? settings.timeoutS)
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
      case .wait(let seconds): return .again(seconds: seconds, isLost: ConnectionRetry.mayHaveTakenEffect(response))
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
      return .again(seconds: seconds, isLost: error.mayHaveTakenEffect)
    }
  }

  private func report(
    _ number: Int, _ request: PreparedRequest, _ response: RestResponse?, _ error: RestError?, since start: Double
  ) {
    guard let observer = environment.observer else { return }
    let ms = (SystemClock.monotonicSeconds() - start) * 1000
    observer.requestFinished(
      RestTrace(
        method: request.method, path: RestTrace.path(of: request.url), status: response?.status,
        errorCode: error?.code, attempt: number, bytesSent: request.body?.count ?? 0, bytesReceived: response?.body.count ?? 0,
        durationMs: ms, server: WebAddress(request.url)?.host ?? "",
        startedAt: SystemClock.millisecondsSince1970() - Int64(saturating: ms.rounded())))
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
      throw .cancelled(outcome: .notSent).following(lostAttempt: wasLost)
    }
  }
}

extension ConnectionSettings {
  /// The headers without secret values.
  fileprivate var openHeaders: [(name: String, value: String)] {
    headers.compactMap { header in
      guard case .text(let text) = header.value else { return nil }
      return (header.name, text)
    }
  }
}

extension RestError {
  /// Removes secrets that the server repeated in its response.
  func without(_ secrets: [String]) -> RestError { secrets.isEmpty ? self : TokenRedaction(secrets).cleaned(self) }
}
