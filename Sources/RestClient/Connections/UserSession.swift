import JSON
import Support

/// The session of a user who signed in over a connection at run time, or signed out. It takes
/// precedence over the connection's own `sessionToken`.
package struct UserSession: Sendable, Equatable {
  /// nil after signing out.
  package var token: String?
  /// The user's id, if known: it stays the same when the token changes.
  package var userId: String?

  package init(token: String?, userId: String?) {
    self.token = token
    self.userId = userId
  }
}

/// Stores a user's session in a file of mode 0600 that all processes of a home share.
struct UserSessionFile: Sendable {
  let folder: String
  private static let name = "user"

  /// - Parameter configured: The connection's server and its own secrets. If they have changed, the
  ///   stored session belongs to another server or is outdated, and the result is nil.
  func read(configured: String) throws -> UserSession? {
    guard let json = try TokenFile.readJSON("\(folder)/\(Self.name).json"), json["version"]?.integerValue == 1,
      let salt = json["salt"]?.stringValue, json["key"]?.stringValue == (try Digest.sha256Hex(salt + "\n" + configured))
    else { return nil }
    return UserSession(token: json["sessionToken"]?.stringValue, userId: json["userId"]?.stringValue)
  }

  func write(_ session: UserSession, configured: String) throws {
    let salt = Base64.text((0..<12).map { _ in UInt8.random(in: .min ... .max) })
    var json: JSONObject = [
      "version": 1, "salt": .string(salt), "key": .string(try Digest.sha256Hex(salt + "\n" + configured)),
    ]
    json["sessionToken"] = session.token.map { .string($0) }
    json["userId"] = session.userId.map { .string($0) }
    try TokenFile(folder: folder, name: Self.name, patienceMs: Tuning.signInPatienceMs).write(.object(json))
  }
}
