import FoundationEssentials
import JSON
import MobileSync
import RestClient

/// An entry to upload.
struct UploadRow: Sendable {
  /// The entry in the soup.
  let entry: JSONObject
  /// The entry when it last matched the server; nil if it never did.
  let base: JSONObject?
  /// Identifies a create.
  let key: CreateKey?
  /// nil if the id is local.
  let serverId: String?
  /// The entry for templates and bodies: without a local id, and with the id that the create will
  /// have.
  let record: JSONObject
  /// The values of templates.
  let values: TemplateValues

  /// - Parameter isCreate: Whether the record is created; an id in the entry then belongs to a
  ///   record that is gone.
  init(_ entry: JSONObject, base: JSONObject?, key: JSONObject?, isCreate: Bool = false, _ target: RestTarget) {
    self.entry = entry
    self.base = base
    let key = key.map(CreateKey.init)
    self.key = key
    let path = target.items.idField, keys = path.memberNames ?? []
    let id = path.value(in: .object(entry))?.idText
    let serverId = id.flatMap { $0.hasPrefix(LocalField.localIdPrefix) || isCreate ? nil : $0 }
    self.serverId = serverId
    var record = entry
    if let given = key?.id {
      record.set(.string(given), at: keys)
    } else if serverId == nil || isCreate {
      record.set(.null, at: keys)
    }
    if let unique = key?.unique, let keys = target.up?.create?.once?.uniqueField?.memberNames {
      record.set(.string(unique), at: keys)
    }
    self.record = record
    values = TemplateValues(vars: target.vars, record: record.serialized())
  }

  /// Sets the id in the members. If the id is nested, the object around it is taken from the entry.
  func identify(_ members: inout JSONObject, _ id: String, _ path: ValuePath) {
    let keys = path.memberNames ?? []
    if let first = keys.first, keys.count > 1, members[first] == nil { members[first] = entry[first] }
    members.set(.string(id), at: keys)
  }

  /// A hash that changes with any member written by a script.
  var contentHash: String {
    String(StableHash.of(entry.filtered { !LocalField.isLocalOnly($0.key) }.serialized()), radix: 16)
  }
}

/// Identifies a create; stored in the outbox.
struct CreateKey: Sendable {
  private(set) var json: JSONObject

  init(_ json: JSONObject) { self.json = json }

  /// The value of the idempotency header.
  var token: String? { json["token"]?.stringValue }
  /// The id that the record will have.
  var id: String? { json["id"]?.stringValue }
  /// The value of the unique field.
  var unique: String? { json["unique"]?.stringValue }
  /// The URL of the create from an earlier response.
  var url: String? { json["url"]?.stringValue }
  /// Why the request before the create was refused.
  var refusal: JSONValue? { json["refusal"] }
  /// Whether the create was sent before without a response.
  var isRepeated: Bool { json["repeated"] == true }

  mutating func set(_ key: String, _ value: JSONValue?) { json[key] = value }

  /// Returns a random UUID in lower case.
  static func uuid() -> String { UUID().uuidString.lowercased() }
}
