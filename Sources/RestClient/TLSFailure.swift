import NIOSSL

/// Describes errors of the TLS library for users, without its type names and source locations.
enum TLSFailure {
  /// Returns why a certificate is not trusted; nil for any other failure.
  static func ofCertificate(_ error: any Error) -> String? {
    if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch {
      return "it belongs to another host"
    }
    guard reason(error) == "CERTIFICATE_VERIFY_FAILED" else { return nil }
    return "it has expired or is signed by an unknown authority (set caFile or TUREEN_CA_FILE to a file with further authorities)"
  }

  /// Nil if this is not a TLS error.
  static func sentence(_ error: any Error) -> String? {
    switch reason(error) {
    case "WRONG_VERSION_NUMBER", "HTTP_REQUEST": "it does not speak TLS; should the URL begin with http instead of https?"
    case let reason?: "the TLS handshake failed (\(reason))"
    case nil:
      switch error as? NIOSSLError {
      case .handshakeFailed: "the connection was closed during the TLS handshake"
      case .uncleanShutdown: "the connection was closed before the response was complete"
      default: nil
      }
    }
  }

  /// Extracts the library's own code, such as `WRONG_VERSION_NUMBER`, which only appears in the
  /// error's text.
  private static func reason(_ error: any Error) -> String? {
    guard case .handshakeFailed(.sslError(let stack))? = error as? NIOSSLError, let text = stack.first?.description,
      let start = text.firstRange(of: "OPENSSL_internal:")?.upperBound
    else { return nil }
    return String(text[start...].prefix { $0 == "_" || $0.isLetter || $0.isNumber })
  }
}
