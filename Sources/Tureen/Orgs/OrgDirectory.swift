import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// The orgs that a home knows, and their users. Every call looks at the files; those that change something take the home's lock.
public struct OrgDirectory: Sendable {
  public let home: String

  public init(home: String) { self.home = home }

  // MARK: Paths

  var folder: String { "\(home)/orgs" }

  /// The folder of a user: session, credentials and stores.
  /// - Parameters: Names of folders, as ``OrgEntry/folder`` and ``OrgUser/folder`` have them.
  public func userFolder(org: String, user: String) -> String { "\(folder)/\(org)/\(user)" }

  /// The folder name of a user.
  public static func folderName(ofUser name: String) -> String { StoreRegistry.folderName(name) }

  // MARK: Looking

  /// The orgs, by name.
  /// - Throws: ``HostError`` `.invalidConfiguration` when an `org.json` or `orgs.json` is wrong, naming file, line and key.
  public func entries() throws -> [OrgEntry] {
    let found = try scan()
    if let problem = found.problems.first { throw problem.error }
    return found.entries
  }

  /// The org with this name or address; nil when there is none.
  /// - Throws: ``HostError`` `.noSuchOrg` when several have the address, `.invalidConfiguration` when its file is wrong.
  public func entry(_ nameOrAddress: String) throws -> OrgEntry? { try scan().entry(nameOrAddress) }

  /// The name in `orgs.json`; nil when there is none or no such org.
  /// - Throws: ``HostError`` `.invalidConfiguration` also when it may be that of an org whose file is wrong: another org must not
  ///   take its place unnoticed.
  public func defaultName() throws -> String? {
    try settle()
    guard let name = try keptDefault() else { return nil }
    guard name != Org.sandboxName else { return name }
    let scan = try scan()
    return try scan.entries.first { $0.name.hasSameBytes(as: name) }?.name ?? scan.unlessWrong(name)?.name
  }

  /// What is in the folder, also where some of it cannot be read.
  func scan() throws -> OrgScan {
    try settle()
    let chosen = try keptDefault()
    var scan = OrgScan()
    for name in try FileSystem.entries(of: folder) where Self.isFolder(name) && name != Org.sandboxName {
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

  /// Finishes what a killed process has left.
  private func settle() throws { if HomeLock.isUnfinished(home) { _ = try HomeLock(home: home) } }

  private func keptDefault() throws -> String? {
    guard let file = try file("\(home)/orgs.json") else { return nil }
    do throws(JSONFile.Problem) {
      guard let members = file.value.objectValue else { throw file.problem("must hold an object") }
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
      .map { OrgUser(name: OrgEntry.name(ofFolder: $0), folder: $0) }.sorted { $0.name < $1.name }
    guard let file = try file("\(path)/org.json") else { return withoutFile(folderName, users) }
    do throws(JSONFile.Problem) {
      return try OrgEntry(file: file, folder: folderName, users: users)
    } catch {
      throw HostError(.invalidConfiguration, error.description)
    }
  }

  /// A folder of the time before `org.json`: what its sessions say, where they agree.
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

  /// What is in a user's `session.json`, to compare with: not to be used.
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

  /// Folders of orgs and users have encoded names; others, such as those kept aside, have a dot.
  private static func isFolder(_ name: String) -> Bool {
    name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_%~".utf8.contains($0) }
  }
}

/// The orgs of a home, read once.
struct OrgScan {
  var entries: [OrgEntry] = []
  /// Folders whose `org.json` is wrong.
  var problems: [(folder: String, error: HostError)] = []

  /// - Throws: as ``OrgDirectory/entry(_:)``.
  func entry(_ nameOrAddress: String) throws -> OrgEntry? {
    if let address = OrgAddress(nameOrAddress) {
      let found = address.matches(among: entries)
      guard found.count <= 1 else {
        throw HostError(
          .noSuchOrg,
          "several orgs have the address \(nameOrAddress): \(found.map(\.name).joined(separator: ", ")); give the name of one")
      }
      return try found.first ?? unlessWrong(address.name)
    }
    if let named = entries.first(where: { $0.name.hasSameBytes(as: nameOrAddress) }) { return named }
    let folder = StoreRegistry.folderName(nameOrAddress)
    return try entries.first { !$0.hasFile && $0.folder == folder } ?? unlessWrong(nameOrAddress)
  }

  /// It may be one of those that cannot be read.
  fileprivate func unlessWrong(_ name: String) throws -> OrgEntry? {
    let folder = StoreRegistry.folderName(name)
    if let problem = problems.first(where: { $0.folder == folder }) ?? problems.first { throw problem.error }
    return nil
  }
}
