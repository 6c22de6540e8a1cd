import JSON
import SmartStore

/// An entry with local changes, and what the server has of it.
struct Encounter: Sendable {
  let soup: String
  let fields: TargetFields
  let entryId: Int64
  let server: ServerVersion
  /// The server has a newer one; whether that means a change is for its fields to tell, where there is a base to compare with.
  var isChangedForCertain = false
  /// It cannot be brought together, whatever its fields say: what it belongs to was changed.
  var isInTheWay = false
}

/// What became of an entry that was changed here.
enum Reconciliation: Sendable, Equatable {
  /// The server has nothing new.
  case untouched
  /// The server's changes are in it, and local ones are left to send.
  case merged
  /// The server has every local change: it is clean.
  case settled
  /// Both sides changed it. It stays as it is; `isNews` unless the same was known before.
  case conflict(isNews: Bool)

  var isConflict: Bool { if case .conflict = self { true } else { false } }
}

/// One sync's way of bringing both sides together, inside a transaction.
struct Reconciler: Sendable {
  let syncId: Int64
  let mergeMode: MergeMode
  /// The sync brings records: entries are its own from then on.
  let isDown: Bool
  /// Ms since 1970 UTC.
  let now: Int64

  /// - Returns: nil when the entry is gone or has no local changes any more.
  func reconcile(_ met: Encounter, in transaction: StoreTransaction) throws -> Reconciliation? {
    guard let local = try transaction.entry(met.entryId, in: met.soup)?.object(), local.hasFlag(LocalField.local)
    else { return nil }
    let isDeletedHere = local.hasFlag(LocalField.deleted)
    if met.isInTheWay { return try note(met, in: transaction) }
    guard let server = met.server.record else {
      // Deleted on both sides: nothing is left to disagree about.
      if met.server == .deleted, isDeletedHere { return .untouched }
      return try note(met, in: transaction)
    }
    let stored = try transaction.base(of: met.entryId, in: met.soup).flatMap { try JSONValue(parsing: $0).objectValue }
    let base = RecordMerge.base(stored, fitting: local, met.fields)
    let merge = RecordMerge(base: base, local: local, server: server, fields: met.fields)
    guard mergeMode == .merge else {
      let changes = isDeletedHere || base == nil ? merge.remoteChanges : merge.foreignChanges
      // A newer date alone says nothing where the fields can tell: it may be that of an upload from here.
      let isChanged = !changes.isEmpty || met.isChangedForCertain && base == nil
      return isChanged ? try note(met, in: transaction) : .untouched
    }
    if isDeletedHere ? !merge.remoteChanges.isEmpty : !merge.conflicts.isEmpty { return try note(met, in: transaction) }
    if merge.isSettled, !isDeletedHere { return try settle(met, merge, in: transaction) }
    return try combine(met, merge, base, local, server, in: transaction)
  }

  private func note(_ met: Encounter, in transaction: StoreTransaction) throws -> Reconciliation {
    var record = ConflictRecord(
      entryId: met.entryId, syncId: syncId, server: met.server.stored, idField: met.fields.id,
      dateField: met.fields.modificationDate, detectedAt: now)
    let known = try transaction.conflict(of: met.entryId, in: met.soup)
    let isNews = known?.server != record.server
    if let known, !isNews { record.detectedAt = known.detectedAt }
    try transaction.noteConflict(record, in: met.soup)
    return .conflict(isNews: isNews)
  }

  private func settle(_ met: Encounter, _ merge: RecordMerge, in transaction: StoreTransaction) throws -> Reconciliation {
    try write(RecordMerge.cleaned(merge.merged), of: met, in: transaction)
    return .settled
  }

  /// Takes the server's changes in; the entry stays dirty, and what the server has is its new base.
  private func combine(
    _ met: Encounter, _ merge: RecordMerge, _ base: JSONObject?, _ local: JSONObject, _ server: JSONObject,
    in transaction: StoreTransaction
  ) throws -> Reconciliation {
    try transaction.forgetConflict(of: met.entryId, in: met.soup)
    // On the way up a newer date alone is not written: the next look finds it again.
    guard merge.merged != local, isDown || !merge.remoteChanges.isEmpty else { return .untouched }
    try write(merge.merged, of: met, in: transaction)
    try transaction.setBase(
      of: met.entryId, in: met.soup, to: RecordMerge.base(base, after: server).serialized())
    return merge.remoteChanges.isEmpty ? .untouched : .merged
  }

  private func write(_ entry: JSONObject, of met: Encounter, in transaction: StoreTransaction) throws {
    var entry = entry
    if isDown { entry[LocalField.syncId] = .integer(syncId) }
    _ = try transaction.replace(met.entryId, with: entry, in: met.soup)
    if isDown { try transaction.join(met.entryId, in: met.soup, owner: syncId) }
  }
}
