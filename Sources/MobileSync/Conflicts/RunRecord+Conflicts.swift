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
    guard !candidates.isEmpty else { return [:] }
    let reconciler = Reconciler(
      syncId: state.id, mergeMode: state.options.mergeMode, isDown: false, now: environment.configuration.now())
    let outcomes = try await save(.synced) { transaction, state in
      let outcomes = try reconciler.reconcile(candidates, in: transaction)
      return zip(candidates, outcomes).compactMap {
        candidate, outcome -> (candidate: ConflictCandidate, outcome: Reconciliation)? in
        guard let outcome else { return nil }
        if outcome == .merged || outcome == .settled { state.counts.merged += 1 }
        return (candidate, outcome)
      }
    }
    let conflicts = outcomes.compactMap { one -> DetectedConflict? in
      guard case .conflict(let isNew) = one.outcome else { return nil }
      return DetectedConflict(soup: one.candidate.soup, entryId: one.candidate.entryId, isNew: isNew)
    }
    let resolved = try await handle(conflicts)
    return Dictionary(
      outcomes.map { ($0.candidate.entryId, resolved[$0.candidate.entryId] ?? $0.outcome) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Passes conflicts to the sync's resolver, if it has one, and reports those that remain.
  ///
  /// If the resolver fails, the conflict stays and the run goes on, so that one record does not hold up all others;
  /// ``failOfResolver()`` ends it.
  /// - Returns: The outcomes of the resolved conflicts, by entry id.
  /// - Throws: `CancellationError`, and errors of the store. The remaining conflicts have been reported by then.
  @discardableResult
  func handle(_ conflicts: [DetectedConflict]) async throws -> [Int64: Reconciliation] {
    var resolved: [Int64: Reconciliation] = [:], staying: [SyncConflict] = []
    var failure: (any Error)?
    for detected in conflicts {
      guard let conflict = try await environment.store.read({ try $0.syncConflict(detected.entryId, in: detected.soup) }) else {
        continue
      }
      if failure == nil, resolverTrouble?.isFinal != true, let name = state.options.resolver {
        do {
          try environment.control.check()
          if let outcome = try await resolve(conflict, detected, with: name) {
            resolved[detected.entryId] = outcome
            continue
          }
        } catch let trouble as ResolverTrouble {
          note(trouble)
        } catch {
          failure = error
        }
      }
      if detected.isNew { staying.append(conflict) }
    }
    if !staying.isEmpty { environment.onConflicts(staying) }
    if let failure { throw failure }
    return resolved
  }

  /// Keeps the first failure, and that the resolver is not asked any more.
  private func note(_ trouble: ResolverTrouble) {
    resolverTrouble = ResolverTrouble(
      error: resolverTrouble?.error ?? trouble.error, isFinal: trouble.isFinal || resolverTrouble?.isFinal == true)
  }

  /// Call when everything else is done, before the run ends.
  /// - Throws: ``SyncError`` `.resolver` if the resolver failed during the run.
  func failOfResolver() throws {
    if let resolverTrouble { throw resolverTrouble.error }
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
      let entry = try transaction.settle(conflict, resolution)?.object()
      state.counts.merged += 1
      state.counts.conflicting -= detected.isSkipped ? 1 : 0
      state.counts.skipped -= detected.isSkipped ? 1 : 0
      state.counts.stored += detected.isSkipped ? 1 : 0
      return entry?.hasFlag(LocalField.local) == true ? .merged : .settled
    }
  }
}

/// A failure of a sync's resolver.
struct ResolverTrouble: Error {
  let error: SyncError
  /// Whether the resolver is not asked again in this run: one that does not answer would hold up every conflict.
  let isFinal: Bool
}

extension RunEnvironment {
  /// Calls a resolver and waits for it, at most as long as the configuration allows.
  /// - Throws: ``ResolverTrouble`` with ``SyncError`` `.resolver`, which names the resolver, or with a ``SyncError`` that
  ///   the resolver throws; `CancellationError`.
  func resolve(_ conflict: SyncConflict, _ name: String) async throws -> ConflictResolution {
    guard let resolver = resolver(name) else {
      let missing = SyncError(.resolver, "resolver '\(name)': no resolver is registered under that name")
      throw ResolverTrouble(error: missing, isFinal: true)
    }
    let timeoutMs = configuration.customTargetTimeoutMs
    let late = SyncError(
      .resolver, "resolver '\(name)' did not answer within \(timeoutMs) ms; the script must poll while a sync runs")
    let task = Task {
      try await withThrowingTaskGroup(of: ConflictResolution.self) { group in
        group.addTask { try await resolver(conflict) }
        group.addTask {
          try await Task.sleep(for: .milliseconds(timeoutMs))
          throw ResolverTrouble(error: late, isFinal: true)
        }
        defer { group.cancelAll() }
        return try await group.next() ?? .skip
      }
    }
    do {
      return try await control.value(of: task)
    } catch let error as SyncError {
      throw ResolverTrouble(error: error, isFinal: false)
    } catch let error as CancellationError {
      throw error
    } catch let error as ResolverTrouble {
      throw error
    } catch {
      throw ResolverTrouble(error: SyncError(.resolver, "resolver '\(name)': \(error)"), isFinal: false)
    }
  }
}
