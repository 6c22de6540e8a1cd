import FoundationEssentials
import JSON
import MobileSync
import RestClient

/// An entry that is to be sent.
struct UploadRow: Sendable {
  /// As it stands in the soup.
  let entry: JSONObject
  /// As it was when it last equalled the server; nil when it never did.
  let base: JSONObject?
  /// What identifies a create.
  let key: CreateKey?
  /// nil for an id that was made here.
  let serverId: String?
  /// The entry as templates and bodies see it: without an id that was made here, with the one that the create is to have.
  let record: JSONObject
  /// Where templates get their values.
  let values: TemplateValues

  /// - Parameter isCreate: The record is to be made: an id that it has is that of one which is gone.
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

  /// Gives members of the row the id that the server has; what stands around it in the row comes with it.
  func identify(_ members: inout JSONObject, _ id: String, _ path: ValuePath) {
    let keys = path.memberNames ?? []
    if let first = keys.first, keys.count > 1, members[first] == nil { members[first] = entry[first] }
    members.set(.string(id), at: keys)
  }

  /// Changes with whatever a script writes into the entry.
  var contentHash: String {
    String(StableHash.of(entry.filtered { !LocalField.isLocalOnly($0.key) }.serialized()), radix: 16)
  }
}

/// What identifies a create, as the outbox keeps it.
struct CreateKey: Sendable {
  private(set) var json: JSONObject

  init(_ json: JSONObject) { self.json = json }

  /// Of an idempotency header.
  var token: String? { json["token"]?.stringValue }
  /// The id that the record is to have.
  var id: String? { json["id"]?.stringValue }
  /// Of the unique field.
  var unique: String? { json["unique"]?.stringValue }
  /// Where the create is sent, as the server said before.
  var url: String? { json["url"]?.stringValue }
  /// Why there is none: the request for it was refused.
  var refusal: JSONValue? { json["refusal"] }
  /// It was sent before, and no answer came.
  var isRepeated: Bool { json["repeated"] == true }

  mutating func set(_ key: String, _ value: JSONValue?) { json[key] = value }

  /// A random one, in lower case.
  static func uuid() -> String { UUID().uuidString.lowercased() }
}
