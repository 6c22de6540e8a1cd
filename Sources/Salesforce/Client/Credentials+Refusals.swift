import RestClient
import Support

extension Credentials {
  /// How a session without credentials of its own renews itself: by its refresh token, when it says which app it is of.
  init?(renewing session: Session) {
    guard let token = session.refreshToken, let clientId = session.clientId else { return nil }
    self = .refreshToken(loginURL: session.loginURL, clientId: clientId, clientSecret: nil, refreshToken: token)
  }

  // MARK: Which credentials a refusal is of

  /// A salted digest of all that a login host judges, and of where it is sent.
  func refusalKey(latest: String?) -> String {
    let salt = Base64.text((0..<12).map { _ in UInt8.random(in: .min ... .max) })
    return salt + ":" + digest(salt, latest)
  }

  /// Whether a refusal with this key is one of these credentials.
  func matches(_ key: String, latest: String?) -> Bool {
    guard let colon = key.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
    return key[key.index(after: colon)...] == digest(String(key[..<colon]), latest)
  }

  private func digest(_ salt: String, _ latest: String?) -> String {
    var parts = [salt, grant.rawValue, loginURL, clientId, username ?? "", latest ?? ""]
    if case .jwtBearer(let bearer) = self {
      // A key that cannot be read now is told when it is to sign.
      parts += [bearer.audience ?? "", (try? bearer.key.read().fingerprint) ?? bearer.key.name]
    }
    // Of one length each: no two lists give the same text.
    return SHA2.hex((parts + form().map(\.value)).map { SHA2.hex($0) }.joined())
  }
}
