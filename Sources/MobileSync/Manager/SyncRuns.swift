/// The states of a sync's run, from its start to its end.
///
/// Iterating runs the sync: each iteration is a separate run, and nothing happens before. The last
/// element is the final state of the run: DONE, STOPPED or FAILED. Leaving the loop early, or
/// cancelling the task, stops the run at its next check point. A loop that falls behind misses
/// intermediate states, but never the last one.
///
///     for try await state in manager.runs(named: "contacts") { print(state.progress) }
///
/// - Note: Corresponds to the native SDK's publisher of a sync, which starts it with the first
///   subscriber.
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

    /// - Throws: Errors that prevent the start, as ``SyncManager/reSync(_:maxRequests:onConflict:onUpdate:)``
    ///   throws them; `CancellationError` in a task that was already cancelled.
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
  /// Returns the runs of the sync with this name: see ``SyncRuns``.
  public func runs(named name: String) -> SyncRuns { runs(.name(name)) }

  /// Returns the runs of the sync with this id.
  public func runs(id: Int64) -> SyncRuns { runs(.id(id)) }

  /// Returns the runs of a sync.
  public func runs(_ reference: SyncReference) -> SyncRuns { SyncRuns(manager: self, reference: reference) }

  /// Runs a saved sync again and waits for its end. Cancelling the task stops the run.
  /// - Parameters:
  ///   - reference: The sync's name or id.
  ///   - onUpdate: Called with every state, including the last one, from any thread.
  /// - Returns: The final state.
  /// - Throws: Errors that prevent the start.
  public func run(_ reference: SyncReference, onUpdate: @escaping Listener) async throws -> SyncState {
    try await finalState(onUpdate) { manager, listeners in try manager.reSync(reference, listeners) }
  }

  /// Starts a run that stops when its stream is no longer read.
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

/// The number of states that wait for one loop: a few hundred KB at most.
private let statesAhead = 256
