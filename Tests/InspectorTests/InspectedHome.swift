import Inspector
import JSON
import LuaBridge
import Support
import TestSupport
import Testing
import Tureen

@testable import Inspector

/// A home with a store of two soups, and an inspector on it.
final class InspectedHome: Sendable {
  let folder: TemporaryFolder
  let inspector: Inspector
  let client: WireClient
  let token: String

  static let store = "/api/v1/stores/u:defaultStore"

  /// - Parameters:
  ///   - writes: As `--write`.
  ///   - contacts: The entries of the soup `contacts`, of which the last one is not sent.
  init(writes: Bool = false, contacts: Int = 3, queryMs: Int = 60_000) throws {
    folder = try TemporaryFolder()
    try Self.fill(folder.path, contacts: contacts)
    inspector = try Inspector.start(Self.settings(folder.path), port: 0, writes: writes, queryMs: queryMs)
    client = WireClient(port: inspector.port)
    token = String(inspector.url.drop { $0 != "=" }.dropFirst())
  }

  static func settings(_ path: String) -> HostSettings {
    var settings = HostSettings()
    settings.home = path + "/home"
    return settings
  }

  /// Calls actions as another process would.
  static func write(_ path: String, _ calls: [(action: String, arguments: JSONObject)]) throws {
    let host = ActionCalls(settings(path))
    defer { host.close() }
    for (action, arguments) in calls {
      if case .failure(let text) = host.perform("smartstore", action, arguments) {
        Issue.record("\(action): \(String(decoding: text, as: UTF8.self))")
      }
    }
  }

  private static func fill(_ path: String, contacts: Int) throws {
    try FileSystem.makeDirectory(path + "/home")
    let indexes: JSONValue = [
      ["path": "Id", "type": "string"], ["path": "LastName", "type": "string"], ["path": "__local__", "type": "string"],
    ]
    var entries: [JSONValue] = (1..<max(contacts, 1)).map {
      ["Id": .string("c\($0)"), "LastName": .string("Name \($0)"), "Title": "Nurse", "__local__": false]
    }
    entries.append(["LastName": "New", "__local__": true, "__locally_created__": true])
    try write(
      path,
      [
        ("pgRegisterSoup", ["soupName": "contacts", "indexes": indexes]),
        ("pgRegisterSoup", ["soupName": "a/b & c", "indexes": [["path": "Id", "type": "string"]]]),
        ("pgUpsertSoupEntries", ["soupName": "contacts", "entries": .array(entries), "externalIdPath": "_soupEntryId"]),
      ])
  }

  func touch() throws {
    try Self.write(
      folder.path,
      [("pgUpsertSoupEntries", ["soupName": "contacts", "entries": [["LastName": "More"]], "externalIdPath": "_soupEntryId"])])
  }

  func stop() async { await inspector.stop() }

  // MARK: Requests

  /// The text of a request as the page sends it.
  /// - Parameters:
  ///   - headers: In place of those of the same name; nil removes one.
  func request(
    _ method: String, _ target: String, body: String? = nil, _ headers: [String: String?] = [:]
  ) -> String {
    var all: [String: String?] = [
      "Host": "127.0.0.1:\(client.port)", "Authorization": "Bearer \(token)", "Sec-Fetch-Site": "same-origin",
    ]
    if let body {
      all["Content-Type"] = "application/json"
      all["Content-Length"] = "\(body.utf8.count)"
      all["Origin"] = "http://127.0.0.1:\(client.port)"
    }
    all.merge(headers) { $1 }
    let lines = all.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\(name): \($0)\r\n" } }
    return "\(method) \(target) HTTP/1.1\r\n\(lines.joined())\r\n\(body ?? "")"
  }

  func get(_ target: String, _ headers: [String: String?] = [:]) async -> WireClient.Answer {
    await client.send(request("GET", target, headers))
  }

  func post(_ target: String, _ body: JSONObject, _ headers: [String: String?] = [:]) async -> WireClient.Answer {
    await client.send(request("POST", target, body: body.text, headers))
  }

  func query(_ sql: String) async -> WireClient.Answer { await post(Self.store + "/query", ["sql": .string(sql)]) }
}

extension WireClient.Answer {
  var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
  var code: String { json["code"]?.stringValue ?? "" }
}
