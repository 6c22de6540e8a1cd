import Glibc

/// A mutex with a condition variable. It guards a few lines of memory and is never held across I/O,
/// a callback or a call into C code. It uses pthreads directly, so that the thread sanitizer sees
/// the ordering.
package final class Lock: @unchecked Sendable {
  @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  @usableFromInline let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  @inlinable
  package func withLock<T>(_ body: () -> T) -> T {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Sleeps until `signal` or `broadcast`, with the lock released meanwhile. Call inside
  /// `withLock`, in a loop that tests the condition.
  package func wait() { pthread_cond_wait(condition, mutex) }

  /// Does the same until a moment of ``SystemClock/monotonicMilliseconds()`` at most.
  package func wait(until milliseconds: Int64) {
    let milliseconds = min(milliseconds, 1 << 50)
    var end = timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    pthread_cond_timedwait(condition, mutex, &end)
  }

  /// Wakes one waiting thread; for conditions that any waiter can handle. Call inside `withLock`.
  package func signal() { pthread_cond_signal(condition) }

  /// Wakes all waiting threads. Call inside `withLock`.
  package func broadcast() { pthread_cond_broadcast(condition) }
}
