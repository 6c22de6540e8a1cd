import JSON
import SandboxOrg
import Support
import TestSupport

/// An org: it trims texts, rounds numbers, has false for null in a checkbox, and no text for an empty one.
final class AwkwardOrg: AwkwardService {
  let idField = "Id"
  let fields = ["Name", "Text__c", "Long__c", "Whole__c", "Rounded__c", "Flag__c"]
  let keepsValues = false
  let type: String
  let server: SandboxServer
  private let folder: TemporaryFolder

  private static let schema = #"""
    {"objects":[{"name":"Thing__c","fields":[
      {"name":"Text__c","type":"string","length":255},{"name":"Long__c","type":"textarea","length":32000},
      {"name":"Whole__c","type":"double","precision":18,"scale":0},
      {"name":"Rounded__c","type":"double","precision":16,"scale":3},{"name":"Flag__c","type":"boolean"}]}]}
    """#

  /// - Parameter type: The type of the upload target.
  init(_ type: String) async throws {
    self.type = type
    folder = try TemporaryFolder(isInMemory: true)
    let path = folder.path + "/schema.json"
    try FileSystem.write(Array(Self.schema.utf8), to: path)
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.pageSize = 3
    configuration.schemaPath = path
    server = try await SandboxServer.start(configuration)
  }

  func stop() async { await server.stop() }

  private var list: JSONValue { .array(fields.map { .string($0) }) }
  private var query: String { "SELECT Id, \(fields.joined(separator: ", ")), LastModifiedDate FROM Thing__c" }

  var newMembers: JSONObject { ["attributes": ["type": "Thing__c"]] }
  var downTarget: JSONObject { ["type": "soql", "query": .string(query)] }
  var upTarget: JSONObject { ["type": .string(type), "createFieldlist": list, "updateFieldlist": list] }

  func makes(_ stored: PlainJSON, of value: PlainJSON, _ field: String) -> Bool {
    switch (value, stored) {
    case (.number(let a), .number(let b)):
      guard let a = Double(a), let b = Double(b) else { return false }
      return abs(a - b) <= max(field == "Whole__c" ? 0.5 : 0.0005, abs(a).ulp)
    case (.text(let a), .text(let b)): return Self.trimmed(a) == Self.trimmed(b)
    case (.text(let a), _): return stored.isNull && Self.trimmed(a).isEmpty
    case (_, .literal("false")): return value.isNull || value.canonical == "false"
    default: return value.canonical == stored.canonical
    }
  }

  private static func trimmed(_ units: [UInt16]) -> [UInt16] {
    func isBlank(_ unit: UInt16) -> Bool { Unicode.Scalar(unit).map { $0.value <= 32 || $0.properties.isWhitespace } ?? false }
    return Array(units.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }

  func begin(_ source: inout AwkwardSource) async throws {
    for record in try await records() { try await delete(record) }
  }

  func records() async throws -> [PlainJSON] {
    let records = try server.query("SELECT Id, \(fields.joined(separator: ", ")) FROM Thing__c ORDER BY Id")["records"]
    return try PlainJSON(parsing: (records ?? []).text).elements
  }

  private func object(_ name: String, _ value: PlainJSON) throws -> JSONObject {
    [name: try JSONValue(parsing: value.wire(.few))]
  }

  func create(_ members: [(name: String, value: PlainJSON)]) async throws {
    var record = JSONObject()
    for (name, value) in members { record = record.replacing(with: try object(name, value)) }
    _ = try server.create("Thing__c", fields: record)
  }

  func change(_ record: PlainJSON, _ name: String, _ value: PlainJSON) async throws {
    try server.update("Thing__c", id: record["Id"]?.plain ?? "", fields: object(name, value))
  }

  func delete(_ record: PlainJSON) async throws { try server.delete("Thing__c", id: record["Id"]?.plain ?? "") }

  func value(_ field: String, _ source: inout AwkwardSource) -> PlainJSON {
    switch field {
    case "Name": .text(source.pick(AwkwardValues.names))
    case "Whole__c":
      .number(
        source.pick([
          "0", "-0", "1", "1.0", "1e2", "9007199254740993", "999999999999999", "-12.5", "0.4", "7", "123456789012345678",
        ]))
    case "Rounded__c":
      .number(
        source.pick(["1.23999", "1.1", "1.10", "0.0005", "-0.0004", "12345678.9012", "1e3", "2.5", "0.1000000000000000055"]))
    case "Flag__c": .literal(source.pick(["null", "true", "false"]))
    default: source.pick([source.text(), source.text(), source.text(), .null])
    }
  }
}
