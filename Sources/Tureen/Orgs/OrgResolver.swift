import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// Resolves settings to an org, a user and credentials. Reads files but sends no requests.
struct OrgResolver {
  typealias Found = CredentialsSource.Found

  let settings: HostSettings
  let home: String

  private var directory: OrgDirectory { OrgDirectory(home: home) }
  private var source: CredentialsSource { CredentialsSource(settings: settings) }

  /// Resolves an org. Credentials that were chosen for this run take precedence over stored ones, and those over the sf CLI's
  /// variables in the environment.
  /// - Parameter name: A name, an address, or `sf:ALIAS`.
  /// - Throws: ``HostError`` `.noSuchOrg`, `.noSuchUser`, `.invalidConfiguration`.
  func org(_ name: String) throws -> Org {
    let entry = try directory.entry(name)
    if let found = try source.chosen(name) { return try org(name, entry, found) }
    if let entry, isKept(entry) { return try kept(entry) }
    if let found = try source.last([name, entry?.instanceURL, entry?.loginURL].compactMap { $0 }) {
      return try org(name, entry, found)
    }
    // Without credentials the org's stores can still be used.
    if let entry { return try kept(entry) }
    throw source.missingCredentialsError(name, try directory.scan())
  }

  /// Returns an org with one of the home's users. An invalid credentials file is reported when the credentials are needed.
  func org(of user: OrgUser, in entry: OrgEntry) -> Org {
    Org(
      name: entry.name, folder: entry.folder, userFolder: user.folder, orgId: entry.orgId, isSandbox: entry.isSandbox,
      credentials: { try found(for: user, in: entry)?.credentials }, keepsSession: true)
  }

  // MARK: Credentials for this run

  private func org(_ name: String, _ entry: OrgEntry?, _ found: Found) throws -> Org {
    if let user = settings.user, (entry?.user(called: user)?.name ?? user).lowercased() != found.user.lowercased() {
      throw HostError(.noSuchUser, "the credentials that are chosen are those of '\(found.user)', not of '\(user)' (--user)")
    }
    SignInWarnings.warn(about: found.flow)
    // At a shared login host the known org may be a different one, unless it has this user.
    let isShared = OrgAddress(name)?.isShared ?? false
    let known = entry.flatMap { isShared && $0.user(named: found.user) == nil && $0.hasFile ? nil : $0 }
    let newName = OrgAddress(name)?.name ?? name
    return Org(
      name: known?.name ?? newName, folder: known?.folder ?? StoreRegistry.folderName(newName),
      userFolder: known?.user(named: found.user)?.folder ?? StoreRegistry.folderName(found.user), orgId: known?.orgId,
      isSandbox: known?.isSandbox, credentials: { found.credentials }, keepsSession: found.keepsSession)
  }

  // MARK: Stored credentials

  /// Returns true if the home has a session or credentials for the requested user.
  private func isKept(_ entry: OrgEntry) -> Bool {
    if entry.user != nil || FileSystem.exists(credentialsFile(of: entry)) { return true }
    let users = settings.user.map { [entry.user(called: $0)].compactMap { $0 } } ?? entry.users
    return users.contains { user in
      let folder = directory.userFolder(org: entry.folder, user: user.folder)
      return FileSystem.exists(folder + "/session.json") || FileSystem.exists(folder + "/credentials.json")
    }
  }

  /// Returns a known org with the named user, else the current user, else the user in the org's credentials file.
  private func kept(_ entry: OrgEntry) throws -> Org {
    let user = settings.user.map { entry.user(called: $0)?.name ?? $0 }
    let ofOrg = try file(credentialsFile(of: entry), entry, user ?? entry.user)
    let chosen: OrgUser
    if let ofOrg, user.map({ $0.lowercased() == ofOrg.user.lowercased() }) ?? (entry.user == nil) {
      chosen = entry.user(named: ofOrg.user) ?? OrgUser(name: ofOrg.user, folder: StoreRegistry.folderName(ofOrg.user))
    } else {
      chosen = try entry.chosenUser(user)
    }
    let found = try found(for: chosen, in: entry)
    if let found { SignInWarnings.warn(about: found.flow) }
    var org = org(of: chosen, in: entry)
    org.credentials = { found?.credentials }
    org.keepsSession = found?.keepsSession ?? true
    return org
  }

  /// Returns the credentials of the user's own file, else of the org's file; nil if there is only a stored session.
  private func found(for user: OrgUser, in entry: OrgEntry) throws -> Found? {
    let own = directory.userFolder(org: entry.folder, user: user.folder) + "/credentials.json"
    if let found = try file(own, entry, user.name) { return found }
    // The org's file may belong to another user.
    let ofOrg = try file(credentialsFile(of: entry), entry, user.name)
    return ofOrg.flatMap { $0.user.lowercased() == user.name.lowercased() ? $0 : nil }
  }

  private func credentialsFile(of entry: OrgEntry) -> String { "\(directory.folder)/\(entry.folder)/credentials.json" }

  private func file(_ path: String, _ entry: OrgEntry, _ user: String?) throws -> Found? {
    guard FileSystem.exists(path) else { return nil }
    return try CredentialsSource.read(
      path, defaultURL: entry.loginURL, defaultUser: user, allowsCommands: !settings.homeIsOfScript)
  }
}
