import Synchronization

/// Counts the calls in flight of one user, so that a switch of users can wait for them. Usable from any thread.
final class CallsInFlight: Sendable {
  private struct State {
    var count = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// True once waiting has been abandoned.
    var isGivenUp = false

    /// Returns the continuations to resume.
    mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
      guard count == 0 || isGivenUp else { return [] }
      defer { waiting = [] }
      return waiting
    }
  }

  private let state = Mutex(State())

  /// Registers a call. Call ``end()`` once it has been answered.
  func begin() { state.withLock { $0.count += 1 } }

  func end() {
    let waiting = state.withLock { state in
      state.count -= 1
      return state.takeWaiting()
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until every call has been answered or ``giveUp()`` is called.
  func waitForAnswers() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if state.count == 0 || state.isGivenUp { return true }
        state.waiting.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// Ends current and future waits.
  func giveUp() {
    let waiting = state.withLock { state in
      state.isGivenUp = true
      return state.takeWaiting()
    }
    for continuation in waiting { continuation.resume() }
  }
}
