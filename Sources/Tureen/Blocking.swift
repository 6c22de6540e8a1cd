import Dispatch
import Synchronization

/// Bridges blocking code and the cooperative pool in both directions.
enum Blocking {
  /// Runs blocking work on a thread outside the cooperative pool.
  static func offPool<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
    }
  }

  /// Runs async work and blocks until it has finished. Must not be called on a thread of the cooperative pool.
  static func run(_ body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task {
      await body()
      done.signal()
    }
    done.wait()
  }

  /// Runs async work, blocks until it has finished, and returns its value or throws its error.
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

  /// Runs async work and blocks until it has finished or the timeout expires. The work continues after a timeout.
  /// - Returns: True if the work has finished.
  static func run(timeoutMs: Int, _ body: @escaping @Sendable () async -> Void) -> Bool {
    let done = DispatchSemaphore(value: 0)
    Task {
      await body()
      done.signal()
    }
    return done.wait(timeout: .now() + .milliseconds(timeoutMs)) == .success
  }
}
