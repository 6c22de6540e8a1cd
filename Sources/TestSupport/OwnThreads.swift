import Synchronization
import Testing

/// Runs tests that block on threads of their own: those that wait for PostgreSQL, for other processes or for locks.
///
/// The pool has as many threads as the machine has cores. Two tests that block there stop all others.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  package var isRecursive: Bool { true }

  /// Whether the suite around a test has the trait too.
  @TaskLocal private static var isInside = false

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard !Self.isInside else { return try await function() }
    await Places.shared.take()
    defer { Places.shared.free() }
    try await Self.$isInside.withValue(true) { try await onOwnThreads(function) }
  }

  /// The places of tests that run at once. Each has a server or processes to itself, which the machine has to bear.
  private final class Places: Sendable {
    static let shared = Places()

    private let state = Mutex<(free: Int, waiting: [CheckedContinuation<Void, Never>])>((8, []))

    func take() async {
      await withCheckedContinuation { continuation in
        let isFree = state.withLock { state in
          guard state.free == 0 else {
            state.free -= 1
            return true
          }
          state.waiting.append(continuation)
          return false
        }
        if isFree { continuation.resume() }
      }
    }

    func free() {
      let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
        guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
        state.free += 1
        return nil
      }
      next?.resume()
    }
  }
}

extension Trait where Self == OwnThreads {
  package static var ownThreads: Self { Self() }
}

/// Runs a function that may block, and the tasks that it awaits, outside of the cooperative pool.
package func onOwnThreads<R: Sendable>(_ body: @Sendable () async throws -> R) async throws -> R {
  try await withTaskExecutorPreference(ThreadExecutor.shared) { try await body() }
}

/// Starts a thread for each job, so that no job waits for another one that blocks.
private final class ThreadExecutor: TaskExecutor {
  static let shared = ThreadExecutor()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    guard let thread = WorkerThread({ job.runSynchronously(on: self.asUnownedTaskExecutor()) }) else {
      preconditionFailure("no thread")
    }
    thread.detach()
  }
}
