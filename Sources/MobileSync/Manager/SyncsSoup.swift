import JSON
import SmartStore

/// The soup that holds the syncs of a store: one entry each, whose `_soupEntryId` is the id of the
/// sync.
enum SyncsSoup {
  static let name = "syncs_soup"
  static let specs = ["type", "name", "status"].map { IndexSpec(path: $0, type: .json1) }

  /// Creates the soup, or updates an existing one.
  /// - Note: If an older version of the Mobile SDK created the soup without one of the indexes, it
  ///   is altered. The application's own indexes on other paths stay, and so do the ids, so that
  ///   saved syncs are found.
  static func setUp(_ transaction: StoreTransaction) throws {
    guard try transaction.soupExists(name) else { return try transaction.registerSoup(name, specs) }
    let found = try transaction.indexSpecs(of: name), paths = IdSet(specs.map(\.path))
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

  /// Returns the syncs with a status, by id. Skips rows that cannot be read.
  static func all(_ status: SyncStatus, in snapshot: StoreSnapshot) throws -> [SyncState] {
    let ids = try snapshot.entryIds(in: name, where: "status", equals: .text(status.rawValue))
    guard !ids.isEmpty else { return [] }
    return try snapshot.storedEntries(ids, in: name).compactMap { entry in
      guard let object = try? entry.object() else { return nil }
      return try? SyncState(object)
    }
  }

  /// Adds a row and sets the id of the state.
  /// - Throws: ``SyncError`` `.duplicateName`; nothing is written then.
  static func insert(_ state: inout SyncState, in transaction: StoreTransaction) throws {
    if let syncName = state.name, try find(.name(syncName), in: transaction) != nil {
      throw SyncError.duplicateName(syncName, state.type)
    }
    var row = state.json
    row["_soupEntryId"] = nil
    state.id = try transaction.create(row, in: name)
  }

  /// Removes syncs and the data about their pages.
  static func remove(_ ids: [Int64], in transaction: StoreTransaction) throws {
    try transaction.remove(ids, from: name)
    for id in ids { try transaction.forgetSyncPages(of: id) }
  }

  /// - Throws: ``SyncError`` `.noSuchSync` if the row was deleted meanwhile.
  static func save(_ state: SyncState, in transaction: StoreTransaction) throws {
    guard try transaction.replace(state.id, with: state.json, in: name) else {
      throw SyncError.noSuchSync(.id(state.id))
    }
  }
}
