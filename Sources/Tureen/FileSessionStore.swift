import Dispatch
import JSON
import Logging
import RestClient
import Salesforce
import Support

/// Stores a session in `session.json` in the user's folder, with mode 0600, for all processes with the same home. A process
/// that renews the session holds `session.lock` in the same folder.
public struct FileSessionStore: SessionStore {
  private let folder: String
  private let patienceMs: Int64
  private let logger: Logger

  /// The locked files of the current task, by path. Set inside ``withLock(_:)``.
  @TaskLocal private static var held: [String: TokenFile] = [:]

  public init(folder: String) { self.init(folder: folder, patienceMs: Tuning.sessionLockPatienceMs) }

  init(folder: String, patienceMs: Int64, logger: Logger = Logger.tureen("host")) {
    self.folder = folder
    self.patienceMs = patienceMs
    self.logger = logger
  }

  private var path: String { folder + "/session.json" }

  public func load() async throws -> StoredSession? {
    try await Blocking.offPool { [path, logger] in
      try TokenFile.readJSON(path, logger: logger).flatMap { StoredSession(json: $0) }
    }
  }

  public func save(_ kept: StoredSession) async throws {
    try await withFile { file in try file.write(kept.json) }
  }

  public func erase() async throws { try await withFile { file in try file.erase() } }

  public func reserve() async throws { try await withFile { file in try file.reserve() } }

  public func withLock<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
    if Self.held[path] != nil { return try await body() }
    let file = try await TokenFile.locked(folder: folder, patienceMs: patienceMs)
    defer { file.release() }
    return try await Self.$held.withValue(Self.held.merging([path: file]) { $1 }) { try await body() }
  }

  private func withFile(_ work: @escaping @Sendable (TokenFile) throws -> Void) async throws {
    try await withLock {
      guard let file = Self.held[path] else { preconditionFailure("the lock is held") }
      try await Blocking.offPool { try work(file) }
    }
  }
}
