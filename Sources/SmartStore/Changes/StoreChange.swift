import JSON

/// What committed transactions did to the entries of one soup since an observer last asked.
public struct StoreChange: Sendable, Equatable {
  public let soupName: String
  /// Ids of the entries, ascending; each stands in one list, as the whole of what happened to it.
  public let created: [Int64]
  public let updated: [Int64]
  public let removed: [Int64]
  /// True when any entry may have changed and no ids are told: too many did, the soup was cleared or removed, or another
  /// process wrote to the file.
  public let isAll: Bool

  /// As scripts get it.
  public var json: JSONObject {
    var object: JSONObject = ["soupName": .string(soupName)]
    for (key, ids) in [("created", created), ("updated", updated), ("removed", removed)] {
      object[key] = .array(ids.map { .integer($0) })
    }
    object["all"] = .bool(isAll)
    return object
  }
}

/// The changes of one soup, gathered: what happens to an entry twice is told once.
struct EntryChanges {
  enum Kind { case created, updated, removed }

  private var kinds: [Int64: Kind] = [:]
  private var isAll = false

  var isEmpty: Bool { kinds.isEmpty && !isAll }

  /// Any entry may have changed.
  mutating func noteAll() {
    isAll = true
    kinds.removeAll()
  }

  mutating func note(_ kind: Kind, _ id: Int64) {
    guard !isAll else { return }
    kinds[id] =
      switch (kinds[id], kind) {
      case (.created?, .updated): .created
      // The listener was never told of it.
      case (.created?, .removed): nil
      case (.removed?, .created): .updated
      default: kind
      }
    if kinds.count > Tuning.changedIds { noteAll() }
  }

  mutating func add(_ later: EntryChanges) {
    if later.isAll { noteAll() }
    for (id, kind) in later.kinds { note(kind, id) }
  }

  func change(of soupName: String) -> StoreChange {
    func ids(_ kind: Kind) -> [Int64] { kinds.compactMap { $0.value == kind ? $0.key : nil }.sorted() }
    return StoreChange(
      soupName: soupName, created: ids(.created), updated: ids(.updated), removed: ids(.removed), isAll: isAll)
  }
}
