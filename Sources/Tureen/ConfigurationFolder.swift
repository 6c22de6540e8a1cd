import JSON
import MobileSync
import RestClient
import Salesforce
import SmartStore
import Support

/// The configuration files beside a script. Missing files are fine; unreadable or wrong ones are not.
struct ConfigurationFolder: Sendable {
  /// Tureen's own settings among those of `bootconfig.json`.
  private(set) var settings = HostSettings()
  /// All of `bootconfig.json`, for `sdkinfo`.
  private(set) var bootConfig = JSONObject()
  private(set) var userStore: StoreConfiguration?
  private(set) var globalStore: StoreConfiguration?
  private(set) var userSyncs: JSONFile?
  private(set) var globalSyncs: JSONFile?
  /// Those of `connections.json`; none for a restricted script, which brings none.
  private(set) var connections: [ConnectionSettings] = []

  /// Keys that the model's applications keep in `bootconfig.json`, and the type of each.
  private static let bootKeys: [(key: String, kind: String)] = [
    ("remoteAccessConsumerKey", "string"), ("oauthRedirectURI", "string"), ("oauthScopes", "array"),
    ("isLocal", "boolean"), ("startPage", "string"), ("errorPage", "string"), ("shouldAuthenticate", "boolean"),
    ("attemptOfflineLoad", "boolean"), ("unauthenticatedStartPage", "string"), ("appName", "string"),
    ("appVersion", "string"),
  ]

  init() {}

  /// - Parameter isRestricted: Whether the files come with a script that may choose nothing of the host: settings are errors.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the file, the line and the key.
  init(_ directory: String, isRestricted: Bool) throws {
    do {
      if let file = try ConfigurationFolder.file("bootconfig.json", in: directory) {
        if isRestricted { try ConfigurationFolder.refuseSettings(file) }
        try takeBootConfig(file)
      }
      userStore = try ConfigurationFolder.file("userstore.json", in: directory).map { try StoreConfiguration($0) }
      globalStore = try ConfigurationFolder.file("globalstore.json", in: directory).map { try StoreConfiguration($0) }
      userSyncs = try ConfigurationFolder.syncs("usersyncs.json", in: directory)
      globalSyncs = try ConfigurationFolder.syncs("globalsyncs.json", in: directory)
      if !isRestricted, let file = try ConfigurationFolder.file("connections.json", in: directory) {
        connections = try ConnectionSettings.read(file, folder: directory)
      }
    } catch let problem as JSONFile.Problem {
      throw HostError(.invalidConfiguration, problem.description)
    } catch let error as StoreError {
      throw HostError(.invalidConfiguration, error.message)
    }
  }

  private static func file(_ name: String, in directory: String) throws -> JSONFile? {
    let path = "\(directory)/\(name)"
    guard FileSystem.exists(path) else { return nil }
    guard let text = FileSystem.read(path) else {
      throw HostError(.invalidConfiguration, "\(path): cannot be read; check that it is a file and its permissions")
    }
    return try JSONFile(name: path, text: text)
  }

  /// A file of named syncs, every entry checked down to its target's keys.
  private static func syncs(_ name: String, in directory: String) throws -> JSONFile? {
    guard let file = try file(name, in: directory) else { return nil }
    try check(file, .host(nil))
    return file
  }

  /// Checks the syncs again, now that the host's connections are known.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the file, the line and the key.
  func check(_ targets: TargetRegistry) throws(HostError) {
    do {
      for file in [userSyncs, globalSyncs] { if let file { try ConfigurationFolder.check(file, targets) } }
    } catch {
      throw HostError(.invalidConfiguration, "\(error)")
    }
  }

  private static func check(_ file: JSONFile, _ targets: TargetRegistry) throws(JSONFile.Problem) {
    guard let top = file.value.objectValue else { throw file.problem("must hold an object") }
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

  /// Where stores are kept, which org is asked and with which secrets is for the person who runs a restricted script to choose.
  private static func refuseSettings(_ file: JSONFile) throws {
    for key in HostSettings.keys where file.value[key] != nil {
      throw file.problem(
        key: key, "is not available to a restricted script (--restricted); choose it on the command line or in the environment")
    }
  }

  private mutating func takeBootConfig(_ file: JSONFile) throws {
    guard let members = file.value.objectValue else { throw file.problem("must hold an object") }
    for (key, kind) in ConfigurationFolder.bootKeys {
      guard let value = members[key], value.kindName != kind else { continue }
      throw file.problem(key: key, "must be a \(kind), not \(value.kindName)")
    }
    if members["connections"] != nil { throw file.problem(key: "connections", "belongs in connections.json beside this file") }
    if members["sessionCommand"] != nil {
      throw file.problem(
        key: "sessionCommand", "names a program that gets tokens; choose it with tureen.configure or TUREEN_SESSION_COMMAND")
    }
    try settings.take(members, known: Set(ConfigurationFolder.bootKeys.map(\.key))) { key, what in
      HostError(.invalidConfiguration, file.problem(key: key, what).description)
    }
    settings.credentialsFileIsOfScript = members["credentials"] != nil
    settings.homeIsOfScript = members["home"] != nil
    bootConfig = members
    bootConfig["credentials"] = nil
  }
}
