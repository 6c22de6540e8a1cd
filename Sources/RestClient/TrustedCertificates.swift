import NIOSSL

/// Certificates that a server's may rest on, beside those of the machine: a company's own authority, a proxy that looks
/// into TLS, a server in a test.
public struct TrustedCertificates: Sendable {
  let certificates: [NIOSSLCertificate]

  /// - Parameter pem: Certificates in PEM, one behind the other.
  /// - Returns: Nil when there is none, or a damaged one among them.
  public init?(pem: [UInt8]) {
    guard let found = try? NIOSSLCertificate.fromPEMBytes(pem), !found.isEmpty else { return nil }
    certificates = found
  }
}
