import Foundation
import JSON
import RestClient
import SandboxOrg
import SmartStore
import Synchronization
import TestSupport

@testable import MobileSync
@testable import Salesforce

/// An org, a store and a manager for the scenarios of one kind, one after the other. The engine's
/// clock can be moved forward; no other time decides about anything.
final class ScenarioWorld: Sendable {
  let kind: ScenarioKind
  let org: SandboxServer
  let store: Store
  let client: SalesforceClient
  let manager: SyncManager
  private let folder: TemporaryFolder
  /// Ms by which the engine's clock is ahead.
  private let ahead = Ahead()

  /// The word by which a search finds every record.
  static let word = "walrus"

  init(_ kind: ScenarioKind) async throws {
    self.kind = kind
    var sandbox = SandboxConfiguration()
    sandbox.seed = .none
    sandbox.pageSize = 3
    org = try await SandboxServer.start(sandbox)
    folder = try TemporaryFolder(isInMemory: true)
    store = try TestEngine.store(at: folder.path + "/test.sqlite")
    for (soup, name) in [("accounts", "Name"), ("contacts", "LastName")] {
      try store.registerSoup(soup, indexSpecs: Self.specs(name))
    }
    let credentials = Credentials.password(
      loginURL: org.url, clientId: org.clientId, clientSecret: org.clientSecret, username: org.username,
      password: org.password)
    var transport = TransportConfiguration()
    // Only a hanging request is lost, and as soon as it hangs: no answer counts as late.
    let hanging = HangingRequests()
    org.faults.observeSilence { hanging.noteSilence() }
    transport.watch = { hanging.begin($0) }
    (transport.connectTimeoutMs, transport.idleTimeoutMs) = (3_600_000, 3_600_000)
    let client = SalesforceClient(
      credentials: credentials, transport: HTTPTransport(transport), policy: .never, observer: SyncTrafficObserver())
    self.client = client
    var configuration = SyncConfiguration()
    configuration.now = { [ahead] in SyncConfiguration.systemTime() + ahead.milliseconds.withLock { $0 } }
    configuration.ghostFeedEntries = 4
    configuration.lostCreateWaitMs = 10_000
    configuration.customTargets = ScenarioSource(client: client)
    configuration.logger.logLevel = .critical
    manager = try SyncManager(store: store, client: client, configuration: configuration)
    try org.setBriefcase([BriefcaseRule(object: "Account", order: "Name")])
  }

  func close() async {
    await manager.shutdown()
    await client.shutdown()
    store.close()
    await org.stop()
  }

  // MARK: A scenario's beginning

  private static func specs(_ name: String) -> [IndexSpec] {
    ["Id", name, "AccountId", "__local__"].map { IndexSpec(path: $0, type: .string) }
      + [IndexSpec(path: "__sync_id__", type: .integer)]
  }

  /// Clears both sides and the faults, and creates the two syncs.
  func begin() throws {
    org.faults.clear()
    ahead.milliseconds.withLock { $0 = 0 }
    for type in ["Contact", "Account"] {
      for record in try records(type, "Id") { try org.delete(type, id: record["Id"]?.stringValue ?? "") }
    }
    for name in ["down", "up", "fill"] { try? manager.deleteSync(.name(name)) }
    for soup in ["accounts", "contacts"] { try store.clearSoup(soup) }
  }

  /// Moves the engine's clock forward.
  func wait(milliseconds: Int64) { ahead.milliseconds.withLock { $0 += milliseconds } }

  func createSyncs(_ mode: MergeMode) throws {
    try manager.createSyncDown(
      target: downTarget, options: ["mergeMode": "LEAVE_IF_CHANGED"], soupName: "accounts", syncName: "down")
    guard let up = kind.up else { return }
    let target: JSONObject =
      switch up {
      case "parent_children": ParentChildrenBench.upTarget("MASTER_DETAIL")
      case "custom": ["type": "custom", "luaImpl": "accounts"]
      default: ["type": .string(up)]
      }
    try manager.createSyncUp(
      target: target, options: ["fieldlist": ["Name", "Description"], "mergeMode": .string(mode.rawValue)],
      soupName: "accounts", syncName: "up")
  }

  // MARK: Targets

  private static let fields: JSONValue = ["Id", "Name", "Description", "LastModifiedDate"]

  static let query = "SELECT Id, Name, Description, LastModifiedDate FROM Account"

  private var downTarget: JSONObject {
    let type = kind.down.rawValue
    return switch kind.down {
    case .soql: ["type": .string(type), "query": .string(Self.query + " ORDER BY LastModifiedDate")]
    case .sosl:
      [
        "type": .string(type),
        "query": .string(
          "FIND {\(Self.word)} IN NAME FIELDS RETURNING Account(Id, Name, Description, LastModifiedDate)"),
      ]
    case .mru: ["type": .string(type), "sobjectType": "Account", "fieldlist": Self.fields]
    case .refresh:
      ["type": .string(type), "sobjectType": "Account", "fieldlist": Self.fields, "soupName": "accounts", "countIdsPerSoql": 4]
    case .briefcase:
      [
        "type": .string(type), "countIdsPerRetrieve": 4,
        "infos": [["sobjectType": "Account", "soupName": "accounts", "fieldlist": Self.fields]],
      ]
    case .custom: ["type": .string(type), "luaImpl": "accounts"]
    case .parent_children: families
    case .layout: ["type": .string(type), "sobjectType": "Account", "formFactor": "Large", "layoutType": "Full", "mode": "View"]
    case .metadata: ["type": .string(type), "sobjectType": "Account"]
    }
  }

  private var families: JSONObject {
    var target = ParentChildrenBench.sides("MASTER_DETAIL")
    target["parentFieldlist"] = Self.fields
    target["childrenFieldlist"] = ["Id", "LastName", "Department", "AccountId", "LastModifiedDate"]
    target["parentSoqlFilter"] = ""
    return target
  }

  // MARK: Reading

  func records(_ type: String, _ fields: String) throws -> [JSONValue] {
    try org.query("SELECT \(fields) FROM \(type) ORDER BY Id")["records"]?.arrayValue ?? []
  }

  func accounts() throws -> [JSONValue] { try records("Account", "Id, Name, Description") }

  func entries(_ soup: String = "accounts") throws -> [JSONObject] {
    let rows = try store.readBlocking { snapshot in
      let ids = try snapshot.entryIds(in: soup, where: "__local__", equals: .text("true"))
      let clean = try snapshot.entryIds(in: soup, where: "__local__", equals: .text("false"))
      return try snapshot.entries((ids + clean).sorted(), in: soup).text
    }
    return try JSONValue(parsing: rows).arrayValue?.compactMap(\.objectValue) ?? []
  }

  func dirty() throws -> [Int64: JSONObject] {
    let dirty = try entries().filter { $0["__local__"] == true }
    return Dictionary(uniqueKeysWithValues: dirty.map { ($0["_soupEntryId"]?.integerValue ?? 0, $0) })
  }

  /// Marks every account as viewed by the signed-in user.
  func viewAccounts() async {
    for record in (try? accounts()) ?? [] {
      let view = client.requests.retrieve(type: "Account", id: record["Id"]?.stringValue ?? "", fields: ["Id"])
      for _ in 0..<20 where (try? await client.send(view)) != nil { break }
    }
  }
}

private final class Ahead: Sendable { let milliseconds = Mutex<Int64>(0) }

/// Gives up the requests that hang. The server tells that one does, but not which; it is known once
/// all others have ended.
private final class HangingRequests: Sendable {
  private struct State {
    /// What gives up each request under way.
    var requests: [Int: @Sendable () -> Void] = [:]
    var last = 0, hanging = 0
  }

  private let state = Mutex(State())

  func noteSilence() { change { $0.hanging += 1 } }

  /// - Returns: What to call when the request has ended.
  func begin(_ giveUp: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let number = state.withLock { state in
      state.last += 1
      state.requests[state.last] = giveUp
      return state.last
    }
    return { self.change { $0.requests[number] = nil } }
  }

  private func change(_ body: (inout State) -> Void) {
    let due = state.withLock { state -> [@Sendable () -> Void] in
      body(&state)
      guard state.hanging > 0, state.requests.count <= state.hanging else { return [] }
      state.hanging = 0
      return Array(state.requests.values)
    }
    for giveUp in due { giveUp() }
  }
}
