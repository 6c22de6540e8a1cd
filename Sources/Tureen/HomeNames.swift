import JSON
import LuaBridge
import MobileSync
import SmartStore
import Support

/// Finds the names of orgs, users, stores, soups and syncs that a command can be given, for completion in a shell.
///
/// It only reads files: it sends no request, starts no sandbox org, runs no program, opens no store, and changes nothing. What
/// cannot be read has no names.
public struct HomeNames: Sendable {
  private let settings: HostSettings
  private let folder: ConfigurationFolder
  /// nil if there is no home that a command could use.
  private let home: String?

  /// - Parameters:
  ///   - home: The folder of stores and sessions; nil for the default of a command, as for the others.
  ///   - org: The org, as the option `--org` takes it.
  ///   - user: The user of the org.
  ///   - configDirectory: The folder with `bootconfig.json`, `userstore.json`, `usersyncs.json` and the like.
  public init(home: String? = nil, org: String? = nil, user: String? = nil, configDirectory: String? = nil) {
    folder = configDirectory.flatMap { try? ConfigurationFolder($0, HostSettings()) } ?? ConfigurationFolder()
    var settings = HostSettings()
    (settings.home, settings.org, settings.user) = (home, org, user)
    let environment = try? HostSettings.environment()
    if let environment { settings.fill(from: environment) }
    settings.fill(from: folder.settings)
    self.settings = settings
    self.home = environment.flatMap { _ in try? HostSettings.resolvedHome(settings.home) }.flatMap { home in
      // To read the orgs during an unfinished change would finish it.
      guard !HomeLock.isUnfinished(home), (try? HostSettings.checkHome(home)) != nil else { return nil }
      return home
    }
  }

  /// Returns the names of the orgs, without the sandbox org, sorted.
  public func orgs() -> [String] { scan?.entries.map(\.name) ?? [] }

  /// Returns the names of the org's users, sorted; empty for the sandbox org.
  public func users() -> [String] { entry?.callableNames ?? [] }

  /// Returns the names of the stores, sorted.
  public func stores(isGlobal: Bool) -> [String] {
    guard let directory = storeDirectory(isGlobal: isGlobal) else { return [] }
    let registry = StoreRegistry(userDirectory: directory, globalDirectory: directory, key: { nil })
    return (try? registry.storeNames(isGlobal: isGlobal)) ?? []
  }

  /// Returns the names of a store's soups, also of those in the configuration files that a command would create first.
  public func soups(in store: StoreReference) -> [String] {
    let configured = store.isGlobal ? folder.globalStore : folder.userStore
    return merged(stored(store)?.recordSoups(), store, configured?.soups.map(\.name))
  }

  /// Returns the names of a store's syncs, also of those in the configuration files that a command would save first.
  public func syncs(in store: StoreReference) -> [String] {
    let configured = store.isGlobal ? folder.globalSyncs : folder.userSyncs
    let names = configured?.value["syncs"]?.arrayValue?.compactMap { $0["syncName"]?.stringValue }
    return merged(stored(store)?.syncs(), store, names)
  }

  private func merged(_ stored: [String]?, _ store: StoreReference, _ configured: [String]?) -> [String] {
    var names = stored ?? []
    if store.name == StoreReference.defaultName, let configured { names += configured }
    return Set(names).sorted()
  }

  // MARK: Files

  private func stored(_ store: StoreReference) -> StoredNames? {
    storeDirectory(isGlobal: store.isGlobal).flatMap {
      StoredNames(path: "\($0)/\(StoreRegistry.folderName(store.name))/store.sqlite")
    }
  }

  private func storeDirectory(isGlobal: Bool) -> String? {
    guard let home else { return nil }
    if isGlobal { return HostParts.globalDirectory(home) }
    let directory = OrgDirectory(home: home)
    if orgName == Org.sandboxName { return directory.userFolder(org: Org.sandboxName, user: Org.sandboxUser) + "/stores" }
    guard let entry, let user = try? entry.chosenUser(settings.user) else { return nil }
    return directory.userFolder(org: entry.folder, user: user.folder) + "/stores"
  }

  private var scan: OrgScan? { home.flatMap { try? OrgDirectory(home: $0).scan() } }

  private var entry: OrgEntry? { orgName.flatMap { try? scan?.entry($0) } }

  /// The org of a command with these settings, as ``Org/resolve(_:home:program:)`` finds it. An org that only a secret of the
  /// environment names is not found.
  private var orgName: String? {
    guard let home else { return nil }
    if let org = settings.org { return org }
    let fields = SignInKeys.environment()
    if let url = fields["loginUrl"]?.stringValue ?? fields["instanceUrl"]?.stringValue { return url }
    if fields["sfOrg"] != nil { return nil }
    do {
      return try OrgDirectory(home: home).defaultName() ?? SalesforceVariables.current?.instanceURL ?? Org.sandboxName
    } catch {
      return nil
    }
  }
}
