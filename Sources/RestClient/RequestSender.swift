import Logging
import Support

/// Sends a request with as many attempts as the policy allows, and reports each attempt to the log
/// and the observer.
package struct RequestSender: Sendable {
  package let transport: HTTPTransport
  package var policy = RetryPolicy.standard
  package var environment = RetryEnvironment.live
  /// Seconds for one attempt; nil applies only the idle timeout.
  package var timeoutS: Double?
  package var observer: (any RestObserver)?
  package var logger: Logger
  package let refusalWords: RefusalWords
  /// The `User-Agent` header; called for each request.
  package var userAgent: @Sendable () -> String = { "tureen" }
  /// Called before each attempt. If it throws, nothing is sent.
  package var admission: @Sendable () async throws(RestError) -> Void = { () async throws(RestError) in }

  package init(
    transport: HTTPTransport, refusalWords: RefusalWords, policy: RetryPolicy = .standard,
    environment: RetryEnvironment = .live, observer: (any RestObserver)? = nil, logger: Logger,
    userAgent: @escaping @Sendable () -> String = { "tureen" }
  ) {
    self.transport = transport
    self.refusalWords = refusalWords
    self.policy = policy
    self.environment = environment
    self.observer = observer
    self.logger = logger
    self.userAgent = userAgent
  }

  /// Sends a request until it succeeds or the policy gives up.
  ///
  /// - Parameters:
  ///   - url: Absolute and validated.
  ///   - token: The bearer token for `Authorization`; nil sends none.
  /// - Returns: A response with status 2xx, 300 or 304.
  /// - Throws: ``RestError`` for any other status or failure.
  package func send(_ request: RestRequest, url: String, token: String?) async throws(RestError) -> RestResponse {
    let headers = headers(of: request, token: token)
    var attempt = 1, wasLost = false
    while true {
      do {
        var response = try await tryOnce(request, url: url, headers: headers, attempt: attempt)
        response.followsLostAttempt = wasLost
        return response
      } catch {
        let failed = error.following(lostAttempt: wasLost)
        let decision = policy.decide(
          afterAttempt: attempt, isRepeatable: request.isRepeatable, error: error, now: environment.now(),
          random: environment.random())
        guard case .wait(let seconds) = decision else { throw failed }
        wasLost = failed.mayHaveTakenEffect
        try await pause(seconds, because: failed)
        attempt += 1
      }
    }
  }

  private func tryOnce(
    _ request: RestRequest, url: String, headers: [(name: String, value: String)], attempt: Int
  ) async throws(RestError) -> RestResponse {
    try await admission()
    let start = Start(url: url)
    var received: RestResponse?
    do throws(RestError) {
      let response = try await transport.exchange(
        request.method, url: url, headers: headers, body: request.body, timeoutS: timeoutS)
      received = response
      guard (200..<300).contains(response.status) || response.status == 300 || response.status == 304 else {
        throw RestError(refusal: response, words: refusalWords)
      }
      report(request, received, nil, attempt, since: start)
      return response
    } catch {
      report(request, received, error, attempt, since: start)
      throw error
    }
  }

  private func headers(of request: RestRequest, token: String?) -> [(name: String, value: String)] {
    var defaults = [(name: "Accept", value: "application/json"), (name: "User-Agent", value: userAgent())]
    if request.body != nil { defaults.append(("Content-Type", request.contentType)) }
    if let token { defaults.append(("Authorization", "Bearer " + token)) }
    return defaults.filter { known in !request.headers.contains { $0.name.equalsIgnoringCase(known.name) } }
      + request.headers
  }

  private func pause(_ seconds: Double, because failed: RestError) async throws(RestError) {
    logger.debug("retry", metadata: ["wait": "\(seconds) s", "because": "\(failed.code)"])
    do {
      try await environment.sleep(seconds)
    } catch {
      throw .cancelled(outcome: failed.outcome).following(lostAttempt: failed.mayHaveTakenEffect)
    }
  }

  /// Where and when an attempt was sent.
  private struct Start {
    let url: String
    /// Of the monotonic clock, and in ms since 1970 UTC.
    let seconds = SystemClock.monotonicSeconds(), time = SystemClock.millisecondsSince1970()
  }

  /// Reports the path, sizes and result, but never a header, a query or a body.
  private func report(
    _ request: RestRequest, _ response: RestResponse?, _ error: RestError?, _ attempt: Int, since start: Start
  ) {
    let trace = RestTrace(
      method: request.method, path: request.pathWithoutQuery, status: response?.status, errorCode: error?.code,
      attempt: attempt, bytesSent: request.body?.count ?? 0, bytesReceived: response?.body.count ?? 0,
      durationMs: (SystemClock.monotonicSeconds() - start.seconds) * 1000, server: WebAddress(start.url)?.host ?? "",
      startedAt: start.time)
    logger.debug(
      "request",
      metadata: [
        "method": "\(trace.method)", "path": "\(trace.path)", "attempt": "\(attempt)",
        "result": "\(trace.status.map(String.init) ?? error?.code.rawValue ?? "")",
        "sent": "\(trace.bytesSent)", "received": "\(trace.bytesReceived)", "ms": "\(Int(saturating: trace.durationMs))",
      ])
    observer?.requestFinished(trace)
    if let response { observer?.received(headers: response.headers) }
  }
}
