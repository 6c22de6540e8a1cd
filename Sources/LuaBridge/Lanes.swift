import Glibc
import Support

/// Runs jobs on threads of its own: those of one store in the order they came, those of different stores side by side.
///
/// A job without a store waits until every lane is at rest, and what comes after it waits for it.
package final class Lanes: @unchecked Sendable {
  package typealias Job = @Sendable () -> Void

  private struct Entry {
    let store: StoreReference?
    let job: Job
  }

  /// The jobs of one store.
  private final class Lane {
    let store: StoreReference
    var jobs = Queue<Job>()

    init(_ store: StoreReference) { self.store = store }
  }

  /// Whose job a thread has run; nil for one that ran alone.
  private enum Ended { case alone, beside, lane(Lane) }

  // All state is touched only with `lock` held.
  private let lock = Lock()
  private let threadLimit: Int
  private var lanes: [Lane] = []  // that are ready or running: of the few stores that a script uses at once
  private var ready = Queue<Lane>()  // lanes that wait for a thread
  private var held = Queue<Entry>()  // behind a job that runs alone, that one included
  private var alone: Job?  // waits for a thread
  private var beside = Queue<Job>()  // for the next thread that is free
  private var isBesideRunning = false
  private var running = 0, isAloneRunning = false, isClosed = false
  private var lending = 0  // jobs that do not count as taking a thread
  private var threads: [pthread_t] = []
  private var sleeping = 0

  package init(threadLimit: Int) {
    self.threadLimit = threadLimit
  }

  /// Adds a job; from any thread, never blocks. After `close` it is dropped.
  /// - Parameter store: Whose lane it belongs to; nil for a job that runs alone.
  package func submit(_ store: StoreReference?, _ job: @escaping Job) {
    lock.withLock {
      guard !isClosed else { return }
      held.append(Entry(store: store, job: job))
      admit()
      provideThreads()
    }
  }

  /// Adds a job that no other keeps waiting, be it one that runs alone; those of its kind keep their order. As ``submit(_:_:)``
  /// otherwise. Must not block.
  package func submitBeside(_ job: @escaping Job) {
    lock.withLock {
      guard !isClosed else { return }
      beside.append(job)
      provideThreads()
    }
  }

  /// Runs the part of a job that may take any time. Meanwhile there may be a thread more, so that however many stores have such
  /// a job, the others go on.
  package func lending<T>(_ body: () throws -> T) rethrows -> T {
    lock.withLock {
      lending += 1
      provideThreads()
    }
    defer { lock.withLock { lending -= 1 } }
    return try body()
  }

  /// Waits until all jobs have run, then ends the threads. Not from a job. Safe twice.
  package func close() {
    let hasNoThread = lock.withLock { () -> Bool in
      isClosed = true
      return threads.isEmpty
    }
    if hasNoThread { runAll() }  // no job came, or no thread could be made for it
    let ended = lock.withLock { () -> [pthread_t] in
      while !isAtRest { lock.wait() }
      lock.broadcast()
      defer { threads = [] }
      return threads
    }
    for thread in ended { pthread_join(thread, nil) }
  }

  private var hasBeside: Bool { !isBesideRunning && !beside.isEmpty }

  private var isAtRest: Bool { held.isEmpty && alone == nil && beside.isEmpty && running == 0 && lanes.isEmpty }

  /// Moves jobs from `held` to where a thread finds them, as far as the order allows.
  private func admit() {
    while let entry = held.head, alone == nil, !isAloneRunning {
      if let store = entry.store {
        lane(of: store).jobs.append(entry.job)
      } else if lanes.isEmpty {
        alone = entry.job
      } else {
        break
      }
      _ = held.popFirst()
    }
  }

  private func lane(of store: StoreReference) -> Lane {
    if let known = lanes.first(where: { $0.store == store }) { return known }
    let lane = Lane(store)
    lanes.append(lane)
    ready.append(lane)
    return lane
  }

  private func provideThreads() {
    guard !ready.isEmpty || alone != nil || hasBeside else { return }
    if sleeping > 0 {
      if isClosed { lock.broadcast() } else { lock.signal() }  // `close` sleeps on the same condition
    } else if threads.count < threadLimit + lending {
      startThread()
    }
  }

  private func startThread() {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    let status = pthread_create(
      &thread, nil,
      { context in
        Unmanaged<Lanes>.fromOpaque(context!).takeRetainedValue().work()
        return nil
      }, context.toOpaque())
    // Without a new thread those that run take the job; without any, the next submit or close does.
    if status == 0 { threads.append(thread) } else { context.release() }
  }

  /// What a thread does.
  private func work() {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)  // signals belong to the program's own threads
    runAll()
  }

  /// Runs the jobs that are ready, until the lanes are closed.
  private func runAll() {
    var last: Ended?
    while let ended = runNext(after: last) { last = ended }
  }

  /// Runs one job and lets go of it: a call that is no longer referenced must fail before this thread sleeps.
  ///
  /// One visit to the lock a job: a thread that has more to do neither sleeps nor wakes another for it.
  private func runNext(after last: Ended?) -> Ended? {
    let found = lock.withLock {
      if let last { finished(last) }
      return next()
    }
    guard let (kind, job) = found else { return nil }
    job()
    return kind
  }

  /// Waits for a job; nil when the lanes are closed and nothing is left. With `lock` held.
  private func next() -> (Ended, Job)? {
    while true {
      if hasBeside, let job = beside.popFirst() {
        isBesideRunning = true
        running += 1
        provideThreads()
        return (.beside, job)
      }
      if let job = alone {
        alone = nil
        isAloneRunning = true
        running += 1
        return (.alone, job)
      }
      if let lane = ready.popFirst(), let job = lane.jobs.popFirst() {
        running += 1
        provideThreads()  // what else is ready is for others
        return (.lane(lane), job)
      }
      if isClosed, isAtRest { return nil }
      sleeping += 1
      lock.wait()
      sleeping -= 1
    }
  }

  /// With `lock` held, by the thread that takes the next job.
  private func finished(_ ended: Ended) {
    running -= 1
    switch ended {
    case .alone: isAloneRunning = false
    case .beside: isBesideRunning = false
    case .lane(let lane):
      if lane.jobs.isEmpty { lanes.removeAll { $0 === lane } } else { ready.append(lane) }
    }
    admit()
    if isClosed, isAtRest { lock.broadcast() }
  }
}
