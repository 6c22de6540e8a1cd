import RestClient
import Synchronization

/// Makes sure that a run does not continue as another user or without one. Otherwise records would
/// be sent with the rights of a user who did not make them, or rows would disappear that only the
/// first user may read. Threads: any.
final class SessionPin: Sendable {
  /// nil before the first request.
  private let user = Mutex<String?>(nil)

  /// - Throws: `RestError` `.notAuthenticated` if another user has signed in since the first call,
  ///   or this one has signed out.
  func check(_ session: UserSession?, _ connection: String) throws(RestError) {
    let now = Self.name(session)
    let begun = user.withLock { user in
      if user == nil { user = now }
      return user
    }
    guard begun != now else { return }
    throw RestError(
      code: .notAuthenticated,
      message: "connection '\(connection)': another user has signed in, or this user has signed out, since the sync began; "
        + "nothing more is sent; run the sync again as the user who made the changes", outcome: .notSent)
  }

  /// Accepts a session that the run itself has started.
  func follow(_ session: UserSession) { user.withLock { $0 = Self.name(session) } }

  private static func name(_ session: UserSession?) -> String {
    guard let session else { return "as configured" }
    return session.token == nil ? "signed out" : "user \(session.userId ?? "")"
  }
}
