import Synchronization

/// The clock of a running server. It follows another clock and can be held and moved. Any thread.
public final class OrgClock: SandboxClock {
  private struct State {
    /// The time at which it is held, in seconds since 1970 UTC; nil while it runs.
    var held: Int64?
    /// Seconds ahead of its base clock.
    var offset: Int64 = 0
    /// Total seconds by which it has been moved; sleepers measure time by it.
    var moved: Int64 = 0
    /// How often it has been released.
    var releases: Int64 = 0
    var observer: (@Sendable () -> Void)?
  }

  private let base: any SandboxClock
  private let state = Mutex(State())
  /// Tasks that wait for a total of milliseconds moved, and tasks that wait for a number of
  /// releases.
  private let sleepers = Sleepers(), held = Sleepers()

  package init(_ base: any SandboxClock) { self.base = base }

  public func now() -> Int64 {
    let (held, offset) = state.withLock { ($0.held, $0.offset) }
    return held ?? base.now() + offset
  }

  /// While the clock is held it stands at the start of a second.
  public func milliseconds() -> Int64 {
    let (held, offset) = state.withLock { ($0.held, $0.offset) }
    return held.map { $0 * 1_000 } ?? base.milliseconds() + offset * 1_000
  }

  public var isHeld: Bool { state.withLock { $0.held != nil } }

  /// Stops the clock at its current time.
  public func hold() { change { $0.held = $0.held ?? base.now() + $0.offset } }

  /// Resumes the clock from the time at which it was held.
  public func release() {
    change { state in
      guard let held = state.held else { return }
      state.offset = held - base.now()
      state.held = nil
      state.releases += 1
    }
  }

  /// Moves the clock, held or running, forwards or backwards. Wakes sleepers whose deadline has
  /// passed.
  public func advance(by seconds: Int64) {
    change { state in
      state.moved += seconds
      if let held = state.held { state.held = held + seconds } else { state.offset += seconds }
    }
  }

  /// - Parameter seconds: Seconds since 1970 UTC.
  public func set(_ seconds: Int64) { advance(by: seconds - now()) }

  /// Sets a function that is called after each change, on the thread that made it.
  package func observe(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observer = observer } }

  private func change(_ body: (inout State) -> Void) {
    let (moved, releases, observer) = state.withLock { state in
      body(&state)
      return (state.moved, state.releases, state.observer)
    }
    sleepers.wake(at: moved * 1_000)
    held.wake(at: releases)
    observer?()
  }

  /// How many requests sleep on this clock.
  public var sleeping: Int { sleepers.count }

  /// Waits until this many requests sleep on this clock.
  package func hasSleepers(_ count: Int = 1) async { await sleepers.reach(count) }

  /// Returns when the clock has been moved, or has run, by this much. A held clock does not run.
  public func sleep(milliseconds: Int64) async throws {
    let deadline = state.withLock { $0.moved } * 1_000 + milliseconds
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await self.sleepers.sleep(until: deadline) { self.state.withLock { $0.moved } * 1_000 >= deadline }
      }
      group.addTask {
        repeat {
          try await self.released()
          try await self.base.sleep(milliseconds: milliseconds)
        } while self.isHeld
      }
      try await group.next()
      group.cancelAll()
    }
  }

  private func released() async throws {
    let (isHeld, releases) = state.withLock { ($0.held != nil, $0.releases) }
    guard isHeld else { return }
    try await held.sleep(until: releases + 1) { self.state.withLock { $0.releases } > releases }
  }
}
