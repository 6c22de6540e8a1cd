import Support

/// The RSA key that signs the assertions of a JWT app.
public struct SigningKey: Sendable {
  /// Describes what is wrong with a key and how to fix it, without quoting any part of the key.
  public struct Problem: Error, Equatable, CustomStringConvertible {
    public let description: String
  }

  private let key: PrivateKey

  static let smallestBits = 2_048

  /// Reads an unencrypted PEM key in PKCS#1 or PKCS#8 form.
  /// - Throws: ``Problem``.
  public init(pem: UnsafeRawBufferPointer) throws(Problem) {
    guard let text = String(validating: pem, as: UTF8.self), let label = Self.label(of: text) else {
      throw Problem(description: "it is not PEM: a line -----BEGIN PRIVATE KEY----- is missing")
    }
    try Self.check(label, isEncrypted: text.containsASCII("Proc-Type: 4,ENCRYPTED"))
    try Self.checkLibrary()
    guard let key = try? PrivateKey(pem: pem), key.isRSA else {
      throw Problem(
        description: "it is not an RSA key that can be read; orgs take RSA of \(Self.smallestBits) bits or more: "
          + "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:\(Self.smallestBits) -out key.pem")
    }
    guard key.bits >= Self.smallestBits else {
      throw Problem(
        description: "it has \(key.bits) bits, and orgs take \(Self.smallestBits) or more: "
          + "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:\(Self.smallestBits) -out key.pem")
    }
    // The numbers of a damaged key can be read, but do not fit.
    guard (try? key.signature(of: [])) != nil else {
      throw Problem(description: "it is damaged: it cannot verify its own signature; make a copy of the original again")
    }
    self.key = key
  }

  private static func checkLibrary() throws(Problem) {
    do throws(OpenSSLProblem) {
      _ = try Digest.sha256([])
    } catch {
      throw Problem(description: "it cannot be used: \(error)")
    }
  }

  private static func label(of text: String) -> String? {
    guard let begin = text.firstRange(ofASCII: "-----BEGIN ") else { return nil }
    let rest = String(text[begin.upperBound...].prefix(64))
    return rest.firstRange(ofASCII: "-----").map { String(rest[..<$0.lowerBound]) }
  }

  private static func check(_ label: String, isEncrypted: Bool) throws(Problem) {
    if isEncrypted || label == "ENCRYPTED PRIVATE KEY" {
      throw Problem(
        description: "it is encrypted; write it without a pass phrase, readable only by its owner: "
          + "openssl pkey -in key.pem -out plain.pem && chmod 600 plain.pem")
    }
    switch label {
    case "RSA PRIVATE KEY", "PRIVATE KEY": return
    case "EC PRIVATE KEY", "EC PARAMETERS":
      throw Problem(
        description: "it is an EC key, but Salesforce accepts only RSA: "
          + "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:\(smallestBits) -out key.pem")
    case "CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY":
      throw Problem(
        description: "it is a \(label.lowercased()), which the org has; name the private key that belongs to it, as made by "
          + "openssl req -x509 -newkey rsa:\(smallestBits) -nodes -keyout key.pem -out certificate.pem")
    default: throw Problem(description: "it is PEM of the kind '\(label)', not a private key")
    }
  }

  /// A digest of the public key, which identifies the key without revealing it.
  func fingerprint() throws -> String { try Digest.sha256Hex(key.publicPEM()) }

  /// Returns the RS256 signature of a text.
  func signature(of text: String) throws -> [UInt8] {
    try key.signature(of: Array(text.utf8))
  }
}

/// The source of a JWT app's private key, which is read each time an assertion is signed.
public struct SigningKeySource: Sendable, Equatable {
  /// The name in messages, such as `the key file key.pem`.
  public let name: String
  let read: @Sendable () throws -> SigningKey

  /// - Parameter read: May block. Called for each assertion, so that a replaced key takes effect at once.
  public init(name: String, read: @escaping @Sendable () throws -> SigningKey) {
    self.name = name
    self.read = read
  }

  /// Compares the names only.
  public static func == (a: SigningKeySource, b: SigningKeySource) -> Bool { a.name == b.name }
}
