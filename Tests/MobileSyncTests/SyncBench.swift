import Foundation
import JSON
import RestClient
import SandboxOrg
import SmartStore
import Synchronization
import TestSupport

@testable import MobileSync
@testable import Salesforce

/// A sandbox org, a store, and a manager between them.
final class SyncBench: Sendable {
  static let specs = [
    IndexSpec(path: "Id", type: .string), IndexSpec(path: "Name", type: .string),
    IndexSpec(path: "__local__", type: .string), IndexSpec(path: "__sync_id__", type: .integer),
  ]
  static let accounts: JSONObject = [
    "type": "soql", "query": "SELECT Id, Name, Description, LastModifiedDate FROM Account ORDER BY LastModifiedDate",
  ]
  static let upload: JSONObject = ["fieldlist": ["Name", "Description"], "mergeMode": "OVERWRITE"]
  static let uploadLeave: JSONObject = ["fieldlist": ["Name", "Description"], "mergeMode": "LEAVE_IF_CHANGED"]

  /// A configuration in which creates that never arrived are sent again at once.
  static let configuration = {
    var configuration = SyncConfiguration()
    configuration.lostCreateWaitMs = 0
    return configuration
  }()

  let org: SandboxServer
  let clock: ManualSandboxClock
  let store: Store
  let client: SalesforceClient
  let manager: SyncManager
  private let kind: UploadKind
  private let folder: TemporaryFolder

  /// - Parameters:
  ///   - kind: The target of `up`.
  ///   - realTime: Whether the org uses the real clock instead of a manual one.
  ///   - counts: Counts the calls of the store's engine.
  init(
    kind: UploadKind = .collection, accounts: Int = 0, pageSize: Int = 2000, realTime: Bool = false,
    configuration: SyncConfiguration = SyncBench.configuration, counts: CallCounts? = nil
  ) async throws {
    self.kind = kind
    var sandbox = SandboxConfiguration()
    sandbox.seed = .none
    sandbox.pageSize = pageSize
    clock = ManualSandboxClock()
    if !realTime { sandbox.clock = clock }
    org = try await SandboxServer.start(sandbox)
    folder = try TemporaryFolder()
    if let counts {
      let engine = try CountingEngines(folder: folder.path, counts).open("test", isGlobal: false)
      store = Store(name: "test", isGlobal: false, engine: engine)
    } else {
      store = try TestEngine.store(at: folder.path + "/test.sqlite")
    }
    try store.registerSoup("accounts", indexSpecs: SyncBench.specs)
    let session = Session(accessToken: try org.issueAccessToken(), instanceURL: org.url, loginURL: org.url)
    client = SalesforceClient(session: session, policy: .never, observer: SyncTrafficObserver())
    manager = try SyncManager(store: store, client: client, configuration: configuration)
    for n in 0..<accounts { try addAccount("Account \(n)") }
    org.clearRequests()
  }

  func close() async {
    await manager.shutdown()
    await client.shutdown()
    store.close()
    await org.stop()
  }

  /// Creates a second manager for the same store, as in another process.
  func anotherManager() throws -> SyncManager { try SyncManager(store: store, client: client) }

  // MARK: The server's side

  /// Adds an account one second after the previous one.
  @discardableResult
  func addAccount(_ name: String, _ description: String? = nil) throws -> String {
    clock.advance(by: 1)
    var fields: JSONObject = ["Name": .string(name)]
    if let description { fields["Description"] = .string(description) }
    return try org.create("Account", fields: fields)
  }

  /// Marks every account as viewed by the signed-in user, so that they are the recent items.
  func viewAccounts() async throws {
    for record in try org.query("SELECT Id FROM Account")["records"]?.arrayValue ?? [] {
      let id = record["Id"]?.stringValue ?? ""
      _ = try await client.send(client.requests.retrieve(type: "Account", id: id, fields: ["Id"]))
    }
    org.clearRequests()
  }

  func change(_ id: String, _ fields: JSONObject) throws {
    clock.advance(by: 60)
    try org.update("Account", id: id, fields: fields)
  }

  func serverNames() throws -> [String] {
    let records = try org.query("SELECT Name FROM Account ORDER BY Name")["records"]?.arrayValue ?? []
    return records.compactMap { $0["Name"]?.stringValue }
  }

  func onServer(_ id: String) throws -> JSONValue? {
    try org.query("SELECT Id, Name, Description FROM Account WHERE Id = '\(id)'")["records"]?.arrayValue?.first
  }

  /// The paths of the data requests since the last `clearRequests`.
  func requests() -> [String] { org.requests().map { "\($0.method) \($0.path)" } }

  // MARK: The store's side

  func entries() throws -> [JSONObject] {
    let text = try store.readBlocking { snapshot in
      let all =
        try snapshot.entryIds(in: "accounts", where: "__local__", equals: .text("true"))
        + snapshot.entryIds(in: "accounts", where: "__local__", equals: .text("false"))
      return try snapshot.entries(all.sorted(), in: "accounts").text
    }
    return try JSONValue(parsing: text).arrayValue?.compactMap(\.objectValue) ?? []
  }

  func entry(named name: String) throws -> JSONObject? { try entries().first { $0["Name"] == .string(name) } }

  func names() throws -> [String] { try entries().compactMap { $0["Name"]?.stringValue }.sorted() }

  func dirtyCount() throws -> Int { try store.readBlocking { try $0.dirtyEntryIds(in: "accounts").count } }

  @discardableResult
  func createLocally(_ name: String, _ more: JSONObject = [:]) throws -> Int64 {
    var entry: JSONObject = [
      "Id": .string("local_\(UInt64.random(in: 0..<UInt64.max))"), "attributes": ["type": "Account"],
      "Name": .string(name), "__local__": true, "__locally_created__": true, "__locally_updated__": false,
      "__locally_deleted__": false,
    ]
    for (key, value) in more { entry[key] = value }
    return try save(entry)
  }

  @discardableResult
  func save(_ entry: JSONObject) throws -> Int64 {
    let saved = try store.upsert(JSONValue.array([.object(entry)]).serialized(), into: "accounts")
    return try JSONValue(parsing: saved).arrayValue?.first?["_soupEntryId"]?.integerValue ?? 0
  }

  func updateLocally(_ name: String, _ changes: JSONObject) throws {
    guard var entry = try entry(named: name) else { throw BenchError.noSuchEntry(name) }
    for (key, value) in changes { entry[key] = value }
    entry["__local__"] = true
    entry["__locally_updated__"] = true
    try save(entry)
  }

  func deleteLocally(_ name: String) throws {
    guard var entry = try entry(named: name) else { throw BenchError.noSuchEntry(name) }
    entry["__local__"] = true
    entry["__locally_deleted__"] = true
    try save(entry)
  }

  // MARK: Syncs

  func down(_ options: JSONObject? = nil, name: String? = nil) async throws -> SyncState {
    try await manager.syncDown(target: SyncBench.accounts, options: options, soupName: "accounts", syncName: name)
  }

  func up(_ options: JSONObject = SyncBench.upload, target: JSONObject? = nil) async throws -> SyncState {
    var whole = upTarget
    for (key, value) in target ?? [:] { whole[key] = value }
    return try await manager.syncUp(target: whole, options: options, soupName: "accounts")
  }

  var upTarget: JSONObject { ["type": .string(kind.rawValue)] }
}

/// The sync up targets that send the records of one soup.
enum UploadKind: String, CaseIterable, Sendable { case collection, batch, plain }

enum BenchError: Error { case noSuchEntry(String) }

/// Records the updates of a listener.
final class UpdateRecorder: Sendable {
  private struct Content {
    var states: [SyncState] = []
    var waiting: [CheckedContinuation<SyncState, Never>] = []
  }

  private let content = Mutex(Content())
  private let reaction: (@Sendable (SyncState) -> Void)?

  /// - Parameter reaction: Called with each update, on its thread.
  init(_ reaction: (@Sendable (SyncState) -> Void)? = nil) { self.reaction = reaction }

  var listener: SyncManager.Listener {
    { state in
      let waiting = self.content.withLock { content in
        content.states.append(state)
        guard state.status.isTerminal else { return [CheckedContinuation<SyncState, Never>]() }
        defer { content.waiting.removeAll() }
        return content.waiting
      }
      self.reaction?(state)
      for continuation in waiting { continuation.resume(returning: state) }
    }
  }

  var states: [SyncState] { content.withLock { $0.states } }

  /// `RUNNING 0/-1` and so on, one text for each update.
  var lines: [String] { states.map { "\($0.status.rawValue) \($0.progress)/\($0.totalSize)" } }

  /// Waits for the terminal state.
  func ended() async -> SyncState {
    await withCheckedContinuation { continuation in
      let done = content.withLock { content in
        let last = content.states.last { $0.status.isTerminal }
        if last == nil { content.waiting.append(continuation) }
        return last
      }
      if let done { continuation.resume(returning: done) }
    }
  }
}
