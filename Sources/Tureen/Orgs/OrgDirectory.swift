import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// The orgs that a home knows, and their users. Every call reads the files; changes take the home's lock.
public struct OrgDirectory: Sendable {
  public let home: String
  /// Whether an unfinished change by a killed process stays as it is.
  private let looksOnly: Bool

  public init(home: String) { self.init(home: home, looksOnly: false) }

  /// - Parameter looksOnly: Whether nothing is written, not even the rest of an unfinished change.
  init(home: String, looksOnly: Bool) {
    self.home = home
    self.looksOnly = looksOnly
  }

  // MARK: Paths

  var folder: String { "\(home)/orgs" }

  /// Returns the path of a user's folder with the session, the credentials and the stores.
  /// - Parameters:
  ///   - org: The name of the org's folder, as in ``OrgEntry/folder``.
  ///   - user: The name of the user's folder, as in ``OrgUser/folder``.
  public func userFolder(org: String, user: String) -> String { "\(folder)/\(org)/\(user)" }

  /// Returns the name of a user's folder.
  public static func folderName(ofUser name: String) -> String { StoreRegistry.folderName(name) }

  // MARK: Reading

  /// Returns the orgs, sorted by name.
  /// - Throws: ``HostError`` `.invalidConfiguration` if an `org.json` or `orgs.json` is invalid, naming file, line and key.
  public func entries() throws -> [OrgEntry] {
    let found = try scan()
    if let problem = found.problems.first { throw problem.error }
    return found.entries
  }

  /// Returns the org with this name or address; nil if there is none.
  /// - Throws: ``HostError`` `.noSuchOrg` if several orgs have the address, `.invalidConfiguration` if its file is invalid.
  public func entry(_ nameOrAddress: String) throws -> OrgEntry? { try scan().entry(nameOrAddress) }

  /// Returns the default org in `orgs.json`; nil if there is none or the org does not exist.
  /// - Throws: ``HostError`` `.invalidConfiguration`, also if the name may belong to an org whose file is invalid, so that no
  ///   other org is used by mistake.
  public func defaultName() throws -> String? {
    try settle()
    guard let name = try keptDefault() else { return nil }
    guard name != Org.sandboxName else { return name }
    let scan = try scan()
    return try scan.entries.first { $0.name.hasSameBytes(as: name) }?.name ?? scan.throwIfInvalid(name)?.name
  }

  /// Reads all orgs, and collects the errors of those that are invalid.
  func scan() throws -> OrgScan {
    try settle()
    let chosen = try keptDefault()
    var scan = OrgScan()
    for name in try FileSystem.entries(of: folder) where Self.isFolder(name) && name != Org.sandboxName {
      try FileSystem.checkSearchable("\(folder)/\(name)")
      guard FileSystem.exists("\(folder)/\(name)/.") else { continue }
      do {
        var entry = try read(name)
        entry.isDefault = chosen.map { entry.name.hasSameBytes(as: $0) } ?? false
        scan.entries.append(entry)
      } catch let error as HostError {
        scan.problems.append((name, error))
      }
    }
    scan.entries.sort { ($0.name.lowercased(), $0.folder) < ($1.name.lowercased(), $1.folder) }
    return scan
  }

  /// Finishes a change that a killed process has left.
  private func settle() throws { if !looksOnly, HomeLock.isUnfinished(home) { _ = try HomeLock(home: home) } }

  private func keptDefault() throws -> String? {
    guard let file = try file("\(home)/orgs.json") else { return nil }
    do throws(JSONFile.Problem) {
      guard let members = file.value.objectValue else { throw file.problem("must contain an object") }
      if let wrong = KnownKeys(["default"]).misspelled(in: members) { throw file.problem(key: wrong.key, wrong.complaint) }
      guard let value = members["default"], !value.isNull else { return nil }
      guard let name = value.stringValue else { throw file.problem(key: "default", "must be a string, not \(value.kindName)") }
      return name
    } catch {
      throw HostError(.invalidConfiguration, error.description)
    }
  }

  private func read(_ folderName: String) throws -> OrgEntry {
    let path = "\(folder)/\(folderName)"
    let users = try FileSystem.entries(of: path).filter { Self.isFolder($0) && FileSystem.exists("\(path)/\($0)/.") }
      .map {
        OrgUser(
          name: OrgEntry.name(ofFolder: $0), folder: $0, sessionName: keptSession(org: folderName, user: $0)?.username)
      }.sorted { $0.name < $1.name }
    guard let file = try file("\(path)/org.json") else { return withoutFile(folderName, users) }
    do throws(JSONFile.Problem) {
      return try OrgEntry(file: file, folder: folderName, users: users)
    } catch {
      throw HostError(.invalidConfiguration, error.description)
    }
  }

  /// Returns the entry of a folder from before `org.json`, with the values on which all its sessions agree.
  private func withoutFile(_ folderName: String, _ users: [OrgUser]) -> OrgEntry {
    var entry = OrgEntry(folder: folderName, users: users)
    let sessions = users.compactMap { keptSession(org: folderName, user: $0.folder) }
    func common(_ value: (Session) -> String) -> String? {
      let values = Set(sessions.map(value).filter { !$0.isEmpty })
      return values.count == 1 ? values.first : nil
    }
    entry.orgId = common(\.orgId)
    entry.loginURL = common(\.loginURL)
    entry.instanceURL = common(\.instanceURL)
    return entry
  }

  /// Reads a user's `session.json` without its lock, for comparison only.
  func keptSession(org: String, user: String) -> Session? {
    FileSystem.read(userFolder(org: org, user: user) + "/session.json").flatMap { try? JSONValue(parsing: $0) }
      .flatMap { Session(json: $0) }
  }

  func file(_ path: String) throws -> JSONFile? {
    guard FileSystem.exists(path) else { return nil }
    guard let text = FileSystem.read(path) else { throw HostError(.invalidConfiguration, "\(path): cannot be read") }
    do {
      return try JSONFile(name: path, text: text)
    } catch {
      throw HostError(.invalidConfiguration, error.description)
    }
  }

  /// Returns true for the encoded names of org and user folders. Others, such as those set aside, contain a dot.
  private static func isFolder(_ name: String) -> Bool {
    name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_%~".utf8.contains($0) }
  }
}

/// A snapshot of the orgs of a home.
struct OrgScan {
  var entries: [OrgEntry] = []
  /// The folders whose `org.json` is invalid.
  var problems: [(folder: String, error: HostError)] = []

  /// - Throws: Like ``OrgDirectory/entry(_:)``.
  func entry(_ nameOrAddress: String) throws -> OrgEntry? {
    if let address = OrgAddress(nameOrAddress) {
      let found = address.matches(among: entries)
      guard found.count <= 1 else {
        throw HostError(
          .noSuchOrg,
          "several orgs have the address \(nameOrAddress): \(found.map(\.name).joined(separator: ", ")); give the name of one")
      }
      return try found.first ?? throwIfInvalid(address.name)
    }
    if let named = entries.first(where: { $0.name.hasSameBytes(as: nameOrAddress) }) { return named }
    let folder = StoreRegistry.folderName(nameOrAddress)
    return try entries.first { !$0.hasFile && $0.folder == folder } ?? throwIfInvalid(nameOrAddress)
  }

  /// Returns nil, or throws if the name may belong to an org whose file is invalid.
  fileprivate func throwIfInvalid(_ name: String) throws -> OrgEntry? {
    let folder = StoreRegistry.folderName(name)
    if let problem = problems.first(where: { $0.folder == folder }) ?? problems.first { throw problem.error }
    return nil
  }
}
