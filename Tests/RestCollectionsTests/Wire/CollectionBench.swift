import JSON
import SmartStore
import Synchronization
import TestSupport

@testable import MobileSync
@testable import RestClient
@testable import RestCollections

/// A test environment: a collection's server, a connection to it, a store, and a sync manager. Its
/// clock moves when something waits or the test advances it.
final class CollectionBench: Sendable {
  static let soup = "rows"
  static let specs = [
    IndexSpec(path: "id", type: .string), IndexSpec(path: "__local__", type: .string),
    IndexSpec(path: "__sync_id__", type: .integer),
  ]

  let server: CollectionServer
  let clock = WireClock()
  /// Limits the requests that the test leaves unanswered.
  let patience = WirePatience()
  let connected: ConnectedStore

  var store: Store { connected.store }
  var manager: SyncManager { connected.manager }

  /// - Parameters:
  ///   - rows: The number of repositories, whose dates are a minute apart.
  ///   - members: Members of the connection in addition to its `baseURL`.
  ///   - others: Further connections, by name.
  ///   - bulkLoadMinimum: See ``TestEngine/store(at:bulkLoadMinimum:)``.
  init(
    rows: Int = 0, _ members: JSONObject = [:], others: [String: JSONObject] = [:],
    transforms: (any CustomTargetRunner)? = nil, specs: [IndexSpec] = CollectionBench.specs,
    bulkLoadMinimum: Int? = nil, log: (@Sendable (String) -> Void)? = nil
  ) throws {
    server = try CollectionServer(rows: (0..<rows).map { Repository.row($0 + 1) })
    let temporary = try TemporaryStore(soup: CollectionBench.soup, specs, bulkLoadMinimum: bulkLoadMinimum)
    var all = others
    var own = members
    own["baseURL"] = own["baseURL"] ?? .string(server.url)
    // Longer than an answer takes on the slowest machine.
    own["timeoutS"] = own["timeoutS"] ?? 600
    all["api"] = own
    let origin = ConnectionSettings.Origin(folder: "/", allowsPlainSecrets: true)
    let settings = try all.sorted { $0.key < $1.key }.map {
      try ConnectionSettings(name: $0.key, json: .object($0.value), from: origin)
    }
    var environment = RestConnection.Environment(
      home: nil,
      secrets: SecretReading { (source) throws(SecretReading.Failure) in
        throw SecretReading.Failure("\(source.name) is not set", isMissing: true)
      })
    environment.retry = clock.environment
    environment.timeoutS = { [patience] in patience.seconds(for: $0) }
    environment.log = RequestLog(level: log == nil ? .off : .warn, isStored: false, now: { 0 }) { log?($0) }
    environment.userAgent = { "tureen/test" }
    environment.observer = SyncTrafficObserver()
    let connections = RestConnections(settings, environment: environment)
    var configuration = SyncConfiguration()
    configuration.now = { [clock] in clock.milliseconds }
    configuration.uptime = { [clock] in clock.milliseconds - 1_000_000 }
    configuration.customTargets = transforms
    connected = try ConnectedStore(temporary, connections, RestSyncService(connections), configuration)
  }

  /// Simulates the end of the process: opens the same file with another manager.
  func reopen() async throws { try await connected.reopen() }

  func close() async {
    await connected.close()
    server.stop()
  }

  // MARK: Syncs

  /// Returns a target of the bench's server.
  static func target(_ members: JSONObject = [:]) -> JSONObject {
    let plain: JSONObject = ["type": "rest", "connection": "api", "url": "/items", "paging": ["style": "link"]]
    return plain.replacing(with: members)
  }

  @discardableResult
  func down(_ members: JSONObject = [:], _ options: JSONObject? = nil, name: String = "s") async throws -> SyncState {
    try await manager.syncDown(
      target: CollectionBench.target(members), options: options, soupName: CollectionBench.soup, syncName: name)
  }

  /// The uploads of a target: one request per record.
  static let plainUp: JSONObject = [
    "read": ["url": "/items/{id}"], "create": ["url": "/items", "fields": ["name", "description"]],
    "update": ["url": "/items/{id}", "fields": ["name", "description"]], "delete": ["url": "/items/{id}"],
  ]

  /// Returns a target with ``plainUp``, modified.
  static func upTarget(_ up: JSONObject = [:], _ members: JSONObject = [:]) -> JSONObject {
    target(
      (["modificationDateField": "updated_at", "up": .object(plainUp.replacing(with: up))] as JSONObject).replacing(with: members)
    )
  }

  @discardableResult
  func up(
    _ up: JSONObject = [:], _ members: JSONObject = [:], mode: String = "LEAVE_IF_CHANGED", name: String = "up"
  ) async throws -> SyncState {
    server.forgetRequests()
    server.with { $0.takesWrites = true }
    return try await manager.syncUp(
      target: CollectionBench.upTarget(up, members), options: ["mergeMode": .string(mode)], soupName: CollectionBench.soup,
      syncName: name)
  }

  /// Runs the sync up again.
  @discardableResult
  func upAgain(_ name: String = "up") async throws -> SyncState {
    server.forgetRequests()
    return try await manager.reSync(.name(name))
  }

  /// Creates a record locally.
  func make(_ id: String, _ members: JSONObject) throws {
    var entry: JSONObject = ["id": .string(id), "__local__": true, "__locally_created__": true]
    for (key, value) in members { entry[key] = value }
    try store.upsert(JSONValue.array([.object(entry)]).text, into: CollectionBench.soup)
  }

  /// Deletes a record as a script does.
  func delete(_ id: Int) throws { try edit(id, ["__locally_updated__": false, "__locally_deleted__": true]) }

  /// Returns the only entry with the id.
  func record(_ id: String) throws -> JSONObject? {
    let found = try entries().filter { $0.id == id }
    if found.count > 1 { throw WireFailure("\(found.count) entries have the id \(id)") }
    return found.first
  }

  /// Parses `__last_error__` of an entry.
  func lastError(_ entry: JSONObject?) throws -> JSONObject {
    let text = entry?["__last_error__"]?.stringValue ?? "{}"
    return try JSONValue(parsing: Array(text.utf8)).objectValue ?? [:]
  }

  @discardableResult
  func again(_ name: String = "s") async throws -> SyncState {
    server.forgetRequests()
    return try await manager.reSync(.name(name))
  }

  func cleanGhosts(force: Bool = false, name: String = "s") async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try manager.cleanResyncGhosts(.name(name), force: force) { continuation.resume(with: $0) }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  /// Returns the stored state of a sync's target.
  func memory(_ name: String = "s") throws -> JSONObject { try manager.getSyncStatus(.name(name))?.memory ?? [:] }

  var hasCursor: Bool { get throws { try memory()["cursor"] != nil } }

  // MARK: The store's side

  /// The entries, ordered by numeric id.
  func entries() throws -> [JSONObject] {
    let rows = try JSONValue(parsing: store.rows("SELECT {rows:_soup} FROM {rows}", pageSize: 100_000)).arrayValue ?? []
    let entries = rows.compactMap { $0.arrayValue?.first?.objectValue }
    return entries.sorted { (Int($0.id) ?? 0, $0.id) < (Int($1.id) ?? 0, $1.id) }
  }

  func ids() throws -> [String] { try entries().map(\.id).sorted() }

  func entry(_ id: Int) throws -> JSONObject? { try entries().first { $0.id == String(id) } }

  /// The texts of a member, in the order of the ids.
  func values(_ key: String) throws -> [String] { try entries().map { $0[key]?.plain ?? "-" } }

  /// Changes an entry as a script does.
  func edit(_ id: Int, _ changes: JSONObject) throws {
    guard var entry = try entry(id) else { throw WireFailure("no entry \(id)") }
    for (key, value) in changes { entry[key] = value }
    entry["__local__"] = true
    entry["__locally_updated__"] = true
    try store.upsert(JSONValue.array([.object(entry)]).text, into: CollectionBench.soup)
  }

  /// Runs a test with a bench, and shuts it down in every case.
  static func with(
    rows: Int = 0, _ members: JSONObject = [:], others: [String: JSONObject] = [:],
    transforms: (any CustomTargetRunner)? = nil, bulkLoadMinimum: Int? = nil, log: (@Sendable (String) -> Void)? = nil,
    _ body: (CollectionBench) async throws -> Void
  ) async throws {
    let bench = try CollectionBench(
      rows: rows, members, others: others, transforms: transforms, bulkLoadMinimum: bulkLoadMinimum, log: log)
    do {
      try await body(bench)
    } catch {
      await bench.close()
      throw error
    }
    await bench.close()
  }
}

struct WireFailure: Error {
  let what: String
  init(_ what: String) { self.what = what }
}

/// Rows similar to the repositories of an organization.
enum Repository {
  /// The start of the bench's clock, in seconds since 1970. Row n was changed n minutes after one
  /// day before the start.
  static let start = 1_700_000_000

  static func row(_ n: Int, date: String? = nil) -> JSONObject {
    [
      "id": .integer(Int64(n)), "name": .string("r\(n)"), "full_name": .string("acme/r\(n)"),
      "owner": ["login": "acme", "id": 7, "avatar_url": .string("https://a.example/u/7")], "description": nil,
      "updated_at": .string(date ?? Repository.date(start - 86_400 + n * 60)),
    ]
  }

  /// Formats whole seconds as ISO 8601.
  static func date(_ seconds: Int) -> String { DateFormat.iso8601.text(Int64(seconds) * 1000, zone: .utc) }
}

/// Which requests are given up soon. Only for requests that the server never answers: the others must not depend on how fast
/// the machine is.
final class WirePatience: Sendable {
  private let part = Mutex<String?>(nil)

  /// - Parameter part: A part of the URLs; nil for none.
  func end(requestsWith part: String?) { self.part.withLock { $0 = part } }

  func seconds(for url: String) -> Double? { part.withLock { $0.map { url.contains($0) } ?? false } ? 0.05 : nil }
}

/// A clock that moves when something waits or the test advances it.
final class WireClock: Sendable {
  private let state = Mutex<(now: Double, slept: [Double])>((Double(Repository.start), []))

  var milliseconds: Int64 { state.withLock { Int64($0.now * 1000) } }
  var seconds: Int { state.withLock { Int($0.now) } }
  var slept: [Double] { state.withLock { $0.slept } }
  func advance(_ seconds: Double) { state.withLock { $0.now += seconds } }

  /// The date that the server assigns to a change made now.
  var date: String { Repository.date(seconds) }

  var environment: RetryEnvironment {
    RetryEnvironment(
      sleep: { seconds in
        try Task.checkCancellation()
        self.state.withLock {
          $0.now += seconds
          $0.slept.append(seconds)
        }
      }, random: { 0 }, now: { self.state.withLock { $0.now } })
  }
}

extension JSONObject {
  var id: String { self["id"]?.plain ?? "" }
}
