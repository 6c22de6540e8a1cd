import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// A user in the home who has a session and could become the current one.
struct HomeAccount: Sendable {
  /// The org, with the folder of this user.
  let org: Org
  let session: Session

  var username: String { session.username ?? session.userId }

  func isUser(_ other: Org) -> Bool { org.folder == other.folder && org.userFolder == other.userFolder }
}

extension HostParts {
  /// Returns the store of a user's session.
  func sessionStore(org: String, user: String) -> any SessionStore {
    Org.sessionStore(settings, org: org, user: user, in: userFolder(org, user))
  }

  func orgFolder(_ org: String) -> String { "\(home)/orgs/\(org)" }
  func userFolder(_ org: String, _ user: String) -> String { "\(orgFolder(org))/\(user)" }

  /// Returns the accounts that have a session, sorted by org and user. Unreadable ones are skipped and logged.
  func accounts() async throws -> [HomeAccount] {
    let scan = try await Blocking.offPool { try OrgDirectory(home: home).scan() }
    for problem in scan.problems { logger.warning("the org \(problem.folder) is left out: \(problem.error)") }
    let choice = OrgResolver(settings: settings, home: home)
    var found: [HomeAccount] = []
    for entry in scan.entries {
      for user in entry.users {
        do {
          guard let session = try await sessionStore(org: entry.folder, user: user.folder).load()?.session else { continue }
          found.append(HomeAccount(org: choice.org(of: user, in: entry), session: session))
        } catch {
          logger.warning("the session of \(user.name) in \(entry.name) cannot be read: \(error)")
        }
      }
    }
    return found
  }

  /// Records whether an org is a sandbox, so that it is not asked again. Blocks.
  func note(isSandbox: Bool, org folder: String) {
    do {
      try OrgDirectory(home: home).noteSandbox(isSandbox, org: folder)
    } catch {
      logger.warning("that \(folder) is \(isSandbox ? "" : "not ")a sandbox cannot be kept: \(error)")
    }
  }

  /// Ends the session of an account that is not the current one: in the home, and at the login host if that is reachable.
  func signOut(_ account: HomeAccount) async throws {
    let org = account.org
    let client = SalesforceClient(
      session: account.session, store: org.keepsSession ? sessionStore(org: org.folder, user: org.userFolder) : nil,
      credentials: .accessToken(instanceURL: account.session.instanceURL, accessToken: nil), apiVersion: apiVersion,
      transport: HTTPTransport(transport), userAgent: userAgent)
    await client.signOut()
    await client.shutdown()
  }
}
