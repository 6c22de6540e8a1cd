import JSON
import SmartStore

/// The order in which new entries of one soup are sent: behind those that they name. In a circle one of them goes before
/// what it names. No store, network or clock.
struct CreateOrder: Sendable {
  private var names: [Int64: [String]] = [:]
  private var entries: [String: Int64] = [:]

  /// - Parameters:
  ///   - localId: By which others name it.
  ///   - names: Ids of entries that it names.
  mutating func add(_ entryId: Int64, localId: String?, names: [String]) {
    if let localId { entries[localId] = entryId }
    if !names.isEmpty { self.names[entryId] = names }
  }

  func sorted(_ ids: [Int64]) -> [Int64] {
    guard !names.isEmpty else { return ids }
    let wanted = Set(ids)
    var placed = Set<Int64>(), result: [Int64] = []
    result.reserveCapacity(ids.count)
    for id in ids {
      // A chain may be as long as the soup: no recursion.
      var path = [(id: id, isOpen: false)]
      while let (next, isOpen) = path.popLast() {
        if isOpen {
          result.append(next)
          continue
        }
        guard placed.insert(next).inserted else { continue }
        path.append((next, true))
        for name in names[next] ?? [] {
          if let owner = entries[name], wanted.contains(owner), !placed.contains(owner) { path.append((owner, false)) }
        }
      }
    }
    return result
  }
}

extension TargetRegistry {
  /// Places in entries of any soup that name entries of this one, as the stored syncs up say.
  func references(to soup: String, _ snapshot: StoreSnapshot) throws -> [SoupReference] {
    var found: [SoupReference] = []
    let ids = try snapshot.entryIds(in: SyncsSoup.name, where: "type", equals: .text(SyncType.syncUp.rawValue))
    for id in ids {
      guard let state = try SyncsSoup.find(.id(id), in: snapshot), let target = try? up(state.target) else { continue }
      let places = [UploadCompanion(soup: state.soupName, target: target)] + target.companions
      for place in places where try snapshot.soupExists(place.soup) {
        for reference in place.target.references where reference.soup == soup {
          let one = SoupReference(soup: place.soup, field: reference.path)
          if !found.contains(one) { found.append(one) }
        }
      }
    }
    return found
  }
}
