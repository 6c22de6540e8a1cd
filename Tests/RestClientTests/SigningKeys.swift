import Crypto
import CryptoExtras
import Foundation

@testable import Salesforce

/// Keys of JWT apps, generated for each run.
enum SigningKeys {
  static let key = try! _RSA.Signing.PrivateKey(keySize: .bits2048)
  /// PKCS#1.
  static let pem = key.pemRepresentation
  /// PKCS#8.
  static let pkcs8 = key.pkcs8PEMRepresentation

  static func source(_ name: String = "'privateKeyFile' key.pem", pem: String = pem) -> SigningKeySource {
    SigningKeySource(name: name) { try signingKey(pem) }
  }

  static func signingKey(_ pem: String) throws(SigningKey.Problem) -> SigningKey {
    let bytes = Array(pem.utf8)
    let result = bytes.withUnsafeBytes { raw in
      Result { () throws(SigningKey.Problem) in try SigningKey(pem: raw) }
    }
    return try result.get()
  }

  static func isSigned(_ assertion: String) -> Bool {
    let parts = assertion.split(separator: ".")
    guard parts.count == 3, let signature = data(parts[2]) else { return false }
    return key.publicKey.isValidSignature(
      _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: Data("\(parts[0]).\(parts[1])".utf8)),
      padding: .insecurePKCS1v1_5)
  }

  /// Decodes base64url.
  static func data(_ part: Substring) -> Data? {
    let text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
  }
}
