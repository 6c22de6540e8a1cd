import JSON
import SmartStore

/// An entry that leaves its soup, with what the history keeps of it.
struct RemovedEntry: Sendable {
  /// Why it leaves. Raw values are the reasons in the history.
  enum Reason: String, Sendable {
    /// The server no longer sends it.
    case ghost
    case deletedThere, discarded, script

    /// Whether its values may not be kept: the server has taken them back.
    var takesValues: Bool { self == .ghost || self == .deletedThere }
  }

  let id: Int64
  let version: Int64
  let recordId: String?
  let reason: Reason

  init(id: Int64, version: Int64, recordId: String?, because reason: Reason) {
    (self.id, self.version, self.recordId, self.reason) = (id, version, recordId, reason)
  }

  init(_ stored: StoredEntry, _ entry: JSONObject, _ fields: TargetFields, because reason: Reason) {
    self.init(id: stored.id, version: stored.version, recordId: fields.id(of: entry), because: reason)
  }
}

extension StoreTransaction {
  /// Removes entries and tells the history of it.
  func remove(_ entries: [RemovedEntry], from soup: String) throws {
    try remove(entries.map(\.id), from: soup)
    for entry in entries {
      try note(
        EntryChange(
          .removed, entry.id, version: entry.version, reason: entry.reason.rawValue, recordId: entry.recordId), in: soup)
    }
    try forgetValues(of: entries.filter(\.reason.takesValues).map(\.id), in: soup)
  }
}
