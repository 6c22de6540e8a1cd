import Dispatch
import JSON

/// The calls for `async` code. Each waits for the end of the run and returns the final state: DONE,
/// STOPPED or FAILED. An error means that the run could not start.
///
/// Cancelling the waiting task stops the run at its next check point, and the call returns its
/// state, STOPPED. In a task that was already cancelled, the call throws `CancellationError` and
/// starts nothing.
extension SyncManager {
  public func syncDown(
    target: JSONObject, options: JSONObject? = nil, soupName: String, syncName: String? = nil
  ) async throws -> SyncState {
    try await runDown(target, options, soupName, syncName) { _ in }
  }

  package func runDown(
    _ target: JSONObject, _ options: JSONObject?, _ soupName: String, _ syncName: String?, _ onUpdate: @escaping Listener
  ) async throws -> SyncState {
    try await finalState(onUpdate) { manager, listeners in
      try manager.create(.syncDown, target, options, soupName, syncName, listeners)
    }
  }

  public func syncUp(
    target: JSONObject? = nil, options: JSONObject? = nil, soupName: String, syncName: String? = nil
  ) async throws -> SyncState {
    try await runUp(target ?? [:], options, soupName, syncName) { _ in }
  }

  package func runUp(
    _ target: JSONObject, _ options: JSONObject?, _ soupName: String, _ syncName: String?, _ onUpdate: @escaping Listener
  ) async throws -> SyncState {
    try await finalState(onUpdate) { manager, listeners in
      try manager.create(.syncUp, target, options, soupName, syncName, listeners)
    }
  }

  public func reSync(_ reference: SyncReference) async throws -> SyncState {
    try await finalState { manager, listeners in try manager.reSync(reference, listeners) }
  }

  /// See ``refresh(_:onConflict:onUpdate:)``.
  public func refresh(_ reference: SyncReference) async throws -> SyncState {
    try await finalState { manager, listeners in try manager.reSync(reference, listeners, mode: .refresh) }
  }

  /// See ``more(_:onConflict:onUpdate:)``.
  public func more(_ reference: SyncReference) async throws -> SyncState {
    try await finalState { manager, listeners in try manager.reSync(reference, listeners, mode: .more) }
  }

  /// - Returns: The number of removed ghosts.
  /// - Throws: ``SyncError`` `.stopped` also if the waiting task is cancelled.
  public func cleanResyncGhosts(_ reference: SyncReference) async throws -> Int {
    try await ending { control, end in
      try self.cleanResyncGhosts(reference, control) { end($0.mapError { $0 }) }
    }
  }

  func finalState(
    _ onUpdate: @escaping Listener = { _ in }, _ start: @escaping @Sendable (SyncManager, RunListeners) throws -> SyncState
  ) async throws -> SyncState {
    try await ending { control, end in
      let listeners = RunListeners(
        { state in
          onUpdate(state)
          if state.status.isTerminal { end(.success(state)) }
        }, control: control)
      _ = try start(self, listeners)
    }
  }

  /// Starts a run outside of the cooperative pool, because starting waits for the store, and waits
  /// for the end of the run. Stops the run if the task is cancelled.
  func ending<T: Sendable>(
    _ start: @escaping @Sendable (RunControl, @escaping @Sendable (Result<T, any Error>) -> Void) throws -> Void
  ) async throws -> T {
    let control = RunControl()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        SyncManager.startQueue.async {
          do {
            guard !control.isStopping else { throw CancellationError() }
            try start(control) { continuation.resume(with: $0) }
          } catch {
            continuation.resume(throwing: error)
          }
        }
      }
    } onCancel: {
      control.stop()
    }
  }

  /// Runs blocking work outside of the cooperative pool.
  package static func onStartQueue<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      startQueue.async { continuation.resume(with: Result { try body() }) }
    }
  }

  private static let startQueue = DispatchQueue(label: "tureen.sync.start", attributes: .concurrent)
}
