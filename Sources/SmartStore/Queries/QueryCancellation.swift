import Synchronization

/// Cancels a running or waiting query: it ends within milliseconds with `.cancelled`.
///
/// Use one instance per query, from any thread. Cancelling a query that has ended has no effect.
public final class QueryCancellation: Sendable {
  private struct State {
    var isCancelled = false
    /// Wakes the query while it waits.
    var wake: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  /// Duplicates `isCancelled` without a lock, because the query checks it 200,000 times a second.
  private let flag = Atomic(false), isToEndSoon = Atomic(false)
  /// How often the query has checked for cancellation.
  private let looks = Atomic(0)
  private let isRunning: (@Sendable () -> Void)?

  public convenience init() { self.init(isRunning: nil) }

  /// - Parameter isRunning: Called once, inside the query's statement, while it works. For tests.
  package init(isRunning: (@Sendable () -> Void)?) { self.isRunning = isRunning }

  public var isCancelled: Bool { flag.load(ordering: .acquiring) }

  public func cancel() {
    let wake = state.withLock { state in
      state.isCancelled = true
      flag.store(true, ordering: .releasing)
      defer { state.wake = nil }
      return state.wake
    }
    wake?()
  }

  /// Cancels the query if it has done about half a second of work, more than most need: for a write
  /// whose caller cannot wait.
  public func endSoon() { isToEndSoon.store(true, ordering: .releasing) }

  /// Returns whether the statement may continue. Called on the thread that runs it, inside the database.
  package func allowsStep() -> Bool {
    let looks = looks.add(1, ordering: .relaxed).newValue
    if looks == 1 { isRunning?() }
    if looks > Tuning.looksOfHurriedQuery, isToEndSoon.load(ordering: .acquiring) { cancel() }
    return !isCancelled
  }

  /// - Parameter wake: Called when the query is cancelled; immediately if it already was. Must not
  ///   block.
  package func beginWaiting(_ wake: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if !state.isCancelled { state.wake = wake }
      return state.isCancelled
    }
    if isLate { wake() }
  }

  package func endWaiting() { state.withLock { $0.wake = nil } }
}

extension StoreError {
  package static let cancelled = StoreError(.cancelled, "the query was cancelled")
  static let closed = StoreError(.storeClosed, "the store is closed")
}
