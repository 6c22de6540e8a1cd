import Foundation
import JSON
import SandboxOrg
import SmartStore
import Synchronization
import TestSupport

@testable import MobileSync
@testable import Salesforce

/// An org and two clients for the scenarios of one layout, one after the other. All clocks are
/// manual.
final class ClientWorld: Sendable {
  let layout: ClientLayout
  let org: DirectOrg
  let clients: [ScenarioClient]
  private let folder: TemporaryFolder

  /// Records per page: so small that few records make several pages.
  private static let pageSize = 4

  init(_ layout: ClientLayout) throws {
    self.layout = layout
    let org = try DirectOrg(pageSize: Self.pageSize)
    self.org = org
    let folder = try TemporaryFolder(isInMemory: true)
    self.folder = folder
    clients = try (0..<2).map { n in
      let file = layout == .oneStore ? "shared" : "client\(n)"
      return try ScenarioClient(n, store: TestEngine.store(at: "\(folder.path)/\(file).sqlite"), org)
    }
    for store in stores { try store.registerSoup("accounts", indexSpecs: Self.specs) }
  }

  func close() async {
    for client in clients {
      await client.manager.shutdown()
      client.store.close()
    }
    org.close()
  }

  private static let specs =
    ["Id", "Name", "__local__"].map { IndexSpec(path: $0, type: .string) } + [IndexSpec(path: "__sync_id__", type: .integer)]

  /// One client for each soup.
  var owners: [ScenarioClient] { layout == .oneStore ? [clients[0]] : clients }
  private var stores: [Store] { owners.map(\.store) }

  /// Clears both sides and creates the syncs of a script.
  func begin(_ script: ClientScript) throws {
    try org.clear()
    for store in stores {
      try store.clearSoup("accounts")
      let ids = try store.readBlocking { snapshot in
        try SyncType.allCases.flatMap { try snapshot.entryIds(in: SyncsSoup.name, where: "type", equals: .text($0.rawValue)) }
      }
      try store.remove(ids, from: SyncsSoup.name)
    }
    for (client, clock) in zip(clients, script.clocks) { try client.begin(script, clock: clock) }
  }
}

/// A store with a manager, as a process or a device has them.
final class ScenarioClient: Sendable {
  let number: Int
  let store: Store
  let network: DirectClient
  let manager: SyncManager
  private let clock: DirectClock

  /// The field that this client writes. Each client has its own, so that lost changes can be
  /// distinguished from intended overwrites.
  var field: String { Self.fields[number] }
  static let fields = ["Description", "Phone"]
  /// The field that other users write.
  static let serverField = "Fax"
  static let allFields = fields + [serverField]

  init(_ number: Int, store: Store, _ org: DirectOrg) throws {
    self.number = number
    self.store = store
    network = DirectClient(org)
    clock = DirectClock(org)
    var configuration = SyncConfiguration()
    configuration.now = { [clock] in clock.now() }
    configuration.logger.logLevel = .critical
    manager = try SyncManager(store: store, client: network, configuration: configuration)
  }

  func name(_ word: ClientStep.Word) -> String { "\(word == .up ? "up" : "down") \(number)" }

  fileprivate func begin(_ script: ClientScript, clock seconds: Int) throws {
    clock.ahead.withLock { $0 = Int64(seconds) * 1_000 }
    network.follow(DirectClient.Plan())
    let up: MergeMode =
      switch script.mode {
      case .overwrite: .overwrite
      case .leaveIfChanged: .leaveIfChanged
      case .merge: .merge
      }
    let down: MergeMode = up == .merge ? .merge : .leaveIfChanged
    let fields = ["Id", "Name"] + Self.allFields + ["LastModifiedDate"]
    try manager.createSyncDown(
      target: ["type": "soql", "query": .string("SELECT \(fields.joined(separator: ", ")) FROM Account")],
      options: ["mergeMode": .string(down.rawValue)], soupName: "accounts", syncName: name(.down))
    // A device that overwrites may send only its own field.
    let isOwn = up == .overwrite && script.layout == .twoStores
    let sent = ["Name"] + (isOwn ? [field] : Self.fields)
    try manager.createSyncUp(
      target: ["type": .string(script.upload.rawValue)],
      options: ["fieldlist": .array(sent.map { .string($0) }), "mergeMode": .string(up.rawValue)], soupName: "accounts",
      syncName: name(.up))
  }

  // MARK: Entries

  /// Returns the entries, ordered by name.
  func entries() throws -> [JSONObject] {
    let rows = try store.readBlocking { snapshot in
      let ids = try ["true", "false"].flatMap { try snapshot.entryIds(in: "accounts", where: "__local__", equals: .text($0)) }
      return try snapshot.entries(ids, in: "accounts").text
    }
    let entries = try JSONValue(parsing: rows).arrayValue?.compactMap(\.objectValue) ?? []
    return entries.sorted { ($0.name, $0.entryId) < ($1.name, $1.entryId) }
  }

  func entry(_ id: Int64) throws -> JSONObject? {
    try store.readBlocking { try $0.entry(id, in: "accounts")?.object() }
  }

  func save(_ entry: JSONObject) throws {
    _ = try store.upsert(JSONValue.array([.object(entry)]).serialized(), into: "accounts")
  }
}

extension JSONObject {
  var name: String { self["Name"]?.stringValue ?? "" }
  var entryId: Int64 { self["_soupEntryId"]?.integerValue ?? 0 }
  var isLocal: Bool { self["__local__"]?.boolValue ?? false }
}

/// A client's clock: the org's clock plus an offset.
private final class DirectClock: Sendable {
  let org: DirectOrg
  /// In ms.
  let ahead = Mutex<Int64>(0)

  init(_ org: DirectOrg) { self.org = org }

  func now() -> Int64 { org.clock.now() * 1_000 + ahead.withLock { $0 } }
}
