import NIOSSL

/// What the TLS library reports, in words for people: without its names of types and places in its sources.
enum TLSFailure {
  /// Why a certificate is not trusted; nil when something else went wrong.
  static func ofCertificate(_ error: any Error) -> String? {
    if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch {
      return "it is another host's"
    }
    guard reason(error) == "CERTIFICATE_VERIFY_FAILED" else { return nil }
    return "it has expired, or this machine does not know its authority (caFile or TUREEN_CA_FILE names a file of further ones)"
  }

  /// Nil when the error is no one of TLS.
  static func sentence(_ error: any Error) -> String? {
    switch reason(error) {
    case "WRONG_VERSION_NUMBER", "HTTP_REQUEST": "what it speaks is not TLS: is it http in place of https?"
    case let reason?: "the TLS handshake failed (\(reason))"
    case nil:
      switch error as? NIOSSLError {
      case .handshakeFailed: "the connection was closed in the TLS handshake"
      case .uncleanShutdown: "the connection was closed before the answer was complete"
      default: nil
      }
    }
  }

  /// The library's own word, such as `WRONG_VERSION_NUMBER`; it stands in the text of the error alone.
  private static func reason(_ error: any Error) -> String? {
    guard case .handshakeFailed(.sslError(let stack))? = error as? NIOSSLError, let text = stack.first?.description,
      let start = text.firstRange(of: "OPENSSL_internal:")?.upperBound
    else { return nil }
    return String(text[start...].prefix { $0 == "_" || $0.isLetter || $0.isNumber })
  }
}
