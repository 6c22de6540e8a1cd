import RestClient
import Salesforce
import SmartStore

/// Finds the org and the folders of the home in which a sign-in is stored. A plain value that does not access files.
struct LoginDestination: Equatable {
  /// The known org; nil for a new one.
  let entry: OrgEntry?
  let name: String
  let folder: String
  let userFolder: String
  let conflict: Conflict?

  /// A folder that holds the data of a different org or user than the one that signed in.
  enum Conflict: Equatable {
    case org(known: String)
    /// Only the user's folder conflicts: it belongs to another user of the same name, or to another org.
    case user(known: String)
  }

  /// - Parameters:
  ///   - isTaken: Returns true if a folder under `orgs` exists.
  ///   - keptSession: Returns the session in a user's folder, by the names of the folders.
  /// - Throws: ``OrgNameError`` for an invalid name; ``HostError`` like ``OrgDirectory/entry(_:)``.
  init(
    _ login: RecordedLogin, among scan: OrgScan, isTaken: (String) -> Bool,
    keptSession: (_ org: String, _ user: String) -> Session?
  ) throws {
    let user = login.user
    if let known = try Self.known(login, scan) {
      entry = known
      name = known.name
      folder = known.folder
      userFolder = known.user(named: user)?.folder ?? StoreRegistry.folderName(user)
      conflict = Self.conflict(login, known, keptSession(folder, userFolder))
    } else {
      entry = nil
      name = try Self.newName(login, scan)
      folder = Self.free(StoreRegistry.folderName(name), isTaken)
      userFolder = StoreRegistry.folderName(user)
      conflict = nil
    }
  }

  /// Returns the org's new entry.
  func entry(of login: RecordedLogin) -> OrgEntry {
    var kept = OrgEntry(folder: folder, users: [])
    if case .org? = conflict {} else if let entry { kept = entry }
    kept.name = name
    kept.loginURL = login.session.loginURL
    kept.instanceURL = login.session.instanceURL
    if !login.session.orgId.isEmpty { kept.orgId = login.session.orgId }
    kept.isSandbox = login.isSandbox ?? kept.isSandbox
    kept.user = login.user
    return kept
  }

  /// Returns the known org that the login names or its session belongs to; nil for a new org.
  private static func known(_ login: RecordedLogin, _ scan: OrgScan) throws -> OrgEntry? {
    if let name = login.orgName, OrgAddress(name) == nil {
      if let named = try scan.entry(name) { return named }
      try OrgName.check(name)
      try OrgName.checkIsFree(name, among: scan.entries)
      if let other = scan.entries.first(where: { isSame($0.orgId, login.session.orgId) && $0.user(named: login.user) != nil }) {
        throw OrgNameError(
          "\(login.user) of org \(login.session.orgId) is already known as '\(other.name)': use that name, or change it with "
            + "`tureen orgs name \(name) \(other.name)`")
      }
      return nil
    }
    let same = scan.entries.filter { isSame($0.orgId, login.session.orgId) }
    if let known = same.first(where: { $0.user(named: login.user) != nil }) ?? same.first { return known }
    // The same address with another org id is a refreshed sandbox, except at a shared login host.
    for url in [login.orgName, login.session.loginURL, login.session.instanceURL].compactMap({ $0 }) {
      guard let address = OrgAddress(url), !address.isShared else { continue }
      if let known = address.matches(among: scan.entries).first { return known }
    }
    return nil
  }

  private static func newName(_ login: RecordedLogin, _ scan: OrgScan) throws -> String {
    if let name = login.orgName, OrgAddress(name) == nil { return name }
    let texts = [login.orgName, login.session.loginURL, login.session.instanceURL]
    let addresses = texts.compactMap { $0.flatMap { OrgAddress($0) } }
    let name = (addresses.first { !$0.isShared } ?? addresses.first)?.name ?? login.session.orgId
    try OrgName.checkIsFree(name, among: scan.entries)
    return name
  }

  private static func conflict(_ login: RecordedLogin, _ entry: OrgEntry, _ kept: Session?) -> Conflict? {
    if let known = entry.orgId, isOther(known, login.session.orgId) { return .org(known: known) }
    guard let kept else { return nil }
    if isOther(kept.orgId, login.session.orgId) { return .user(known: kept.orgId) }
    // An app's run-as user may change.
    guard login.session.flow != "clientCredentials", isOther(kept.userId, login.session.userId) else { return nil }
    return .user(known: kept.userId)
  }

  /// Compares the first 15 characters of two ids, which are the same in the 18-character form. An unknown id matches any.
  static func isOther(_ a: String, _ b: String) -> Bool { !a.isEmpty && !b.isEmpty && a.prefix(15) != b.prefix(15) }

  private static func isSame(_ a: String?, _ b: String) -> Bool {
    a.map { !$0.isEmpty && !b.isEmpty && !isOther($0, b) } ?? false
  }

  /// Returns a free folder name. A renamed org keeps its folder, so the folder of a free name may still be in use.
  private static func free(_ folder: String, _ isTaken: (String) -> Bool) -> String {
    guard isTaken(folder) else { return folder }
    var n = 2
    while isTaken("\(folder)-\(n)") { n += 1 }
    return "\(folder)-\(n)"
  }
}
