import JSON
import SmartStore

/// The members that the engine keeps in every synced entry beside the server's.
package enum LocalField {
  package static let local = SoupField.local
  package static let created = SoupField.locallyCreated
  package static let updated = SoupField.locallyUpdated
  package static let deleted = SoupField.locallyDeleted
  package static let lastError = "__last_error__"
  package static let syncId = SoupField.syncId
  /// The type stands where the server puts it.
  package static let type = "attributes.type"
  /// What the server tells about a record beside its fields; a query cannot ask for it.
  package static let attributes = "attributes"

  /// An id that starts so was made here, before the server gave one.
  package static let localIdPrefix = SoupField.localIdPrefix

  package static let all = [local, created, updated, deleted, lastError, syncId]

  /// True for members that store and engine keep, and no server knows.
  package static func isLocalOnly(_ key: String) -> Bool { all.contains(key) || key.hasPrefix("_soup") }

  package static let clean: JSONObject = [
    local: .bool(false), created: .bool(false), updated: .bool(false), deleted: .bool(false),
  ]

  /// What a record that comes from the server gets.
  package static func overlay(syncId id: Int64) -> JSONObject {
    JSONObject([(syncId, .integer(id))]).replacing(with: clean)
  }
}
