import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// A user with a session who could be the current one.
struct HomeAccount: Sendable {
  /// The org, with the user who is meant.
  let org: Org
  let session: Session

  var username: String { session.username ?? session.userId }

  func isUser(_ other: Org) -> Bool { org.folder == other.folder && org.userFolder == other.userFolder }
}

extension HostParts {
  /// Where the session of a user is kept.
  func sessionStore(org: String, user: String) -> any SessionStore {
    Org.sessionStore(settings, org: org, user: user, in: userFolder(org, user))
  }

  func orgFolder(_ org: String) -> String { "\(home)/orgs/\(org)" }
  func userFolder(_ org: String, _ user: String) -> String { "\(orgFolder(org))/\(user)" }

  /// The accounts that have a session, by org and user. What cannot be read is left out, and logged.
  func accounts() async throws -> [HomeAccount] {
    var found: [HomeAccount] = []
    for (org, user) in try await Blocking.offPool({ try places() }) {
      do {
        guard let session = try await sessionStore(org: org, user: user).load()?.session else { continue }
        let credentials: @Sendable () throws -> Credentials = { try self.credentials(org, user, session) }
        found.append(
          HomeAccount(org: Org(folder: org, userFolder: user, credentials: credentials, keepsSession: true), session: session))
      } catch {
        logger.warning("the session of \(user) in \(org) cannot be read: \(error)")
      }
    }
    return found
  }

  /// The folders of users. With a dot begin those that are being made or removed, and one in a name is of an org set aside.
  private func places() throws -> [(org: String, user: String)] {
    func folders(_ path: String) throws -> [String] {
      try FileSystem.entries(of: path).filter { !$0.contains(".") && FileSystem.exists("\(path)/\($0)/.") }.sorted()
    }
    return try folders("\(home)/orgs").filter { $0 != Org.sandboxName }.flatMap { org in
      try folders("\(home)/orgs/\(org)").map { (org, $0) }
    }
  }

  /// How the user of a kept session goes on with it: as the file of the user says, then that of the org, else with what the
  /// session itself holds.
  /// - Throws: ``HostError`` for a file that is wrong.
  private func credentials(_ org: String, _ user: String, _ session: Session) throws -> Credentials {
    for folder in [userFolder(org, user), orgFolder(org)] {
      let path = folder + "/credentials.json"
      guard FileSystem.exists(path) else { continue }
      let found = try CredentialsSource.read(
        path, defaultURL: session.loginURL, allowsCommands: !settings.homeIsOfScript)
      // The org's file may be that of another user.
      if StoreRegistry.folderName(found.user) == user { return found.credentials }
    }
    guard session.refreshToken != nil, let clientId = session.clientId else {
      return .accessToken(instanceURL: session.instanceURL, accessToken: nil)
    }
    return .refreshToken(loginURL: session.loginURL, clientId: clientId, clientSecret: nil, refreshToken: nil)
  }

  /// Ends the session of an account that is not current: in the home, and, if it can be reached, at the login host.
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
