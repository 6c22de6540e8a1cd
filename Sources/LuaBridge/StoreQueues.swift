import Glibc
import Support

/// Runs jobs on its own threads: jobs of one store in order, jobs of different stores in parallel.
///
/// A job without a store is exclusive: it waits until every queue is empty, and later jobs wait for it.
package final class StoreQueues: @unchecked Sendable {
  package typealias Job = @Sendable () -> Void

  private struct Entry {
    let store: StoreReference?
    let job: Job
  }

  /// The jobs of one store.
  private final class StoreQueue {
    let store: StoreReference
    var jobs = Queue<Job>()

    init(_ store: StoreReference) { self.store = store }
  }

  /// The kind of the job that a thread has just run.
  private enum Ended { case exclusive, independent, queue(StoreQueue) }

  // All state is touched only with `lock` held.
  private let lock = Lock()
  private let threadLimit: Int
  private var queues: [StoreQueue] = []  // ready or running; a script uses few stores at once
  private var ready = Queue<StoreQueue>()  // waiting for a thread
  private var held = Queue<Entry>()  // an exclusive job and everything submitted after it
  private var exclusive: Job?  // waits for a thread
  private var independent = Queue<Job>()  // for the next free thread
  private var isIndependentRunning = false
  private var running = 0, isExclusiveRunning = false, isClosed = false
  private var endedJobs = 0
  private var lending = 0  // running jobs that do not count towards the thread limit
  private var threads: [pthread_t] = []
  private var sleeping = 0

  package init(threadLimit: Int) {
    self.threadLimit = threadLimit
  }

  /// Adds a job from any thread; never blocks. Jobs added after `close` are dropped.
  /// - Parameter store: The store whose queue takes the job; nil for an exclusive job.
  package func submit(_ store: StoreReference?, _ job: @escaping Job) {
    lock.withLock {
      guard !isClosed else { return }
      held.append(Entry(store: store, job: job))
      admit()
      provideThreads()
    }
  }

  /// Adds a job that waits for no store and no exclusive job, only for earlier independent jobs. Otherwise like
  /// ``submit(_:_:)``. The job must not block.
  package func submitIndependent(_ job: @escaping Job) {
    lock.withLock {
      guard !isClosed else { return }
      independent.append(job)
      provideThreads()
    }
  }

  /// Runs the part of a job that may take arbitrarily long. One more thread is allowed meanwhile, up to a limit, so that other
  /// stores make progress although many run such a job.
  package func lending<T>(_ body: () throws -> T) rethrows -> T {
    lock.withLock {
      lending += 1
      provideThreads()
    }
    defer { lock.withLock { lending -= 1 } }
    return try body()
  }

  /// Drops all jobs that have not begun. Later ones are accepted.
  package func dropWaiting() {
    // Released without the lock: jobs hold calls, whose end takes other locks.
    var dropped: [Any] = []
    lock.withLock {
      while let entry = held.popFirst() { dropped.append(entry.job) }
      while let job = independent.popFirst() { dropped.append(job) }
      if let job = exclusive { dropped.append(job) }
      exclusive = nil
      for queue in queues { while let job = queue.jobs.popFirst() { dropped.append(job) } }
      while let queue = ready.popFirst() { queues.removeAll { $0 === queue } }
      if isClosed, isAtRest { lock.broadcast() }
    }
    withExtendedLifetime(dropped) {}
  }

  /// Waits until all jobs have run, then ends the threads. Must not be called from a job; a second call has no effect.
  ///
  /// A query that a database cannot end does not hold up closing: if only such queries run and none ends for a while, they are
  /// left to their threads, and the jobs that have not begun are dropped.
  package func close(patienceMs: Int64? = nil) {
    let hasNoThread = lock.withLock { () -> Bool in
      defer { isClosed = true }
      return threads.isEmpty && !isClosed
    }
    if hasNoThread { runAll() }  // no job was submitted, or no thread could be started for it
    let (ended, hasAll) = lock.withLock { () -> ([pthread_t], Bool) in
      let hasAll = waitUntilAtRest(patienceMs ?? Tuning.closePatienceMs)
      lock.broadcast()
      defer { threads = [] }
      return (threads, hasAll)
    }
    if !hasAll { dropWaiting() }
    for thread in ended { if hasAll { pthread_join(thread, nil) } else { pthread_detach(thread) } }
  }

  /// Call with `lock` held.
  /// - Returns: False if only queries run that have not ended for a while.
  private func waitUntilAtRest(_ patienceMs: Int64) -> Bool {
    var seen = endedJobs, end = SystemClock.monotonicMilliseconds() + patienceMs
    while !isAtRest {
      lock.wait(until: end)
      let now = SystemClock.monotonicMilliseconds()
      if seen != endedJobs || running == 0 || lending < running { (seen, end) = (endedJobs, now + max(1, patienceMs)) }
      if now >= end { return isAtRest }
    }
    return true
  }

  private var hasIndependent: Bool { !isIndependentRunning && !independent.isEmpty }

  private var isAtRest: Bool { held.isEmpty && exclusive == nil && independent.isEmpty && running == 0 && queues.isEmpty }

  /// Moves jobs from `held` to the queues, as far as their order allows.
  private func admit() {
    while let entry = held.head, exclusive == nil, !isExclusiveRunning {
      if let store = entry.store {
        queue(of: store).jobs.append(entry.job)
      } else if queues.isEmpty {
        exclusive = entry.job
      } else {
        break
      }
      _ = held.popFirst()
    }
  }

  private func queue(of store: StoreReference) -> StoreQueue {
    if let known = queues.first(where: { $0.store == store }) { return known }
    let queue = StoreQueue(store)
    queues.append(queue)
    ready.append(queue)
    return queue
  }

  private func provideThreads() {
    guard !ready.isEmpty || exclusive != nil || hasIndependent else { return }
    if sleeping > 0 {
      if isClosed { lock.broadcast() } else { lock.signal() }  // `close` sleeps on the same condition
    } else if threads.count < threadLimit + min(lending, Tuning.lentThreads) {
      startThread()
    }
  }

  private func startThread() {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    let status = pthread_create(
      &thread, nil,
      { context in
        Unmanaged<StoreQueues>.fromOpaque(context!).takeRetainedValue().work()
        return nil
      }, context.toOpaque())
    // If no thread can be started, a running one takes the job; if there is none, the next submit or close runs it.
    if status == 0 { threads.append(thread) } else { context.release() }
  }

  /// The body of a thread.
  private func work() {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)  // signals belong to the program's own threads
    runAll()
  }

  /// Runs jobs until the queues are closed and empty.
  private func runAll() {
    var last: Ended?
    while let ended = runNext(after: last) { last = ended }
  }

  /// Runs one job and releases it before this thread sleeps: a call that is no longer referenced must fail at once.
  ///
  /// Locks once a job: a thread that has more to do neither sleeps nor wakes another.
  private func runNext(after last: Ended?) -> Ended? {
    let found = lock.withLock {
      if let last { finished(last) }
      return next()
    }
    guard let (kind, job) = found else { return nil }
    job()
    return kind
  }

  /// Waits for a job; nil if the queues are closed and empty. Call with `lock` held.
  private func next() -> (Ended, Job)? {
    while true {
      if hasIndependent, let job = independent.popFirst() {
        isIndependentRunning = true
        running += 1
        provideThreads()
        return (.independent, job)
      }
      if let job = exclusive {
        exclusive = nil
        isExclusiveRunning = true
        running += 1
        return (.exclusive, job)
      }
      if let queue = ready.popFirst(), let job = queue.jobs.popFirst() {
        running += 1
        provideThreads()  // other threads take the rest
        return (.queue(queue), job)
      }
      if isClosed, isAtRest { return nil }
      sleeping += 1
      lock.wait()
      sleeping -= 1
    }
  }

  /// Records that a job has ended. Call with `lock` held.
  private func finished(_ ended: Ended) {
    running -= 1
    endedJobs += 1
    switch ended {
    case .exclusive: isExclusiveRunning = false
    case .independent: isIndependentRunning = false
    case .queue(let queue):
      if queue.jobs.isEmpty { queues.removeAll { $0 === queue } } else { ready.append(queue) }
    }
    admit()
    if isClosed, isAtRest { lock.broadcast() }
  }
}
