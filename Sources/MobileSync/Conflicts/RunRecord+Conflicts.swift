import JSON
import SmartStore

/// A conflict that a step of a run came across.
struct MetConflict: Sendable, Equatable {
  let soup: String
  let entryId: Int64
  /// It has not been reported yet.
  let isNews: Bool
  /// The run has counted it among what it skipped.
  var isSkipped = false
}

extension RunRecord {
  /// Brings entries and the server's versions together, in one transaction, and gives what cannot be to the sync's resolver.
  /// - Returns: What became of each entry that is still there and dirty, by entry id; one that a resolver removed is settled.
  func reconcile(_ met: [Encounter]) async throws -> [Int64: Reconciliation] {
    guard !met.isEmpty else { return [:] }
    let reconciler = Reconciler(
      syncId: state.id, mergeMode: state.options.mergeMode, isDown: false, now: environment.configuration.now())
    let outcomes = try await save(.synced) { transaction, state in
      try met.compactMap { one -> (met: Encounter, outcome: Reconciliation)? in
        guard let outcome = try reconciler.reconcile(one, in: transaction) else { return nil }
        if outcome == .merged || outcome == .settled { state.counts.merged += 1 }
        return (one, outcome)
      }
    }
    let conflicts = outcomes.compactMap { one -> MetConflict? in
      guard case .conflict(let isNews) = one.outcome else { return nil }
      return MetConflict(soup: one.met.soup, entryId: one.met.entryId, isNews: isNews)
    }
    let resolved = try await handle(conflicts)
    return Dictionary(
      outcomes.map { ($0.met.entryId, resolved[$0.met.entryId] ?? $0.outcome) }, uniquingKeysWith: { first, _ in first })
  }

  /// Offers conflicts to the sync's resolver, when it has one, and tells of those that stay.
  /// - Returns: What became of those that were resolved, by entry id.
  /// - Throws: ``SyncError`` `.resolver`. All conflicts that are left stay, and were told of.
  @discardableResult
  func handle(_ conflicts: [MetConflict]) async throws -> [Int64: Reconciliation] {
    var resolved: [Int64: Reconciliation] = [:], staying: [SyncConflict] = []
    var failure: (any Error)?
    for met in conflicts {
      guard let conflict = try await environment.store.read({ try $0.syncConflict(met.entryId, in: met.soup) }) else { continue }
      if failure == nil, let name = state.options.resolver {
        do {
          try environment.control.check()
          if let outcome = try await resolve(conflict, met, with: name) {
            resolved[met.entryId] = outcome
            continue
          }
        } catch {
          failure = error
        }
      }
      if met.isNews { staying.append(conflict) }
    }
    if !staying.isEmpty { environment.onConflicts(staying) }
    if let failure { throw failure }
    return resolved
  }

  /// - Returns: nil when the conflict stays: the resolver left it, or the entry was edited while it thought.
  private func resolve(
    _ conflict: SyncConflict, _ met: MetConflict, with name: String
  ) async throws -> Reconciliation? {
    let resolution = try await environment.resolve(conflict, name)
    guard resolution != .skip else { return nil }
    return try await save(.synced) { transaction, state in
      guard try transaction.entry(conflict.entryId, in: conflict.soupName)?.version == conflict.version else { return nil }
      let entry = try transaction.settle(conflict, resolution)?.object()
      state.counts.merged += 1
      state.counts.conflicting -= met.isSkipped ? 1 : 0
      state.counts.skipped -= met.isSkipped ? 1 : 0
      state.counts.stored += met.isSkipped ? 1 : 0
      return entry?.hasFlag(LocalField.local) == true ? .merged : .settled
    }
  }
}

extension RunEnvironment {
  /// Asks a resolver and waits for it, at most as long as the configuration says.
  /// - Throws: ``SyncError`` `.resolver`, naming it; what it threw when that is a ``SyncError``.
  func resolve(_ conflict: SyncConflict, _ name: String) async throws -> ConflictResolution {
    guard let resolver = resolver(name) else {
      throw SyncError(.resolver, "resolver '\(name)': no resolver is registered under that name")
    }
    let timeoutMs = configuration.customTargetTimeoutMs
    let late = SyncError(
      .resolver, "resolver '\(name)' did not answer within \(timeoutMs) ms; the script must poll while a sync runs")
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
    } catch let error as SyncError {
      throw error
    } catch let error as CancellationError {
      throw error
    } catch {
      throw SyncError(.resolver, "resolver '\(name)': \(error)")
    }
  }
}
