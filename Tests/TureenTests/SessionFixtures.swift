import Logging
import RestClient
import Support
import Synchronization
import TestSupport

@testable import Salesforce
@testable import Tureen

/// A manual clock. Sleeps are recorded and return at once.
final class SessionClock: Sendable {
  private let state = Mutex((now: 1_000_000.0, waits: [Double]()))

  var now: Double { state.withLock { $0.now } }
  var waits: [Double] { state.withLock { $0.waits } }
  func advance(_ seconds: Double) { state.withLock { $0.now += seconds } }

  var environment: RetryEnvironment {
    RetryEnvironment(
      sleep: { seconds in self.state.withLock { $0.waits.append(seconds) } }, random: { 0.5 }, now: { self.now })
  }
}

/// Records a client's session changes as text.
final class ToldSessions: Sendable {
  private let told = Mutex<[String]>([])

  var all: [String] { told.withLock { $0 } }

  @Sendable func note(_ change: SessionChange) {
    let text =
      switch change {
      case .signedIn(let session): "signedIn \(session.accessToken)"
      case .renewed(let session): "renewed \(session.accessToken)"
      case .lost(_, let error): "lost \(error.reason ?? error.code.rawValue)"
      }
    told.withLock { $0.append(text) }
  }
}

/// A user's folder. Clients share its session as processes do.
struct SessionPlace {
  let folder: TemporaryFolder
  let clock = SessionClock()
  let log = RecordedLog()
  var policy = RetryPolicy.never

  init() throws { folder = try TemporaryFolder() }

  var path: String { folder.path + "/session.json" }

  var store: FileSessionStore { store(patienceMs: 600_000) }

  func store(patienceMs: Int64) -> FileSessionStore {
    FileSessionStore(folder: folder.path, patienceMs: patienceMs, logger: log.logger)
  }

  /// Runs `body` with a new client of this session, as in another process.
  func withClient<R>(
    _ credentials: Credentials?, store: (any SessionStore)? = nil, told: ToldSessions = ToldSessions(),
    _ body: (SalesforceClient) async throws -> R
  ) async throws -> R {
    let client = SalesforceClient(
      store: store ?? self.store, credentials: credentials, policy: policy, environment: clock.environment, logger: log.logger,
      onSessionChange: told.note)
    do {
      let result = try await body(client)
      await client.shutdown()
      return result
    } catch {
      await client.shutdown()
      throw error
    }
  }

  /// Sends one request as a separate process would; returns its error, or nil.
  @discardableResult
  func run(_ credentials: Credentials?, store: (any SessionStore)? = nil) async throws -> RestError? {
    try await withClient(credentials, store: store) { client in
      do {
        _ = try await client.send(RestRequest(.GET, "/services/data/v66.0/limits"))
        return nil
      } catch let error as RestError {
        return error
      }
    }
  }
}

extension RotatingOrg {
  var credentials: Credentials {
    .refreshToken(loginURL: url, clientId: Self.clientId, clientSecret: nil, refreshToken: "refresh-0")
  }
}
