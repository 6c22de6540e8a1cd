import MobileSync
import RestClient
import Salesforce

/// What a host connects to, and how: the client of its org is made of this with the first request.
struct OrgConnection: Sendable {
  let org: Org
  /// Where the session is kept; nil keeps it in memory.
  let store: (any SessionStore)?
  /// What a user who was current before goes on with, where it is kept in memory.
  let session: Session?
  let apiVersion: String
  let transport: TransportConfiguration
  let events: HostEvents
  let usage: OrgUsage
  /// What scripts get of the session.
  let shownTokens: Account.ShownTokens
  /// Whether an org that is not a sandbox is refused.
  let isSandboxOnly: Bool
  /// Told once whether the org is a sandbox.
  let noteSandbox: @Sendable (Bool) -> Void
  let clock: RetryEnvironment
  let userAgent: @Sendable () -> String

  /// Blocks.
  /// - Throws: ``HostError`` for credentials that are missing or wrong, `.otherOrg` for an org that must not be reached.
  func open() throws -> any RestClient {
    if isSandboxOnly, org.isSandbox == false { throw isNoSandbox }
    let client = try client()
    guard isSandboxOnly, org.isSandbox == nil else { return client }
    do {
      try askForSandbox(client)
      return client
    } catch {
      Blocking.run { await client.shutdown() }
      throw error
    }
  }

  private func askForSandbox(_ client: SalesforceClient) throws {
    guard let isSandbox = try Blocking.run({ try await client.isSandbox() }) else {
      throw HostError(
        .otherOrg,
        "'\(org.name)' does not say whether it is a sandbox, and --sandbox-only allows no other org; give its user the right to "
          + "read Organization")
    }
    noteSandbox(isSandbox)
    guard isSandbox else { throw isNoSandbox }
  }

  private var isNoSandbox: HostError {
    HostError(.otherOrg, "'\(org.name)' is not a sandbox, and --sandbox-only allows no other org")
  }

  private func client() throws -> SalesforceClient {
    let credentials = try org.credentials()
    // A token that is given with each start needs no other place.
    let store: (any SessionStore)? = if case .accessToken(_, _?)? = credentials { nil } else { store }
    return SalesforceClient(
      session: session, store: store, credentials: credentials, orgId: org.orgId, apiVersion: apiVersion,
      transport: HTTPTransport(transport), isRestricted: shownTokens == .none, environment: clock,
      observer: SyncTrafficObserver(next: OrgObserver(events: events, usage: usage)), userAgent: userAgent,
      onSessionChange: { change in tell(change, credentials) })
  }

  private func tell(_ change: SessionChange, _ credentials: Credentials?) {
    func account(_ session: Session) -> Account {
      Account(
        session: session, clientId: credentials?.clientId ?? session.clientId ?? "",
        username: credentials?.username ?? session.username ?? "", shownTokens: shownTokens)
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
