import JSON
import MobileSync
import PostgresStore
import SmartStore
import Support

/// A store in the list of a place.
public struct ListedStore: Sendable {
  public let place: StorePlace
  /// The names of the org and the user; nil for a global store.
  public let org: String?
  public let user: String?
  public let name: String
  public var isUnfinished = false
  /// The size on the disk; nil if the store cannot be opened.
  public var bytes: Int64?
  /// The soups, without the one of the syncs, and their entries.
  public var soups: Int64?
  public var entries: Int64?
  public var syncs: Int64?
  /// Why the store cannot be opened; nil if it can.
  public var problem: String?

  public var json: JSONObject {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    func number(_ value: Int64?) -> JSONValue { value.map { .integer($0) } ?? .null }
    return [
      "engine": .string(place.engine), "place": .string("\(place)"), "org": text(org), "user": text(user),
      "storeName": .string(name), "isGlobalStore": .bool(org == nil), "isUnfinished": .bool(isUnfinished), "bytes": number(bytes),
      "soups": number(soups), "entries": number(entries), "syncs": number(syncs), "problem": text(problem),
    ]
  }
}

extension StoreCatalog {
  /// Returns the stores and unfinished copies of a place, sorted by org, user and name, the global ones last. Looks into
  /// each one without changing it. A store that cannot be read has a `problem`.
  public func stores(in place: StorePlace) throws -> [ListedStore] {
    try addresses(in: place).map { listed($0, $1, org: $2) }
  }

  /// Returns the addresses, whether each one is unfinished, and the names of the orgs.
  private func addresses(in place: StorePlace) throws -> [(StoreAddress, isUnfinished: Bool, org: String)] {
    let orgs = try OrgDirectory(home: home, looksOnly: looksOnly).scan().entries
    var found: [(StoreAddress, isUnfinished: Bool, org: String)] = []
    switch place {
    case .database(let database):
      for store in try DatabaseStores(database, looksOnly: looksOnly).all() {
        let name = orgs.first { $0.folder.hasSameBytes(as: store.org) }?.name ?? OrgEntry.name(ofFolder: store.org)
        found.append(
          (StoreAddress(place: place, org: store.org, user: store.user, name: store.name), store.isUnfinished, name))
      }
    case .home(let home):
      if looksOnly { try HostSettings.checkHomeToLook(home) }
      let own = try OrgDirectory(home: home, looksOnly: looksOnly).scan().entries
      var owners = own.flatMap { entry in entry.users.map { (entry.folder, $0.folder, entry.name) } }
      owners.append((Org.sandboxName, Org.sandboxUser, Org.sandboxName))
      owners.append(("", "", ""))
      for (org, user, name) in owners {
        let engines = try StoreAddress(place: place, org: org, user: user, name: "").engines(looksOnly: looksOnly),
          isGlobal = org.isEmpty
        defer { engines.close() }
        let stores = try engines.names(isGlobal: isGlobal).map { ($0, false) }
        let copies = try engines.unfinishedCopies(isGlobal: isGlobal).map { ($0, true) }
        found += (stores + copies).map { (StoreAddress(place: place, org: org, user: user, name: $0), $1, name) }
      }
    }
    return found.sorted { a, b in
      if a.0.isGlobal != b.0.isGlobal { return b.0.isGlobal }
      return (a.org, a.0.user, a.0.name) < (b.org, b.0.user, b.0.name)
    }
  }

  private func listed(_ address: StoreAddress, _ isUnfinished: Bool, org: String) -> ListedStore {
    var listed = ListedStore(
      place: address.place, org: address.isGlobal ? nil : org,
      user: address.isGlobal ? nil : OrgEntry.name(ofFolder: address.user), name: address.name)
    listed.isUnfinished = isUnfinished
    guard !isUnfinished else { return listed }
    do {
      let engines = try address.engines(looksOnly: true)
      defer { engines.close() }
      let store = Store(
        looking: try engines.look(address.name, isGlobal: address.isGlobal), name: address.name, isGlobal: address.isGlobal)
      defer { store.close() }
      let soups = try store.readBlocking { try $0.soupsToCopy() }, own = soups.filter { $0.name != RunningSyncs.soup }
      listed.bytes = try store.sizes().bytes
      listed.soups = Int64(own.count)
      listed.entries = own.map(\.entries).reduce(0, +)
      listed.syncs = soups.first { $0.name == RunningSyncs.soup }?.entries ?? 0
    } catch {
      listed.problem = (error as? StoreError)?.message ?? "\(error)"
    }
    return listed
  }
}
