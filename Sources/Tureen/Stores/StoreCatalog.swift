import JSON
import PostgresStore
import SmartStore
import Support

/// Finds, lists and removes the stores of a home and of a database, for the commands. Every call blocks.
public struct StoreCatalog: Sendable {
  public let home: String
  private let settings: HostSettings
  var looksOnly: Bool { settings.looksOnly }

  /// - Parameters:
  ///   - home: nil for that of the environment, as for the others.
  ///   - org: The org, as the option `--org` takes it.
  ///   - user: The user of the org; nil for the one who signed in last.
  /// - Throws: ``HostError`` `.invalidConfiguration`.
  public init(home: String?, org: String?, user: String?) throws {
    try self.init(home: home, org: org, user: user, looksOnly: false)
  }

  /// - Parameter looksOnly: Whether the stores are only looked at.
  package init(home: String?, org: String?, user: String?, looksOnly: Bool) throws {
    var settings = HostSettings()
    (settings.home, settings.org, settings.user) = (home, org, user)
    settings.looksOnly = looksOnly
    settings.fill(from: try .environment())
    self.settings = settings
    self.home = try HostSettings.resolvedHome(settings.home)
    try settings.checkOwnHome(self.home)
  }

  /// The places that hold stores of this home: the home, and the database if there is one.
  public var places: [StorePlace] { [.home(home)] + (settings.store.map { [.database($0)] } ?? []) }

  /// Where other commands keep stores.
  public var currentPlace: StorePlace { settings.store.map { .database($0) } ?? .home(home) }

  // MARK: Finding

  /// Returns an existing store, or an unfinished copy if `mayBeUnfinished`.
  /// - Throws: ``SmartStore/StoreError`` `.cannotOpenStore` with a suggestion; ``HostError`` `.noSuchOrg`, `.noSuchUser`.
  public func store(
    _ name: String, isGlobal: Bool, in place: StorePlace, mayBeUnfinished: Bool = false
  ) throws -> StoreAddress {
    let owner = try isGlobal ? (org: "", user: "") : owner(of: name, in: place)
    let address = StoreAddress(place: place, org: owner.org, user: owner.user, name: name), engines = try address.engines()
    defer { engines.close() }
    var known = try engines.names(isGlobal: isGlobal)
    if mayBeUnfinished { known += try engines.unfinishedCopies(isGlobal: isGlobal) }
    guard known.contains(where: { $0.hasSameBytes(as: name) }) else {
      throw StoreError(
        .cannotOpenStore, "there is no \(address)\(NearestName.hint(for: name, among: known))")
    }
    return address
  }

  /// Returns the folders of the org and the user in a place.
  private func owner(of name: String, in place: StorePlace) throws -> (org: String, user: String) {
    switch place {
    case .home(let home): try owner(inHome: home)
    case .database(let database): try owner(of: name, in: database)
    }
  }

  private func owner(inHome home: String) throws -> (org: String, user: String) {
    let directory = OrgDirectory(home: home)
    guard let name = try settings.org ?? directory.defaultName(), name != Org.sandboxName else {
      return (Org.sandboxName, Org.sandboxUser)
    }
    let entry = try directory.known(name)
    return (entry.folder, try entry.chosenUser(settings.user).folder)
  }

  /// In a database, stores may have owners that this home does not know. Without `--org` the store's name must be enough.
  private func owner(of name: String, in database: StoreDatabase) throws -> (org: String, user: String) {
    let all = try DatabaseStores(database).all().filter { !$0.org.isEmpty }
    func isNamed(_ folder: String, _ wanted: String?) -> Bool {
      guard let wanted else { return true }
      return [folder, OrgEntry.name(ofFolder: folder)].contains { $0.lowercased() == wanted.lowercased() }
        || folder.hasSameBytes(as: StoreRegistry.folderName(wanted))
    }
    let orgFolder = try settings.org.flatMap { name in try OrgDirectory(home: home).entry(name)?.folder }
    let ofOrg = all.filter { store in isNamed(store.org, settings.org) || orgFolder.map { store.org == $0 } ?? false }
    guard let some = ofOrg.first else {
      let orgs = Set(all.map { OrgEntry.name(ofFolder: $0.org) }).sorted()
      throw settings.org.map {
        HostError(.noSuchOrg, "no store in \(database) is of org '\($0)'\(NearestName.hint(for: $0, among: orgs))")
      } ?? HostError(.noSuchOrg, "there are no stores in \(database)")
    }
    let ofUser = ofOrg.filter { isNamed($0.user, settings.user) }
    guard !ofUser.isEmpty else {
      let users = Set(ofOrg.map { OrgEntry.name(ofFolder: $0.user) }).sorted()
      throw HostError(
        .noSuchUser,
        "no store of org '\(OrgEntry.name(ofFolder: some.org))' in \(database) is of user '\(settings.user ?? "")'"
          + NearestName.hint(for: settings.user ?? "", among: users))
    }
    let named = ofUser.filter { $0.name.hasSameBytes(as: name) }
    // Of several owners, those that have a store of the name; else any of them, for the list of names in the error.
    let candidates = named.isEmpty ? ofUser : named
    let owners = candidates.reduce(into: [(org: String, user: String)]()) { owners, store in
      if !owners.contains(where: { $0 == (store.org, store.user) }) { owners.append((store.org, store.user)) }
    }
    guard owners.count == 1 || named.isEmpty else {
      let list = owners.map { "\(OrgEntry.name(ofFolder: $0.org))/\(OrgEntry.name(ofFolder: $0.user))" }
      throw HostError(
        .noSuchUser,
        "several users have a store '\(name)' in \(database): \(list.joined(separator: ", ")); name one with --org and --user")
    }
    return owners[0]
  }

  // MARK: Removing

  /// Removes a store or an unfinished copy.
  /// - Throws: ``SmartStore/StoreError`` `.storeInUse` while it is open anywhere.
  public func remove(_ address: StoreAddress) throws {
    let engines = try address.engines()
    defer { engines.close() }
    try engines.remove(address.name, isGlobal: address.isGlobal)
  }
}

/// The stores of all orgs and users in a database.
struct DatabaseStores {
  private let database: StoreDatabase
  private let password: StoreKeySource?
  private let looksOnly: Bool

  /// - Throws: ``HostError`` `.invalidConfiguration` about the settings of the password.
  init(_ database: StoreDatabase, password: StoreKeySource? = nil, looksOnly: Bool = false) throws {
    self.database = database
    self.looksOnly = looksOnly
    self.password = try password ?? StoreDatabase.passwordOfEnvironment()
  }

  private func with<T>(_ body: (PostgresEngines) throws -> T) throws -> T {
    let engines = database.postgresEngines(org: "", user: "", password: password, looksOnly: looksOnly)
    defer { engines.close() }
    return try body(engines)
  }

  func all() throws -> [PostgresSchema.Store] { try with { try $0.allStores() } }

  /// Returns the stores of users of an org.
  /// - Parameters:
  ///   - org: The name of its folder.
  ///   - users: Those of the users' folders.
  func of(org: String, users: [String]) throws -> [PostgresSchema.Store] {
    try all().filter { store in
      store.org.hasSameBytes(as: org) && users.contains { $0.hasSameBytes(as: store.user) }
    }
  }

  /// - Throws: ``SmartStore/StoreError`` `.storeInUse`. Nothing is removed then.
  func remove(_ stores: [PostgresSchema.Store]) throws { try with { try $0.remove(stores) } }
}
