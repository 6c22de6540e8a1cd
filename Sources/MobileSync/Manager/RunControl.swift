import Synchronization

/// Ends one run from outside. Any thread.
///
/// A stopped run ends at its next check point. Work that can be abandoned without leaving the outcome
/// in doubt, such as a fetch or the wait for a turn, is abandoned at once.
package final class RunControl: Sendable {
  private struct State {
    var isStopping = false
    var reason: String?
    var restraint: (@Sendable () -> String?)?
    var nextKey = 0
    var abandon: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Why the run was asked to end, in a sentence for users; nil if the caller knows.
  var reason: String? { state.withLock { $0.reason } }

  /// Sets a check that runs at each check point. If it returns a sentence, the run ends.
  func restrain(_ restraint: @escaping @Sendable () -> String?) { state.withLock { $0.restraint = restraint } }

  /// Asks the run to end. A second call has no effect.
  func stop(because reason: String? = nil) {
    let actions = state.withLock { state in
      if !state.isStopping { state.reason = reason }
      state.isStopping = true
      defer { state.abandon.removeAll() }
      return Array(state.abandon.values)
    }
    for action in actions { action() }
  }

  /// - Throws: `CancellationError` if the run should end.
  package func check() throws {
    if let reason = state.withLock({ $0.restraint })?() { stop(because: reason) }
    if isStopping || Task.isCancelled { throw CancellationError() }
  }

  /// Waits for a task and cancels it as soon as the run should end.
  func value<T: Sendable>(of task: Task<T, any Error>) async throws -> T {
    let key = onStop { task.cancel() }
    defer { state.withLock { $0.abandon[key] = nil } }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Calls `action` once when the run should end; immediately if it already should.
  private func onStop(_ action: @escaping @Sendable () -> Void) -> Int {
    let (key, now) = state.withLock { state in
      state.nextKey += 1
      if !state.isStopping { state.abandon[state.nextKey] = action }
      return (state.nextKey, state.isStopping)
    }
    if now { action() }
    return key
  }
}
