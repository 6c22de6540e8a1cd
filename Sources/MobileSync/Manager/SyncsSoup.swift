import JSON
import SmartStore

/// The soup that holds the syncs of a store: one row each, whose `_soupEntryId` is the id of the sync.
enum SyncsSoup {
  static let name = "syncs_soup"
  static let specs = ["type", "name", "status"].map { IndexSpec(path: $0, type: .json1) }

  /// - Note: A soup that lacks one of the indexes, as older versions of the model made it, is altered; indexes of the
  ///   application's own on other paths stay. Ids stay too, so that saved syncs are found.
  static func setUp(_ transaction: StoreTransaction) throws {
    guard try transaction.soupExists(name) else { return try transaction.registerSoup(name, specs) }
    let found = try transaction.indexSpecs(of: name), paths = Set(specs.map(\.path))
    guard !specs.allSatisfy(found.contains) else { return }
    try transaction.alterSoup(name, indexSpecs: specs + found.filter { !paths.contains($0.path) }, reIndexData: false)
  }

  static func find(_ reference: SyncReference, in snapshot: StoreSnapshot) throws -> SyncState? {
    switch reference {
    case .id(let id):
      return try snapshot.entry(id, in: name).map { try SyncState($0.object()) }
    case .name(let text):
      let ids = try snapshot.entryIds(in: name, where: "name", equals: .text(text))
      return try ids.first.flatMap { try snapshot.entry($0, in: name) }.map { try SyncState($0.object()) }
    }
  }

  /// Syncs with a status, by id. Rows that cannot be read are left out.
  static func all(_ status: SyncStatus, in snapshot: StoreSnapshot) throws -> [SyncState] {
    let ids = try snapshot.entryIds(in: name, where: "status", equals: .text(status.rawValue))
    return try ids.compactMap { id in
      guard let entry = try snapshot.entry(id, in: name), let object = try? entry.object() else { return nil }
      return try? SyncState(object)
    }
  }

  /// Adds a row and gives the state its id.
  /// - Throws: ``SyncError`` `.duplicateName`; nothing is written then.
  static func insert(_ state: inout SyncState, in transaction: StoreTransaction) throws {
    if let syncName = state.name, try find(.name(syncName), in: transaction) != nil {
      throw SyncError.duplicateName(syncName, state.type)
    }
    var row = state.json
    row["_soupEntryId"] = nil
    state.id = try transaction.create(row, in: name)
  }

  /// Removes syncs with what they keep of their pages.
  static func remove(_ ids: [Int64], in transaction: StoreTransaction) throws {
    try transaction.remove(ids, from: name)
    for id in ids { try transaction.forgetSyncPages(of: id) }
  }

  /// - Throws: ``SyncError`` `.noSuchSync`: the row was deleted meanwhile.
  static func save(_ state: SyncState, in transaction: StoreTransaction) throws {
    guard try transaction.replace(state.id, with: state.json, in: name) else {
      throw SyncError.noSuchSync(.id(state.id))
    }
  }
}
