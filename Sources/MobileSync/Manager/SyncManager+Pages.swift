import SmartStore

/// Syncs of lists that are read page by page, on request.
extension SyncManager {
  /// Runs a sync down again from the beginning of its list, ignoring its progress and stored
  /// answers. Entries stay until the page that replaces them is stored.
  /// - Returns: The state at the start: RUNNING.
  /// - Throws: ``SyncError`` as ``reSync(_:maxRequests:onConflict:onUpdate:)``, and `.wrongSyncType` for a sync up.
  @discardableResult
  public func refresh(
    _ reference: SyncReference, onConflict: @escaping ConflictListener = { _ in }, onUpdate: @escaping Listener
  ) throws -> SyncState {
    try reSync(reference, RunListeners(onUpdate, onConflict), mode: .refresh)
  }

  /// Continues after the last page of a run that ended at its `maxPages`, for the same number of
  /// pages. If the list has already ended, the run ends as DONE at once.
  /// - Returns: The state at the start: RUNNING.
  /// - Throws: ``SyncError`` as ``reSync(_:maxRequests:onConflict:onUpdate:)``, and `.wrongSyncType` for a sync up.
  @discardableResult
  public func more(
    _ reference: SyncReference, onConflict: @escaping ConflictListener = { _ in }, onUpdate: @escaping Listener
  ) throws -> SyncState {
    try reSync(reference, RunListeners(onUpdate, onConflict), mode: .more)
  }
}

extension RunMode {
  /// Returns the state in which a run of this mode starts.
  func beginning(_ stored: SyncState, in transaction: StoreTransaction) throws -> SyncState {
    var state = stored
    switch self {
    case .resume, .nothing: break
    case .more: try check(stored, "more")
    case .refresh:
      try check(stored, "refresh")
      state.maxTimeStamp = TimeStamp.never
      state.coveredTimeStamp = TimeStamp.never
      state.memory = [:]
      try transaction.forgetSyncPages(of: stored.id)
    }
    return state
  }

  private func check(_ state: SyncState, _ name: String) throws(SyncError) {
    guard state.type == .syncDown else {
      throw SyncError(.wrongSyncType, "Cannot run \(name):\(state.name ?? String(state.id)): wrong type:\(state.type.rawValue)")
    }
  }
}
