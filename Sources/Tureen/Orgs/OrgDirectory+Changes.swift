import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// Changes by commands. Each of them blocks and is applied atomically.
extension OrgDirectory {
  /// Sets the org that is used when none is named.
  /// - Parameter name: A name, an address, or `sandbox`.
  /// - Returns: The name of the org.
  /// - Throws: ``HostError`` `.noSuchOrg`.
  @discardableResult
  public func setDefault(_ name: String) throws -> String {
    let lock = try HomeLock(home: home)
    let chosen = name == Org.sandboxName ? name : try known(name).name
    var change = HomeChange()
    try change.write(withDefault(chosen), to: "orgs.json")
    try lock.commit(change)
    return chosen
  }

  /// Renames an org. Its folder keeps the old name, so that the stores stay in place.
  /// - Throws: ``OrgNameError``; ``HostError`` `.noSuchOrg`.
  public func rename(_ old: String, to name: String) throws {
    let lock = try HomeLock(home: home)
    var entry = try known(old)
    try OrgName.check(name)
    try OrgName.checkIsFree(name, among: entries().filter { $0.folder != entry.folder })
    entry.name = name
    // org.json records the current user. A folder without it uses its only user.
    if !entry.hasFile, entry.users.count == 1 { entry.user = entry.users[0].name }
    var change = HomeChange()
    change.write(entry.json, to: "orgs/\(entry.folder)/org.json")
    if entry.isDefault { try change.write(withDefault(name), to: "orgs.json") }
    try lock.commit(change)
  }

  /// Removes an org's folder with its sessions, credentials and stores.
  /// - Parameters:
  ///   - name: The org's name.
  ///   - alsoRemoving: Removes stores that are kept elsewhere, while those of the home are locked.
  /// - Throws: ``HostError`` `.noSuchOrg`; ``SmartStore/StoreError`` `.storeInUse`; errors of `alsoRemoving`. Nothing is removed
  ///   then.
  public func remove(_ name: String, alsoRemoving: (OrgEntry) throws -> Void = { _ in }) throws {
    let lock = try HomeLock(home: home)
    let entry = try known(name)
    let stores = try lockStores(under: "\(folder)/\(entry.folder)", "remove it")
    defer { withExtendedLifetime(stores) {} }
    try alsoRemoving(entry)
    var change = HomeChange()
    change.remove("orgs/\(entry.folder)")
    if entry.isDefault { try change.write(withDefault(nil), to: "orgs.json") }
    try lock.commit(change)
  }

  /// Records in an existing `org.json` whether the org is a sandbox. Only a sign-in creates that file.
  func noteSandbox(_ isSandbox: Bool, org folder: String) throws {
    let lock = try HomeLock(home: home)
    let known = try scan().entries.first { $0.folder == folder && $0.hasFile }
    guard var entry = known, entry.isSandbox != isSandbox else { return }
    entry.isSandbox = isSandbox
    var change = HomeChange()
    change.write(entry.json, to: "orgs/\(folder)/org.json")
    try lock.commit(change)
  }

  /// Removes a user's `session.json`, and the credentials and stores if the logout says so. If the user was the current one of
  /// the org, the org has no current user afterwards.
  ///
  /// - Parameter alsoRemoving: Removes stores that are kept elsewhere, while those of the home are locked.
  /// - Throws: ``StoreError`` `.storeInUse`; errors of `alsoRemoving`. Nothing is changed then.
  func endUser(
    _ user: OrgUser, of folder: String, _ logout: HomeAccounts.Logout, alsoRemoving: () throws -> Void = {}
  ) throws {
    let lock = try HomeLock(home: home)
    guard var entry = try scan().entries.first(where: { $0.folder == folder }) else { return }
    let path = "orgs/\(folder)/\(user.folder)"
    var change = HomeChange(), stores: [FolderLock] = []
    change.remove("\(path)/session.json")
    if logout.deletesStores {
      stores = try lockStores(under: "\(home)/\(path)", "delete it")
      change.remove("\(path)/stores")
      try alsoRemoving()
    }
    if logout.forget { change.remove("\(path)/credentials.json") }
    if entry.user.map({ entry.user(named: $0)?.folder == user.folder }) ?? false {
      entry.user = nil
      change.write(entry.json, to: "orgs/\(folder)/org.json")
    }
    try lock.commit(change)
    withExtendedLifetime(stores) {}
  }

  /// Returns a known org.
  /// - Throws: ``HostError`` `.noSuchOrg`, with a suggestion.
  public func known(_ nameOrAddress: String) throws -> OrgEntry {
    let scan = try scan()
    guard let entry = try scan.entry(nameOrAddress) else { throw scan.noSuchOrg(nameOrAddress) }
    return entry
  }
}

extension OrgScan {
  func noSuchOrg(_ name: String) -> HostError {
    let hint =
      entries.isEmpty
      ? "; `tureen login --org NAME` signs in to one" : NearestName.hint(for: name, among: entries.map(\.name))
    return HostError(.noSuchOrg, "no org is known as '\(name)' in this home\(hint)")
  }
}
