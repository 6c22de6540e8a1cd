import Dispatch

/// Waits on a plain thread for work of the cooperative pool.
enum Blocking {
  /// Must not be called on a thread of the cooperative pool.
  static func run(_ body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task {
      await body()
      done.signal()
    }
    done.wait()
  }

  /// The same, for so long at most; the work goes on when the time is over.
  /// - Returns: Whether it has ended.
  static func run(timeoutMs: Int, _ body: @escaping @Sendable () async -> Void) -> Bool {
    let done = DispatchSemaphore(value: 0)
    Task {
      await body()
      done.signal()
    }
    return done.wait(timeout: .now() + .milliseconds(timeoutMs)) == .success
  }
}
