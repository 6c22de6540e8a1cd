/// Serves requests from the cache and stores their responses.
extension RestConnection {
  func served(_ stored: CachedResponse, _ request: PreparedRequest, _ result: CacheResult, _ now: Double) -> Answer {
    if log.level >= .info {
      var record = ExchangeRecord(name, request.method, url: request.url, headers: [], body: nil)
      record.end(with: stored.response)
      record.cache = result
      log.write(record)
    }
    return Answer(response: stored.response, cache: result, age: stored.age(at: now))
  }

  func fetched(
    _ request: PreparedRequest, _ authorized: AuthorizedHeaders?, _ key: ResponseCache.Key, fallback: ResponseCache.Found?
  ) async throws(RestError) -> Answer {
    var answer = try await fetchOrStale(request, authorized, fallback: fallback, conditions: [])
    guard answer.cache != .stale else { return answer }
    answer.cache = .miss
    await store(answer, request, key, authorized, replacing: fallback)
    return answer
  }

  func validated(
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
      // The 304 refers to a different response.
      await cache?.remove(found, key)
      return try await fetched(request, authorized, key, fallback: nil)
    }
    await put(renewed, request, key, authorized, replacing: found)
    return Answer(
      response: renewed.response, cache: .revalidated, age: renewed.age(at: environment.retry.now()),
      requestTime: answer.requestTime, responseTime: answer.responseTime, secrets: answer.secrets)
  }

  /// Returns the server's response, or the stored one if it may replace a failed request.
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
      // A newer response that is not storable still supersedes the stored one.
      await cache?.remove(old, key)
    }
  }

  private func put(
    _ response: CachedResponse, _ request: PreparedRequest, _ key: ResponseCache.Key, _ authorized: AuthorizedHeaders?,
    replacing old: ResponseCache.Found?
  ) async {
    let fields = Headers(fields: request.fields(userAgent: userAgent, authorized: authorized))
    // An entry with a different `Vary` would remain beside the new one.
    if let old { await cache?.remove(old, key) }
    await cache?.put(response, key, request: fields)
  }

  func validateLater(_ request: PreparedRequest, _ found: ResponseCache.Found, _ key: ResponseCache.Key) {
    var quiet = request
    quiet.mode = .revalidate
    inBackground { [quiet] in
      guard let authorized = try? await self.authorization(for: quiet) else { return }
      _ = try? await self.validated(quiet, authorized, key, found)
    }
  }

  /// Invalidates the resources that a write has changed: its URL, and same-origin URLs that the
  /// response names.
  func invalidateCache(after request: PreparedRequest, _ response: RestResponse) async {
    guard let cache, request.isWrite, (200..<400).contains(response.status) else { return }
    var urls = [request.url]
    for name in ["Location", "Content-Location"] {
      guard let value = response.header(name) else { continue }
      let url = URLReference(URLReference.repaired(value)).resolved(against: request.url).withoutFragment.text
      if WebAddress(url) == settings.origin { urls.append(url) }
    }
    await cache.invalidate(urls)
  }

  /// Makes the same error as a gateway's 504.
  func unavailable(_ request: PreparedRequest) -> RestError {
    RestError(
      code: .httpStatus,
      message: "connection '\(name)': no response is stored for '\(Redaction.url(request.url))' that may be used offline",
      status: 504,
      outcome: .notSent)
  }
}
