import JSON
import SmartStore

/// How a conflict ends.
public enum ConflictResolution: Sendable, Equatable {
  /// The local changes win, and are sent with the next sync up; what only the server changed is taken. A record that the server
  /// has deleted is created there again.
  case local
  /// The server's version wins: the entry becomes what the server has, or is removed with it. The local changes are gone.
  case server
  /// These fields win over both; what they leave out is as ``SyncConflict/merged`` has it. An entry that either side deleted
  /// stays.
  case record(JSONObject)
  /// It stays a conflict.
  case skip
}

/// Decides conflicts of syncs with ``MergeMode/merge``, one after the other, outside of transactions.
///
/// The run waits for it. What it throws ends the run FAILED; the conflict stays, and nothing is lost.
public typealias ConflictResolver = @Sendable (SyncConflict) async throws -> ConflictResolution

/// Finds resolvers that are not registered with a manager: those of scripts.
public protocol ConflictResolverSource: Sendable {
  /// Resolves a conflict with the resolver that the sync's options call `name`.
  func resolve(_ conflict: SyncConflict, with name: String) async throws -> ConflictResolution
}

extension StoreTransaction {
  /// Ends a conflict.
  /// - Returns: The entry as it stands then; nil when it is removed.
  /// - Throws: ``SyncError`` `.conflictUnresolved` when the server's version is asked for and not known.
  @discardableResult
  func settle(_ conflict: SyncConflict, _ resolution: ConflictResolution) throws -> StoredEntry? {
    guard let record = try self.conflict(of: conflict.entryId, in: conflict.soupName) else { return nil }
    let settling = ConflictSettling(
      conflict: conflict, server: try ServerVersion(record.server),
      fields: TargetFields(id: record.idField, modificationDate: record.dateField))
    switch resolution {
    case .skip: break
    case .local: try keep(settling.merged, settling)
    case .record(let given): try keep(settling.taking(given), settling)
    case .server: try takeServer(settling)
    }
    return try entry(conflict.entryId, in: conflict.soupName)
  }

  private func keep(_ entry: JSONObject, _ settling: ConflictSettling) throws {
    let id = settling.conflict.entryId, soup = settling.conflict.soupName
    _ = try replace(id, with: entry, in: soup)
    try forgetConflict(of: id, in: soup)
    if settling.server == .unknown { try forgetBase(of: id, in: soup) }
    guard entry.hasFlag(LocalField.local), let base = settling.nextBase else { return }
    try setBase(of: id, in: soup, to: base.serialized())
  }

  private func takeServer(_ settling: ConflictSettling) throws {
    let id = settling.conflict.entryId, soup = settling.conflict.soupName
    switch settling.server {
    case .deleted: try remove([id], from: soup)
    case .record(let record): _ = try replace(id, with: settling.clean(record), in: soup)
    case .unknown:
      throw SyncError(
        .conflictUnresolved,
        "the server's version of entry \(id) of soup \(soup) is not known: "
          + "sync it down first, or resolve with 'local' or a record"
      )
    }
  }
}

/// What entry and base become when a conflict ends. No store, network or clock.
struct ConflictSettling: Sendable {
  let conflict: SyncConflict
  let server: ServerVersion
  let fields: TargetFields

  /// nil when the server has no record to compare with.
  var nextBase: JSONObject? { server.record.map { RecordMerge.base(conflict.base, after: $0) } }

  /// The entry when the local changes win.
  var merged: JSONObject {
    var entry = conflict.merged
    entry[LocalField.lastError] = nil
    switch server {
    case .record: break
    case .deleted:
      entry[LocalField.created] = true
      entry[LocalField.deleted] = false
    // Without a date, and without a base, it goes up whatever the server has.
    case .unknown: entry = Projection.removing(fields.modificationDate, from: entry)
    }
    return entry
  }

  /// The entry when a record was given. It is clean when the server has all of it.
  func taking(_ given: JSONObject) -> JSONObject {
    var entry = merged
    for (key, value) in given where !RecordMerge.isBookkeeping(key, fields) { entry[key] = value }
    entry[LocalField.deleted] = false
    entry[LocalField.local] = true
    if !entry.hasFlag(LocalField.created) { entry[LocalField.updated] = true }
    guard let record = server.record else { return entry }
    let rest = RecordMerge(base: nextBase, local: entry, server: record, fields: fields)
    return rest.isSettled ? RecordMerge.cleaned(entry) : entry
  }

  /// The entry when the server wins.
  func clean(_ record: JSONObject) -> JSONObject {
    var entry = RecordMerge.base(conflict.base ?? conflict.local, after: record)
    entry[LocalField.syncId] = conflict.local[LocalField.syncId]
    return RecordMerge.cleaned(entry)
  }
}

extension RecordMerge {
  /// The entry without local changes to send.
  static func cleaned(_ entry: JSONObject) -> JSONObject {
    var clean = entry
    clean[LocalField.lastError] = nil
    for (key, value) in LocalField.clean { clean[key] = value }
    return clean
  }
}
