import Crypto
import CryptoExtras
import Foundation
import JSON
import X509

/// The key of clients that sign assertions, new in each run.
enum Keys {
  static let key = try! _RSA.Signing.PrivateKey(keySize: .bits2048)
  static var publicKey: String { key.publicKey.pemRepresentation }
  static let certificate: String = {
    let name = try! DistinguishedName { CommonName("test") }
    let own = Certificate.PrivateKey(key)
    let certificate = try! Certificate(
      version: .v3, serialNumber: .init(), publicKey: own.publicKey, notValidBefore: .now, notValidAfter: .now + 3_600,
      issuer: name, subject: name, signatureAlgorithm: .sha256WithRSAEncryption, extensions: .init(), issuerPrivateKey: own)
    return try! certificate.serializeAsPEM().pemString
  }()

  static func sha256(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }

  static func urlText(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }

  static func bytes(urlText: String) -> [UInt8] {
    let text = urlText.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    return Array(Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)) ?? Data())
  }

  /// Returns a JWT signed with `key`.
  static func assertion(_ claims: JSONObject, header: JSONObject = ["alg": "RS256"], signedBy key: _RSA.Signing.PrivateKey = key)
    throws -> String
  {
    let text = urlText(JSONValue.object(header).serialized()) + "." + urlText(JSONValue.object(claims).serialized())
    let signature = try key.signature(for: SHA256.hash(data: Array(text.utf8)), padding: .insecurePKCS1v1_5)
    return text + "." + urlText(signature.rawRepresentation)
  }
}
