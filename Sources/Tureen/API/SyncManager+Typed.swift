import MobileSync

/// Syncs with targets as values. The calls wait for the end of the run and give the final state, be it DONE, STOPPED or FAILED;
/// an error means that the run could not start. Cancelling the task stops the run at its next check point.
extension SyncManager {
  /// Creates a sync down and runs it.
  /// - Parameters:
  ///   - target: Where the records come from.
  ///   - soupName: A soup that exists.
  ///   - options: The merge mode, among others.
  ///   - name: Under which ``run(_:onUpdate:)`` and ``runs(named:)`` run it again; nil for a sync that is run once.
  ///   - onUpdate: Told every state, the last one included, from any thread.
  /// - Throws: ``SyncError`` `.managerStopped`, `.invalidTarget`, `.invalidOptions`, `.duplicateName`; nothing is created then.
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

  /// Saves a sync down with the status NEW; nothing runs. One of that name that is there stays as it is.
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

  /// Saves a sync up with the status NEW; nothing runs. One of that name that is there stays as it is.
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

  /// The sync of that name, which is made when there is none.
  private func sync(_ name: String, make: @escaping @Sendable (SyncManager) throws -> SyncState) async throws -> SyncState {
    try await SyncManager.onStartQueue { try self.getSyncStatus(.name(name)) ?? make(self) }
  }

  /// The stored state of a sync; nil when there is no such sync.
  public func state(of reference: SyncReference) async throws -> SyncState? {
    try await SyncManager.onStartQueue { try self.getSyncStatus(reference) }
  }
}

extension SyncState {
  /// The target as a value; nil for a sync up.
  public var downTarget: DownTarget? { type == .syncDown ? DownTarget(target) : nil }
  /// The target as a value; nil for a sync down.
  public var upTarget: UpTarget? { type == .syncUp ? UpTarget(target) : nil }
}
