import JSON
import Support

/// A signed JWT that a client sends instead of a password.
struct Assertion {
  let issuer: String
  let subject: String
  let audiences: [String]
  /// Seconds since 1970 UTC.
  let expires: Double
  let notBefore: Double?
  /// The `jti` claim, which makes the assertion usable only once.
  let id: String?
  private let signed: [UInt8]
  private let signature: [UInt8]

  /// Parses a compact JWT without verifying it.
  ///
  /// - Throws: `invalid assertion` unless it uses RS256 and has the four required claims.
  init(_ text: String) throws(OAuthRefusal) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, text.utf8.count <= Tuning.assertionBytes, let header = Self.object(parts[0]),
      let claims = Self.object(parts[1]), let signature = Base64.decodeURL(parts[2]),
      header["alg"] == "RS256", header["crit"] == nil, let issuer = claims["iss"]?.stringValue,
      let subject = claims["prn"]?.stringValue ?? claims["sub"]?.stringValue, let expires = Self.seconds(claims["exp"])
    else { throw .assertion }
    self.issuer = issuer
    self.subject = subject
    self.expires = expires
    notBefore = Self.seconds(claims["nbf"])
    id = claims["jti"]?.stringValue
    audiences = claims["aud"]?.arrayValue?.compactMap(\.stringValue) ?? [claims["aud"]?.stringValue ?? ""]
    signed = Array("\(parts[0]).\(parts[1])".utf8)
    self.signature = signature
  }

  private static func object(_ part: Substring) -> JSONObject? {
    Base64.decodeURL(part).flatMap { try? JSONValue(parsing: $0) }?.objectValue
  }

  /// Reads a number; some clients send it as text.
  private static func seconds(_ value: JSONValue?) -> Double? {
    guard let seconds = value?.doubleValue ?? value?.stringValue.flatMap({ Double($0) }), seconds.isFinite else { return nil }
    return seconds
  }

  /// - Parameter certificate: PEM of the client's certificate or public key.
  func isSigned(by certificate: String) -> Bool {
    guard let key = try? PublicKey(pem: certificate), key.isRSA, key.bits >= Tuning.smallestKeyBits else { return false }
    return key.isValid(signature: signature, of: signed)
  }

  /// - Parameter isStrict: Refuses an assertion that is valid for longer than Salesforce documents.
  ///   Real orgs accept any: clients use an hour, or milliseconds instead of seconds.
  /// - Throws: The problem with the claims at this time.
  func check(audiences accepted: [String], now: Int64, isStrict: Bool) throws(OAuthRefusal) {
    let now = Double(now)
    guard expires > now - Tuning.assertionLeewaySeconds else { throw .expiredCode }
    let latest = now + Tuning.assertionSeconds + Tuning.assertionLeewaySeconds
    guard !isStrict || expires <= latest, (notBefore ?? now) <= now + Tuning.assertionLeewaySeconds else { throw .assertion }
    let plain = accepted.map { Self.withoutSlash($0) }
    guard audiences.contains(where: { plain.contains(Self.withoutSlash($0)) }) else { throw .audience }
  }

  private static func withoutSlash(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }
}
