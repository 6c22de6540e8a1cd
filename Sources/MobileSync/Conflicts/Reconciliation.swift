import JSON
import SmartStore

/// An entry with local changes, and the server's version of its record.
struct ConflictCandidate: Sendable {
  let soup: String
  /// The number of the soup when the server was asked; nil in the transaction that reconciles. If
  /// the soup was registered again since, its entries are others.
  var soupNumber: Int64?
  let fields: TargetFields
  let entryId: Int64
  let server: ServerVersion
  /// The whole record, if ``server`` is only the part of it that is compared.
  var whole: JSONObject?
  /// Whether the server has a newer version. If there is a base, its fields decide whether that is
  /// a change.
  var isNewerOnServer = false
  /// Whether the entry must not be merged, even if its fields allow it, because the group that it
  /// belongs to was changed.
  var isUnmergeable = false
}

extension ConflictCandidate {
  /// Returns the members of the whole record that were not compared, and that the entry lacks or has
  /// not changed.
  func extras(of entry: JSONObject, _ base: JSONObject?) -> JSONObject {
    (whole ?? [:]).filtered { key, _ in
      guard server.record?[key] == nil, !RecordMerge.isBookkeeping(key, fields) else { return false }
      guard let mine = entry[key] else { return true }
      return base?[key].map { RecordMerge.same(mine, $0) } ?? false
    }
  }
}

/// The outcome of reconciling an entry with local changes.
enum Reconciliation: Sendable, Equatable {
  /// The server has no changes.
  case untouched
  /// The server's changes were merged in, and local changes remain to be sent.
  case merged
  /// The server has every local change, so the entry is clean.
  case settled
  /// Both sides changed the entry. It stays as it is; `isNew` is false if the same conflict was
  /// already known.
  case conflict(isNew: Bool)

  var isConflict: Bool { if case .conflict = self { true } else { false } }
}

/// Reconciles entries with the server's versions for one sync, inside a transaction.
struct Reconciler: Sendable {
  let syncId: Int64
  let mergeMode: MergeMode
  /// Decides fields that both sides changed, with ``MergeMode/merge``.
  var policy: ConflictPolicy?
  /// Whether the sync is a sync down, which then owns the entries.
  let isDown: Bool
  /// Ms since 1970 UTC.
  let now: Int64

  /// Reconciles entries, in order.
  /// - Returns: An outcome for each; nil if the entry no longer exists or has no local changes any
  ///   more.
  func reconcile(_ candidates: [ConflictCandidate], in transaction: StoreTransaction) throws -> [Reconciliation?] {
    let isSame = try candidates.map { candidate in
      try candidate.soupNumber.map { try transaction.soupNumber(of: candidate.soup) == $0 } ?? true
    }
    var stored = try StoredCandidates(zip(candidates, isSame).filter(\.1).map(\.0), in: transaction)
    return try zip(candidates, isSame).map { candidate, isSame in
      guard isSame else { return nil }
      let known = try stored.next(candidate, in: transaction)
      let outcome = try reconcile(candidate, known, in: transaction)
      try note(outcome, of: candidate, known, in: transaction)
      return outcome
    }
  }

  /// Adds the outcome to the history.
  private func note(
    _ outcome: Reconciliation?, of candidate: ConflictCandidate, _ known: StoredCandidates.Stored,
    in transaction: StoreTransaction
  ) throws {
    guard transaction.history != nil, let outcome, outcome != .untouched, let entry = known.entry else { return }
    let local = try entry.object(), server = candidate.server.record
    let merge = server.map {
      RecordMerge(
        base: RecordMerge.base(known.base, fitting: local, candidate.fields), local: local, server: $0, fields: candidate.fields,
        own: known.own)
    }
    var change = EntryChange(
      .merged, entry.id, version: entry.version + 1, fields: merge?.remoteChanges, recordId: candidate.fields.id(of: local))
    switch outcome {
    case .conflict:
      change.cause = .conflict
      change.version = entry.version
      let isDeletedHere = local.hasFlag(LocalField.deleted)
      change.fields = isDeletedHere ? merge?.remoteChanges : merge?.conflicts
      change.reason =
        candidate.server == .deleted ? "deletedThere" : local.hasFlag(LocalField.deleted) ? "deletedHere" : "changed"
    case .settled: change.cause = .settled
    case .merged, .untouched: break
    }
    // The merge above knows no policy: it has conflicts although the outcome has none.
    if !outcome.isConflict, policy != nil, let merge, !merge.conflicts.isEmpty {
      (change.cause, change.reason) = (.resolved, ConflictPolicy.reason)
      change.fields = merge.conflicts
    }
    try transaction.note(change, in: candidate.soup)
  }

  private func reconcile(
    _ candidate: ConflictCandidate, _ stored: StoredCandidates.Stored, in transaction: StoreTransaction
  ) throws -> Reconciliation? {
    guard let local = try stored.entry?.object(), local.hasFlag(LocalField.local) else { return nil }
    switch ReconcileDecision(candidate, local, stored, self) {
    case .untouched(let forgetsConflict):
      if forgetsConflict { try transaction.forgetConflict(of: candidate.entryId, in: candidate.soup) }
      return .untouched
    case .conflict: return try note(candidate, stored.conflict, in: transaction)
    case .settled(let merge, let base): return try markClean(candidate, merge, base, in: transaction)
    case .merged(let merge, let base): return try combine(candidate, merge, base, local, in: transaction)
    }
  }

  /// - Parameter known: The conflict of the entry that is already stored.
  private func note(
    _ candidate: ConflictCandidate, _ known: ConflictRecord?, in transaction: StoreTransaction
  ) throws -> Reconciliation {
    var record = ConflictRecord(
      entryId: candidate.entryId, syncId: syncId, server: stored(candidate, known), idField: candidate.fields.id,
      dateField: candidate.fields.modificationDate, detectedAt: now)
    let isNew = known?.server != record.server
    if let known, !isNew { record.detectedAt = known.detectedAt }
    try transaction.noteConflict(record, in: candidate.soup)
    return .conflict(isNew: isNew)
  }

  /// Returns the server's version for a conflict: the whole record, because it may replace the entry. A
  /// version that cannot be read now leaves the known one.
  private func stored(_ candidate: ConflictCandidate, _ known: ConflictRecord?) -> ConflictRecord.Server {
    switch candidate.server {
    case .record(let record): ServerVersion.record((candidate.whole ?? [:]).replacing(with: record)).stored
    case .deleted: .deleted
    case .unknown: known?.server ?? .unknown
    }
  }

  private func markClean(
    _ candidate: ConflictCandidate, _ merge: RecordMerge, _ base: JSONObject?, in transaction: StoreTransaction
  ) throws -> Reconciliation {
    try write(RecordMerge.cleaned(merge.merged), base, of: candidate, in: transaction)
    return .settled
  }

  /// Merges the server's changes into the entry; the entry stays dirty, and the server's version
  /// becomes its base.
  private func combine(
    _ candidate: ConflictCandidate, _ merge: RecordMerge, _ base: JSONObject?, _ local: JSONObject,
    in transaction: StoreTransaction
  ) throws -> Reconciliation {
    try transaction.forgetConflict(of: candidate.entryId, in: candidate.soup)
    try write(merge.merged, base, of: candidate, in: transaction)
    try transaction.setBase(
      of: candidate.entryId, in: candidate.soup,
      to: RecordMerge.base(base, after: candidate.extras(of: local, base).replacing(with: candidate.server.record ?? [:]))
        .serialized())
    return merge.remoteChanges.isEmpty ? .untouched : .merged
  }

  private func write(
    _ entry: JSONObject, _ base: JSONObject?, of candidate: ConflictCandidate, in transaction: StoreTransaction
  ) throws {
    // The entry gets the record's date, so it must have all of the record.
    var entry = entry.replacing(with: candidate.extras(of: entry, base))
    if isDown { entry[LocalField.syncId] = .integer(syncId) }
    _ = try transaction.replace(candidate.entryId, with: entry, in: candidate.soup)
    if isDown { try transaction.join(candidate.entryId, in: candidate.soup, owner: syncId) }
  }
}
