import JSON

/// The calls under the names of the native SDK.
extension SyncManager {
  /// Runs the sync with this name again, from its current state.
  /// - Throws: As ``reSync(_:maxRequests:onConflict:onUpdate:)``.
  @discardableResult
  public func reSync(named name: String, onUpdate: @escaping Listener) throws -> SyncState {
    try reSync(.name(name), onUpdate: onUpdate)
  }

  /// Runs the sync with this id again, from its current state.
  /// - Throws: As ``reSync(_:maxRequests:onConflict:onUpdate:)``.
  @discardableResult
  public func reSync(id: Int64, onUpdate: @escaping Listener) throws -> SyncState {
    try reSync(.id(id), onUpdate: onUpdate)
  }

  /// - Returns: The final state.
  public func reSync(named name: String) async throws -> SyncState { try await reSync(.name(name)) }

  /// - Returns: The final state.
  public func reSync(id: Int64) async throws -> SyncState { try await reSync(.id(id)) }

  /// - Throws: As ``cleanResyncGhosts(_:force:maxRequests:onConflict:completion:)``.
  public func cleanGhosts(named name: String, completion: @escaping @Sendable (Result<Int, SyncError>) -> Void) throws {
    try cleanResyncGhosts(.name(name), completion: completion)
  }

  /// - Throws: As ``cleanResyncGhosts(_:force:maxRequests:onConflict:completion:)``.
  public func cleanGhosts(id: Int64, completion: @escaping @Sendable (Result<Int, SyncError>) -> Void) throws {
    try cleanResyncGhosts(.id(id), completion: completion)
  }

  /// - Returns: The number of removed ghosts.
  public func cleanGhosts(named name: String) async throws -> Int { try await cleanResyncGhosts(.name(name)) }

  /// - Returns: The number of removed ghosts.
  public func cleanGhosts(id: Int64) async throws -> Int { try await cleanResyncGhosts(.id(id)) }

  /// - Returns: The final state.
  public func runSync(_ state: SyncState) async throws -> SyncState {
    try await finalState { manager, listeners in try manager.run(state, listeners) }
  }
}
