import JSON

/// Serves `/connect/notifications`: the signed-in user's notifications.
enum NotificationRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    let root = "/connect/notifications"
    table.data("GET", root, list)
    table.data("PATCH", root, markSeveral)
    table.data("GET", root + "/status") { .json(200, status($0)) }
    table.data("GET", root + "/types") { .json(200, types($0)) }
    table.data("GET", root + "/:id") { .json(200, json(try find($0), $0)) }
    table.data("PATCH", root + "/:id", markOne)
    table.data("POST", root + "/:id/actions/:action") { call in
      let kind = try find(call).type
      throw SandboxError.notFound("Notifications of the type \(kind) have no action '\(call.parameter("action"))'")
    }
  }

  // MARK: Reading

  private static func list(_ call: Call) throws -> ServerReply {
    let size = try FileList.number("size", call, standard: Tuning.notificationsPerPage, 1...Tuning.notificationsPerList)
    let before = try moment("before", call.request.parameter("before"))
    let after = try moment("after", call.request.parameter("after"))
    let found = call.org.notifications.items(of: call.userId).filter {
      $0.time < before ?? .max && $0.time > after ?? .min
    }
    return .json(200, .object(["notifications": .array(found.prefix(size).map { json($0, call) })]))
  }

  private static func status(_ call: Call) -> JSONValue {
    let items = call.org.notifications.items(of: call.userId)
    let unread = items.filter { !$0.isRead }, unseen = items.filter { !$0.isSeen }
    return .object([
      "hasUnseen": .bool(!unseen.isEmpty), "lastActivity": text(items.first?.time), "oldestUnread": text(unread.last?.time),
      "oldestUnseen": text(unseen.last?.time), "unreadCount": .integer(Int64(unread.count)),
      "unseenCount": .integer(Int64(unseen.count)),
    ])
  }

  private static func types(_ call: Call) -> JSONValue {
    var names: [String] = []
    for item in call.org.notifications.items(of: call.userId) where !names.contains(item.type) { names.append(item.type) }
    let types = names.map { name -> JSONValue in
      .object([
        "type": .string(name), "apiName": .string(name), "label": .string(name.replacing("_", with: " ")), "actionGroups": nil,
      ])
    }
    return .object(["notificationTypes": .array(types)])
  }

  private static func find(_ call: Call) throws(SandboxError) -> OrgNotification {
    let id = call.parameter("id")
    guard let item = call.org.notifications.items(of: call.userId).first(where: { $0.id == id }) else { throw .notFound() }
    return item
  }

  private static func json(_ item: OrgNotification, _ call: Call) -> JSONValue {
    .object([
      "id": .string(item.id), "type": .string(item.type), "messageTitle": .string(item.title),
      "messageBody": .string(item.body), "target": item.target.map { .string($0) } ?? .null, "targetPageRef": nil,
      "read": .bool(item.isRead), "seen": .bool(item.isSeen), "lastModified": text(item.time),
      "mostRecentActivityDate": text(item.time), "recipientId": .string(item.userId),
      "organizationId": .string(call.org.organizationId), "count": 1, "image": nil, "additionalData": nil, "community": nil,
      "communityName": nil, "url": .string("\(call.dataRoot)/connect/notifications/\(item.id)"),
    ])
  }

  // MARK: Marking

  private static func markOne(_ call: Call) throws -> ServerReply {
    let id = try find(call).id
    let marks = try marks(try call.jsonObject())
    let changed = call.org.notifications.mark(read: marks.read, seen: marks.seen, of: call.userId) { $0.id == id }
    guard let item = changed.first else { throw SandboxError.notFound() }
    return .json(200, json(item, call))
  }

  /// Marks the notifications in a list of ids, or all up to a time.
  private static func markSeveral(_ call: Call) throws -> ServerReply {
    let body = try call.jsonObject()
    let marks = try marks(body)
    let ids = body["notificationIds"]?.arrayValue?.compactMap(\.stringValue)
    let before = try moment("before", body["before"]?.stringValue)
    guard (ids == nil) != (before == nil) else {
      throw SandboxError.invalidInput("the body needs either the array 'notificationIds' or a moment 'before'")
    }
    let changed = call.org.notifications.mark(read: marks.read, seen: marks.seen, of: call.userId) { item in
      ids.map { $0.contains(item.id) } ?? (item.time < before ?? .min)
    }
    return .json(200, .object(["notifications": .array(changed.map { json($0, call) })]))
  }

  /// Reads `true` or, as the Mobile SDK sends it, `"true"`.
  private static func marks(_ body: JSONObject) throws(SandboxError) -> (read: Bool?, seen: Bool?) {
    var marks: [Bool?] = []
    for name in ["read", "seen"] {
      switch (body[name]?.boolValue, body[name]?.stringValue?.lowercased()) {
      case (let value?, _): marks.append(value)
      case (_, "true"?): marks.append(true)
      case (_, "false"?): marks.append(false)
      case (nil, nil) where body[name] ?? .null == .null: marks.append(nil)
      default: throw .invalidInput("'\(name)' must be true or false")
      }
    }
    guard marks != [nil, nil] else { throw .invalidInput("the body needs 'read' or 'seen'") }
    return (marks[0], marks[1])
  }

  // MARK: Moments

  /// Returns seconds since 1970 UTC.
  private static func moment(_ name: String, _ text: String?) throws(SandboxError) -> Int64? {
    guard let text, !text.isEmpty else { return nil }
    guard let milliseconds = Timestamp.milliseconds(parsing: text) else {
      throw FileList.illegal(name, text, "a date and time such as 2026-01-01T00:00:00.000Z")
    }
    return milliseconds / 1000
  }

  private static func text(_ seconds: Int64?) -> JSONValue {
    seconds.map { .string(Timestamp.text($0).dropLast(5) + "Z") } ?? .null
  }
}
