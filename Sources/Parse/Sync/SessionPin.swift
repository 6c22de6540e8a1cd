import RestClient
import Synchronization

/// Who a run acts as. What was begun as one user does not go on as another, or as none: records would reach the server with the
/// rights of a user who has not made them, or rows vanish that only the first one may see. Any thread.
final class SessionPin: Sendable {
  /// nil before the first request.
  private let user = Mutex<String?>(nil)

  /// - Throws: `RestError` `.notAuthenticated` when another user has signed in since the first call, or this one out.
  func check(_ session: UserSession?, _ connection: String) throws(RestError) {
    let now = Self.name(session)
    let begun = user.withLock { user in
      if user == nil { user = now }
      return user
    }
    guard begun != now else { return }
    throw RestError(
      code: .notAuthenticated,
      message: "connection '\(connection)': another user has signed in, or this one out, since the sync began; nothing further "
        + "is sent, run it again as the user whose records these are", outcome: .notSent)
  }

  /// The run itself has brought the session about.
  func follow(_ session: UserSession) { user.withLock { $0 = Self.name(session) } }

  private static func name(_ session: UserSession?) -> String {
    guard let session else { return "as configured" }
    return session.token == nil ? "signed out" : "user \(session.userId ?? "")"
  }
}
