import JSON
import SandboxParse
import SmartStore
import Synchronization
import TestSupport

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// A test environment: a pretend Parse server, a connection to it, a store with some soups, and a
/// sync manager. All use the server's clock, which moves when something waits or the test advances
/// it.
final class ParseBench: Sendable {
  let server: ParseServer
  let clock = ManualSandboxClock()
  let connected: ConnectedStore
  let slept: SleepRecord
  let secrets: BenchSecrets

  var store: Store { connected.store }
  var manager: SyncManager { connected.manager }
  var connections: RestConnections { connected.connections }

  static let specs = [
    IndexSpec(path: "objectId", type: .string), IndexSpec(path: "__local__", type: .string),
    IndexSpec(path: "__sync_id__", type: .integer),
  ]
  static let linkSpecs = [
    IndexSpec(path: "linkKey", type: .string), IndexSpec(path: "ownerId", type: .string),
    IndexSpec(path: "__local__", type: .string), IndexSpec(path: "__sync_id__", type: .integer),
  ]

  /// - Parameters:
  ///   - members: Members of the connection in addition to URL and keys.
  ///   - links: Soups of link rows.
  init(
    mount: String = "/parse", soups: [String] = ["books"], links: [String] = [], _ members: JSONObject = [:],
    settings: ParseSettings = ParseSettings()
  ) async throws {
    var setup = ParseConfiguration()
    setup.clock = clock
    setup.settings = settings
    setup.isSeeded = false
    server = try await ParseServer.start(setup)
    let temporary = try TemporaryStore()
    for soup in soups { try temporary.store.registerSoup(soup, indexSpecs: ParseBench.specs) }
    for soup in links { try temporary.store.registerSoup(soup, indexSpecs: ParseBench.linkSpecs) }
    let slept = SleepRecord(), clock = clock, secrets = BenchSecrets()
    self.slept = slept
    self.secrets = secrets
    let keys: JSONObject = [
      "kind": "parse", "serverURL": .string(server.url + mount), "applicationId": .string(server.keys.applicationId),
      "restAPIKey": .string(server.keys.restAPIKey),
    ]
    let master = keys.replacing(with: ["masterKey": .string(server.keys.masterKey), "useMasterKey": true])
    let origin = ConnectionSettings.Origin(folder: "/", allowsPlainSecrets: true)
    var environment = RestConnection.Environment(home: nil, secrets: secrets.reading)
    environment.retry = RetryEnvironment(
      sleep: { seconds in
        try Task.checkCancellation()
        slept.note(seconds)
        clock.advance(milliseconds: Int64(seconds * 1000))
      }, random: { 0 }, now: { Double(clock.now()) })
    environment.log = RequestLog(level: .off, isStored: false, now: { 0 }) { _ in }
    environment.observer = SyncTrafficObserver()
    let connections = RestConnections(
      [
        try ConnectionSettings(name: "default", json: .object(keys.replacing(with: members)), from: origin),
        try ConnectionSettings(name: "admin", json: .object(master), from: origin),
      ], environment: environment)
    var configuration = SyncConfiguration()
    configuration.now = { clock.now() * 1000 }
    configuration.uptime = { clock.now() * 1000 }
    connected = try ConnectedStore(temporary, connections, ParseSyncService(connections), configuration)
  }

  /// Simulates the end of the process: opens the same file with another manager.
  func reopen() async throws { try await connected.reopen() }

  func close() async {
    await connected.close()
    await server.stop()
  }

  static func with(
    mount: String = "/parse", soups: [String] = ["books"], links: [String] = [], _ members: JSONObject = [:],
    settings: ParseSettings = ParseSettings(), _ body: (ParseBench) async throws -> Void
  ) async throws {
    let bench = try await ParseBench(mount: mount, soups: soups, links: links, members, settings: settings)
    do {
      try await body(bench)
    } catch {
      await bench.close()
      throw error
    }
    await bench.close()
  }

  // MARK: The server's side

  /// Sends a request as another client with all permissions.
  @discardableResult
  func call(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
    let response = try await connections.connection(named: "admin")
      .send(RestRequest(method, path, body: body?.serialized(), isRepeatable: false))
    return try response.response.json()
  }

  @discardableResult
  func create(_ className: String, _ body: JSONValue) async throws -> String {
    try await call(.POST, ParseNames.path(of: className), body)["objectId"]?.stringValue ?? ""
  }

  /// Creates many objects in batches.
  @discardableResult
  func create(_ className: String, count: Int, _ body: (Int) -> JSONValue) async throws -> [String] {
    var ids: [String] = []
    let mount = try mount
    for start in stride(from: 0, to: count, by: 50) {
      let requests = (start..<min(count, start + 50)).map { n -> JSONValue in
        ["method": "POST", "path": .string(mount + ParseNames.path(of: className)), "body": body(n)]
      }
      let answers = try await call(.POST, "/batch", ["requests": .array(requests)]).arrayValue ?? []
      ids += answers.compactMap { $0["success"]?["objectId"]?.stringValue }
    }
    return ids
  }

  private var mount: String {
    get throws { try ServerAddress(connections.connection(named: "admin").settings.baseURL).mountPath }
  }

  func object(_ className: String, _ id: String) async throws -> JSONObject {
    try await call(.GET, ParseNames.path(of: className, id: id)).objectValue ?? [:]
  }

  /// Returns all objects, up to 1000.
  func objects(_ className: String) async throws -> [JSONObject] {
    let list = try await call(.GET, ParseNames.path(of: className) + "?limit=1000")["results"]?.arrayValue
    return (list ?? []).compactMap(\.objectValue)
  }

  func related(_ className: String, to owner: String, _ id: String, _ field: String) async throws -> Set<String> {
    let condition = ParseCondition.related(to: ParsePointer(className: owner, objectId: id), by: field)
    let path = ParseNames.path(of: className) + "?where=" + PercentEncoding.encode(condition.json.text)
    let list = try await call(.GET, path)["results"]?.arrayValue ?? []
    return Set(list.compactMap { $0["objectId"]?.stringValue })
  }

  /// The requests of syncs since ``forgetRequests()``, as `METHOD /path`.
  var requests: [LoggedRequest] { server.requests() }
  func forgetRequests() { server.clearRequests() }

  // MARK: Syncs

  @discardableResult
  func down(
    _ className: String = "Book", _ members: JSONObject = [:], options: JSONObject? = nil, soup: String = "books",
    name: String = "s"
  ) async throws -> SyncState {
    let target: JSONObject = ["type": "parse", "className": .string(className)]
    return try await manager.syncDown(
      target: target.replacing(with: members), options: options, soupName: soup, syncName: name)
  }

  @discardableResult
  func up(
    _ className: String = "Book", _ members: JSONObject = [:], mode: String = "LEAVE_IF_CHANGED", soup: String = "books",
    name: String = "up"
  ) async throws -> SyncState {
    let target: JSONObject = ["type": "parse", "className": .string(className)]
    return try await manager.syncUp(
      target: target.replacing(with: members), options: ["mergeMode": .string(mode)], soupName: soup, syncName: name)
  }

  @discardableResult
  func again(_ name: String = "s") async throws -> SyncState { try await manager.reSync(.name(name)) }

  func cleanGhosts(force: Bool = false, name: String = "s") async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try manager.cleanResyncGhosts(.name(name), force: force) { continuation.resume(with: $0) }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  // MARK: The store's side

  func entries(_ soup: String = "books") throws -> [JSONObject] {
    let rows = try JSONValue(parsing: store.rows("SELECT {\(soup):_soup} FROM {\(soup)}", pageSize: 100_000)).arrayValue ?? []
    return rows.compactMap { $0.arrayValue?.first?.objectValue }
  }

  func entry(_ id: String, _ soup: String = "books") throws -> JSONObject? {
    try entries(soup).first { $0["objectId"]?.stringValue == id }
  }

  func ids(_ soup: String = "books") throws -> Set<String> {
    Set(try entries(soup).compactMap { $0["objectId"]?.stringValue })
  }

  /// Creates a record as a script does.
  func make(_ members: JSONObject, _ soup: String = "books") throws {
    try store.upsert(
      JSONValue.array([.object(members.replacing(with: ["__local__": true, "__locally_created__": true]))]).text, into: soup)
  }

  /// Changes a record as a script does; nil removes a member.
  func edit(_ id: String, _ changes: [String: JSONValue?], _ soup: String = "books") throws {
    var entry = try found(id, soup)
    for (key, value) in changes { entry[key] = value }
    entry["__local__"] = true
    entry["__locally_updated__"] = true
    try store.upsert(JSONValue.array([.object(entry)]).text, into: soup)
  }

  func delete(_ id: String, _ soup: String = "books") throws {
    let entry = try found(id, soup).replacing(with: ["__local__": true, "__locally_deleted__": true])
    try store.upsert(JSONValue.array([.object(entry)]).text, into: soup)
  }

  private func found(_ id: String, _ soup: String) throws -> JSONObject {
    guard let entry = try entry(id, soup) else { throw BenchFailure("no entry \(id) in \(soup)") }
    return entry
  }

  /// Parses `__last_error__` of an entry.
  func lastError(_ entry: JSONObject?) throws -> JSONObject {
    try JSONValue(parsing: Array((entry?["__last_error__"]?.stringValue ?? "{}").utf8)).objectValue ?? [:]
  }
}

struct BenchFailure: Error {
  let what: String
  init(_ what: String) { self.what = what }
}

/// Waits of connections, in seconds. Threads: any.
final class SleepRecord: Sendable {
  private struct State {
    var seconds: [Double] = []
    var action: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  var seconds: [Double] { state.withLock { $0.seconds } }

  func note(_ seconds: Double) {
    let action = state.withLock { state in
      state.seconds.append(seconds)
      defer { state.action = nil }
      return state.action
    }
    action?()
  }

  /// Runs an action during the next wait.
  func onNext(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.action = action } }
}

/// Environment variables with secrets that a test can change. Threads: any.
final class BenchSecrets: Sendable {
  private let state = Mutex<[String: String]>([:])

  subscript(name: String) -> String? {
    get { state.withLock { $0[name] } }
    set { state.withLock { $0[name] = newValue } }
  }

  var reading: SecretReading {
    SecretReading { (source) throws(SecretReading.Failure) in
      guard case .environment(let name) = source, let value = self[name] else {
        throw SecretReading.Failure("\(source.name) is not set", isMissing: true)
      }
      return value
    }
  }
}

func pointer(_ className: String, _ id: String) -> JSONValue {
  ["__type": "Pointer", "className": .string(className), "objectId": .string(id)]
}
