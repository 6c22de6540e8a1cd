import Synchronization

/// Where a session is kept, so that other processes and the next run use it as well.
///
/// Errors are what the store throws: a `RestError` reaches the caller of a request as it is, others as text.
public protocol SessionStore: Sendable {
  /// What is kept; nil when nothing is.
  func load() async throws -> KeptSession?
  /// Replaces what is kept, whole.
  func save(_ kept: KeptSession) async throws
  /// Removes what is kept. Nothing happens when nothing is.
  func erase() async throws
  /// Runs `body` while no other process, and no other user of the same store in this one, is in such a body.
  /// ``load()``, ``save(_:)``, ``erase()`` and ``reserve()`` may be called inside.
  /// - Throws: `RestError` `.signInBusy` when another one takes too long.
  func withLock<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T
  /// Makes sure that there will be room for the next ``save(_:)``: called before a token is asked for, which must not be lost to
  /// a full disk.
  func reserve() async throws
}

extension SessionStore {
  public func reserve() async throws {}
}

/// Keeps a session for as long as the program runs.
final class MemorySessionStore: SessionStore {
  private let kept: Mutex<KeptSession?>

  init(_ session: Session? = nil) { kept = Mutex(session.map { KeptSession(session: $0) }) }

  func load() -> KeptSession? { kept.withLock { $0 } }
  func save(_ fresh: KeptSession) { kept.withLock { $0 = fresh } }
  func erase() { kept.withLock { $0 = nil } }
  /// Its one user takes turns by itself.
  func withLock<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T { try await body() }
}
