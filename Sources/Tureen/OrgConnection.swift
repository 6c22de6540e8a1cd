import MobileSync
import RestClient
import Salesforce

/// What a host connects to, and how: the client of its org is made of this with the first request.
struct OrgConnection: Sendable {
  let org: Org
  /// Where the session is kept; nil keeps it in memory.
  let store: (any SessionStore)?
  let apiVersion: String
  let transport: TransportConfiguration
  let events: HostEvents
  let usage: OrgUsage
  /// What scripts get of the session.
  let shownTokens: Account.ShownTokens
  let clock: RetryEnvironment
  let userAgent: @Sendable () -> String

  /// - Throws: ``HostError`` for credentials that are missing or wrong.
  func open() throws -> any RestClient {
    let credentials = try org.credentials()
    // A token that is given with each start needs no other place.
    let store: (any SessionStore)? = if case .accessToken(_, _?) = credentials { nil } else { store }
    return SalesforceClient(
      store: store, credentials: credentials, apiVersion: apiVersion, transport: HTTPTransport(transport),
      isRestricted: shownTokens == .none, environment: clock,
      observer: SyncTrafficObserver(next: OrgObserver(events: events, usage: usage)), userAgent: userAgent,
      onSessionChange: { change in tell(change, credentials) })
  }

  private func tell(_ change: SessionChange, _ credentials: Credentials) {
    func account(_ session: Session) -> Account {
      Account(
        session: session, clientId: credentials.clientId, username: credentials.username ?? session.username ?? "",
        shownTokens: shownTokens)
    }
    switch change {
    case .signedIn: break
    case .renewed(let session): events.sessionRenewed(account(session))
    case .lost(let session, let error): events.sessionLost(account(session), org: org.folder, error)
    }
  }
}

/// What the answers of an org tell the host beside what they were asked for.
private struct OrgObserver: RestObserver {
  let events: HostEvents
  let usage: OrgUsage

  func requestFinished(_ trace: RestTrace) { events.requestFinished(trace) }
  func received(headers: [(name: String, value: String)]) { usage.note(headers: headers) }
}
