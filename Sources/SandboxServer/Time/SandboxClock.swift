import Glibc
import Synchronization

/// The time source of a pretend server. Timestamps have a resolution of one second.
public protocol SandboxClock: Sendable {
  /// Seconds since 1970 UTC. Must not block.
  func now() -> Int64
  /// Milliseconds since 1970 UTC, for services with finer timestamps.
  func milliseconds() -> Int64
  /// Returns after this much of the clock's time.
  ///
  /// - Throws: `CancellationError`.
  func sleep(milliseconds: Int64) async throws
}

extension SandboxClock {
  public func milliseconds() -> Int64 { now() * 1_000 }
  public func sleep(milliseconds: Int64) async throws { try await Task.sleep(for: .milliseconds(milliseconds)) }
}

/// The computer's clock.
public struct SystemSandboxClock: SandboxClock {
  public init() {}
  public func now() -> Int64 { Int64(time(nil)) }

  public func milliseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
  }
}

/// A clock that moves only when it is told to. Any thread may move it.
public final class ManualSandboxClock: SandboxClock {
  private let time: Mutex<Int64>
  private let sleepers = Sleepers()

  /// - Parameter seconds: Seconds since 1970 UTC; the default is 2026-03-02 09:00:00, after every
  ///   timestamp of the seed data.
  public init(_ seconds: Int64 = 1_772_442_000) { time = Mutex(seconds * 1_000) }

  public func now() -> Int64 { milliseconds() / 1_000 }
  public func milliseconds() -> Int64 { time.withLock { $0 } }
  public func advance(by seconds: Int64) { advance(milliseconds: seconds * 1_000) }
  public func set(_ seconds: Int64) { move { $0 = seconds * 1_000 } }

  /// Moves the clock and wakes sleepers whose deadline has passed.
  public func advance(milliseconds: Int64) { move { $0 += milliseconds } }

  private func move(_ change: (inout Int64) -> Void) {
    let now = time.withLock { time in
      change(&time)
      return time
    }
    sleepers.wake(at: now)
  }

  public func sleep(milliseconds: Int64) async throws {
    let deadline = self.milliseconds() + milliseconds
    try await sleepers.sleep(until: deadline) { self.milliseconds() >= deadline }
  }

  /// How many tasks sleep on this clock.
  public var sleeping: Int { sleepers.count }

  /// Waits until this many tasks sleep on this clock.
  package func hasSleepers(_ count: Int = 1) async { await sleepers.reach(count) }
}

/// Tasks that wait for a clock to move. Any thread.
final class Sleepers: Sendable {
  private struct Sleeper {
    let deadline: Int64
    let wake: CheckedContinuation<Void, any Error>
  }
  private struct State {
    var sleepers: [Int: Sleeper] = [:]
    var cancelled: Set<Int> = []
    var last = 0
    /// Those who wait for a number of sleepers.
    var waiters: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []

    mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
      let count = sleepers.count
      defer { waiters.removeAll { $0.count <= count } }
      return waiters.filter { $0.count <= count }.map(\.wake)
    }
  }
  private let state = Mutex(State())

  var count: Int { state.withLock { $0.sleepers.count } }

  /// - Parameter isOver: Evaluated after the sleeper is registered, so that no move is missed.
  func sleep(until deadline: Int64, isOver: @escaping @Sendable () -> Bool) async throws {
    let id = state.withLock { state in
      state.last += 1
      return state.last
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let ready = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
          if state.cancelled.remove(id) != nil { return nil }
          state.sleepers[id] = Sleeper(deadline: deadline, wake: continuation)
          return state.takeReady()
        }
        guard let ready else { return continuation.resume(throwing: CancellationError()) }
        for waiter in ready { waiter.resume() }
        if isOver() { state.withLock { $0.sleepers.removeValue(forKey: id) }?.wake.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        if sleeper == nil { state.cancelled.insert(id) }
        return sleeper
      }
      sleeper?.wake.resume(throwing: CancellationError())
    }
    _ = state.withLock { $0.cancelled.remove(id) }
  }

  /// Waits until there are this many sleepers.
  func reach(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let ready = state.withLock { state in
        state.waiters.append((count, continuation))
        return state.takeReady()
      }
      for waiter in ready { waiter.resume() }
    }
  }

  func wake(at now: Int64) {
    let due = state.withLock { state in
      let due = state.sleepers.filter { $0.value.deadline <= now }
      for id in due.keys { state.sleepers[id] = nil }
      return due
    }
    for sleeper in due.values { sleeper.wake.resume() }
  }
}
