import Foundation
import JSON
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import RestClient
@testable import RestCollections

/// Runs a definition of scripts/connections against a stub of its service. Only the host of its
/// URLs is replaced, and its secrets are those of ``secret(_:)``.
final class RecipeBench: Sendable {
  static let soup = "recipe"

  let target: JSONObject
  private let server: ScriptedServer
  private let connected: ConnectedStore
  private let idField: String
  private let clock = WireClock()
  private let script: Script
  private let skipped = Mutex(0)

  /// In a response, stands for the last part of the requested path.
  static let requestedId = "{requested id}"

  /// Responses by `METHOD /path?query`, `METHOD /path` or `METHOD`.
  private final class Script: Sendable { let answers = Mutex<[String: ScriptedAnswer]>([:]) }

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "../../../scripts/connections")

  static func file(_ name: String) throws -> JSONObject {
    let data = try Data(contentsOf: folder.appendingPathComponent(name + ".json"))
    return try #require(try JSONValue(parsing: Array(data)).objectValue)
  }

  static func secret(_ variable: String) -> String { "secret of \(variable)" }

  private init(_ name: String) throws {
    let script = Script()
    self.script = script
    server = try ScriptedServer { request in
      var answer = script.answers.withLock { answers in
        answers["\(request.method) \(request.target)"] ?? answers["\(request.method) \(request.path)"] ?? answers[request.method]
          ?? .json(#"{"message":"not scripted"}"#, status: 418)
      }
      let id = request.path.split(separator: "/").last ?? ""
      answer.body = Array(String(decoding: answer.body, as: UTF8.self).replacing(Self.requestedId, with: id).utf8)
      return answer
    }
    let file = try Self.file(name), url = server.url
    target = try #require(file["target"]?.objectValue)
    idField = target["idField"]?.stringValue ?? "id"
    var connection = try #require(file["connection"]?.objectValue)
    connection["baseURL"] = connection["baseURL"].map { .string(Self.moved($0.plain, to: url)) }
    if var auth = connection["auth"]?.objectValue, let token = auth["tokenURL"]?.stringValue {
      auth["tokenURL"] = .string(Self.moved(token, to: url))
      connection["auth"] = .object(auth)
    }
    let settings = try ConnectionSettings(
      name: target["connection"]?.stringValue ?? "", json: .object(connection),
      from: ConnectionSettings.Origin(folder: "/", allowsPlainSecrets: false))
    var environment = RestConnection.Environment(
      home: nil,
      secrets: SecretReading { (source) throws(SecretReading.Failure) in
        guard case .environment(let name) = source else { throw SecretReading.Failure("not a variable", isMissing: true) }
        return Self.secret(name)
      })
    environment.retry = clock.environment
    environment.log = RequestLog(level: .off, isStored: false, now: { 0 }) { _ in }
    environment.userAgent = { "tureen/test" }
    let connections = RestConnections([settings], environment: environment)
    var configuration = SyncConfiguration()
    configuration.now = { [clock] in clock.milliseconds }
    configuration.uptime = { [clock] in clock.milliseconds - 1_000_000 }
    let temporary = try TemporaryStore(
      soup: Self.soup, [IndexSpec(path: idField, type: .string), IndexSpec(path: "__sync_id__", type: .integer)])
    connected = try ConnectedStore(temporary, connections, RestSyncService(connections), configuration)
  }

  private static func moved(_ url: String, to server: String) -> String {
    server + url.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3).map { "/" + $0 }.joined()
  }

  static func with(_ name: String, _ body: (RecipeBench) async throws -> Void) async throws {
    let bench = try RecipeBench(name)
    do {
      try await body(bench)
    } catch {
      await bench.close()
      throw error
    }
    await bench.close()
  }

  private func close() async {
    await connected.close()
    server.stop()
  }

  // MARK: The service

  var url: String { server.url }

  /// Sets responses from now on; nil removes one.
  func answer(_ answers: [String: ScriptedAnswer?]) {
    script.answers.withLock { known in for (request, answer) in answers { known[request] = answer } }
  }

  /// Returns the requests since the last call: `METHOD /path?query body`.
  func sent() -> [String] {
    requests().map { $0.text.isEmpty ? "\($0.method) \($0.target)" : "\($0.method) \($0.target) \($0.text)" }
  }

  func requests() -> [RecordedRequest] {
    let all = server.requests
    return skipped.withLock { count in
      defer { count = all.count }
      return Array(all.dropFirst(count))
    }
  }

  // MARK: Syncs

  func down() async throws -> SyncState {
    let options: JSONObject = ["mergeMode": "LEAVE_IF_CHANGED"]
    if try connected.manager.getSyncStatus(.name("down")) == nil {
      try connected.manager.createSyncDown(target: target, options: options, soupName: Self.soup, syncName: "down")
    }
    return try await connected.manager.reSync(named: "down")
  }

  func up(_ mode: String = "LEAVE_IF_CHANGED") async throws -> SyncState {
    try await connected.manager.syncUp(target: target, options: ["mergeMode": .string(mode)], soupName: Self.soup, syncName: nil)
  }

  func clean() async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try connected.manager.cleanResyncGhosts(.name("down"), force: true) { continuation.resume(with: $0) }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  func conflicts() throws -> [SyncConflict] { try connected.manager.conflicts(inSoup: Self.soup) }

  func advance(_ seconds: Double) { clock.advance(seconds) }

  // MARK: Rows

  func rows() throws -> [JSONObject] {
    let found =
      try JSONValue(parsing: connected.store.rows("SELECT {recipe:_soup} FROM {recipe}", pageSize: 1000)).arrayValue ?? []
    return found.compactMap { $0.arrayValue?.first?.objectValue }
  }

  func ids() throws -> [String] { try rows().map { $0[idField]?.plain ?? "" }.sorted() }

  func row(_ id: String) throws -> JSONObject {
    let found = try rows().filter { $0[idField]?.plain == id }
    try #require(found.count == 1, "\(found.count) rows have the id \(id)")
    return found[0]
  }

  func edit(_ id: String, _ members: JSONObject) throws {
    try save(row(id).replacing(with: members).replacing(with: ["__local__": true, "__locally_updated__": true]))
  }

  func delete(_ id: String) throws { try save(row(id).replacing(with: ["__local__": true, "__locally_deleted__": true])) }

  func make(_ members: JSONObject) throws {
    try save(members.replacing(with: [idField: "local_1", "__local__": true, "__locally_created__": true]))
  }

  private func save(_ row: JSONObject) throws {
    try connected.store.upsert(JSONValue.array([.object(row)]).text, into: Self.soup)
  }

  /// Parses `__last_error__` of a row.
  func error(_ id: String) throws -> JSONObject {
    try JSONValue(parsing: Array((row(id)["__last_error__"]?.stringValue ?? "{}").utf8)).objectValue ?? [:]
  }
}
