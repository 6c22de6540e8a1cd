import Glibc
import Synchronization

/// Where the org takes its time from. Stamps have a resolution of one second, as in Salesforce.
public protocol SandboxClock: Sendable {
  /// Seconds since 1970 UTC. Called on the org's queue; must not block.
  func now() -> Int64
}

/// The computer's clock.
public struct SystemSandboxClock: SandboxClock {
  public init() {}
  public func now() -> Int64 { Int64(time(nil)) }
}

/// A clock that moves only when told to. Any thread may move it.
public final class ManualSandboxClock: SandboxClock {
  private let seconds: Mutex<Int64>

  /// - Parameter seconds: Since 1970 UTC; by default 2026-03-02 09:00:00, after every seeded stamp.
  public init(_ seconds: Int64 = 1_772_442_000) { self.seconds = Mutex(seconds) }

  public func now() -> Int64 { seconds.withLock { $0 } }
  public func advance(by seconds: Int64) { self.seconds.withLock { $0 += seconds } }
  public func set(_ seconds: Int64) { self.seconds.withLock { $0 = seconds } }
}
