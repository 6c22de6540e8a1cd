import Foundation
import JSON
import Support
import TestSupport

/// The key of clients that sign assertions, new in each run.
enum Keys {
  static let key = try! PrivateKey.makeRSA()
  static let publicKey = try! key.publicPEM()
  static let certificate = try! TestIdentity(isSelfSigned: true, key: key).chain

  static func urlText(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }

  static func bytes(urlText: String) -> [UInt8] {
    let text = urlText.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    return Array(Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)) ?? Data())
  }

  /// Returns a JWT signed with `key`.
  static func assertion(_ claims: JSONObject, header: JSONObject = ["alg": "RS256"], signedBy key: PrivateKey = key)
    throws -> String
  {
    let text = urlText(JSONValue.object(header).serialized()) + "." + urlText(JSONValue.object(claims).serialized())
    return text + "." + urlText(try key.signature(of: Array(text.utf8)))
  }
}
