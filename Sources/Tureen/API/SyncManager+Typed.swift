import MobileSync

/// Syncs with typed targets. The functions that run a sync wait for its end and return the final state: DONE, STOPPED or FAILED.
/// They throw if the run could not start. Cancelling the task stops the run at its next check point.
extension SyncManager {
  /// Creates a sync down and runs it.
  /// - Parameters:
  ///   - target: The source of the records.
  ///   - soupName: An existing soup.
  ///   - options: The sync's options, such as the merge mode.
  ///   - name: The name by which ``run(_:onUpdate:)`` and ``runs(named:)`` run it again; nil for a sync that is run once.
  ///   - onUpdate: Called with each state, including the last one, from any thread.
  /// - Throws: ``SyncError`` `.managerStopped`, `.invalidTarget`, `.invalidOptions`, `.duplicateName`. Then nothing is created.
  @discardableResult
  public func syncDown(
    _ target: DownTarget, into soupName: String, options: SyncOptions = SyncOptions(), named name: String? = nil,
    onUpdate: @escaping Listener = { _ in }
  ) async throws -> SyncState {
    try await runDown(target.json, options.json, soupName, name, onUpdate)
  }

  /// Creates a sync up and runs it.
  /// - Throws: As ``syncDown(_:into:options:named:onUpdate:)``, and ``SyncError`` `.noFieldlist`.
  @discardableResult
  public func syncUp(
    _ target: UpTarget = .collection(), from soupName: String, options: SyncOptions = SyncOptions(), named name: String? = nil,
    onUpdate: @escaping Listener = { _ in }
  ) async throws -> SyncState {
    try await runUp(target.json, options.json, soupName, name, onUpdate)
  }

  /// Saves a sync down with the status NEW without running it. An existing sync of that name is not changed.
  /// - Returns: The sync of that name.
  /// - Throws: ``SyncError`` `.invalidTarget`, `.invalidOptions`.
  @discardableResult
  public func setUp(
    _ name: String, down target: DownTarget, into soupName: String, options: SyncOptions = SyncOptions()
  ) async throws -> SyncState {
    try await sync(name) {
      try $0.createSyncDown(target: target.json, options: options.json, soupName: soupName, syncName: name)
    }
  }

  /// Saves a sync up with the status NEW without running it. An existing sync of that name is not changed.
  /// - Returns: The sync of that name.
  /// - Throws: ``SyncError`` `.invalidTarget`, `.invalidOptions`, `.noFieldlist`.
  @discardableResult
  public func setUp(
    _ name: String, up target: UpTarget, from soupName: String, options: SyncOptions = SyncOptions()
  ) async throws -> SyncState {
    try await sync(name) {
      try $0.createSyncUp(target: target.json, options: options.json, soupName: soupName, syncName: name)
    }
  }

  /// Returns the sync of that name, and creates it if there is none. If another process creates it at the same moment, returns
  /// that one.
  private func sync(_ name: String, make: @escaping @Sendable (SyncManager) throws -> SyncState) async throws -> SyncState {
    try await SyncManager.onStartQueue {
      if let found = try self.getSyncStatus(.name(name)) { return found }
      do { return try make(self) } catch let error as SyncError where error.is(.duplicateName) {
        guard let found = try self.getSyncStatus(.name(name)) else {
          throw SyncError(.noSuchSync, "sync '\(name)' was deleted by another process while it was set up", isRetryable: true)
        }
        return found
      }
    }
  }

  /// Returns the stored state of a sync; nil if there is no such sync.
  public func state(of reference: SyncReference) async throws -> SyncState? {
    try await SyncManager.onStartQueue { try self.getSyncStatus(reference) }
  }
}

extension SyncState {
  /// The typed target; nil for a sync up.
  public var downTarget: DownTarget? { type == .syncDown ? DownTarget(target) : nil }
  /// The typed target; nil for a sync down.
  public var upTarget: UpTarget? { type == .syncUp ? UpTarget(target) : nil }
}
