import Support

/// Keys in the forms that tests need besides those of ``Support/PrivateKey``.
package enum TestKeys {
  /// Returns an RSA key of 2,048 bits in its older form, PKCS#1.
  package static func pkcs1(_ key: PrivateKey) throws -> String {
    let lines = try key.pem().split(separator: "\n").dropFirst().dropLast()
    // For keys of this size, the part of PKCS#8 before it always has the same length.
    let bytes = Base64.decodeLenient(lines.joined()) ?? []
    return pem("RSA PRIVATE KEY", Array(bytes.dropFirst(26)))
  }

  /// Makes an RSA key of its numbers, most significant byte first.
  package static func publicKey(modulus: [UInt8], exponent: [UInt8]) throws -> PublicKey {
    let numbers = der(sequence, der(integer, [0] + modulus) + der(integer, exponent))
    // The object identifier of RSA, 1.2.840.113549.1.1.1, and no parameters.
    let algorithm: [UInt8] = [6, 9, 42, 134, 72, 134, 247, 13, 1, 1, 1, 5, 0]
    return try PublicKey(pem: pem("PUBLIC KEY", der(sequence, der(sequence, algorithm) + der(bitString, [0] + numbers))))
  }

  /// Wraps bytes as PEM.
  package static func pem(_ label: String, _ bytes: [UInt8]) -> String {
    var rest = Base64.text(bytes)[...], lines = ["-----BEGIN \(label)-----"]
    while !rest.isEmpty {
      lines.append(String(rest.prefix(64)))
      rest = rest.dropFirst(64)
    }
    return (lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
  }

  /// Tags of ASN.1.
  private static let integer: UInt8 = 2, bitString: UInt8 = 3, sequence: UInt8 = 48

  private static func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    let length: [UInt8] = count < 128 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 255)]
    return [tag] + length + content
  }
}

/// A certificate of a server, with its key. New each time.
package struct TestIdentity: Sendable {
  /// PEM: the certificate with its chain, its key, and what a client must trust.
  package let chain: String, key: String, authority: String

  /// - Parameters:
  ///   - names: With `DNS:` or `IP:` before each.
  ///   - seconds: When it becomes valid and when it ends, from now.
  ///   - isSelfSigned: Whether it signs itself, and has no authority.
  package init(
    names: [String] = ["DNS:localhost", "IP:127.0.0.1", "IP:::1"], seconds: Range<Int> = -60..<3_600,
    isSelfSigned: Bool = false, key: PrivateKey? = nil
  ) throws {
    let key = try key ?? .makeEC()
    var issuer: Certificate.Issuer?
    if !isSelfSigned {
      let authorityKey = try PrivateKey.makeEC()
      let authority = try Certificate(subject: "test authority", names: nil, seconds: -86_400..<86_400, key: authorityKey)
      issuer = .init(pem: authority.pem, key: authorityKey)
    }
    let own = try Certificate(subject: "test", names: names, seconds: seconds, key: key, issuer: issuer)
    chain = own.pem + (issuer?.pem ?? "")
    authority = issuer?.pem ?? own.pem
    self.key = try key.pem()
  }
}
