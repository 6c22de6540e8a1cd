import JSON
import SmartStore

/// The members that the engine keeps in every synced entry beside the server's.
enum LocalField {
  static let local = SoupField.local
  static let created = SoupField.locallyCreated
  static let updated = SoupField.locallyUpdated
  static let deleted = SoupField.locallyDeleted
  static let lastError = "__last_error__"
  static let syncId = SoupField.syncId
  /// The type stands where the server puts it.
  static let type = "attributes.type"
  /// What the server tells about a record beside its fields; a query cannot ask for it.
  static let attributes = "attributes"

  /// An id that starts so was made here, before the server gave one.
  static let localIdPrefix = SoupField.localIdPrefix

  static let all = [local, created, updated, deleted, lastError, syncId]

  static let clean: JSONObject = [
    local: .bool(false), created: .bool(false), updated: .bool(false), deleted: .bool(false),
  ]

  /// What a record that comes from the server gets.
  static func overlay(syncId id: Int64) -> JSONObject {
    var overlay: JSONObject = [syncId: .integer(id)]
    for (key, value) in clean { overlay[key] = value }
    return overlay
  }
}
