import Glibc
import Support

/// Closes the bridge of an isolated script on a thread of its own, because a call that a stranger chose may take arbitrarily
/// long, and waits for it no longer than it should.
final class IsolatedClosing: @unchecked Sendable {
  private let bridge: Bridge
  // Touched only with `lock` held.
  private let lock = Lock()
  private var isHurried = false, hasBegun = false, isClosed = false

  private let patienceMs: Int64

  /// - Parameter patienceMs: Milliseconds that cancelled calls have to end.
  init(_ bridge: Bridge, patienceMs: Int64 = Tuning.workerCallsMs) {
    self.bridge = bridge
    self.patienceMs = patienceMs
  }

  /// Lets ``close(by:)`` wait only for calls that cannot be ended. Callable from any thread, also before.
  func hurry() {
    lock.withLock {
      isHurried = true
      lock.broadcast()
    }
  }

  /// Completes the calls until a moment of the monotonic clock, then drops those that have not begun and cancels the others.
  /// - Returns: False if a call still runs. The bridge is closed once it has ended.
  func close(by end: Int64) -> Bool {
    let isFirst = lock.withLock { () -> Bool in
      defer { hasBegun = true }
      return !hasBegun
    }
    guard isFirst else { return lock.withLock { isClosed } }
    guard startThread() else {
      bridge.abandon()
      run()
      return true
    }
    lock.withLock {
      while !isClosed, !isHurried, SystemClock.monotonicMilliseconds() < end { lock.wait(until: end) }
    }
    if lock.withLock({ isClosed }) { return true }
    bridge.abandon()
    let last = SystemClock.monotonicMilliseconds() + patienceMs
    return lock.withLock {
      while !isClosed, SystemClock.monotonicMilliseconds() < last { lock.wait(until: last) }
      return isClosed
    }
  }

  private func startThread() -> Bool {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    let status = pthread_create(
      &thread, nil,
      { context in
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)  // signals belong to the program's own threads
        Unmanaged<IsolatedClosing>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    if status == 0 { pthread_detach(thread) } else { context.release() }
    return status == 0
  }

  private func run() {
    bridge.close()
    lock.withLock {
      isClosed = true
      lock.broadcast()
    }
  }
}
