import JSON
import SmartStore

/// Orders new entries of one soup for sending: each after those that it refers to. In a cycle, one
/// entry goes before its reference. No store, network or clock.
struct CreateOrder: Sendable {
  private var names: [Int64: [String]] = [:]
  private var entries: IdMap<Int64> = [:]

  /// - Parameters:
  ///   - localId: The id by which other entries refer to it.
  ///   - names: The ids of entries that it refers to.
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
      // A chain may be as long as the soup, so avoid recursion.
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
  /// Returns the fields of all soups that refer to entries of this one, according to the stored
  /// syncs up.
  func references(to soup: String, _ snapshot: StoreSnapshot) throws -> [SoupReference] {
    var found: [SoupReference] = []
    let ids = try snapshot.entryIds(in: SyncsSoup.name, where: "type", equals: .text(SyncType.syncUp.rawValue))
    for id in ids {
      guard let state = try SyncsSoup.find(.id(id), in: snapshot), let target = try? up(state.target) else { continue }
      let uploads = [UploadCompanion(soup: state.soupName, target: target)] + target.companions
      for upload in uploads where try snapshot.soupExists(upload.soup) {
        for reference in upload.target.references where reference.soup == soup {
          let one = SoupReference(soup: upload.soup, field: reference.path)
          if !found.contains(one) { found.append(one) }
        }
      }
    }
    return found
  }
}
