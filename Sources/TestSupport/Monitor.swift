import Glibc

/// A mutex with a condition, for test helpers that block threads of their own. Never used on the cooperative pool.
final class Monitor: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` alone and wakes everybody who waits: the state may have changed.
  func change<R>(_ body: () -> R) -> R {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(condition)
      pthread_mutex_unlock(mutex)
    }
    return body()
  }

  /// Blocks the thread until `condition` holds, asked each time the state changed.
  func wait(until holds: () -> Bool) {
    pthread_mutex_lock(mutex)
    while !holds() { pthread_cond_wait(condition, mutex) }
    pthread_mutex_unlock(mutex)
  }
}

/// A joinable thread that runs a closure once.
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
}
