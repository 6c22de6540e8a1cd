@preconcurrency import Dispatch
import Glibc
import Synchronization

/// The clock of ``RepeatedWork``. Tests drive one of their own.
package protocol RepeatClock: Sendable {
  /// Milliseconds on a clock that also runs while the machine is suspended, and that setting the time does not change.
  func nowMs() -> Int64
  /// Returns after this time, or earlier if ``wake()`` is called or was called before.
  func wait(milliseconds: Int64)
  /// Ends a wait from any thread.
  func wake()
}

/// Runs work at the times of a ``RepeatSchedule`` until it is stopped. One thread calls ``run(_:onPause:)``; ``stop()`` may be
/// called from any thread.
package final class RepeatedWork: Sendable {
  package enum Outcome: Sendable, Equatable {
    case done
    /// Another attempt may succeed.
    case failed
    /// There is to be no other run.
    case over
  }

  private let every: JobInterval
  private let jitter: JobInterval?
  private let clock: any RepeatClock
  private let stopped = Atomic<Bool>(false)

  package init(every: JobInterval, jitter: JobInterval? = nil, clock: any RepeatClock = SuspendingClock()) {
    self.every = every
    self.jitter = jitter
    self.clock = clock
  }

  package var isStopped: Bool { stopped.load(ordering: .sequentiallyConsistent) }

  /// Begins no other run, and ends a pause. A run that is going on must be ended by the caller.
  package func stop() {
    stopped.store(true, ordering: .sequentiallyConsistent)
    clock.wake()
  }

  /// Runs the work now and at its times, until it is over or ``stop()`` is called.
  /// - Parameters:
  ///   - work: One run.
  ///   - onPause: Called after each run that another one follows, with the milliseconds until then.
  package func run(_ work: () throws -> Outcome, onPause: (Outcome, Int64) -> Void = { _, _ in }) rethrows {
    var schedule = RepeatSchedule(every: every, jitter: jitter, from: clock.nowMs())
    while !isStopped {
      let outcome = try work()
      guard outcome != .over, !isStopped else { return }
      let now = clock.nowMs()
      let next = schedule.next(hasFailed: outcome == .failed, nowMs: now, random: .random(in: 0...1))
      onPause(outcome, next - now)
      while !isStopped, next > clock.nowMs() { clock.wait(milliseconds: next - clock.nowMs()) }
    }
  }
}

/// The clock of the machine that includes the time in which it was suspended.
package final class SuspendingClock: RepeatClock {
  /// A wait does not count the time in which the machine is suspended, so the clock is read at least this often.
  private static let longestWaitMs: Int64 = 30_000

  private let woken = DispatchSemaphore(value: 0)

  package init() {}

  package func nowMs() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  package func wait(milliseconds: Int64) {
    guard milliseconds > 0 else { return }
    _ = woken.wait(timeout: .now() + .milliseconds(Int(min(milliseconds, Self.longestWaitMs))))
  }

  package func wake() { woken.signal() }
}
