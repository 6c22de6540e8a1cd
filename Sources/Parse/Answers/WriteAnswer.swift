import JSON

/// The response to a create or an update, with the server's changes to the object.
struct WriteAnswer: Sendable, Equatable {
  /// The fields in the response.
  let fields: JSONObject
  /// Sent after a sign-up or a change of one's own password. A secret: it belongs to the connection
  /// and must never be stored in a record.
  let sessionToken: String?

  init(_ answer: JSONObject) {
    var fields = answer
    sessionToken = fields["sessionToken"]?.stringValue
    fields["sessionToken"] = nil
    self.fields = fields
  }

  /// Returns the record with the server's own changes: default values, results of hooks and of
  /// operations.
  ///
  /// - Parameter sent: The body of the request. Columns that it changed partially, by a dotted key,
  ///   are merged part by part.
  func merged(into record: JSONObject, sent: JSONObject) -> JSONObject {
    let parted = IdSet(sent.keys.filter { $0.contains(".") }.map { String($0.prefix { $0 != "." }) })
    var merged = record
    merged["sessionToken"] = nil
    // The server has the password now; a local copy would only be a risk.
    if sent["password"] != nil { merged["password"] = nil }
    for (key, value) in fields {
      if Self.isUnset(value) {
        merged[key] = nil
      } else {
        merged[key] = parted.contains(key) ? Self.overlay(value, on: merged[key]) : value
      }
    }
    if let createdAt = fields["createdAt"], fields["updatedAt"] == nil { merged["updatedAt"] = createdAt }
    return merged
  }

  /// Whether a hook removed the field.
  private static func isUnset(_ value: JSONValue) -> Bool { value["__op"] == "Delete" }

  private static func overlay(_ value: JSONValue, on old: JSONValue?) -> JSONValue {
    guard let parts = value.objectValue, parts["__type"] == nil, var merged = old?.objectValue else { return value }
    for (key, part) in parts {
      if isUnset(part) { merged[key] = nil } else { merged[key] = overlay(part, on: merged[key]) }
    }
    return .object(merged)
  }
}
