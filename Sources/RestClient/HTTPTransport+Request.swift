import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension HTTPTransport {
  static func settings(_ configuration: TransportConfiguration) -> HTTPClient.Configuration {
    var settings = HTTPClient.Configuration()
    settings.redirectConfiguration = .disallow
    settings.timeout = .init(
      connect: .milliseconds(configuration.connectTimeoutMs), read: .milliseconds(configuration.idleTimeoutMs),
      write: .milliseconds(configuration.idleTimeoutMs))
    settings.connectionPool = .init(
      idleTimeout: .milliseconds(Tuning.keepAliveMs),
      concurrentHTTP1ConnectionsPerHostSoftLimit: configuration.connectionsPerHost)
    // RetryPolicy decides about retries, and it knows which request waits.
    settings.connectionPool.retryConnectionEstablishment = false
    // ResponseCollector counts the decompressed bytes, so the limit is enforced there.
    settings.decompression = .enabled(limit: .none)
    // A sync has one or two requests in flight: multiplexing gains nothing, and one could stall the
    // other.
    settings.httpVersion = .http1Only
    if let authorities = configuration.authorities {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.additionalTrustRoots = [.certificates(authorities.certificates)]
      settings.tlsConfiguration = tls
    }
    return settings
  }

  func makeRequest(
    _ method: HTTPMethod, url: String, headers: [(name: String, value: String)], body: [UInt8]?
  ) throws(RestError) -> HTTPClient.Request {
    try RequestHead.check(url: url, headers: headers)
    var fields = HTTPHeaders(headers.map { ($0.name, $0.value) })
    if !fields.contains(name: "accept-encoding") {
      // Set in both cases: without the header the library requests compression.
      let isLoopback = WebAddress(url)?.isLoopback ?? false
      fields.add(name: "Accept-Encoding", value: configuration.compression && !isLoopback ? "gzip" : "identity")
    }
    let request: HTTPClient.Request
    do {
      request = try HTTPClient.Request(
        url: url, method: .init(rawValue: method.rawValue), headers: fields,
        body: body.map { .byteBuffer(ByteBuffer(bytes: $0)) })
    } catch {
      let address = url.prefix { $0 != "?" }
      throw .invalidURL("'\(address)': \((error as? HTTPClientError)?.shortDescription ?? "not a URL")")
    }
    // The library escapes characters that a URL must not contain: each becomes three bytes.
    let sent = request.url.absoluteString
    if sent.utf8.count > url.utf8.count { try RequestHead.check(url: sent, headers: headers) }
    return request
  }

  /// Translates an error of the HTTP library.
  func failure(_ error: any Error, host: String, wasSent: Bool) -> RestError {
    let outcome: RestError.Outcome = wasSent ? .unknown : .notSent
    if let tooLarge = error as? ResponseCollector.TooLarge {
      return .responseTooLarge(tooLarge.limit)
    }
    if Task.isCancelled { return .cancelled(outcome: outcome) }
    if let known = error as? HTTPClientError, known == .cancelled || known == .alreadyShutdown {
      return .shutDown(outcome: outcome)
    }
    if let problem = TLSFailure.ofCertificate(error) {
      // The handshake comes before the request.
      return RestError(
        code: .untrustedCertificate, message: "the certificate of \(host) is not trusted: \(problem)", outcome: .notSent)
    }
    return RestError(code: .noResponse, message: "no answer from \(host): \(Self.sentence(error))", outcome: outcome)
  }

  private static func sentence(_ error: any Error) -> String {
    if let error = error as? HTTPClientError { return sentence(error) }
    if let words = TLSFailure.sentence(error) { return words }
    let connecting = error as? NIOConnectionError
    // If all addresses of the host failed, report the last failure.
    if let cause = (connecting?.connectionErrors.last?.error ?? error) as? IOError {
      return String(cString: strerror(cause.errnoCode))
    }
    return connecting == nil ? "\(error)" : "its name cannot be resolved"
  }

  private static func sentence(_ error: HTTPClientError) -> String {
    switch error {
    case .remoteConnectionClosed: "the connection was closed before the response was complete"
    case .readTimeout: "it sent no data for too long"
    case .writeTimeout: "it stopped reading the request"
    case .deadlineExceeded: "the response was not complete within the time limit"
    case .connectTimeout, .tlsHandshakeTimeout: "connecting timed out"
    default: error.shortDescription
    }
  }
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
