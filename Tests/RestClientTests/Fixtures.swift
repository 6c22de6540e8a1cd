import Foundation
import JSON
import Logging
import RestClient
import Synchronization
import TestSupport

@testable import Salesforce

/// A retry environment without a clock: it records the waits and returns at once.
final class RecordedWaits: Sendable {
  private let waits = Mutex<[Double]>([])

  var seconds: [Double] { waits.withLock { $0 } }

  /// - Parameter random: The value of every draw.
  func environment(random: Double = 0.5, now: Double = 0) -> RetryEnvironment {
    RetryEnvironment(
      sleep: { seconds in self.waits.withLock { $0.append(seconds) } }, random: { random }, now: { now })
  }
}

final class RecordedTraces: RestObserver {
  private let traces = Mutex<[RestTrace]>([])

  var all: [RestTrace] { traces.withLock { $0 } }
  func requestFinished(_ trace: RestTrace) { traces.withLock { $0.append(trace) } }
}

/// Records what a client reports about its session.
final class RecordedSessions: Sendable {
  private let told = Mutex<[SessionChange]>([])

  /// Descriptions of the changes: what happened, and the token or the reason.
  var changes: [String] {
    told.withLock { $0 }.map { change in
      switch change {
      case .signedIn(let session): "signedIn \(session.accessToken)"
      case .renewed(let session): "renewed \(session.accessToken)"
      case .lost(_, let error): "lost \(error.reason ?? error.code.rawValue)"
      }
    }
  }

  var sessions: [Session] {
    told.withLock { $0 }.map { change in
      switch change {
      case .signedIn(let session), .renewed(let session), .lost(let session, _): session
      }
    }
  }

  @Sendable func note(_ change: SessionChange) { told.withLock { $0.append(change) } }
}

func session(_ server: ScriptedServer, token: String = "token-1", refresh: String? = "refresh-1") -> Session {
  Session(
    accessToken: token, refreshToken: refresh, instanceURL: server.url, userId: "005U", orgId: "00DO",
    loginURL: server.url, identityURL: server.url + "/id/00DO/005U")
}

func refreshCredentials(_ server: ScriptedServer) -> Credentials {
  .refreshToken(loginURL: server.url, clientId: "app", clientSecret: nil, refreshToken: "refresh-1")
}

func tokenAnswer(_ server: ScriptedServer, token: String, refresh: String? = nil) -> ScriptedAnswer {
  let rotated = refresh.map { #","refresh_token":"\#($0)""# } ?? ""
  return .json(
    #"{"access_token":"\#(token)","instance_url":"\#(server.url)","id":"\#(server.url)/id/00DO/005U""#
      + #","issued_at":"1700000000000"\#(rotated)}"#)
}

let expired = ScriptedAnswer.restError(401, "INVALID_SESSION_ID", "Session expired or invalid")

/// Runs `body` with a client of the server's org, and shuts the client down in every case.
func withClient<R>(
  _ server: ScriptedServer, session given: Session? = nil, store: (any SessionStore)? = nil, credentials: Credentials? = nil,
  configuration: TransportConfiguration = TransportConfiguration(), policy: RetryPolicy = .never,
  waits: RecordedWaits = RecordedWaits(), observer: (any RestObserver)? = nil,
  logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
  onSessionChange: @escaping @Sendable (SessionChange) async -> Void = { _ in },
  _ body: (SalesforceClient) async throws -> R
) async throws -> R {
  let client = SalesforceClient(
    session: given ?? (credentials == nil && store == nil ? session(server) : nil), store: store, credentials: credentials,
    transport: HTTPTransport(configuration), policy: policy, environment: waits.environment(), observer: observer,
    logger: logger, onSessionChange: onSessionChange)
  do {
    let result = try await body(client)
    await client.shutdown()
    return result
  } catch {
    await client.shutdown()
    throw error
  }
}

/// Returns the error of a call that must fail.
func failure(_ body: () async throws -> some Any) async throws -> RestError {
  do {
    _ = try await body()
  } catch let error as RestError {
    return error
  }
  throw Unexpected(what: "the call succeeded")
}

struct Unexpected: Error {
  let what: String
}
