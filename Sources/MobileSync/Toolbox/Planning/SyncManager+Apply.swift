import JSON
import SmartStore

extension SyncManager {
  /// Sends what a plan says, as far as the entries are still as the plan saw them: a run of its sync that is limited to these
  /// entries. Others are left out, with a warning in the state. A plan is applied once.
  /// - Parameters:
  ///   - plan: The ``SyncPlan/json`` of a plan.
  ///   - allOrNothing: Whether nothing is sent if an entry would be left out.
  ///   - server: Returns the org and user of a sync, or its connection, as the planner was told.
  ///   - onConflict: Called with each conflict.
  ///   - onUpdate: Called with every state.
  /// - Returns: The state at the start: RUNNING.
  /// - Throws: ``SyncError`` `.planInvalid`, `.planUsed`, `.planStale`, and as ``reSync(_:maxRequests:onConflict:onUpdate:)``.
  @discardableResult
  public func applyPlan(
    _ plan: JSONObject, allOrNothing: Bool = false, server: @escaping @Sendable (SyncState) throws -> JSONObject = { _ in [:] },
    onConflict: @escaping ConflictListener = { _ in }, onUpdate: @escaping Listener
  ) throws -> SyncState {
    try applyPlan(plan, allOrNothing: allOrNothing, server, RunListeners(onUpdate, onConflict))
  }

  private func applyPlan(
    _ plan: JSONObject, allOrNothing: Bool, _ server: @escaping @Sendable (SyncState) throws -> JSONObject,
    _ listeners: RunListeners
  ) throws -> SyncState {
    try checkAccepting()
    let file = try PlanFile(plan), limit = PlanLimit(file)
    guard let found = try getSyncStatus(.id(file.syncId)) else { throw PlanFile.invalid("its sync does not exist here") }
    try checkRestraint(found)
    let control = listeners.control, job = job, store = store, configuration = configuration
    try reserve(found.id, control)
    do {
      let start = try store.writeBlocking(.synced) { transaction in
        var stored = try file.check(store, server, now: configuration.now(), in: transaction)
        guard transaction.history != nil else {
          throw PlanFile.invalid("the store keeps no history, which says what was applied; see the setting 'history'")
        }
        try limit.compare(in: transaction)
        if allOrNothing, limit.count > 0 { throw PlanLimit.stale(limit.sentences) }
        stored.totalSize = -1
        return try enter(stored, in: transaction, job, plan: file.id)
      }
      return begin(start, control, listeners, limit)
    } catch {
      release(found.id)
      throw error
    }
  }

  /// Looks at the server as the run of a plan does, before anything is sent. Call it before a plan is applied with
  /// `allOrNothing`. Changes nothing.
  /// - Parameters:
  ///   - plan: The ``SyncPlan/json`` of a plan.
  ///   - server: Returns the org and user of a sync, or its connection, as the planner was told.
  /// - Throws: ``SyncError`` `.planStale` if an entry of the plan would stay, with up to 50 reasons; `.planInvalid`, `.planUsed`;
  ///   errors of the server.
  public func checkPlan(
    _ plan: JSONObject, server: @escaping @Sendable (SyncState) throws -> JSONObject = { _ in [:] }
  ) async throws {
    try checkAccepting()
    let file = try PlanFile(plan), limit = PlanLimit(file), store = store, now = configuration.now()
    let state = try await store.read { snapshot in
      try limit.compare(in: snapshot)
      return try file.check(store, server, now: now, in: snapshot)
    }
    try checkRestraint(state)
    guard limit.count == 0 else { throw PlanLimit.stale(limit.sentences) }
    let recorder = PlanRecorder(looks: true)
    try await planner(server: server).run(state, recorder, limit)
    let staying = recorder.items.filter { $0.expect != .send && $0.expect != .merge }
    guard staying.isEmpty else {
      throw PlanLimit.stale(PlanLimit.told(staying.map { ($0.soup, $0.entryId, $0.why.first?.text ?? $0.expect.rawValue) }))
    }
  }

  /// Applies a plan and waits for the end of the run.
  /// - Parameters:
  ///   - plan: A plan of this manager.
  ///   - allOrNothing: Whether nothing is sent if an entry would be left out.
  /// - Returns: The final state.
  /// - Throws: As ``applyPlan(_:allOrNothing:server:onConflict:onUpdate:)``.
  public func applyPlan(_ plan: SyncPlan, allOrNothing: Bool = false) async throws -> SyncState {
    let json = plan.json
    if allOrNothing { try await checkPlan(json) }
    return try await finalState({ _ in }) { manager, listeners in
      try manager.applyPlan(json, allOrNothing: allOrNothing, { _ in [:] }, listeners)
    }
  }
}
