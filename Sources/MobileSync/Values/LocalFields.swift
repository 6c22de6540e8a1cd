import JSON
import SmartStore

/// The members that the engine adds to every synced entry.
package enum LocalField {
  package static let local = SoupField.local
  package static let created = SoupField.locallyCreated
  package static let updated = SoupField.locallyUpdated
  package static let deleted = SoupField.locallyDeleted
  package static let lastError = "__last_error__"
  package static let syncId = SoupField.syncId
  /// What scripts did to fields of a dirty entry, for targets that can send operations in place of
  /// values.
  package static let operations = "__operations__"
  /// The path of the type in the server's records.
  package static let type = "attributes.type"
  /// The server's metadata about a record; a query cannot select it.
  package static let attributes = "attributes"

  /// The prefix of ids that were created locally, before the server assigned one.
  package static let localIdPrefix = SoupField.localIdPrefix

  package static let all = [local, created, updated, deleted, lastError, syncId, operations]

  /// Members that an entry loses when its changes are on the server or are given up.
  package static let ofChanges = [lastError, operations]

  /// Returns whether a member belongs to the store or the engine and is unknown to servers.
  package static func isLocalOnly(_ key: String) -> Bool { all.contains(key) || key.hasPrefix("_soup") }

  package static let clean: JSONObject = [
    local: .bool(false), created: .bool(false), updated: .bool(false), deleted: .bool(false),
  ]

  /// Returns the members that are set in every record from the server.
  package static func overlay(syncId id: Int64) -> JSONObject {
    JSONObject([(syncId, .integer(id))]).replacing(with: clean)
  }
}
