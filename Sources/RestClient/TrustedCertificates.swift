import Support

/// Certificate authorities to trust in addition to the system's: a company's own, that of a
/// TLS-inspecting proxy, or that of a test server.
public struct TrustedCertificates: Sendable {
  /// Concatenated certificates in PEM.
  let pem: [UInt8]
  package let count: Int

  /// Parses certificates. Fails if there are none, or if one is damaged.
  ///
  /// - Parameter pem: Concatenated certificates in PEM.
  public init?(pem: [UInt8]) {
    var rest = String(decoding: pem, as: UTF8.self)[...], found: [UInt8] = [], count = 0
    while let start = rest.firstRange(of: Self.begin) {
      guard let end = rest[start.upperBound...].firstRange(of: Self.end),
        Self.isCertificate(rest[start.upperBound..<end.lowerBound])
      else { return nil }
      found += rest[start.lowerBound..<end.upperBound].utf8
      found.append(UInt8(ascii: "\n"))
      count += 1
      rest = rest[end.upperBound...]
    }
    guard !found.isEmpty else { return nil }
    self.pem = found
    self.count = count
  }

  /// The DER tag of a sequence.
  private static let sequence: UInt8 = 0x10 | 1 << 5
  private static let begin = "-----BEGIN CERTIFICATE-----", end = "-----END CERTIFICATE-----"

  /// Whether it is a whole DER sequence. The TLS library reads the rest.
  private static func isCertificate(_ text: Substring) -> Bool {
    guard let der = Base64.decodeLenient(String(text.filter { $0 != " " && $0 != "\t" })), der.count > 4,
      der[0] == TrustedCertificates.sequence
    else { return false }
    guard der[1] >= 0x80 else { return der.count == 2 + Int(der[1]) }
    let bytes = Int(der[1] & 0x7f)
    guard (1...4).contains(bytes), der.count > 2 + bytes else { return false }
    return der.count == 2 + bytes + der[2..<(2 + bytes)].reduce(0) { $0 << 8 | Int($1) }
  }
}
