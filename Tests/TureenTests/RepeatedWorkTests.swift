import Synchronization
import Testing

@testable import Tureen

/// Tests when repeated work runs, with a clock that only the test moves.
@Suite struct RepeatedWorkTests {
  /// Waits move it; `onWait` can do something at that time.
  private final class ManualClock: RepeatClock {
    let now = Mutex<Int64>(1_000_000)
    let waits = Mutex<[Int64]>([])
    let onWait = Mutex<(@Sendable () -> Void)?>(nil)

    func nowMs() -> Int64 { now.withLock { $0 } }

    func wait(milliseconds: Int64) {
      now.withLock { $0 += milliseconds }
      waits.withLock { $0.append(milliseconds) }
      onWait.withLock { $0 }?()
    }

    func wake() {}

    func pass(_ milliseconds: Int64) { now.withLock { $0 += milliseconds } }
  }

  private static let minute = JobInterval("1m")!

  /// Runs work until all outcomes are used, and returns the time of each start, in seconds after the first.
  private func starts(
    _ outcomes: [(outcome: RepeatedWork.Outcome, tookMs: Int64)], every: JobInterval = minute, jitter: JobInterval? = nil
  ) -> [Int64] {
    let clock = ManualClock(), begin = clock.nowMs()
    var rest = outcomes[...], starts: [Int64] = []
    RepeatedWork(every: every, jitter: jitter, clock: clock).run {
      starts.append((clock.nowMs() - begin) / 1000)
      guard let next = rest.popFirst() else { return .over }
      clock.pass(next.tookMs)
      return next.outcome
    }
    return starts
  }

  @Test func done_keepsItsTimes() {
    #expect(starts([(.done, 0), (.done, 20_000), (.done, 59_999)]) == [0, 60, 120, 180])
  }

  @Test func longRun_skipsTheTimesItMisses() {
    #expect(starts([(.done, 60_000), (.done, 150_000), (.done, 0)]) == [0, 120, 300, 360])
  }

  @Test func failures_waitLongerUntilOneSucceeds_thenKeepTheTimes() {
    #expect(
      starts([(.failed, 0), (.failed, 0), (.failed, 0), (.failed, 0), (.done, 0), (.failed, 0), (.done, 0)])
        == [0, 10, 30, 70, 150, 180, 190, 240])
  }

  @Test func failures_waitAnHourAtMost() {
    let starts = starts(Array(repeating: (.failed, 0), count: 12))
    #expect(zip(starts.dropFirst(), starts).map { $0 - $1 } == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600])
  }

  @Test func jitter_isAddedToTheTimes_andDoesNotAddUp() {
    for _ in 0..<100 {
      let starts = starts(Array(repeating: (.done, 0), count: 5), jitter: JobInterval("30s"))
      for (i, start) in starts.enumerated() where i > 0 {
        #expect((Int64(i) * 60...Int64(i) * 60 + 30).contains(start), "\(starts)")
      }
    }
  }

  @Test func pause_isToldWithItsLength() {
    let clock = ManualClock()
    var told: [Int64] = [], outcomes: [RepeatedWork.Outcome] = [.done, .failed, .over]
    RepeatedWork(every: Self.minute, clock: clock).run {
      outcomes.removeFirst()
    } onPause: { _, milliseconds in
      told.append(milliseconds)
    }
    #expect(told == [60_000, 10_000])
  }

  @Test func stop_duringAPause_endsIt() {
    let clock = ManualClock(), work = RepeatedWork(every: JobInterval("1d")!, clock: clock)
    clock.onWait.withLock { $0 = { work.stop() } }
    var runs = 0
    work.run {
      runs += 1
      return .done
    }
    #expect(runs == 1)
  }

  @Test func stop_duringARun_isItsEnd() {
    let clock = ManualClock(), work = RepeatedWork(every: Self.minute, clock: clock)
    var runs = 0
    work.run {
      runs += 1
      work.stop()
      return .failed
    }
    #expect(runs == 1 && clock.waits.withLock { $0.isEmpty })
  }

  @Test func stop_beforeTheFirstRun_runsNothing() {
    let work = RepeatedWork(every: Self.minute, clock: ManualClock())
    work.stop()
    work.run {
      Issue.record("it ran")
      return .over
    }
  }

  /// The clock of the machine: a wait ends with the call that was made before it, or in it.
  @Test func wake_endsAWait() {
    let clock = SuspendingClock(), before = clock.nowMs()
    clock.wake()
    clock.wait(milliseconds: 25_000)
    #expect(clock.nowMs() - before < 25_000)
  }
}
