import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// Finds the org and the user that settings mean, and how that user signs in. Reads files; asks no server.
struct OrgChoice {
  typealias Found = CredentialsSource.Found

  let settings: HostSettings
  let home: String

  private var directory: OrgDirectory { OrgDirectory(home: home) }
  private var source: CredentialsSource { CredentialsSource(settings: settings) }

  /// What was chosen for this run goes before what is kept, and that before what the environment has for the sf CLI.
  /// - Parameter name: A name, an address, or `sf:ALIAS`.
  /// - Throws: ``HostError`` `.noSuchOrg`, `.noSuchUser`, `.invalidConfiguration`.
  func org(_ name: String) throws -> Org {
    let entry = try directory.entry(name)
    if let found = try source.chosen(name) { return try org(name, entry, found) }
    if let entry, isKept(entry) { return try kept(entry) }
    if let found = try source.last([name, entry?.instanceURL, entry?.loginURL].compactMap { $0 }) {
      return try org(name, entry, found)
    }
    // Its stores open all the same.
    if let entry { return try kept(entry) }
    throw source.nothingToSignInWith(name, try directory.scan())
  }

  /// One of the home's users, and how that user signs in; a wrong file is told when that is needed.
  func org(of user: OrgUser, in entry: OrgEntry) -> Org {
    Org(
      name: entry.name, folder: entry.folder, userFolder: user.folder, orgId: entry.orgId, isSandbox: entry.isSandbox,
      credentials: { try found(for: user, in: entry)?.credentials }, keepsSession: true)
  }

  // MARK: What was chosen

  private func org(_ name: String, _ entry: OrgEntry?, _ found: Found) throws -> Org {
    if let user = settings.user, user.lowercased() != found.user.lowercased() {
      throw HostError(.noSuchUser, "the credentials that are chosen are those of '\(found.user)', not of '\(user)' (--user)")
    }
    SignInWarnings.warn(about: found.flow)
    // At a login host of many orgs the known one may be another org, unless it knows the user.
    let isShared = OrgAddress(name)?.isShared ?? false
    let known = entry.flatMap { isShared && $0.user(named: found.user) == nil && $0.hasFile ? nil : $0 }
    let newName = OrgAddress(name)?.name ?? name
    return Org(
      name: known?.name ?? newName, folder: known?.folder ?? StoreRegistry.folderName(newName),
      userFolder: known?.user(named: found.user)?.folder ?? StoreRegistry.folderName(found.user), orgId: known?.orgId,
      isSandbox: known?.isSandbox, credentials: { found.credentials }, keepsSession: found.keepsSession)
  }

  // MARK: What is kept

  /// Whether the home has a sign-in of the user who is meant, or a way to one.
  private func isKept(_ entry: OrgEntry) -> Bool {
    if entry.user != nil || FileSystem.exists(credentialsFile(of: entry)) { return true }
    let users = settings.user.map { [entry.user(named: $0)].compactMap { $0 } } ?? entry.users
    return users.contains { user in
      let folder = directory.userFolder(org: entry.folder, user: user.folder)
      return FileSystem.exists(folder + "/session.json") || FileSystem.exists(folder + "/credentials.json")
    }
  }

  /// A user of a known org: the one that was named, else the current one, else the one whom the org's credentials file names.
  private func kept(_ entry: OrgEntry) throws -> Org {
    let user = settings.user
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

  /// How a user signs in: as the user's own file says, else the org's. Nil leaves it to the session that is kept.
  private func found(for user: OrgUser, in entry: OrgEntry) throws -> Found? {
    let own = directory.userFolder(org: entry.folder, user: user.folder) + "/credentials.json"
    if let found = try file(own, entry, user.name) { return found }
    // The org's file may be that of another user.
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
