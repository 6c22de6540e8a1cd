import JSON

/// What committed transactions did to the entries of one soup since an observer last asked.
public struct StoreChange: Sendable, Equatable {
  public let soupName: String
  /// Ids of the entries, ascending. Each entry is in one list, which summarizes everything that
  /// happened to it.
  public let created: [Int64]
  public let updated: [Int64]
  public let removed: [Int64]
  /// True if any entry may have changed and no ids are given: too many entries changed, the soup
  /// was cleared or removed, or another process wrote to the file.
  public let isAll: Bool

  /// The form that scripts get.
  public var json: JSONObject {
    var object: JSONObject = ["soupName": .string(soupName)]
    for (key, ids) in [("created", created), ("updated", updated), ("removed", removed)] {
      object[key] = .array(ids.map { .integer($0) })
    }
    object["all"] = .bool(isAll)
    return object
  }
}

/// The merged changes of one soup: each entry has one kind of change, however often it changed.
package struct EntryChanges {
  package enum Kind { case created, updated, removed }

  private var kinds: [Int64: Kind] = [:]
  package private(set) var isAll = false

  package init() {}

  package var isEmpty: Bool { kinds.isEmpty && !isAll }

  /// Records that any entry may have changed.
  package mutating func noteAll() {
    isAll = true
    kinds.removeAll()
  }

  package mutating func note(_ kind: Kind, _ id: Int64) {
    guard !isAll else { return }
    kinds[id] =
      switch (kinds[id], kind) {
      case (.created?, .updated): .created
      // The listener has never seen the entry.
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

  /// Returns the ids of the entries with this kind of change, ascending.
  package func ids(_ kind: Kind) -> [Int64] { kinds.compactMap { $0.value == kind ? $0.key : nil }.sorted() }

  func change(of soupName: String) -> StoreChange {
    StoreChange(soupName: soupName, created: ids(.created), updated: ids(.updated), removed: ids(.removed), isAll: isAll)
  }
}
