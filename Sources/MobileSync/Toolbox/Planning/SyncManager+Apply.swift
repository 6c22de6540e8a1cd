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
        guard var stored = try SyncsSoup.find(.id(file.syncId), in: transaction) else {
          throw SyncError.noSuchSync(.id(file.syncId))
        }
        let id = try transaction.storeId() ?? ""
        try file.check(try PlanPlace(stored, of: store, id: id, server: try server(stored)), now: configuration.now())
        guard transaction.history != nil else {
          throw PlanFile.invalid("the store keeps no history, which says what was applied; see the setting 'history'")
        }
        let used = try transaction.history(HistoryQuery(.runs, where: "plan = ?", [.text(file.id)], newestFirst: true, limit: 1))
        guard used.isEmpty else {
          throw SyncError(.planUsed, "the plan was applied before, in run \(used[0].id); make another one with tureen plan")
        }
        try limit.compare(in: transaction)
        if allOrNothing, limit.count > 0 {
          throw SyncError(.planStale, "nothing was sent: \(limit.sentences.joined(separator: "; "))")
        }
        stored.totalSize = -1
        return try enter(stored, in: transaction, job, plan: file.id)
      }
      return begin(start, control, listeners, limit)
    } catch {
      release(found.id)
      throw error
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
    return try await finalState({ _ in }) { manager, listeners in
      try manager.applyPlan(json, allOrNothing: allOrNothing, { _ in [:] }, listeners)
    }
  }
}
