/// Something a user is told of.
struct OrgNotification {
  let id: String
  let userId: String
  /// The API name of its kind.
  let type: String
  let title: String, body: String
  /// Id of the record it is about; nil for none.
  let target: String?
  /// Seconds since 1970 UTC.
  let time: Int64
  var isRead = false, isSeen = false
}

/// Notifications of all users, oldest first; kept in memory, the oldest go when there are too many. On the org's queue.
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

  /// Newest first.
  func items(of userId: String) -> [OrgNotification] { items.reversed().filter { $0.userId == userId } }

  /// - Parameters:
  ///   - read: nil leaves it as it is, likewise `seen`.
  /// - Returns: Those that were chosen, newest first.
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
  /// Tells a user of something, as an org's automation does.
  /// - Parameters:
  ///   - username: nil tells the one who signs in.
  ///   - target: Id of the record it is about.
  /// - Returns: The notification's id.
  /// - Throws: ``SandboxError`` `NOT_FOUND` for a user that is not there.
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
