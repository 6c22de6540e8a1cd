import Synchronization

/// A value that is decided once, by the first of several who may, and waited for by any number.
final class OneTimeValue<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiting: [CheckedContinuation<Value, Never>] = []
  }

  private let state = Mutex(State())

  /// - Returns: False when it is decided already.
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

  /// Waits, whether the task is cancelled or not: who gives up settles it.
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
