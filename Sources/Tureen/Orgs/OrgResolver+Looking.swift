import JSON
import Salesforce
import SmartStore
import Support

/// Finds the org and the user of a command that only looks into stores. It reads no key, runs no program and
/// needs no sign-in: names decide which folders are meant.
extension Org {
  /// - Throws: ``HostError`` `.noSuchOrg`, `.noSuchUser`, `.invalidConfiguration`; `FileError` if the home may
  ///   not be read.
  static func lookedUp(_ settings: HostSettings, home: String) throws -> Org {
    let directory = OrgDirectory(home: home, looksOnly: true)
    let name =
      try settings.org ?? CredentialsLook.environmentOrg() ?? directory.defaultName()
      ?? SalesforceVariables.current?.instanceURL ?? sandboxName
    guard name != sandboxName else {
      return Org(
        name: sandboxName, folder: sandboxName, userFolder: sandboxUser, isSandbox: true, credentials: { nil },
        keepsSession: false)
    }
    return try OrgResolver(settings: settings, home: home).lookedUp(name, in: directory)
  }
}

extension OrgResolver {
  /// Returns the org as ``org(_:)`` finds it, without credentials.
  fileprivate func lookedUp(_ name: String, in directory: OrgDirectory) throws -> Org {
    let entry = try directory.entry(name)
    if let user = chosenUser(name) { return try org(name, entry, user: user) }
    if let entry { return org(try keptUser(entry, in: directory), in: entry) }
    if let variables = SalesforceVariables.current, (try? variables.found(for: name)) != nil {
      return try org(name, nil, user: SignInFields.tokenUser)
    }
    throw CredentialsSource(settings: settings).missingCredentialsError(name, try directory.scan())
  }

  /// The user of the credentials that are chosen for this run.
  private func chosenUser(_ name: String) -> String? {
    if name.hasPrefix(SalesforceCLI.prefix) { return SignInFields.cliUser }
    let address = CredentialsSource.address(name)
    if let file = settings.credentialsFile { return CredentialsLook.user(ofFile: file, url: address, user: nil) }
    guard let address else { return nil }
    var fields = SignInKeys.environment()
    guard !fields.isEmpty else { return nil }
    fields["loginUrl"] = .string(address)
    return CredentialsLook(fields).user
  }

  private func org(_ name: String, _ entry: OrgEntry?, user: String) throws -> Org {
    if let wanted = settings.user, (entry?.user(called: wanted)?.name ?? wanted).lowercased() != user.lowercased() {
      throw HostError(.noSuchUser, "the credentials that are chosen are those of '\(user)', not of '\(wanted)' (--user)")
    }
    let isShared = OrgAddress(name)?.isShared ?? false
    let known = entry.flatMap { isShared && $0.user(named: user) == nil && $0.hasFile ? nil : $0 }
    let newName = OrgAddress(name)?.name ?? name
    return Org(
      name: known?.name ?? newName, folder: known?.folder ?? StoreRegistry.folderName(newName),
      userFolder: known?.user(named: user)?.folder ?? StoreRegistry.folderName(user), orgId: known?.orgId,
      isSandbox: known?.isSandbox, credentials: { nil }, keepsSession: true)
  }

  private func org(_ user: OrgUser, in entry: OrgEntry) -> Org {
    Org(
      name: entry.name, folder: entry.folder, userFolder: user.folder, orgId: entry.orgId, isSandbox: entry.isSandbox,
      credentials: { nil }, keepsSession: true)
  }

  /// The named user of a known org, else the current one, else the one of the org's credentials file.
  private func keptUser(_ entry: OrgEntry, in directory: OrgDirectory) throws -> OrgUser {
    let wanted = settings.user.map { entry.user(called: $0)?.name ?? $0 }
    let file = "\(directory.folder)/\(entry.folder)/credentials.json"
    let ofOrg = CredentialsLook.user(ofFile: file, url: entry.loginURL, user: wanted ?? entry.user)
    if let ofOrg, wanted.map({ $0.lowercased() == ofOrg.lowercased() }) ?? (entry.user == nil) {
      return entry.user(named: ofOrg) ?? OrgUser(name: ofOrg, folder: StoreRegistry.folderName(ofOrg))
    }
    return try entry.chosenUser(wanted)
  }
}

/// The user whom credentials sign in, as far as their names tell without a secret.
struct CredentialsLook {
  private let fields: SignInFields

  init(_ values: JSONObject) { fields = SignInFields(values: values, folder: nil) }

  /// nil if the fields do not make credentials, or if only a secret names the user.
  var user: String? {
    guard let flow = try? fields.flow() else { return nil }
    let user = fields.plain("username")
    switch flow {
    case .sf: return user ?? SignInFields.cliUser
    case .token: return user ?? SignInFields.tokenUser
    case .sfdxUrl: return user ?? authURL?.clientId
    case .jwt, .password: return user
    case .clientCredentials: return fields.plain("clientId")
    case .refreshToken, .browser: return user ?? fields.plain("clientId")
    }
  }

  /// Returns the user of a credentials file; nil if it is missing or does not name one.
  /// - Parameters:
  ///   - url: The login host if the file has none.
  ///   - user: The user if the file has none, and no secret of a single user.
  static func user(ofFile path: String, url: String?, user: String?) -> String? {
    guard let text = FileSystem.read(path), var values = (try? JSONValue(parsing: text))?.objectValue else { return nil }
    if let url { values["loginUrl"] = values["loginUrl"] ?? .string(url) }
    if let user, !SignInKeys.areOfOneUser(values) { values["username"] = values["username"] ?? .string(user) }
    return CredentialsLook(values).user
  }

  /// Returns the org that the environment's credentials are for; nil if nothing names one.
  static func environmentOrg() -> String? {
    let fields = SignInKeys.environment()
    if let url = fields["loginUrl"]?.stringValue ?? fields["instanceUrl"]?.stringValue { return url }
    if let alias = fields["sfOrg"]?.stringValue { return SalesforceCLI.prefix + alias }
    return CredentialsLook(fields).authURL?.loginURL
  }

  /// The auth URL of the sf CLI, which is the only name of its org and app. Nil also if it cannot be read: no
  /// program is run for it.
  private var authURL: Credentials? {
    guard let secret = try? fields.secret("sfdxAuthUrl"), !secret.isCommand else { return nil }
    return try? SignInFields.sfdxURL(secret).credentials
  }
}
