import JSON
import RestClient
import Salesforce
import SmartStore
import Support

extension HomeAccounts {
  /// The options of a logout.
  public struct Logout: Sendable {
    /// The user; nil for the current user of the org.
    public var user: String?
    /// True for all users of the named org, or of every org if none is named.
    public var all = false
    /// True to remove the user's credentials file, too.
    public var forget = false
    public var deletesStores = false

    public init() {}
  }

  /// A user to log out.
  public struct Target: Sendable {
    public let org: OrgEntry
    public let user: OrgUser
    /// The number of stores to delete: in the home, and in the database if there is one.
    public let stores: StoreNumbers
  }

  /// The result of a logout of one user.
  public struct Ended: Sendable {
    public let org: String
    public let username: String
    /// False if there was no session.
    public let hadSession: Bool
    /// Why the login host did not revoke the token; nil if it did.
    public let notRevoked: String?
    public let deletedStores: Int

    public var json: JSONObject {
      [
        "org": .string(org), "username": .string(username), "hadSession": .bool(hadSession),
        "revoked": .bool(hadSession && notRevoked == nil), "problem": notRevoked.map { .string($0) } ?? .null,
        "deletedStores": .integer(Int64(deletedStores)),
      ]
    }
  }

  /// Returns the users that a logout affects. Blocks.
  /// - Throws: ``HostError`` `.noSuchOrg`, `.noSuchUser`.
  public func targets(of logout: Logout) throws -> [Target] {
    if logout.all {
      let entries = try settings.org == nil ? directory.entries() : [chosenOrg()]
      return try entries.flatMap { entry in try entry.users.map { try target(entry, $0, logout) } }
    }
    let entry = try chosenOrg()
    return [try target(entry, entry.chosenUser(logout.user), logout)]
  }

  private func target(_ entry: OrgEntry, _ user: OrgUser, _ logout: Logout) throws -> Target {
    // Without deleting stores, a logout does not need the database.
    guard logout.deletesStores else { return Target(org: entry, user: user, stores: StoreNumbers()) }
    return Target(org: entry, user: user, stores: try storeNumbers(entry, [user]))
  }

  /// Ends the sessions, first in the home and then at their login hosts, with one request of at most ten seconds each.
  ///
  /// - Throws: ``SmartStore/StoreError`` `.storeInUse` before anything of that user is changed; ``RestClient/RestError``
  ///   `.signInBusy`; `FileError`.
  public func end(_ targets: [Target], _ logout: Logout) async throws -> [Ended] {
    var ended: [Ended] = []
    let transport = HTTPTransport(try transportConfiguration())
    let oauth = OAuthClient(transport: transport)
    do {
      for target in targets { ended.append(try await end(target, logout, oauth)) }
    } catch {
      await transport.shutdown()
      throw error
    }
    await transport.shutdown()
    return ended
  }

  private func end(_ target: Target, _ logout: Logout, _ oauth: OAuthClient) async throws -> Ended {
    let store = store(target.org, target.user)
    let session = try await store.withLock {
      // An unreadable session is removed as well.
      let kept = try? await store.load()
      try await Blocking.offPool { [self] in
        try directory.endUser(target.user, of: target.org.folder, logout) { try removeFromDatabase(target.org, [target.user]) }
      }
      try await store.erase()
      return kept?.session
    }
    return Ended(
      org: target.org.name, username: session?.username ?? target.user.name, hadSession: session != nil,
      notRevoked: await revoke(session, oauth), deletedStores: target.stores.total)
  }

  /// - Returns: Why the token was not revoked; nil if it was, or if there was none.
  private func revoke(_ session: Session?, _ oauth: OAuthClient) async -> String? {
    guard let session else { return nil }
    do throws(RestError) {
      try await oauth.revoke(session)
      return nil
    } catch {
      return "the token was not revoked (\(error.message)); it is valid until it expires, or until an administrator of the "
        + "org revokes it under Connected Apps OAuth Usage"
    }
  }

  /// Removes an org with all its data from the home, and then revokes its tokens.
  /// - Throws: ``HostError`` `.noSuchOrg`; ``SmartStore/StoreError`` `.storeInUse`. Nothing is removed then.
  public func remove(_ name: String) async throws -> [Ended] {
    let entry = try await Blocking.offPool { [directory] in try directory.known(name) }
    var sessions: [(user: OrgUser, session: Session?, stores: Int)] = []
    let database = try await Blocking.offPool { [self] in try databaseStores(entry, entry.users) }
    for user in entry.users {
      let kept = try? await store(entry, user).load()
      let path = directory.userFolder(org: entry.folder, user: user.folder)
      let stores = try directory.storeFolders(under: path).count + database.count { $0.user.hasSameBytes(as: user.folder) }
      sessions.append((user, kept?.session, stores))
    }
    try await Blocking.offPool { [self] in
      try directory.remove(name) { try removeFromDatabase($0, $0.users) }
    }
    let transport = HTTPTransport(try transportConfiguration())
    let oauth = OAuthClient(transport: transport)
    var ended: [Ended] = []
    for (user, session, stores) in sessions {
      if settings.sessionCommand != nil { try? await store(entry, user).erase() }
      ended.append(
        Ended(
          org: entry.name, username: session?.username ?? user.name, hadSession: session != nil,
          notRevoked: await revoke(session, oauth), deletedStores: stores))
    }
    await transport.shutdown()
    return ended
  }

  func transportConfiguration() throws -> TransportConfiguration {
    var configuration = TransportConfiguration()
    configuration.authorities = try settings.trustedCertificates()
    configuration.proxies = settings.proxies
    configuration.log = settings.requestLog?.log
    return configuration
  }
}

extension OrgEntry {
  /// The user to use if none is named.
  var currentUser: OrgUser? {
    // Folders from before org.json do not record the current user; most have a single one.
    guard let user else { return !hasFile && users.count == 1 ? users[0] : nil }
    return self.user(named: user) ?? OrgUser(name: user, folder: OrgDirectory.folderName(ofUser: user))
  }

  /// Returns the named user, else the current one.
  /// - Throws: ``HostError`` `.noSuchUser`, listing the known users.
  func chosenUser(_ name: String?) throws -> OrgUser {
    if name == nil, let currentUser { return currentUser }
    let known = users.isEmpty ? "" : "; known: \(callableNames.joined(separator: ", "))"
    if let name {
      if let user = user(called: name) { return user }
      throw HostError(.noSuchUser, "'\(self.name)' has no user '\(name)'\(known)")
    }
    throw HostError(
      .noSuchUser,
      "no user is signed in to '\(self.name)'; sign in with `tureen login --org \(self.name)`"
        + (users.isEmpty ? "" : ", or name one of its users with --user: \(callableNames.joined(separator: ", "))"))
  }
}
