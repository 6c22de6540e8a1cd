import MobileSync
import RestClient
import Salesforce

/// Creates the client of a host's org with the first request.
struct OrgConnection: Sendable {
  let org: Org
  /// Stores the session; nil keeps it in memory.
  let store: (any SessionStore)?
  /// The previous session of a user who becomes current again, if it is kept in memory.
  let session: Session?
  let apiVersion: String
  let transport: TransportConfiguration
  let events: HostEvents
  let usage: OrgUsage
  /// nil without a limit.
  let budget: OrgBudget?
  /// The tokens of the session that scripts may see.
  let visibleTokens: Account.VisibleTokens
  /// The hosts besides the org's that scripts may reach; nil for all.
  let reachableHosts: ReachableHosts?
  /// True if an org that is not a sandbox is refused.
  let isSandboxOnly: Bool
  /// Called once the org has said whether it is a sandbox.
  let noteSandbox: @Sendable (Bool) -> Void
  let clock: RetryEnvironment
  let userAgent: @Sendable () -> String

  /// Creates the client. Blocks.
  /// - Throws: ``HostError`` for missing or invalid credentials, `.otherOrg` for an org that `--sandbox-only` excludes.
  func open() throws -> any RestClient {
    if isSandboxOnly, org.isSandbox == false { throw notSandboxError }
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
    guard isSandbox else { throw notSandboxError }
  }

  private var notSandboxError: HostError {
    HostError(.otherOrg, "'\(org.name)' is not a sandbox, and --sandbox-only allows no other org")
  }

  private func client() throws -> SalesforceClient {
    let credentials = try org.credentials()
    // A token that is given with each start is not stored.
    let store: (any SessionStore)? = if case .accessToken(_, _?)? = credentials { nil } else { store }
    return SalesforceClient(
      session: session, store: store, credentials: credentials, orgId: org.orgId, apiVersion: apiVersion,
      transport: HTTPTransport(transport), hidesTokens: visibleTokens == .none, reachableHosts: reachableHosts,
      environment: clock,
      observer: SyncTrafficObserver(next: OrgObserver(events: events, usage: usage)),
      admission: { [budget] () async throws(RestError) in try await budget?.take() }, userAgent: userAgent,
      onSessionChange: { change in tell(change, credentials) })
  }

  private func tell(_ change: SessionChange, _ credentials: Credentials?) {
    func account(_ session: Session) -> Account {
      Account(
        session: session, clientId: credentials?.clientId ?? session.clientId ?? "",
        username: credentials?.username ?? session.username ?? "", visibleTokens: visibleTokens)
    }
    switch change {
    case .signedIn: break
    case .renewed(let session): events.sessionRenewed(account(session))
    case .lost(let session, let error): events.sessionLost(account(session), org: org.folder, error)
    }
  }
}

/// Observes an org's responses for connectivity and API usage.
private struct OrgObserver: RestObserver {
  let events: HostEvents
  let usage: OrgUsage

  func requestFinished(_ trace: RestTrace) { events.requestFinished(trace) }
  func received(headers: [(name: String, value: String)]) { usage.note(headers: headers) }
}
