import Support

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
  /// The proxies for other machines. The environment's are ``Proxies/environment(_:)``.
  public var proxies = Proxies()
  /// Milliseconds that an unused connection is kept.
  package var keepAliveMs = Tuning.keepAliveMs
  /// Monotonic seconds, for the idle timeout and `timeoutS`.
  package var now: @Sendable () -> Double = { SystemClock.monotonicSeconds() }
  /// Called when an exchange begins, with a function that ends it as the idle timeout does; returns what to call at its end.
  /// Tests of silent servers wait for an event with it instead of for the timeout.
  package var watch: (@Sendable (_ giveUp: @escaping @Sendable () -> Void) -> @Sendable () -> Void)?

  public init() {}
}

/// Sends requests over HTTP/1.1 and collects the responses. Does not sign in and does not retry.
///
/// Owns its connections and, from the first request on, one thread; ``shutdown()`` ends both. TLS
/// certificates are always verified. Redirects are not followed, because a server must not choose
/// where a token goes.
public final class HTTPTransport: Sendable {
  let configuration: TransportConfiguration
  private let wire: any WireClient

  public convenience init(_ configuration: TransportConfiguration = TransportConfiguration()) {
    self.init(configuration, wire: CurlClient(configuration))
  }

  /// - Parameter wire: Sends the requests.
  package init(_ configuration: TransportConfiguration, wire: any WireClient) {
    self.configuration = configuration
    self.wire = wire
  }

  /// The versions of the system's libcurl and of its TLS library, such as `7.88.1 OpenSSL/3.0.19`;
  /// nil if libcurl is missing or too old.
  package static var libraryVersion: String? { CurlClient.version }

  /// Sends a request once, without retries.
  ///
  /// - Parameters:
  ///   - url: Absolute, percent-encoded, and checked by ``WebAddress``.
  ///   - headers: All headers except `Host`, `Content-Length` and `Accept-Encoding`.
  ///   - timeoutS: Seconds for the whole exchange; nil applies only the idle timeout.
  /// - Returns: The response, with any status. A truncated body is never returned.
  /// - Throws: ``RestError`` `.noResponse`, `.untrustedCertificate`, `.responseTooLarge`,
  ///   `.requestTooLarge`, `.invalidURL`, `.invalidHeader`, `.cancelled`, `.shutDown`.
  package func exchange(
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
    try RequestHead.check(url: url, headers: headers)
    guard let destination = RequestURL(url) else {
      throw .invalidURL("'\(url.prefix { $0 != "?" }.prefix(Tuning.shownCharacters))' is not a valid http(s) URL")
    }
    do throws(RestError) {
      return try await wire.exchange(
        WireRequest(method, destination, headers: headers, body: body, timeoutS: timeoutS))
    } catch {
      // The caller gave up: the server is not to blame.
      guard Task.isCancelled, error.code == .noResponse || error.code == .shutDown else { throw error }
      throw .cancelled(outcome: error.outcome)
    }
  }

  /// Ends requests in flight with `.shutDown`, then closes the connections and the thread. Safe to
  /// call twice; each call returns when everything is closed.
  public func shutdown() async { await wire.shutdown() }
}

extension RestError {
  package static func cancelled(outcome: Outcome) -> RestError {
    RestError(code: .cancelled, message: "the request was cancelled", outcome: outcome)
  }

  package static func shutDown(outcome: Outcome) -> RestError {
    RestError(code: .shutDown, message: "the client is shut down", outcome: outcome)
  }

  static func responseTooLarge(_ limit: Int) -> RestError {
    RestError(
      code: .responseTooLarge, message: "the response is larger than the limit of \(limit) bytes", outcome: .unknown)
  }
}
