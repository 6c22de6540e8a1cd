import Dispatch
import Synchronization

/// Waits on a plain thread for work of the cooperative pool, and the other way round.
enum Blocking {
  /// Runs work that blocks on a thread outside of the cooperative pool.
  static func offPool<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
    }
  }

  /// Must not be called on a thread of the cooperative pool.
  static func run(_ body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task {
      await body()
      done.signal()
    }
    done.wait()
  }

  /// The same for work that has a result or fails.
  static func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let result = Mutex<Result<Value, any Error>?>(nil)
    run {
      do {
        let value = try await body()
        result.withLock { $0 = .success(value) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
    }
    guard let ended = result.withLock({ $0 }) else { preconditionFailure("the work has ended") }
    return try ended.get()
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
