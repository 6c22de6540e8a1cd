import JSON
import SmartStore

/// The soup that holds the syncs of a store: one row each, whose `_soupEntryId` is the id of the sync.
enum SyncsSoup {
  static let name = "syncs_soup"
  static let specs = ["type", "name", "status"].map { IndexSpec(path: $0, type: .json1) }

  /// - Note: A soup of another shape stays as it is: look-ups work on any path, the indexes only make them quick.
  static func setUp(_ transaction: StoreTransaction) throws {
    if try !transaction.soupExists(name) { try transaction.registerSoup(name, specs) }
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

  /// - Throws: ``SyncError`` `.noSuchSync`: the row was deleted meanwhile.
  static func save(_ state: SyncState, in transaction: StoreTransaction) throws {
    guard try transaction.replace(state.id, with: state.json, in: name) else {
      throw SyncError.noSuchSync(.id(state.id))
    }
  }
}
