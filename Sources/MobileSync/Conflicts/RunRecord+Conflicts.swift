import JSON
import SmartStore

/// A conflict that a step of a run detected.
struct DetectedConflict: Sendable, Equatable {
  let soup: String
  let entryId: Int64
  /// Whether it has not been reported yet.
  let isNew: Bool
  /// Whether the run counted the record as skipped.
  var isSkipped = false
}

extension RunRecord {
  /// Reconciles entries with the server's versions in one transaction, and passes conflicts to the
  /// sync's resolver.
  /// - Returns: The outcome for each entry that still exists and was dirty, by entry id. An entry
  ///   that a resolver removed counts as settled.
  func reconcile(_ candidates: [ConflictCandidate]) async throws -> [Int64: Reconciliation] {
    if let recorder = environment.intent.recorder { return try await decide(candidates, recorder) }
    guard !candidates.isEmpty else { return [:] }
    let reconciler = Reconciler(
      syncId: state.id, mergeMode: state.options.mergeMode, policy: state.options.resolve, isDown: false,
      now: environment.configuration.now())
    let outcomes = try await save(.synced) { transaction, state in
      let outcomes = try reconciler.reconcile(candidates, in: transaction)
      return zip(candidates, outcomes).compactMap {
        candidate, outcome -> (candidate: ConflictCandidate, outcome: Reconciliation)? in
        guard let outcome else { return nil }
        if outcome == .merged || outcome == .settled { state.counts.merged += 1 }
        return (candidate, outcome)
      }
    }
    for one in outcomes { environment.limit?.noteWritten(one.candidate.entryId, in: one.candidate.soup) }
    let conflicts = outcomes.compactMap { one -> DetectedConflict? in
      guard case .conflict(let isNew) = one.outcome else { return nil }
      return DetectedConflict(soup: one.candidate.soup, entryId: one.candidate.entryId, isNew: isNew)
    }
    let resolved = try await handle(conflicts)
    return Dictionary(
      outcomes.map { ($0.candidate.entryId, resolved[$0.candidate.entryId] ?? $0.outcome) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Passes conflicts to the sync's resolver, if it has one, and reports those that remain. If the
  /// resolver fails for one, that conflict stays, and the run fails once the others are done; see
  /// ``RunRecord/resolverFailure``.
  /// - Returns: The outcomes of the resolved conflicts, by entry id.
  @discardableResult
  func handle(_ conflicts: [DetectedConflict]) async throws -> [Int64: Reconciliation] {
    var resolved: [Int64: Reconciliation] = [:], staying: [SyncConflict] = []
    var failure: (any Error)?
    for detected in conflicts {
      guard let conflict = try await environment.store.read({ try $0.syncConflict(detected.entryId, in: detected.soup) }) else {
        continue
      }
      if failure == nil, !hasNoResolver, let name = state.options.resolver {
        do {
          try environment.control.check()
          if let outcome = try await resolve(conflict, detected, with: name) {
            resolved[detected.entryId] = outcome
            continue
          }
        } catch let error as ResolverFailure {
          note(error)
          try await note(error.cause, of: conflict)
        } catch {
          failure = error
        }
      }
      if detected.isNew { staying.append(conflict) }
    }
    if !staying.isEmpty { environment.onConflicts(staying) }
    try await warnOfMisspelling(staying)
    if let failure { throw failure }
    return resolved
  }

  /// Adds a warning if a conflict stays and the policy names a similar field that the record does not have.
  private func warnOfMisspelling(_ conflicts: [SyncConflict]) async throws {
    guard let policy = state.options.resolve else { return }
    let warning = conflicts.lazy.compactMap { conflict in
      policy.misspelling(of: conflict.fields) { conflict.local[$0] != nil || conflict.server?[$0] != nil }
    }.first
    guard let warning, !state.warnings.contains(warning) else { return }
    try await save(.pulled) { _, state in state.warnings.append(warning) }
  }

  /// Resolves conflicts that an earlier run left and that the policy decides completely, in one transaction.
  func resolveByPolicy(_ conflicts: [DetectedConflict]) async throws {
    guard state.options.resolve != nil, !conflicts.isEmpty else { return }
    try await save(.synced) { transaction, state in
      for detected in conflicts {
        guard let conflict = try transaction.syncConflict(detected.entryId, in: detected.soup), conflict.kind == .changed,
          conflict.fields.isEmpty, conflict.isDecidedByPolicy
        else { continue }
        try transaction.resolve(conflict, .record([:]), by: ConflictPolicy.reason)
        state.counts.merged += 1
      }
    }
  }

  /// Stores why a conflict could not be resolved in its entry.
  private func note(_ error: SyncError, of conflict: SyncConflict) async throws {
    let reason: JSONValue = [
      "errorCode": "RESOLVER", "statusCode": "RESOLVER", "message": .string(error.message), "fields": [],
    ]
    try await save(.pulled) { transaction, _ in
      guard try transaction.entry(conflict.entryId, in: conflict.soupName)?.version == conflict.version,
        conflict.local[LocalField.lastError] != .string(reason.text)
      else { return }
      _ = try transaction.patch(
        conflict.entryId, in: conflict.soupName, setting: [LocalField.lastError: .string(reason.text)])
    }
  }

  /// - Returns: nil if the conflict stays, because the resolver skipped it or the entry was edited
  ///   meanwhile.
  private func resolve(
    _ conflict: SyncConflict, _ detected: DetectedConflict, with name: String
  ) async throws -> Reconciliation? {
    let resolution = try await environment.resolve(conflict, name)
    guard resolution != .skip else { return nil }
    return try await save(.synced) { transaction, state in
      guard try transaction.entry(conflict.entryId, in: conflict.soupName)?.version == conflict.version else { return nil }
      let entry = try transaction.resolve(conflict, resolution, by: name)?.object()
      state.counts.merged += 1
      state.counts.conflicting -= detected.isSkipped ? 1 : 0
      state.counts.skipped -= detected.isSkipped ? 1 : 0
      state.counts.stored += detected.isSkipped ? 1 : 0
      return entry?.hasFlag(LocalField.local) == true ? .merged : .settled
    }
  }
}

extension RunEnvironment {
  /// Calls a resolver and waits for it, at most as long as the configuration allows.
  /// - Throws: ``ResolverFailure``, whose cause names the resolver; a ``SyncError`` that the
  ///   resolver throws is its cause.
  func resolve(_ conflict: SyncConflict, _ name: String) async throws -> ConflictResolution {
    guard let resolver = resolver(name) else {
      throw ResolverFailure(
        SyncError(.resolver, "resolver '\(name)': no resolver is registered under that name"), isMissing: true)
    }
    let timeoutMs = configuration.customTargetTimeoutMs
    let late = ResolverFailure(
      SyncError(
        .resolver, "resolver '\(name)' did not answer within \(timeoutMs) ms; the script must poll while a sync runs"),
      isMissing: true)
    let task = Task {
      try await withThrowingTaskGroup(of: ConflictResolution.self) { group in
        group.addTask { try await resolver(conflict) }
        group.addTask {
          try await Task.sleep(for: .milliseconds(timeoutMs))
          throw late
        }
        defer { group.cancelAll() }
        return try await group.next() ?? .skip
      }
    }
    do {
      return try await control.value(of: task)
    } catch let error as CancellationError {
      throw error
    } catch let error as ResolverFailure {
      throw error
    } catch let error as SyncError {
      throw ResolverFailure(error, isMissing: false)
    } catch {
      throw ResolverFailure(SyncError(.resolver, "resolver '\(name)': \(error)"), isMissing: false)
    }
  }
}

/// A resolver that failed for one conflict.
struct ResolverFailure: Error {
  let cause: SyncError
  /// Whether it cannot be asked about others in this run either.
  let isMissing: Bool

  init(_ cause: SyncError, isMissing: Bool) {
    self.cause = cause
    self.isMissing = isMissing
  }
}
