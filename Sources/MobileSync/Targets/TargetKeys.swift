import JSON

/// The keys that one kind of target knows. A misspelled one would be passed over, and other records be fetched or other fields be
/// sent than was meant.
package struct TargetKeys: Sendable {
  /// Objects inside a target, checked by keys of their own.
  package typealias Members = @Sendable (JSONObject) throws(SyncError) -> Void

  private let own: [String]
  /// In messages; nil for the one that the direction has.
  private let label: String?
  /// An implementation reads whatever it likes from its target: only what looks like a misspelled key is refused.
  private let isOpen: Bool
  private let members: Members

  /// - Parameter members: Checks the objects inside.
  package init(
    _ own: [String], label: String? = nil, isOpen: Bool = false, members: @escaping Members = { (_) throws(SyncError) in }
  ) {
    self.own = own
    self.label = label
    self.isOpen = isOpen
    self.members = members
  }

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key and the nearest one that is known.
  func check(_ json: JSONObject, label: String) throws(SyncError) {
    let label = self.label ?? label, keys = KnownKeys(["type"] + Self.fields + own, ignoring: Self.modelClasses)
    if let found = isOpen ? keys.misspelled(in: json) : keys.unknown(in: json) { throw Self.wrong(label, found) }
    try members(json)
  }

  /// Checks an object inside a target.
  package static func check(_ members: JSONObject, _ own: [String], label: String) throws(SyncError) {
    let keys = KnownKeys(own + fields, ignoring: modelClasses)
    if let found = keys.unknown(in: members) { throw wrong(label, found) }
  }

  private static func wrong(_ label: String, _ found: (key: String, complaint: String)) -> SyncError {
    SyncError(.invalidTarget, "\(label): '\(found.key)' \(found.complaint)").at(.key(found.key))
  }

  private static let fields = ["idFieldName", "modificationDateFieldName"]
  /// The classes that a target has in the mobile SDKs, which stand in each one they serialise.
  private static let modelClasses = ["androidImpl", "iOSImpl", "iosImpl"]

  /// What the targets of all syncs up know.
  package static let upload = [
    "createFieldlist", "updateFieldlist", "externalIdFieldName", "maxBatchSize", "lostCreateWaitMs",
  ]

  static let customDown = TargetKeys(["luaImpl", "sortedByModification"], isOpen: true)
  static let customUp = TargetKeys(["luaImpl"] + upload, isOpen: true)
}
