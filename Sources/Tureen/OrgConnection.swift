import JSON
import Logging
import MobileSync
import RestClient
import Salesforce
import Support

/// What a host connects to, and how: the client of its org is made of this with the first request.
struct OrgConnection: Sendable {
  let org: Org
  /// The file that keeps the session, where the org keeps one.
  let sessionPath: String
  let apiVersion: String
  let transport: TransportConfiguration
  let events: HostEvents
  /// What scripts get of the session.
  let shownTokens: Account.ShownTokens
  let userAgent: @Sendable () -> String

  /// - Throws: ``HostError`` for credentials that are missing or wrong, and for a session file that others can read.
  func open() throws -> any RestClient {
    let stored = org.keepsSession ? try keptSession() : nil
    let credentials = try org.credentials()
    events.begin(session: stored)
    return SalesforceClient(
      session: stored, credentials: credentials, apiVersion: apiVersion, transport: HTTPTransport(transport),
      isRestricted: shownTokens == .none, observer: SyncTrafficObserver(next: events), userAgent: userAgent,
      onSessionChange: { session in
        events.sessionChanged(
          Account(
            session: session, clientId: credentials.clientId, username: credentials.username ?? "",
            shownTokens: shownTokens))
        keep(session)
      })
  }

  /// The session that was kept in the file, nil when there is none or it is of no use.
  private func keptSession() throws -> Session? {
    guard FileSystem.exists(sessionPath) else { return nil }
    try PrivateFile.check(sessionPath, what: "the file with the session")
    return FileSystem.read(sessionPath).flatMap { try? JSONValue(parsing: $0) }.flatMap { Session(json: $0) }
  }

  private func keep(_ session: Session) {
    guard org.keepsSession else { return }
    do {
      try FileSystem.write(session.json.serialized(), to: sessionPath)
    } catch {
      Logger(label: "tureen.host").warning("the session could not be kept: \(error)")
    }
  }
}
