import JSON
import SmartStore
import Support

/// The syncs up of a store, by the soups that they send.
struct SoupUploads {
  /// A sync up that sends a soup.
  struct Sender {
    let sync: SyncState
    /// The fields of the records.
    let fields: TargetFields
    /// The relationship, if the soup holds the children of families that are sent together.
    var family: ParentChildrenInfo?
  }

  private var senders: [(soup: String, sender: Sender)] = []
  private let syncs: [SyncState]
  private let targets: TargetRegistry

  /// - Parameter syncs: Of the store, in the order of their ids.
  init(_ syncs: [SyncState], _ targets: TargetRegistry) {
    self.syncs = syncs
    self.targets = targets
    for sync in syncs where sync.type == .syncUp {
      if let info = (try? targets.families(sync.target))?.info {
        senders.append((info.parent.soup, Sender(sync: sync, fields: info.parent.fields)))
        senders.append((info.children.soup, Sender(sync: sync, fields: info.children.fields, family: info)))
      } else if let target = try? targets.up(sync.target) {
        senders.append((sync.soupName, Sender(sync: sync, fields: target.fields)))
        for other in target.companions { senders.append((other.soup, Sender(sync: sync, fields: other.target.fields))) }
      }
    }
  }

  /// Returns the sync up that a person runs for a soup: one with a name before the others, and one of single records before
  /// one of families; nil if no sync up sends the soup.
  func sender(of soup: String) -> Sender? {
    let all = senders.filter { $0.soup.hasSameBytes(as: soup) }.map(\.sender)
    return all.first { $0.sync.name != nil && $0.family == nil } ?? all.first { $0.sync.name != nil } ?? all.first
  }

  /// Returns the fields with the id and the date of a soup's records.
  func fields(of soup: String) -> TargetFields {
    if let sender = sender(of: soup) { return sender.fields }
    for sync in syncs where sync.type == .syncDown && sync.soupName.hasSameBytes(as: soup) {
      if let target = try? targets.down(sync.target) { return target.fields }
    }
    return TargetFields(id: "Id", modificationDate: "LastModifiedDate")
  }

  func sync(_ id: Int64) -> SyncState? { syncs.first { $0.id == id } }

  /// Returns the soups that a sync reads or writes.
  static func soups(of state: SyncState, _ targets: TargetRegistry) -> [String] {
    switch state.type {
    case .syncDown: return (try? targets.down(state.target).mappings(state.soupName).map(\.soup)) ?? [state.soupName]
    case .syncUp:
      let info = (try? targets.families(state.target))?.info
      if let info { return [info.parent.soup, info.children.soup] }
      return [state.soupName] + ((try? targets.up(state.target))?.companions.map(\.soup) ?? [])
    }
  }
}

extension SyncsSoup {
  /// Returns all syncs, by id. Skips rows that cannot be read; a store without syncs has none.
  static func all(in snapshot: StoreSnapshot) throws -> [SyncState] {
    guard try snapshot.soupExists(name) else { return [] }
    let types = SyncType.allCases.map { SQLValue.text($0.rawValue) }
    let ids = try snapshot.entryIds(in: name, where: "type", equalsEach: types).flatMap { $0 }.sorted()
    return try snapshot.storedEntries(ids, in: name).compactMap { entry in
      (try? entry.object()).flatMap { try? SyncState($0) }
    }
  }
}
