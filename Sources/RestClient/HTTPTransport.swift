import AsyncHTTPClient
import NIOCore
import NIOPosix
import Synchronization

/// Limits of an ``HTTPTransport``; the defaults and their reasons are in ``Tuning``.
public struct TransportConfiguration: Sendable {
  public var connectTimeoutMs = Tuning.connectTimeoutMs
  /// Milliseconds without any byte, not for the whole response.
  public var idleTimeoutMs = Tuning.idleTimeoutMs
  /// Maximum bytes of a response, after decompression.
  public var largestResponse = Tuning.largestResponse
  /// Requests gzip, but never on loopback, where it costs time and saves nothing.
  public var compression = true
  /// Certificates to trust in addition to the system's; nil for none.
  public var authorities: TrustedCertificates?
  public var connectionsPerHost = Tuning.connectionsPerHost
  /// Receives a record of each exchange; nil for none.
  public var log: RequestLog?
  /// The name of this transport's server in the log.
  public var logName = "org"
  /// Called when an exchange begins, with a function that ends it as the idle timeout does; returns what to call at its end.
  /// Tests of silent servers wait for an event with it instead of for the timeout.
  package var watch: (@Sendable (_ giveUp: @escaping @Sendable () -> Void) -> @Sendable () -> Void)?

  public init() {}
}

/// Sends requests over HTTP/1.1 and collects the responses. Does not sign in and does not retry.
///
/// Owns its connections and one event-loop thread; ``shutdown()`` ends both. TLS certificates are
/// always verified. Redirects are not followed, because a server must not choose where a token
/// goes.
public final class HTTPTransport: Sendable {
  private struct State {
    var isOpen = true
    var running = 0
    /// Resumed when the last running request has ended.
    var idle: CheckedContinuation<Void, Never>?
    /// True once everything is closed; `waitingForClose` holds further callers of `shutdown` until
    /// then.
    var closed = false
    var waitingForClose: [CheckedContinuation<Void, Never>] = []
  }

  let configuration: TransportConfiguration
  private let group: MultiThreadedEventLoopGroup
  private let client: HTTPClient
  private let state = Mutex(State())

  public init(_ configuration: TransportConfiguration = TransportConfiguration()) {
    self.configuration = configuration
    // One thread moves several hundred MB a second; more would only wake each other. The
    // process-wide group is not used because it cannot be shut down, and an unloaded library must
    // leave no thread behind.
    group = ProgramSignals.makeGroup()
    client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: Self.settings(configuration))
  }

  deinit {
    // The owner did not call `shutdown`. The client must not be released while open, so close it in
    // a task.
    guard state.withLock({ $0.isOpen }) else { return }
    let (client, group) = (client, group)
    Task {
      try? await client.shutdown()
      try? await group.shutdownGracefully()
    }
  }

  /// Sends a request once, without retries.
  ///
  /// - Parameters:
  ///   - url: Absolute, percent-encoded, and checked by ``WebAddress``.
  ///   - headers: All headers except `Host`, `Content-Length` and `Accept-Encoding`.
  ///   - timeoutS: Seconds for the whole exchange; nil applies only the idle timeout.
  /// - Returns: The response, with any status. A truncated body is never returned.
  /// - Throws: ``RestError`` `.noResponse`, `.untrustedCertificate`, `.responseTooLarge`,
  ///   `.requestTooLarge`, `.invalidURL`, `.invalidHeader`, `.cancelled`, `.shutDown`.
  func exchange(
    _ method: HTTPMethod, url: String, headers: [(name: String, value: String)], body: [UInt8]?, timeoutS: Double? = nil
  ) async throws(RestError) -> RestResponse {
    guard let log = configuration.log, log.level > .off else {
      return try await exchangeSilently(method, url: url, headers: headers, body: body, timeoutS: timeoutS)
    }
    var record = ExchangeRecord(configuration.logName, method, url: url, headers: headers, body: body)
    do throws(RestError) {
      let response = try await exchangeSilently(method, url: url, headers: headers, body: body, timeoutS: timeoutS)
      record.end(with: response)
      log.write(record)
      return response
    } catch {
      record.end(with: error)
      log.write(record)
      throw error
    }
  }

  private func exchangeSilently(
    _ method: HTTPMethod, url: String, headers: [(name: String, value: String)], body: [UInt8]?, timeoutS: Double?
  ) async throws(RestError) -> RestResponse {
    try await SendPermit.check()
    guard !Task.isCancelled else { throw .cancelled(outcome: .notSent) }
    guard begin() else { throw .shutDown(outcome: .notSent) }
    defer { end() }
    let request = try makeRequest(method, url: url, headers: headers, body: body)
    let collector = ResponseCollector(limit: configuration.largestResponse, hasBody: method != .HEAD)
    let deadline = timeoutS.map { NIODeadline.now() + .nanoseconds(Int64($0 * 1e9)) }
    let task = client.execute(request: request, delegate: collector, deadline: deadline)
    let ended = configuration.watch?({ task.fail(reason: HTTPClientError.readTimeout) })
    defer { ended?() }
    do {
      return try await withTaskCancellationHandler {
        try await task.get()
      } onCancel: {
        task.cancel()
      }
    } catch {
      throw failure(error, host: request.host, wasSent: collector.wasSent)
    }
  }

  /// Ends requests in flight with `.shutDown`, then closes the connections and the thread. Safe to
  /// call twice; each call returns when everything is closed.
  public func shutdown() async {
    let isFirst = state.withLock { state in
      defer { state.isOpen = false }
      return state.isOpen
    }
    guard isFirst else { return await closed() }
    try? await client.shutdown()  // fails only when shut down already
    await lastRequestEnded()
    try? await group.shutdownGracefully()
    let waiting = state.withLock { state in
      state.closed = true
      defer { state.waitingForClose = [] }
      return state.waitingForClose
    }
    for waiter in waiting { waiter.resume() }
  }

  // MARK: Counting requests

  private func begin() -> Bool {
    state.withLock { state in
      if state.isOpen { state.running += 1 }
      return state.isOpen
    }
  }

  private func end() {
    let idle = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.running -= 1
      guard state.running == 0 else { return nil }
      defer { state.idle = nil }
      return state.idle
    }
    idle?.resume()
  }

  private func lastRequestEnded() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if state.running > 0 { state.idle = continuation }
        return state.running == 0
      }
      if isIdle { continuation.resume() }
    }
  }

  private func closed() async {
    await withCheckedContinuation { continuation in
      let isClosed = state.withLock { state in
        if !state.closed { state.waitingForClose.append(continuation) }
        return state.closed
      }
      if isClosed { continuation.resume() }
    }
  }
}
