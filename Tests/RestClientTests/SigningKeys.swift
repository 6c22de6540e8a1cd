import Foundation
import Support
import TestSupport

@testable import Salesforce

/// Keys of JWT apps, generated for each run.
enum SigningKeys {
  static let key = try! PrivateKey.makeRSA()
  /// PKCS#1.
  static let pem = try! TestKeys.pkcs1(key)
  /// PKCS#8.
  static let pkcs8 = try! key.pem()

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
    let key = try? PublicKey(pem: key.publicPEM())
    return key?.isValid(signature: Array(signature), of: Array("\(parts[0]).\(parts[1])".utf8)) ?? false
  }

  /// Decodes base64url.
  static func data(_ part: Substring) -> Data? {
    let text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
  }
}
