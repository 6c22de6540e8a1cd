import Glibc
import Support

/// A mutex with a condition variable, for test helpers that block their own threads. Not for use on
/// the cooperative pool.
final class Monitor: @unchecked Sendable {
  private let lock = Lock()

  /// Runs `body` with the lock held, then wakes all waiters because the state may have changed.
  func change<R>(_ body: () -> R) -> R {
    lock.withLock {
      defer { lock.broadcast() }
      return body()
    }
  }

  /// Blocks the thread until `condition` holds; it is evaluated after each change.
  func wait(until holds: () -> Bool) {
    lock.withLock {
      while !holds() { lock.wait() }
    }
  }
}

/// A thread that runs one closure; join or detach it.
struct WorkerThread: @unchecked Sendable {
  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private var id = pthread_t()

  init?(_ body: @escaping @Sendable () -> Void) {
    let work = Unmanaged.passRetained(Work(body))
    let status = pthread_create(
      &id, nil,
      { context in
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, work.toOpaque())
    guard status == 0 else {
      work.release()
      return nil
    }
  }

  func join() { pthread_join(id, nil) }

  /// Lets the thread end by itself. Not both this and `join`.
  func detach() { pthread_detach(id) }
}
