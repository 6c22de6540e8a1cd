import AsyncHTTPClient
import NIOCore
import NIOPosix
import Synchronization

/// The limits of a ``HTTPTransport``; the defaults and their reasons are in ``Tuning``.
public struct TransportConfiguration: Sendable {
  public var connectTimeoutMs = Tuning.connectTimeoutMs
  /// Milliseconds of silence, not of the whole answer.
  public var idleTimeoutMs = Tuning.idleTimeoutMs
  /// Bytes, after decompression.
  public var largestResponse = Tuning.largestResponse
  /// Ask for gzip. Never done on loopback: there it costs time and saves nothing.
  public var compression = true
  /// Trusted beside the machine's own; nil for none.
  public var authorities: TrustedCertificates?
  public var connectionsPerHost = Tuning.connectionsPerHost
  /// Told of each exchange; nil for none.
  public var log: RequestLog?
  /// What the log calls this transport's server.
  public var logName = "org"

  public init() {}
}

/// Sends requests over HTTP/1.1 and collects the answers. Knows no sign-in and no retries.
///
/// Owns its connections and one event-loop thread; ``shutdown()`` ends both. TLS certificates are always verified, and
/// redirects are not followed: a token must not travel to where a server points.
public final class HTTPTransport: Sendable {
  private struct State {
    var isOpen = true
    var running = 0
    /// Resumed when the last running request has ended.
    var idle: CheckedContinuation<Void, Never>?
    /// Calls of `shutdown` that wait for the one at work.
    var closed = false
    var waitingForClose: [CheckedContinuation<Void, Never>] = []
  }

  let configuration: TransportConfiguration
  private let group: MultiThreadedEventLoopGroup
  private let client: HTTPClient
  private let state = Mutex(State())

  public init(_ configuration: TransportConfiguration = TransportConfiguration()) {
    self.configuration = configuration
    // One thread moves several hundred MB a second; more would only wake each other. Not the process-wide group:
    // that one cannot be ended, and a library that is unloaded must leave no thread behind.
    group = ProgramSignals.makeGroup()
    client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: Self.settings(configuration))
  }

  deinit {
    // The owner forgot `shutdown`. The client refuses to go away open, so it is closed behind our back.
    guard state.withLock({ $0.isOpen }) else { return }
    let (client, group) = (client, group)
    Task {
      try? await client.shutdown()
      try? await group.shutdownGracefully()
    }
  }

  /// Sends one request, once.
  ///
  /// - Parameters:
  ///   - url: Absolute, encoded, checked by ``WebAddress``.
  ///   - headers: Complete but for `Host`, `Content-Length` and `Accept-Encoding`.
  ///   - timeoutS: Seconds for the whole exchange; nil for no limit but that of silence.
  /// - Returns: Whatever the server answered, error statuses included. A body that ended early is never returned.
  /// - Throws: ``RestError`` `.noResponse`, `.untrustedCertificate`, `.responseTooLarge`, `.requestTooLarge`, `.invalidURL`,
  ///   `.invalidHeader`, `.cancelled`, `.shutDown`.
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
    guard !Task.isCancelled else { throw .cancelled(outcome: .notSent) }
    guard begin() else { throw .shutDown(outcome: .notSent) }
    defer { end() }
    let request = try makeRequest(method, url: url, headers: headers, body: body)
    let collector = ResponseCollector(limit: configuration.largestResponse, hasBody: method != .HEAD)
    let deadline = timeoutS.map { NIODeadline.now() + .nanoseconds(Int64($0 * 1e9)) }
    let task = client.execute(request: request, delegate: collector, deadline: deadline)
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

  /// Ends requests under way (they get `.shutDown`), closes the connections and the thread. Safe twice; each call
  /// returns when everything is closed.
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

  // MARK: Who is inside

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
