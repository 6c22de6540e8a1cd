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
}
