import JSON
import SmartStore

/// The data that a create sent, as stored with its attempt: enough to recognize the record, even if the entry or
/// the sync changes.
struct SentCreate: Sendable, Equatable {
  /// How creates of a target are looked up on the server.
  struct Lookup: Sendable, Equatable {
    let fields: TargetFields
    /// How long the server may work on one request, in ms.
    let waitMs: Int64
    /// Entries that refer to the created ones in a field.
    var references: SoupReference?
    /// The field in which the created entries refer to another entry.
    var parentField: String?
  }

  let lookup: Lookup
  let type: String
  /// The entry's id when it was sent: a local one.
  let id: String?
  let sent: JSONObject
  /// The key of the create, if its target uses keys.
  private(set) var key: JSONObject?

  /// The values that can be compared with those of a record: without nested objects, and without a
  /// reference to an entry that has no id yet.
  let fields: JSONObject

  init(_ lookup: Lookup, type: String, id: String?, sent: JSONObject) {
    self.lookup = lookup
    self.type = type
    self.id = id
    self.sent = sent
    fields = JSONObject(
      sent.filter { key, value in
        guard !key.contains("."), value.objectValue == nil, value.arrayValue == nil else { return false }
        return key != lookup.parentField || value.stringValue?.hasPrefix(LocalField.localIdPrefix) == false
      }.map { ($0.key, $0.value) })
  }

  // MARK: Text

  /// Returns the text of the attempt.
  /// - Parameter body: The JSON text of the object that is sent.
  static func text(_ lookup: Lookup, type: String, id: String?, body: [UInt8], key: JSONObject? = nil) -> [UInt8] {
    var json = header(lookup, type: type, id: id)
    if let key { json["key"] = .object(key) }
    var head = json.serialized()
    head.removeLast()
    return head + #","fields":"#.utf8 + body + [UInt8(ascii: "}")]
  }

  /// Parses the text of an upload.
  /// - Returns: nil if there is none, or if an incompatible build wrote it.
  init?(_ upload: UploadRecord) {
    guard let text = upload.sent, let json = (try? JSONValue(parsing: text))?.objectValue,
      let type = json["type"]?.stringValue, let idField = json["idField"]?.stringValue,
      let dateField = json["dateField"]?.stringValue, let sent = json["fields"]?.objectValue,
      let waitMs = json["waitMs"]?.boundedInteger
    else { return nil }
    var lookup = Lookup(fields: TargetFields(id: idField, modificationDate: dateField), waitMs: waitMs)
    if let soup = json["referencingSoup"]?.stringValue, let field = json["referencingField"]?.stringValue {
      lookup.references = SoupReference(soup: soup, field: field)
    }
    lookup.parentField = json["parentField"]?.stringValue
    self.init(lookup, type: type, id: json["id"]?.stringValue, sent: sent)
    key = json["key"]?.objectValue
  }

  /// The reference to the parent: a server id, or the local id of an entry without one.
  var parentId: String? { lookup.parentField.flatMap { sent[$0]?.stringValue } }

  /// Returns the text with another parent.
  func text(parentId: String) -> [UInt8] {
    var sent = sent
    if let field = lookup.parentField { sent[field] = .string(parentId) }
    return SentCreate.text(lookup, type: type, id: id, body: sent.serialized(), key: key)
  }

  private static func header(_ lookup: Lookup, type: String, id: String?) -> JSONObject {
    var json: JSONObject = [
      "type": .string(type), "idField": .string(lookup.fields.id), "dateField": .string(lookup.fields.modificationDate),
      "waitMs": .integer(lookup.waitMs),
    ]
    if let id { json["id"] = .string(id) }
    if let references = lookup.references {
      json["referencingSoup"] = .string(references.soup)
      json["referencingField"] = .string(references.field)
    }
    if let field = lookup.parentField { json["parentField"] = .string(field) }
    return json
  }
}

/// Entries of a soup that refer to other records in a field.
struct SoupReference: Sendable, Equatable {
  let soup: String
  let field: String
}

/// Decides when a create without an answer may be sent again. No store, network or clock.
struct ResendRule: Sendable {
  /// The time of the search, in ms since 1970 UTC by this machine's clock.
  let now: Int64
  /// How far the server's clock is ahead, in ms.
  let clockOffset: Int64?
  /// After this time a process that died has certainly sent its request and the server has handled
  /// it, in ms.
  let longestRequestMs: Int64

  /// Returns whether the time has come. If both clocks are known, both must agree, because either
  /// may have been set meanwhile.
  func allows(_ upload: UploadRecord) -> Bool {
    guard let resendAt = upload.resendAt else { return now - upload.sentAt >= longestRequestMs }
    guard let then = upload.clockOffset, let clockOffset else { return now >= resendAt }
    let isOverThere = now + clockOffset + ServerClock.accuracyMs >= resendAt + then
    return now < upload.sentAt ? isOverThere : isOverThere && now >= resendAt
  }
}
