import RestClient
import Support
import Synchronization

/// A time limit that can also be ended early. Usable from any thread.
final class WaitLimit: Sendable {
  private struct State {
    var isOver = false
    var sleep: Task<Void, Never>?
  }

  private let state = Mutex(State())

  /// Returns when the time has passed or ``end()`` is called. Supports one wait at a time.
  func wait(seconds: Double, _ clock: RetryEnvironment) async {
    let sleep = Task { _ = try? await clock.sleep(seconds) }
    let isLate = state.withLock { state in
      state.sleep = sleep
      return state.isOver
    }
    if isLate { sleep.cancel() }
    await sleep.value
  }

  /// Ends the wait. May be called twice.
  func end() {
    let sleep = state.withLock { state in
      state.isOver = true
      return state.sleep
    }
    sleep?.cancel()
  }
}

extension RetryEnvironment {
  /// Milliseconds since 1970.
  var milliseconds: @Sendable () -> Int64 { { [now] in Int64(saturating: now() * 1000) } }
}
