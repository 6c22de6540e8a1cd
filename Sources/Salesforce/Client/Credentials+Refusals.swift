import RestClient
import Support

extension Credentials {
  /// Credentials that renew a stored session by its own refresh token. Returns nil if the session has no refresh token or does
  /// not name its app.
  init?(renewing session: Session) {
    guard let token = session.refreshToken, let clientId = session.clientId else { return nil }
    self = .refreshToken(loginURL: session.loginURL, clientId: clientId, clientSecret: nil, refreshToken: token)
  }

  // MARK: Matching refusals with credentials

  /// Returns a salted digest of everything that the login host checks, and of the login URL.
  func refusalKey(latest: String?) throws(RestError) -> String {
    let salt = Base64.text((0..<12).map { _ in UInt8.random(in: .min ... .max) })
    return try salt + ":" + digest(salt, latest)
  }

  /// Returns true if a refusal with this key was caused by these credentials.
  func matches(_ key: String, latest: String?) throws(RestError) -> Bool {
    guard let colon = key.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
    return try key[key.index(after: colon)...] == digest(String(key[..<colon]), latest)
  }

  private func digest(_ salt: String, _ latest: String?) throws(RestError) -> String {
    var parts = [salt, grant.rawValue, loginURL, clientId, username ?? "", latest ?? ""]
    if case .jwtBearer(let bearer) = self {
      // If the key is unreadable, signing reports it later.
      parts += [bearer.audience ?? "", (try? bearer.key.read().fingerprint()) ?? bearer.key.name]
    }
    // Hashes have a fixed length, so no two lists join to the same text.
    do {
      return try Digest.sha256Hex((parts + form().map(\.value)).map { try Digest.sha256Hex($0) }.joined())
    } catch {
      throw RestError(code: .notAuthenticated, message: "\(error)", outcome: .notSent)
    }
  }
}
