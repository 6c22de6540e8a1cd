import NIOSSL

/// Certificate authorities to trust in addition to the system's: a company's own, that of a
/// TLS-inspecting proxy, or that of a test server.
public struct TrustedCertificates: Sendable {
  let certificates: [NIOSSLCertificate]

  /// Parses certificates. Fails if there are none, or if one is damaged.
  ///
  /// - Parameter pem: Concatenated certificates in PEM.
  public init?(pem: [UInt8]) {
    guard let found = try? NIOSSLCertificate.fromPEMBytes(pem), !found.isEmpty else { return nil }
    certificates = found
  }
}
