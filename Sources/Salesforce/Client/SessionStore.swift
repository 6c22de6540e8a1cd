import Synchronization

/// Stores a session for other processes and for the next run.
///
/// If a method throws a `RestError`, the caller of a request gets it unchanged; other errors are converted to text.
public protocol SessionStore: Sendable {
  /// Returns the stored state; nil if there is none.
  func load() async throws -> StoredSession?
  /// Replaces the stored state atomically.
  func save(_ kept: StoredSession) async throws
  /// Removes the stored state. Does nothing if there is none.
  func erase() async throws
  /// Runs `body` under a lock that excludes other processes and other users of the same store in this process. `body` may call
  /// ``load()``, ``save(_:)``, ``erase()`` and ``reserve()``.
  /// - Throws: `RestError` `.signInBusy` if another holder keeps the lock for too long.
  func withLock<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T
  /// Reserves space for the next ``save(_:)``. Called before a token is requested, so that a full disk cannot lose it.
  func reserve() async throws
}

extension SessionStore {
  public func reserve() async throws {}
}

/// Keeps a session in memory.
final class MemorySessionStore: SessionStore {
  private let kept: Mutex<StoredSession?>

  init(_ session: Session? = nil) { kept = Mutex(session.map { StoredSession(session: $0) }) }

  func load() -> StoredSession? { kept.withLock { $0 } }
  func save(_ fresh: StoredSession) { kept.withLock { $0 = fresh } }
  func erase() { kept.withLock { $0 = nil } }
  /// Needs no lock: its only user, a `SessionProvider`, runs one renewal at a time.
  func withLock<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T { try await body() }
}
