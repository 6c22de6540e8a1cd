/// The states of a sync's run, from its start to its end.
///
/// Iterating runs the sync: each iteration is a run of its own, and nothing happens before. The last element is the state the
/// run ended with: DONE, STOPPED or FAILED. Leaving the loop early, or cancelling the task, stops the run at its next check
/// point. A loop that falls behind misses states in between, never the last one.
///
///     for try await state in manager.runs(named: "contacts") { print(state.progress) }
///
/// - Note: Source: the native SDK's publisher of a sync, which starts it with the first subscriber.
public struct SyncRuns: AsyncSequence, Sendable {
  let manager: SyncManager
  let reference: SyncReference

  public func makeAsyncIterator() -> Iterator { Iterator(manager: manager, reference: reference) }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let manager: SyncManager
    fileprivate let reference: SyncReference
    private var states: AsyncStream<SyncState>.Iterator?

    fileprivate init(manager: SyncManager, reference: SyncReference) {
      self.manager = manager
      self.reference = reference
    }

    /// - Throws: What keeps the run from starting, as ``SyncManager/reSync(_:onConflict:onUpdate:)`` does; `CancellationError`
    ///   in a task that was cancelled before.
    public mutating func next() async throws -> SyncState? {
      try await next(isolation: nil)
    }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> SyncState? {
      if states == nil { states = try await manager.begin(reference).makeAsyncIterator() }
      return await states?.next(isolation: actor)
    }
  }
}

extension SyncManager {
  /// Runs of the sync with this name: see ``SyncRuns``.
  public func runs(named name: String) -> SyncRuns { runs(.name(name)) }

  /// Runs of the sync with this id.
  public func runs(id: Int64) -> SyncRuns { runs(.id(id)) }

  /// Runs of a sync, by its name or id.
  public func runs(_ reference: SyncReference) -> SyncRuns { SyncRuns(manager: self, reference: reference) }

  /// Runs a saved sync again, and waits for its end. Cancelling the task stops the run.
  /// - Parameters:
  ///   - reference: The sync's name or id.
  ///   - onUpdate: Told every state, the last one included, from any thread.
  /// - Returns: The final state.
  /// - Throws: What keeps the run from starting.
  public func run(_ reference: SyncReference, onUpdate: @escaping Listener) async throws -> SyncState {
    try await finalState(onUpdate) { manager, listeners in try manager.reSync(reference, listeners) }
  }

  /// Starts a run that ends when its last listener goes.
  fileprivate func begin(_ reference: SyncReference) async throws -> AsyncStream<SyncState> {
    try Task.checkCancellation()
    let control = RunControl()
    let (states, continuation) = AsyncStream.makeStream(of: SyncState.self, bufferingPolicy: .bufferingNewest(statesAhead))
    continuation.onTermination = { end in if case .cancelled = end { control.stop() } }
    let listeners = RunListeners(
      { state in
        continuation.yield(state)
        if state.status.isTerminal { continuation.finish() }
      }, control: control)
    try await SyncManager.onStartQueue {
      guard !control.isStopping else { throw CancellationError() }
      _ = try self.reSync(reference, listeners)
    }
    return states
  }
}

/// States that wait for one loop: a few hundred KB at most.
private let statesAhead = 256
