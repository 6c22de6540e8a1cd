import Synchronization

/// A value that is set once, by the first of several callers, and awaited by any number of tasks.
final class OneTimeValue<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiting: [CheckedContinuation<Value, Never>] = []
  }

  private let state = Mutex(State())

  /// Sets the value.
  /// - Returns: False if it is already set.
  @discardableResult
  func settle(_ value: Value) -> Bool {
    let waiting = state.withLock { state -> [CheckedContinuation<Value, Never>]? in
      guard state.value == nil else { return nil }
      state.value = value
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting ?? [] { waiter.resume(returning: value) }
    return waiting != nil
  }

  var isSettled: Bool { state.withLock { $0.value != nil } }

  /// Waits for the value. Does not react to cancellation; a caller that gives up settles the value instead.
  func value() async -> Value {
    await withCheckedContinuation { continuation in
      let value = state.withLock { state in
        if state.value == nil { state.waiting.append(continuation) }
        return state.value
      }
      if let value { continuation.resume(returning: value) }
    }
  }
}
