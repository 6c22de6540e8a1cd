import JSON

/// The answer to a create or an update: what the server made of the object.
struct WriteAnswer: Sendable, Equatable {
  /// Every key it named.
  let fields: JSONObject
  /// Of a sign-up, or after a change of the own password. A secret: it belongs to the connection and never into a record.
  let sessionToken: String?

  init(_ answer: JSONObject) {
    var fields = answer
    sessionToken = fields["sessionToken"]?.stringValue
    fields["sessionToken"] = nil
    self.fields = fields
  }

  /// The record with what the server changed on its own: default values, results of hooks and of operations.
  /// - Parameter sent: The body that was answered. Columns of which it changed a part by a dotted key are merged part by part.
  func merged(into record: JSONObject, sent: JSONObject) -> JSONObject {
    let parted = Set(sent.keys.filter { $0.contains(".") }.map { String($0.prefix { $0 != "." }) })
    var merged = record
    merged["sessionToken"] = nil
    // The password is on the server now; a copy here would only wait to be stolen.
    if sent["password"] != nil { merged["password"] = nil }
    for (key, value) in fields {
      if Self.isUnset(value) {
        merged[key] = nil
      } else {
        merged[key] = parted.contains(key) ? Self.laid(value, over: merged[key]) : value
      }
    }
    if let createdAt = fields["createdAt"], fields["updatedAt"] == nil { merged["updatedAt"] = createdAt }
    return merged
  }

  /// A hook took the field away.
  private static func isUnset(_ value: JSONValue) -> Bool { value["__op"] == "Delete" }

  private static func laid(_ value: JSONValue, over old: JSONValue?) -> JSONValue {
    guard let parts = value.objectValue, parts["__type"] == nil, var merged = old?.objectValue else { return value }
    for (key, part) in parts {
      if isUnset(part) { merged[key] = nil } else { merged[key] = laid(part, over: merged[key]) }
    }
    return .object(merged)
  }
}
