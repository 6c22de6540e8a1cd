import CCurl
import Glibc

extension CurlTransfer {
  /// Describes the end of a transfer without a response.
  ///
  /// - Parameter result: nil if libcurl did not end it.
  func error(_ result: ccurl_result?) -> RestError {
    let sent: RestError.Outcome = wasSent ? .unknown : .notSent
    switch end {
    case .tooLarge: return .responseTooLarge(configuration.largestResponse)
    case .cancelled: return .cancelled(outcome: sent)
    case .shutDown: return .shutDown(outcome: sent)
    case .elsewhere:
      return .invalidURL("unencrypted http is allowed only on this machine, and '\(host)' leads to another one")
    case .headTooLarge: return noResponse("the headers of its response have more than \(Tuning.largestResponseHead) bytes", sent)
    case .unclearLength: return noResponse("the length of its response is unclear", sent)
    case .wrongStatus: return noResponse("its response has no valid status", sent)
    case .damaged: return noResponse("its response cannot be decompressed", sent)
    case .unreadable:
      let coding = head.fields.first { $0.name.equalsIgnoringCase("content-encoding") }?.value ?? ""
      return RestError(
        code: .invalidBody,
        message: "the server answered \(head.status) with a body that cannot be used: it is announced as '\(coding)' "
          + "and cannot be decompressed", status: head.status, headers: head.fields, outcome: .answered)
    case .late: return noResponse("the response was not complete within the time limit", sent)
    case .idle: return noResponse(wasSent ? "it sent no data for too long" : "it stopped reading the request", sent)
    case .noMemory: return noResponse("there is no memory for its response", sent)
    case .repeated, .broken, .stale: return noResponse(CurlTransfer.closed, sent)
    case nil: break
    }
    return result.map { failure($0, sent) } ?? noResponse(CurlTransfer.closed, sent)
  }

  private static let closed = "the connection was closed before the response was complete"

  private var host: String { request.url.address.host }

  private func noResponse(_ reason: String, _ outcome: RestError.Outcome) -> RestError {
    RestError(code: .noResponse, message: "no answer from \(host): \(reason)", outcome: outcome)
  }

  /// Names the port: another one may be the right one.
  private func notConnected(_ reason: String) -> RestError {
    let place = "\(host):\(request.url.address.port)"
    return RestError(code: .noResponse, message: "no answer from \(place): \(reason)", outcome: .notSent)
  }

  /// Translates a CURLcode. The numbers never change.
  private func failure(_ result: ccurl_result, _ sent: RestError.Outcome) -> RestError {
    if let proxy, let words = proxy.failure(result, hasStarted: hasStarted) { return noResponse(words, sent) }
    let detail = result.text
    switch result.code {
    case 60: return untrusted(result)
    case 6: return noResponse("its name cannot be resolved", sent)
    case 7: return notConnected(result.os_error != 0 ? String(cString: strerror(result.os_error)) : detail)
    case 28: return noResponse("connecting timed out", sent)
    case 35: return noResponse(TLSFailure.sentence(detail), sent)
    case 18, 52, 55, 56:  // PARTIAL_FILE, GOT_NOTHING, SEND_ERROR, RECV_ERROR
      return noResponse(hasStarted ? CurlTransfer.closed : TLSFailure.closed, sent)
    case 1, 8: return noResponse("its response is not HTTP/1.1", sent)  // UNSUPPORTED_PROTOCOL, WEIRD_SERVER_REPLY
    case 27: return noResponse("there is no memory for a connection", sent)
    default: return noResponse(detail.isEmpty ? "libcurl reports error \(result.code)" : detail, sent)
    }
  }

  private func untrusted(_ result: ccurl_result) -> RestError {
    let problem = TLSFailure.ofCertificate(result.text, verifyResult: result.verify_result)
    // The handshake comes before the request.
    return RestError(
      code: .untrustedCertificate, message: "the certificate of \(host) is not trusted: \(problem)", outcome: .notSent)
  }
}

extension HTTPProxy {
  /// Returns what went wrong between us and the proxy; nil if the proxy is not to blame.
  fileprivate func failure(_ result: ccurl_result, hasStarted: Bool) -> String? {
    let name = "\(address.host):\(address.port)"
    switch result.code {
    case _ where hasStarted: return nil
    case _ where result.proxy_status == 407: return "the proxy \(name) demands a user and a password, or refuses those given"
    case _ where result.proxy_status >= 300: return "the proxy \(name) refused the connection with status \(result.proxy_status)"
    case 5: return "the name of the proxy \(name) cannot be resolved"
    case 7:
      let reason = result.os_error != 0 ? String(cString: strerror(result.os_error)) : result.text
      return "the proxy \(name) cannot be reached: \(reason)"
    case 52, 55, 56, 97: return result.proxy_status == 0 ? "the proxy \(name) closed the connection" : nil
    default: return nil
    }
  }
}

extension ccurl_result {
  init(code: Int32) {
    self.init()
    self.code = code
  }

  /// libcurl's words. They contain no URL and nothing of the request.
  fileprivate var text: String {
    withUnsafeBytes(of: message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
