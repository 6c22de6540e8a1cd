import Glibc
import Synchronization

/// Where a pretend server takes its time from. Stamps have a resolution of one second.
public protocol SandboxClock: Sendable {
  /// Seconds since 1970 UTC. Must not block.
  func now() -> Int64
  /// The same in milliseconds, for services whose stamps are finer.
  func milliseconds() -> Int64
  /// Returns when so much of this clock's time has passed. - Throws: `CancellationError`.
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

/// A clock that moves only when told to. Any thread may move it.
public final class ManualSandboxClock: SandboxClock {
  private let milliseconds: Mutex<Int64>
  private let sleepers = Sleepers()

  /// - Parameter seconds: Since 1970 UTC; by default 2026-03-02 09:00:00, after every seeded stamp.
  public init(_ seconds: Int64 = 1_772_442_000) { milliseconds = Mutex(seconds * 1_000) }

  public func now() -> Int64 { milliseconds.withLock { $0 / 1_000 } }
  public func advance(by seconds: Int64) { advance(milliseconds: seconds * 1_000) }
  public func set(_ seconds: Int64) { move { $0 = seconds * 1_000 } }

  /// Wakes those whose time has come.
  public func advance(milliseconds: Int64) { move { $0 += milliseconds } }

  private func move(_ change: (inout Int64) -> Void) {
    let now = milliseconds.withLock { time in
      change(&time)
      return time
    }
    sleepers.wake(at: now)
  }

  public func sleep(milliseconds: Int64) async throws {
    let deadline = self.milliseconds.withLock { $0 } + milliseconds
    try await sleepers.sleep(until: deadline) { self.milliseconds.withLock { $0 } >= deadline }
  }

  /// How many wait for this clock now.
  public var sleeping: Int { sleepers.count }
}

/// Tasks that wait for a clock to be moved. Any thread.
final class Sleepers: Sendable {
  private struct Sleeper {
    let deadline: Int64
    let wake: CheckedContinuation<Void, any Error>
  }
  private struct State {
    var sleepers: [Int: Sleeper] = [:]
    var cancelled: Set<Int> = []
    var last = 0
  }
  private let state = Mutex(State())

  var count: Int { state.withLock { $0.sleepers.count } }

  /// - Parameter isOver: Asked once the sleeper is known, so that no move can be missed.
  func sleep(until deadline: Int64, isOver: @escaping @Sendable () -> Bool) async throws {
    let id = state.withLock { state in
      state.last += 1
      return state.last
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          if state.cancelled.remove(id) != nil { return true }
          state.sleepers[id] = Sleeper(deadline: deadline, wake: continuation)
          return false
        }
        if isCancelled { return continuation.resume(throwing: CancellationError()) }
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

  func wake(at now: Int64) {
    let due = state.withLock { state in
      let due = state.sleepers.filter { $0.value.deadline <= now }
      for id in due.keys { state.sleepers[id] = nil }
      return due
    }
    for sleeper in due.values { sleeper.wake.resume() }
  }
}
