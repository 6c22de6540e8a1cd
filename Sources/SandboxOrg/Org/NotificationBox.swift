/// A notification of a user.
struct OrgNotification {
  let id: String
  let userId: String
  /// The API name of its type.
  let type: String
  let title: String, body: String
  /// The id of the record it is about; nil if none.
  let target: String?
  /// Seconds since 1970 UTC.
  let time: Int64
  var isRead = false, isSeen = false
}

/// Notifications of all users, oldest first. In memory; the oldest are dropped above a limit. On
/// the org's queue.
struct NotificationBox {
  private(set) var items: [OrgNotification] = []
  private var number: UInt64 = 0

  mutating func add(_ type: String, _ title: String, _ body: String, target: String?, to userId: String, at time: Int64) -> String
  {
    number += 1
    let digits = String(number, radix: 16)
    let id = String(repeating: "0", count: 32 - digits.count) + digits
    items.append(
      OrgNotification(id: id, userId: userId, type: type, title: title, body: body, target: target, time: time))
    if items.count > Tuning.notifications { items.removeFirst(items.count - Tuning.notifications) }
    return id
  }

  /// Returns a user's notifications, newest first.
  func items(of userId: String) -> [OrgNotification] { items.reversed().filter { $0.userId == userId } }

  /// - Parameters:
  ///   - read: The new value, or nil to leave it unchanged; likewise `seen`.
  /// - Returns: The matching notifications, newest first.
  mutating func mark(
    read: Bool?, seen: Bool?, of userId: String, where isChosen: (OrgNotification) -> Bool
  ) -> [OrgNotification] {
    for index in items.indices where items[index].userId == userId && isChosen(items[index]) {
      items[index].isRead = read ?? items[index].isRead
      items[index].isSeen = seen ?? items[index].isSeen
    }
    return items(of: userId).filter(isChosen)
  }
}

extension SandboxServer {
  /// Notifies a user, as an org's automation does.
  ///
  /// - Parameters:
  ///   - username: nil for the default user.
  ///   - target: The id of the record it is about.
  /// - Returns: The notification's id.
  /// - Throws: ``SandboxError`` `NOT_FOUND` if the user does not exist.
  @discardableResult
  public func notify(
    title: String, body: String, target: String? = nil, type: String = "Sandbox_Notification", username: String? = nil
  ) throws -> String {
    try org.performAndWait { org in
      var user = Users.caller
      if let username {
        guard
          case .text(let id)? = try org.connection.firstValue(
            "SELECT Id FROM \"User\" WHERE Username = ? AND IsDeleted = 0", [.text(username)])
        else { throw SandboxError.notFound("there is no user '\(username)'") }
        user = id
      }
      return org.notifications.add(type, title, body, target: target, to: user, at: org.configuration.clock.now())
    }
  }
}
