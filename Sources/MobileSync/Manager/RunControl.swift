import Synchronization

/// The way to end one run from outside. Any thread.
///
/// Stopping is polite: a run ends at its next check point, and what can be abandoned without doubt about the outcome (a
/// fetch, a place in the queue) is abandoned at once.
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

  /// Why the run was asked to end, in a sentence for people; nil where the one who asked knows.
  var reason: String? { state.withLock { $0.reason } }

  /// Sets what each check point asks first: a sentence ends the run.
  func restrain(_ restraint: @escaping @Sendable () -> String?) { state.withLock { $0.restraint = restraint } }

  /// Safe twice.
  func stop(because reason: String? = nil) {
    let actions = state.withLock { state in
      if !state.isStopping { state.reason = reason }
      state.isStopping = true
      defer { state.abandon.removeAll() }
      return Array(state.abandon.values)
    }
    for action in actions { action() }
  }

  /// - Throws: `CancellationError` once the run is to end.
  package func check() throws {
    if let reason = state.withLock({ $0.restraint })?() { stop(because: reason) }
    if isStopping || Task.isCancelled { throw CancellationError() }
  }

  /// Waits for a task that is cancelled as soon as the run is to end.
  func value<T: Sendable>(of task: Task<T, any Error>) async throws -> T {
    let key = onStop { task.cancel() }
    defer { state.withLock { $0.abandon[key] = nil } }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Calls `action` once when the run is to end; at once when it is already.
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
