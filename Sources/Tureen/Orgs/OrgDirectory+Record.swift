import JSON
import RestClient
import Salesforce
import SmartStore
import Support

extension OrgDirectory {
  /// Keeps a sign-in: `org.json`, the session, the user's credentials file, and the default in `orgs.json`. All of it or nothing,
  /// also when the process is killed.
  ///
  /// Waits for a renewal of the same user's session, and for other processes that change the home's orgs.
  /// - Parameters:
  ///   - login: The org, the user and the session.
  ///   - store: Where the session is kept if not in the user's `session.json`.
  /// - Returns: The org as it is kept now.
  /// - Throws: ``OrgNameError``; ``HostError`` `.otherOrg` when the folder belongs to another org or user and
  ///   ``RecordedLogin/replacesOrg`` is false; ``SmartStore/StoreError`` `.storeInUse` when stores to be kept aside
  ///   are open; ``RestClient/RestError`` `.signInBusy`.
  @discardableResult
  public func record(_ login: RecordedLogin, in store: (any SessionStore)? = nil) async throws -> OrgEntry {
    while true {
      let expected = try await Blocking.offPool { try self.place(login) }
      let path = userFolder(org: expected.folder, user: expected.userFolder)
      // A new folder has no session that another process could renew.
      let lock: any SessionStore = FileSessionStore(folder: path)
      let keep: @Sendable () async throws -> String? = {
        try await store?.save(KeptSession(session: login.session))
        return try await Blocking.offPool { try self.commit(login, expected: expected, keepsSession: store == nil) }
      }
      guard let folder = try await FileSystem.exists(path) ? lock.withLock(keep) : keep() else { continue }
      return try await Blocking.offPool { try self.scan().entries.first { $0.folder == folder } }
        ?? OrgEntry(folder: folder, users: [])
    }
  }

  func place(_ login: RecordedLogin) throws -> LoginPlace {
    try LoginPlace(
      login, among: scan(), isTaken: { FileSystem.exists("\(folder)/\($0)") },
      keptSession: { keptSession(org: $0, user: $1) })
  }

  /// - Parameter fault: Tests end the work before any of its steps: it throws.
  /// - Returns: The org's folder; nil when another process has changed the orgs meanwhile, and nothing was done.
  func commit(
    _ login: RecordedLogin, expected: LoginPlace, keepsSession: Bool, fault: @escaping (String) throws -> Void = { _ in }
  ) throws -> String? {
    let lock = try HomeLock(home: home, fault: fault)
    let place = try place(login)
    guard place.folder == expected.folder, place.userFolder == expected.userFolder else { return nil }
    var change = HomeChange()
    let stores = try place.conflict.map { try keepAside(login, place, $0, &change) }
    defer { withExtendedLifetime(stores) {} }
    let entry = place.entry(of: login)
    let folder = "orgs/\(place.folder)", user = "\(folder)/\(place.userFolder)"
    change.write(entry.json, to: "\(folder)/org.json")
    if keepsSession { change.write(KeptSession(session: login.session).json, to: "\(user)/session.json") }
    if !login.credentials.isEmpty { change.write(.object(login.credentials), to: "\(user)/credentials.json") }
    if try login.makesDefault || defaultName() == nil { try change.write(withDefault(entry.name), to: "orgs.json") }
    try lock.commit(change)
    return place.folder
  }

  /// Plans to keep the folder of another org or user aside.
  /// - Returns: Locks on the stores in it, to be held until it is done.
  private func keepAside(
    _ login: RecordedLogin, _ place: LoginPlace, _ conflict: LoginPlace.Conflict, _ change: inout HomeChange
  ) throws -> [FolderLock] {
    guard login.replacesOrg else { throw Self.otherOrg(login, place, conflict) }
    var path = place.folder
    if case .user = conflict { path += "/\(place.userFolder)" }
    let locks = try lockStores(under: "\(folder)/\(path)", "keep it aside")
    var n = 1
    while FileSystem.exists("\(folder)/\(path).before-\(n)") { n += 1 }
    change.move("orgs/\(path)", to: "orgs/\(path).before-\(n)")
    return locks
  }

  private static func otherOrg(_ login: RecordedLogin, _ place: LoginPlace, _ conflict: LoginPlace.Conflict) -> HostError {
    let session = login.session, what: String
    switch conflict {
    case .org(let known):
      what =
        "\(session.instanceURL) is org \(session.orgId), and '\(place.name)' is kept for org \(known): a sandbox that was "
        + "refreshed, or another org"
    case .user(let known):
      what =
        "\(login.user) is user \(session.userId) of org \(session.orgId), and what is kept for that name in '\(place.name)' "
        + "belongs to \(known)"
    }
    return HostError(
      .otherOrg,
      "\(what). Nothing was changed. `tureen login --new-org` keeps the old folder aside and starts with an empty one; or give "
        + "the org another name with --org")
  }

  /// The contents of `orgs.json` with another default.
  func withDefault(_ name: String?) throws -> JSONValue {
    var members = try file("\(home)/orgs.json")?.value.objectValue ?? [:]
    members["default"] = name.map { .string($0) }
    return .object(members)
  }

  /// Makes sure that no process has a store under this folder open, as long as the result lives.
  /// - Parameter purpose: Completes "close it there to".
  /// - Throws: ``StoreError`` `.storeInUse`.
  func lockStores(under path: String, _ purpose: String) throws -> [FolderLock] {
    try storeFolders(under: path).compactMap { store -> FolderLock? in
      switch FolderLock.take(.alone, folderOf: store + "/store.sqlite", patienceMs: Tuning.storeLockPatienceMs) {
      case .locked(let lock): return lock
      case .impossible: return nil
      case .busy:
        throw StoreError(
          .storeInUse,
          "\(store)/store.sqlite is open in another process, or in another host of this one; close it there to \(purpose). "
            + "Nothing was changed")
      }
    }
  }

  /// How many stores the org's users have.
  public func storeCount(of entry: OrgEntry) throws -> Int { try storeFolders(under: "\(folder)/\(entry.folder)").count }

  /// The folders of stores in the folder of an org or a user.
  func storeFolders(under path: String) throws -> [String] {
    let users = try FileSystem.entries(of: path).map { "\(path)/\($0)" } + [path]
    return try users.flatMap { user in
      try FileSystem.entries(of: "\(user)/stores").filter { !$0.hasPrefix(".") }.map { "\(user)/stores/\($0)" }
    }.sorted()
  }
}
