import JSON
import RestClient
import Salesforce
import SmartStore
import Support

extension OrgDirectory {
  /// Stores a sign-in: `org.json`, the session, the user's credentials file, and the default in `orgs.json`. Atomic even if the
  /// process is killed.
  ///
  /// Waits for a renewal of the same user's session, and for other processes that change the home's orgs.
  /// - Parameters:
  ///   - login: The org, the user and the session.
  ///   - store: Stores the session; nil for the user's `session.json`.
  /// - Returns: The org's new entry.
  /// - Throws: ``OrgNameError``; ``HostError`` `.otherOrg` if the folder belongs to another org or user and
  ///   ``RecordedLogin/replacesOrg`` is false; ``SmartStore/StoreError`` `.storeInUse` if stores that must be set aside
  ///   are open; ``RestClient/RestError`` `.signInBusy`.
  @discardableResult
  public func record(_ login: RecordedLogin, in store: (any SessionStore)? = nil) async throws -> OrgEntry {
    while true {
      let expected = try await Blocking.offPool { try self.place(login) }
      let path = userFolder(org: expected.folder, user: expected.userFolder)
      // In a new folder there is no session that another process could renew, so the lock is not needed.
      let lock: any SessionStore = FileSessionStore(folder: path)
      let keep: @Sendable () async throws -> String? = {
        try await store?.save(StoredSession(session: login.session))
        return try await Blocking.offPool { try self.commit(login, expected: expected, keepsSession: store == nil) }
      }
      guard let folder = try await FileSystem.exists(path) ? lock.withLock(keep) : keep() else { continue }
      return try await Blocking.offPool { try self.scan().entries.first { $0.folder == folder } }
        ?? OrgEntry(folder: folder, users: [])
    }
  }

  func place(_ login: RecordedLogin) throws -> LoginDestination {
    try LoginDestination(
      login, among: scan(), isTaken: { FileSystem.exists("\(folder)/\($0)") },
      keptSession: { keptSession(org: $0, user: $1) })
  }

  /// - Parameter fault: Called before each step. Tests throw from it to simulate a crash.
  /// - Returns: The org's folder; nil if another process has changed the orgs in the meantime, and nothing was written.
  func commit(
    _ login: RecordedLogin, expected: LoginDestination, keepsSession: Bool, fault: @escaping (String) throws -> Void = { _ in }
  ) throws -> String? {
    let lock = try HomeLock(home: home, fault: fault)
    let place = try place(login)
    guard place.folder == expected.folder, place.userFolder == expected.userFolder else { return nil }
    var change = HomeChange()
    let stores = try place.conflict.map { try setAside(login, place, $0, &change) }
    defer { withExtendedLifetime(stores) {} }
    let entry = place.entry(of: login)
    let folder = "orgs/\(place.folder)", user = "\(folder)/\(place.userFolder)"
    change.write(entry.json, to: "\(folder)/org.json")
    if keepsSession { change.write(StoredSession(session: login.session).json, to: "\(user)/session.json") }
    if !login.credentials.isEmpty { change.write(.object(login.credentials), to: "\(user)/credentials.json") }
    if try login.makesDefault || defaultName() == nil { try change.write(withDefault(entry.name), to: "orgs.json") }
    try lock.commit(change)
    return place.folder
  }

  /// Adds the renaming of another org's or user's folder to the change.
  /// - Returns: Locks on the stores in it. Hold them until the change is committed.
  private func setAside(
    _ login: RecordedLogin, _ place: LoginDestination, _ conflict: LoginDestination.Conflict, _ change: inout HomeChange
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

  private static func otherOrg(_ login: RecordedLogin, _ place: LoginDestination, _ conflict: LoginDestination.Conflict)
    -> HostError
  {
    let session = login.session, what: String
    switch conflict {
    case .org(let known):
      what =
        "\(session.instanceURL) is org \(session.orgId), and '\(place.name)' holds the data of org \(known): a sandbox that was "
        + "refreshed, or another org"
    case .user(let known):
      what =
        "\(login.user) is user \(session.userId) of org \(session.orgId), but the data of that name in '\(place.name)' "
        + "belong to \(known)"
    }
    return HostError(
      .otherOrg,
      "\(what). Nothing was changed. `tureen login --new-org` sets the old folder aside and starts with an empty one; or give "
        + "the org another name with --org")
  }

  /// Returns the content of `orgs.json` with another default.
  func withDefault(_ name: String?) throws -> JSONValue {
    var members = try file("\(home)/orgs.json")?.value.objectValue ?? [:]
    members["default"] = name.map { .string($0) }
    return .object(members)
  }

  /// Locks the stores under a folder, so that no process can have them open while the result exists.
  /// - Parameter purpose: Completes "close it there to".
  /// - Throws: ``StoreError`` `.storeInUse`.
  func lockStores(under path: String, _ purpose: String) throws -> [FolderLock] {
    try storeFolders(under: path).compactMap { store -> FolderLock? in
      switch FolderLock.take(.exclusive, folderOf: store + "/store.sqlite", patienceMs: Tuning.storeLockPatienceMs) {
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

  /// Returns the store folders in the folder of an org or a user.
  func storeFolders(under path: String) throws -> [String] {
    let users = try FileSystem.entries(of: path).map { "\(path)/\($0)" } + [path]
    return try users.flatMap { user in
      try FileSystem.entries(of: "\(user)/stores").filter { !$0.hasPrefix(".") }.map { "\(user)/stores/\($0)" }
    }.sorted()
  }
}
