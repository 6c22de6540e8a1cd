import JSON
import SmartStore

/// How a conflict is resolved.
public enum ConflictResolution: Sendable, Equatable {
  /// The local changes win and are sent with the next sync up; fields that only the server changed
  /// are taken from the server. A record that the server has deleted is created again there.
  case local
  /// The server's version wins: it replaces the entry, or the entry is removed if the server has
  /// deleted the record. Local changes are lost.
  case server
  /// These fields override both sides; all others are as in ``SyncConflict/merged``. The entry
  /// stays, even if one side deleted it.
  case record(JSONObject)
  /// The conflict stays.
  case skip
}

extension ConflictResolution {
  /// Its word in the history.
  var word: String {
    switch self {
    case .local: "mine"
    case .server: "theirs"
    case .record: "merge"
    case .skip: "skip"
    }
  }
}

/// Resolves conflicts of syncs with ``MergeMode/merge``, one at a time, outside of transactions.
///
/// The run waits for it. If it throws, that conflict stays and the run goes on with the other
/// records; it then ends as FAILED with the first error.
public typealias ConflictResolver = @Sendable (SyncConflict) async throws -> ConflictResolution

/// Provides resolvers that are not registered with a manager: those of scripts.
public protocol ConflictResolverSource: Sendable {
  /// Resolves a conflict with the resolver that the sync's options call `name`.
  func resolve(_ conflict: SyncConflict, with name: String) async throws -> ConflictResolution
  /// The same. A source that loads code by name implements this one as well.
  /// - Parameters:
  ///   - conflict: The conflict to resolve.
  ///   - name: The name of the resolver.
  ///   - ifRegistered: Whether the resolver must be one that the script has registered: no module is loaded for it.
  func resolve(_ conflict: SyncConflict, with name: String, ifRegistered: Bool) async throws -> ConflictResolution
}

extension ConflictResolverSource {
  public func resolve(
    _ conflict: SyncConflict, with name: String, ifRegistered: Bool
  ) async throws -> ConflictResolution { try await resolve(conflict, with: name) }
}

extension StoreTransaction {
  /// Resolves a conflict.
  /// - Returns: The resulting entry; nil if it was removed.
  /// - Throws: ``SyncError`` `.conflictUnresolved` if the server's version is requested and not
  ///   known.
  /// - Parameter resolver: The name of the resolver that decided; nil for a person or a program.
  @discardableResult
  func resolve(_ conflict: SyncConflict, _ resolution: ConflictResolution, by resolver: String? = nil) throws -> StoredEntry? {
    guard let record = try self.conflict(of: conflict.entryId, in: conflict.soupName) else { return nil }
    let resolved = ResolvedConflict(
      conflict: conflict, server: try ServerVersion(record.server),
      fields: TargetFields(id: record.idField, modificationDate: record.dateField))
    switch resolution {
    case .skip: break
    case .local: try keep(resolved.merged, resolved)
    case .record(let given): try keep(resolved.applying(given), resolved)
    case .server: try adoptServer(resolved)
    }
    let entry = try entry(conflict.entryId, in: conflict.soupName)
    try note(
      EntryChange(
        .resolved, conflict.entryId, version: entry?.version ?? conflict.version + 1, reason: resolver ?? resolution.word,
        fields: conflict.fields, recordId: resolved.fields.id(of: conflict.local)), in: conflict.soupName)
    return entry
  }

  private func keep(_ entry: JSONObject, _ resolved: ResolvedConflict) throws {
    let id = resolved.conflict.entryId, soup = resolved.conflict.soupName
    _ = try replace(id, with: entry, in: soup)
    try forgetConflict(of: id, in: soup)
    if resolved.server == .unknown { try forgetBase(of: id, in: soup) }
    guard entry.hasFlag(LocalField.local), let base = resolved.nextBase else { return }
    try setBase(of: id, in: soup, to: base.serialized())
  }

  private func adoptServer(_ resolved: ResolvedConflict) throws {
    let id = resolved.conflict.entryId, soup = resolved.conflict.soupName
    switch resolved.server {
    case .deleted: try remove([id], from: soup)
    case .record(let record): _ = try replace(id, with: resolved.clean(record), in: soup)
    case .unknown:
      throw SyncError(
        .conflictUnresolved,
        "the server's version of entry \(id) of soup \(soup) is not known; "
          + "sync it down first, or resolve with 'local' or a record"
      )
    }
  }
}

/// Computes the entry and its base after a conflict is resolved. No store, network or clock.
struct ResolvedConflict: Sendable {
  let conflict: SyncConflict
  let server: ServerVersion
  let fields: TargetFields

  /// The new base; nil if the server has no record to compare with.
  var nextBase: JSONObject? { server.record.map { RecordMerge.base(conflict.base, after: $0) } }

  /// The entry if the local changes win.
  var merged: JSONObject {
    var entry = conflict.merged
    entry[LocalField.lastError] = nil
    switch server {
    case .record: break
    case .deleted:
      entry[LocalField.created] = true
      entry[LocalField.deleted] = false
    // Without a date and a base, the upload overwrites the server's record.
    case .unknown: entry = Projection.removing(fields.modificationDate, from: entry)
    }
    return entry
  }

  /// Returns the entry if a record was given. It is clean if the server has the same values.
  func applying(_ given: JSONObject) -> JSONObject {
    var entry = merged
    for (key, value) in given where !RecordMerge.isBookkeeping(key, fields) { entry[key] = value }
    entry[LocalField.deleted] = false
    entry[LocalField.local] = true
    if !entry.hasFlag(LocalField.created) { entry[LocalField.updated] = true }
    guard let record = server.record else { return entry }
    let rest = RecordMerge(base: nextBase, local: entry, server: record, fields: fields)
    return rest.isSettled ? RecordMerge.cleaned(entry) : entry
  }

  /// Returns the entry if the server wins.
  func clean(_ record: JSONObject) -> JSONObject {
    var entry = RecordMerge.base(conflict.base ?? conflict.local, after: record)
    entry[LocalField.syncId] = conflict.local[LocalField.syncId]
    return RecordMerge.cleaned(entry)
  }
}

extension RecordMerge {
  /// Returns the entry without its local flags, its last error and its operations.
  static func cleaned(_ entry: JSONObject) -> JSONObject {
    var clean = entry
    for key in LocalField.ofChanges { clean[key] = nil }
    for (key, value) in LocalField.clean { clean[key] = value }
    return clean
  }
}
