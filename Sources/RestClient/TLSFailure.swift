import CCurl

/// Describes failures of the TLS library for users.
enum TLSFailure {
  static let closed = "the connection was closed during the TLS handshake"

  /// Returns why a certificate is not trusted.
  ///
  /// - Parameters:
  ///   - detail: libcurl's words. Those of GnuTLS are the only way to tell.
  ///   - verifyResult: OpenSSL's `X509_V_…`.
  static func ofCertificate(_ detail: String, verifyResult: Int32) -> String {
    let detail = detail.lowercased()
    switch verifyResult {
    case 10: return "it has expired"
    case 9: return "it is not valid yet"
    case 62, 64: return "it belongs to another host"
    case _ where detail.contains("subject name") || detail.contains("not match") || detail.contains("owner"):
      return "it belongs to another host"
    case _ where detail.contains("expir"): return "it has expired"
    case _ where detail.contains("not activated") || detail.contains("not yet valid"): return "it is not valid yet"
    case 0, 2, 18...21: return unknownAuthority
    default: return detail
    }
  }

  private static var unknownAuthority: String {
    let missing =
      ccurl_has_system_authorities() != 0
      ? "" : ", and this machine has no file of authorities (Debian and Ubuntu: apt install ca-certificates)"
    return "it is signed by an unknown authority\(missing) (set caFile or TUREEN_CA_FILE to a file with further authorities)"
  }

  /// Returns why a handshake failed.
  ///
  /// - Parameter detail: libcurl's words, such as `error:0A00010B:SSL routines::wrong version number`.
  static func sentence(_ detail: String) -> String {
    let words = detail.lowercased()
    func says(_ phrases: String...) -> Bool { phrases.contains { words.contains($0) } }
    if says("wrong version number", "http request", "packet length too long", "unexpected tls packet") {
      return "it does not speak TLS; should the URL begin with http instead of https?"
    }
    if says("syscall", "unexpected eof", "reset by peer", "connection was closed", "non-properly terminated") { return closed }
    let reason = detail.split(separator: ":").last.map { $0.drop { $0 == " " } } ?? ""
    return "the TLS handshake failed (\(reason.isEmpty ? detail[...] : reason))"
  }
}
