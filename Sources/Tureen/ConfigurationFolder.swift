import JSON
import MobileSync
import RestClient
import Salesforce
import SmartStore

/// The configuration files in a script's folder. Missing files are allowed; unreadable or invalid ones are errors.
struct ConfigurationFolder: Sendable {
  /// Tureen's own settings in `bootconfig.json`.
  private(set) var settings = HostSettings()
  /// The content of `bootconfig.json`, for `sdkinfo`.
  private(set) var bootConfig = JSONObject()
  private(set) var userStore: StoreConfiguration?
  private(set) var globalStore: StoreConfiguration?
  private(set) var userSyncs: JSONFile?
  private(set) var globalSyncs: JSONFile?
  /// The connections of `connections.json`; always empty for a restricted script.
  private(set) var connections: [ConnectionSettings] = []

  /// The keys that applications of the Mobile SDK have in `bootconfig.json`, with their types.
  private static let bootKeys: [(key: String, kind: String)] = [
    ("remoteAccessConsumerKey", "string"), ("oauthRedirectURI", "string"), ("oauthScopes", "array"),
    ("isLocal", "boolean"), ("startPage", "string"), ("errorPage", "string"), ("shouldAuthenticate", "boolean"),
    ("attemptOfflineLoad", "boolean"), ("unauthenticatedStartPage", "string"), ("appName", "string"),
    ("appVersion", "string"),
  ]

  init() {}

  /// Reads a folder for a host with these settings.
  ///
  /// For a restricted script, host settings in the files are errors. For any script, settings that reach outside the folder are
  /// errors if another user may have written them; soups and syncs are not, because they concern the user's own stores.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the file, the line and the key.
  init(_ directory: String, _ settings: HostSettings) throws {
    let directory = HostSettings.absolute(directory), trusted = try TrustedFolders(settings)
    let isRestricted = settings.isRestricted
    func file(_ name: String) throws -> JSONFile? { try ConfigurationFile.read(name, in: directory, trusted)?.json }
    do {
      if let file = try ConfigurationFile.read("bootconfig.json", in: directory, trusted) {
        if isRestricted { try ConfigurationFolder.refuseSettings(file.json) }
        try takeBootConfig(file)
      }
      userStore = try file("userstore.json").map { try StoreConfiguration($0) }
      globalStore = try file("globalstore.json").map { try StoreConfiguration($0) }
      func syncs(_ name: String) throws -> JSONFile? {
        guard let file = try ConfigurationFile.read(name, in: directory, trusted) else { return nil }
        // A restricted script finds no modules, and its syncs call what it has registered itself.
        if !isRestricted { try file.checkTrustOfCode() }
        return try ConfigurationFolder.checkedSyncs(file.json)
      }
      userSyncs = try syncs("usersyncs.json")
      globalSyncs = try syncs("globalsyncs.json")
      if !isRestricted, let file = try ConfigurationFile.read("connections.json", in: directory, trusted) {
        try file.checkTrustOfConnections()
        connections = try ConnectionSettings.read(file.json, folder: directory)
      }
    } catch let problem as JSONFile.Problem {
      throw HostError(.invalidConfiguration, problem.description)
    } catch let error as StoreError {
      throw HostError(.invalidConfiguration, error.message)
    }
  }

  /// Checks every entry of a file of named syncs, including the keys of its target.
  private static func checkedSyncs(_ file: JSONFile) throws(JSONFile.Problem) -> JSONFile {
    try check(file, .host(nil))
    return file
  }

  /// Checks the syncs again once the host's connections are known.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the file, the line and the key.
  func check(_ targets: TargetRegistry) throws(HostError) {
    do {
      for file in [userSyncs, globalSyncs] { if let file { try ConfigurationFolder.check(file, targets) } }
    } catch {
      throw HostError(.invalidConfiguration, "\(error)")
    }
  }

  private static func check(_ file: JSONFile, _ targets: TargetRegistry) throws(JSONFile.Problem) {
    guard let top = file.value.objectValue else { throw file.problem("must contain an object") }
    if let unknown = KnownKeys(["syncs"]).unknown(in: top) { throw file.problem(key: unknown.key, unknown.complaint) }
    guard let entries = top["syncs"]?.arrayValue else { throw file.problem(key: "syncs", "must be an array") }
    var names: Set<String> = []
    for (i, entry) in entries.enumerated() {
      let path: [JSONFile.Step] = [.key("syncs"), .position(i)]
      let label = "entry \(i + 1)" + (entry["syncName"]?.stringValue.map { " (\($0))" } ?? "")
      let isNew: Bool
      do throws(SyncError) {
        let definition = try SyncDefinition(entry, targets: targets)
        isNew = names.insert(definition.name).inserted
      } catch {
        throw file.problem(at: path + error.place, "\(label): \(error.message)")
      }
      guard isNew else {
        throw file.problem(at: path + [.key("syncName")], "\(label): the name is used twice; names are unique over all syncs")
      }
    }
  }

  /// Refuses host settings in the file. The person who runs a restricted script chooses the home, the org and the secrets.
  private static func refuseSettings(_ file: JSONFile) throws {
    for key in HostSettings.keys where file.value[key] != nil {
      throw file.problem(
        key: key, "is not available to a restricted script (--restricted); choose it on the command line or in the environment")
    }
  }

  private mutating func takeBootConfig(_ source: ConfigurationFile) throws {
    let file = source.json
    guard let members = file.value.objectValue else { throw file.problem("must contain an object") }
    for (key, kind) in ConfigurationFolder.bootKeys {
      guard let value = members[key], value.kindName != kind else { continue }
      throw file.problem(key: key, "must be a \(kind), not \(value.kindName)")
    }
    if members["connections"] != nil { throw file.problem(key: "connections", "belongs in connections.json next to this file") }
    if members["sessionCommand"] != nil {
      throw file.problem(
        key: "sessionCommand", "names a program that gets tokens; choose it with tureen.configure or TUREEN_SESSION_COMMAND")
    }
    for (key, value) in members where HostSettings.reachesOutside(key, value) { try source.checkTrust(key: key) }
    try settings.take(members, known: Set(ConfigurationFolder.bootKeys.map(\.key))) { key, what in
      HostError(.invalidConfiguration, file.problem(key: key, what).description)
    }
    settings.credentialsFileIsOfScript = members["credentials"] != nil
    settings.homeIsOfScript = members["home"] != nil
    bootConfig = members
    bootConfig["credentials"] = nil
  }
}
