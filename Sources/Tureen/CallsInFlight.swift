import Synchronization

/// The calls that run as one user, so that a switch to another one can wait for their answers. Any thread.
final class CallsInFlight: Sendable {
  private struct State {
    var count = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// Nothing waits any more.
    var isGivenUp = false

    /// Those to resume.
    mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
      guard count == 0 || isGivenUp else { return [] }
      defer { waiting = [] }
      return waiting
    }
  }

  private let state = Mutex(State())

  /// A call has begun; ``end()`` follows once it has been answered.
  func begin() { state.withLock { $0.count += 1 } }

  func end() {
    let waiting = state.withLock { state in
      state.count -= 1
      return state.takeWaiting()
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until every call has been answered, or ``giveUp()`` was called.
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

  /// Ends the waiting, now and later.
  func giveUp() {
    let waiting = state.withLock { state in
      state.isGivenUp = true
      return state.takeWaiting()
    }
    for continuation in waiting { continuation.resume() }
  }
}
