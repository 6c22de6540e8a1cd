import Glibc
import Support

/// A few threads that run actions, and a bounded queue before them.
final class Workers: @unchecked Sendable {  // all state is touched only with `lock` held
  typealias Job = @Sendable () -> Void

  private let lock = Lock()
  private var waiting: [Job] = []
  private var threads: [pthread_t] = []
  private var idle = 0
  private var isClosed = false

  /// Adds a job.
  /// - Returns: False if too many wait, or if no thread can be started; the job is not run then.
  func submit(_ job: @escaping Job) -> Bool {
    lock.withLock {
      guard !isClosed, waiting.count < Limits.waitingActions else { return false }
      if idle <= waiting.count, threads.count < Limits.workers {
        let (thread, error) = SignalFreeThread.start { self.run() }
        if error == 0 { threads.append(thread) }
      }
      guard !threads.isEmpty else { return false }
      waiting.append(job)
      lock.signal()
      return true
    }
  }

  private func run() {
    while let job = next() { job() }
  }

  private func next() -> Job? {
    lock.withLock {
      while waiting.isEmpty, !isClosed {
        idle += 1
        lock.wait()
        idle -= 1
      }
      return waiting.isEmpty ? nil : waiting.removeFirst()
    }
  }

  /// Drops what waits, and waits for the jobs that run.
  func close() {
    let ended = lock.withLock { () -> [pthread_t] in
      isClosed = true
      waiting = []
      lock.broadcast()
      defer { threads = [] }
      return threads
    }
    for thread in ended { pthread_join(thread, nil) }
  }
}
