import Synchronization

/// The clock of a running server: another clock's time, which can be held and moved. Any thread.
public final class OrgClock: SandboxClock {
  private struct State {
    /// Seconds at which it stands; nil: it goes.
    var held: Int64?
    /// Seconds it is ahead of its base.
    var offset: Int64 = 0
    /// Seconds it has been moved by in all; sleepers count by it.
    var moved: Int64 = 0
    /// How often it has been let go.
    var releases: Int64 = 0
    var observer: (@Sendable () -> Void)?
  }

  private let base: any SandboxClock
  private let state = Mutex(State())
  /// Who wait until it has moved so many milliseconds in all; until it has been let go so often.
  private let sleepers = Sleepers(), held = Sleepers()

  package init(_ base: any SandboxClock) { self.base = base }

  public func now() -> Int64 {
    let (held, offset) = state.withLock { ($0.held, $0.offset) }
    return held ?? base.now() + offset
  }

  public var isHeld: Bool { state.withLock { $0.held != nil } }

  /// Stops it where it stands.
  public func hold() { change { $0.held = $0.held ?? base.now() + $0.offset } }

  /// Lets it go on from where it stands.
  public func release() {
    change { state in
      guard let held = state.held else { return }
      state.offset = held - base.now()
      state.held = nil
      state.releases += 1
    }
  }

  /// Moves it, held or not; it can go back. Those who sleep by it wake when their time has come.
  public func advance(by seconds: Int64) {
    change { state in
      state.moved += seconds
      if let held = state.held { state.held = held + seconds } else { state.offset += seconds }
    }
  }

  /// - Parameter seconds: Since 1970 UTC.
  public func set(_ seconds: Int64) { advance(by: seconds - now()) }

  /// Called after each change, on the thread that made it.
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

  /// How many requests wait for it.
  public var sleeping: Int { sleepers.count }

  /// Ends when it has been moved so far, or has gone so far; while it is held it does not go.
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
