import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// Finds the org and the user that settings mean, and how that user signs in.
struct OrgChoice {
  let settings: HostSettings
  let home: String

  private var directory: OrgDirectory { OrgDirectory(home: home) }
  private var source: CredentialsSource { CredentialsSource(settings: settings, home: home) }

  /// - Throws: ``HostError`` `.noSuchOrg`, `.noSuchUser`, `.invalidConfiguration`.
  func org(_ name: String) throws -> Org {
    let entry = try directory.entry(name)
    // What was chosen for this run goes before what is kept.
    if let found = try source.chosen(name) { return try org(name, entry, found) }
    if let entry { return try kept(entry, settings.user) }
    if let found = try source.last(name) { return try org(name, nil, found) }
    throw source.nothingToSignInWith(name, try directory.scan())
  }

  private func org(_ name: String, _ entry: OrgEntry?, _ found: CredentialsSource.Found) throws -> Org {
    if let user = settings.user, user.lowercased() != found.user.lowercased() {
      throw HostError(.noSuchUser, "the credentials that are chosen are those of '\(found.user)', not of '\(user)' (--user)")
    }
    SignInWarnings.warn(about: found.flow)
    // At a login host of many orgs the known one may be another org, unless it knows the user.
    let isShared = OrgAddress(name)?.isShared ?? false
    let known = entry.flatMap { isShared && $0.user(named: found.user) == nil && $0.hasFile ? nil : $0 }
    return Org(
      name: known?.name ?? OrgAddress(name)?.name ?? name,
      folder: known?.folder ?? StoreRegistry.folderName(OrgAddress(name)?.name ?? name),
      userFolder: known?.user(named: found.user)?.folder ?? StoreRegistry.folderName(found.user), orgId: known?.orgId,
      isSandbox: known?.isSandbox, credentials: { found.credentials }, keepsSession: found.keepsSession)
  }

  /// A user of a known org.
  /// - Parameter user: Nil is the current one, else the one whom the org's credentials file names.
  func kept(_ entry: OrgEntry, _ user: String?) throws -> Org {
    let ofOrg = try file("\(directory.folder)/\(entry.folder)/credentials.json", entry, user ?? entry.user)
    let chosen: OrgUser
    if let ofOrg, user == nil && entry.user == nil || user.map({ $0.lowercased() == ofOrg.user.lowercased() }) ?? false {
      chosen = entry.user(named: ofOrg.user) ?? OrgUser(name: ofOrg.user, folder: StoreRegistry.folderName(ofOrg.user))
    } else {
      chosen = try entry.chosenUser(user)
    }
    let own = try file(directory.userFolder(org: entry.folder, user: chosen.folder) + "/credentials.json", entry, chosen.name)
    // The org's file may be that of another user.
    let found = own ?? ofOrg.flatMap { StoreRegistry.folderName($0.user) == chosen.folder ? $0 : nil }
    if let found { SignInWarnings.warn(about: found.flow) }
    return Org(
      name: entry.name, folder: entry.folder, userFolder: chosen.folder, orgId: entry.orgId, isSandbox: entry.isSandbox,
      credentials: { found?.credentials }, keepsSession: found?.keepsSession ?? true)
  }

  private func file(_ path: String, _ entry: OrgEntry, _ user: String?) throws -> CredentialsSource.Found? {
    guard FileSystem.exists(path) else { return nil }
    return try CredentialsSource.read(
      path, defaultURL: entry.loginURL, defaultUser: user, allowsCommands: !settings.homeIsOfScript)
  }
}
