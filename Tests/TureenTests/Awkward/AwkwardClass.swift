import JSON
import RestClient
import SandboxParse
import TestSupport

/// A class of a Parse server: its numbers are doubles, and keys of objects have no dots.
final class AwkwardClass: AwkwardService {
  let idField = "objectId"
  let fields = ["name", "text", "number", "flag", "any", "list"]
  let keepsValues = false
  private let server: ParseServer
  private let other: RestConnections
  private let isTransaction: Bool

  init(isTransaction: Bool) async throws {
    self.isTransaction = isTransaction
    var setup = ParseConfiguration()
    setup.isSeeded = false
    server = try await ParseServer.start(setup)
    let origin = ConnectionSettings.Origin(folder: "/", allowsPlainSecrets: true)
    let keys: JSONObject = [
      "kind": "parse", "serverURL": .string(server.url + "/parse"), "applicationId": .string(server.keys.applicationId),
      "masterKey": .string(server.keys.masterKey), "useMasterKey": true,
    ]
    var environment = RestConnection.Environment(
      home: nil,
      secrets: SecretReading { (source) throws(SecretReading.Failure) in
        throw SecretReading.Failure("\(source.name) is not set", isMissing: true)
      })
    environment.log = RequestLog(level: .off, isStored: false, now: { 0 }) { _ in }
    other = RestConnections([try ConnectionSettings(name: "admin", json: .object(keys), from: origin)], environment: environment)
  }

  func stop() async {
    await other.shutdown()
    await server.stop()
  }

  var connections: [ConnectionSettings] {
    let origin = ConnectionSettings.Origin(folder: "/", allowsPlainSecrets: true)
    let keys: JSONObject = [
      "kind": "parse", "serverURL": .string(server.url + "/parse"), "applicationId": .string(server.keys.applicationId),
      "restAPIKey": .string(server.keys.restAPIKey),
    ]
    return [try? ConnectionSettings(name: "default", json: .object(keys), from: origin)].compactMap(\.self)
  }

  private var list: JSONValue { .array(fields.map { .string($0) }) }
  var downTarget: JSONObject { ["type": "parse", "className": "Thing", "pageSize": 3] }
  var upTarget: JSONObject {
    var target: JSONObject = ["type": "parse", "className": "Thing", "createFieldlist": list, "updateFieldlist": list]
    if isTransaction { target["transaction"] = true }
    return target
  }

  func begin(_ source: inout AwkwardSource) async throws {
    try server.reset()
    let prohibited = Array("constructor".utf16)
    source.allowsKey = { key in !key.contains(0x2e) && !key.contains(0x24) && key.first != 0x5f && key != prohibited }
  }

  @discardableResult
  private func call(_ method: HTTPMethod, _ path: String, _ body: PlainJSON? = nil) async throws -> PlainJSON {
    let response = try await other.connection(named: "admin").send(
      RestRequest(method, path, body: body.map { Array($0.wire(.few).utf8) }, isRepeatable: false))
    return try PlainJSON(parsing: response.response.body.text)
  }

  func records() async throws -> [PlainJSON] {
    do {
      return try await call(.GET, "/classes/Thing?limit=1000&order=createdAt")["results"]?.elements ?? []
    } catch let error as RestError where error.status == 400 {
      // There is no such class yet.
      return []
    }
  }

  func create(_ members: [(name: String, value: PlainJSON)]) async throws {
    try await call(.POST, "/classes/Thing", .object(members.map { (Array($0.name.utf16), $0.value) }))
  }

  func change(_ record: PlainJSON, _ name: String, _ value: PlainJSON) async throws {
    try await call(.PUT, "/classes/Thing/\(record["objectId"]?.plain ?? "")", .object([(Array(name.utf16), value)]))
  }

  func delete(_ record: PlainJSON) async throws { try await call(.DELETE, "/classes/Thing/\(record["objectId"]?.plain ?? "")") }

  func value(_ field: String, _ source: inout AwkwardSource) -> PlainJSON {
    switch field {
    case "name", "text": source.text()
    case "number": source.number()
    case "flag": .literal(source.pick(["true", "false"]))
    case "list": source.list()
    default: source.object()
    }
  }
}
