import JSON

/// The keys that one kind of target accepts. Without this check, a misspelled key would be ignored,
/// and other records or fields would be synced than intended.
package struct TargetKeys: Sendable {
  /// Checks nested objects of a target.
  package typealias Members = @Sendable (JSONObject) throws(SyncError) -> Void

  private let own: [String]
  /// The target's name in messages; nil for that of the direction.
  private let label: String?
  /// Whether other keys are accepted, because an implementation may read any key from its target.
  /// Only a likely misspelling is rejected.
  private let isOpen: Bool
  private let members: Members

  /// - Parameter members: Checks nested objects.
  package init(
    _ own: [String], label: String? = nil, isOpen: Bool = false, members: @escaping Members = { (_) throws(SyncError) in }
  ) {
    self.own = own
    self.label = label
    self.isOpen = isOpen
    self.members = members
  }

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key and the nearest known one.
  func check(_ json: JSONObject, label: String) throws(SyncError) {
    let label = self.label ?? label, keys = KnownKeys(["type"] + Self.fields + own, ignoring: Self.modelClasses)
    if let found = isOpen ? keys.misspelled(in: json) : keys.unknown(in: json) { throw Self.wrong(label, found) }
    try members(json)
  }

  /// Checks a nested object of a target.
  package static func check(_ members: JSONObject, _ own: [String], label: String) throws(SyncError) {
    let keys = KnownKeys(own + fields, ignoring: modelClasses)
    if let found = keys.unknown(in: members) { throw wrong(label, found) }
  }

  private static func wrong(_ label: String, _ found: (key: String, complaint: String)) -> SyncError {
    SyncError(.invalidTarget, "\(label): '\(found.key)' \(found.complaint)").at(.key(found.key))
  }

  private static let fields = ["idFieldName", "modificationDateFieldName"]
  /// The keys under which the Mobile SDKs write a target's class into its JSON.
  private static let modelClasses = ["androidImpl", "iOSImpl", "iosImpl"]

  /// The keys of all sync up targets.
  package static let upload = [
    "createFieldlist", "updateFieldlist", "externalIdFieldName", "maxBatchSize", "lostCreateWaitMs",
  ]

  static let customDown = TargetKeys(["luaImpl", "sortedByModification"], isOpen: true)
  static let customUp = TargetKeys(["luaImpl"] + upload, isOpen: true)
}
