import JSON

/// Decides about an entry with local changes whose record may have changed on the server. No store, network or clock.
enum ReconcileDecision: Sendable {
  /// The entry stays as it is. A conflict that was noted before is forgotten if `forgetsConflict`.
  case untouched(forgetsConflict: Bool)
  /// Both sides changed it.
  case conflict
  /// The server has every local change.
  case settled(RecordMerge, base: JSONObject?)
  /// The server's changes are merged in, and local ones remain.
  case merged(RecordMerge, base: JSONObject?)

  /// - Parameters:
  ///   - candidate: The entry and the server's version.
  ///   - local: The entry.
  ///   - stored: What the store knows about the entry.
  ///   - rules: The rules of the sync.
  init(_ candidate: ConflictCandidate, _ local: JSONObject, _ stored: StoredCandidates.Stored, _ rules: Reconciler) {
    let isDeletedHere = local.hasFlag(LocalField.deleted)
    guard !candidate.isUnmergeable, let server = candidate.server.record else {
      // Both sides deleted it, so there is no conflict.
      let isGone = !candidate.isUnmergeable && candidate.server == .deleted && isDeletedHere
      self = isGone ? .untouched(forgetsConflict: false) : .conflict
      return
    }
    let base = RecordMerge.base(stored.base, fitting: local, candidate.fields)
    let merge = RecordMerge(
      base: base, local: local, server: server, fields: candidate.fields, own: stored.own,
      policy: rules.mergeMode == .merge && !isDeletedHere ? rules.policy : nil)
    guard rules.mergeMode == .merge else {
      let changes = isDeletedHere || base == nil ? merge.remoteChanges : merge.foreignChanges
      // A newer date alone proves nothing if there is a base: it may come from our own upload.
      let isChanged = !changes.isEmpty || candidate.isNewerOnServer && base == nil
      self = isChanged ? .conflict : .untouched(forgetsConflict: false)
      return
    }
    if isDeletedHere ? !merge.remoteChanges.isEmpty : !merge.conflicts.isEmpty {
      self = .conflict
    } else if merge.isSettled, !isDeletedHere {
      self = .settled(merge, base: base)
    } else if merge.merged != local || merge.isDecidedByPolicy, rules.isDown || !merge.remoteChanges.isEmpty {
      self = .merged(merge, base: base)
    } else {
      // A sync up does not write a mere newer date: the next check finds it again.
      self = .untouched(forgetsConflict: true)
    }
  }
}
