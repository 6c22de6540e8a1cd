import JSON
import SmartStore

/// What a create told the server, as the outbox keeps it: enough to recognise the record, whatever becomes of the entry and of
/// the sync.
struct SentCreate: Sendable, Equatable {
  /// How creates of one target are sent and found again.
  struct Place: Sendable, Equatable {
    let fields: TargetFields
    /// How long the server may work on one request, ms.
    let waitMs: Int64
    /// Entries that name the created ones in a field.
    var references: SoupReference?
    /// The field in which the created ones name another entry.
    var parentField: String?
  }

  let place: Place
  let type: String
  /// The entry's id then: a local one.
  let id: String?
  let sent: JSONObject
  /// What identifies the create, where its target has such a thing.
  private(set) var key: JSONObject?

  /// The values that can be compared with those of a record: no nested objects, and no reference to an entry that has no id yet.
  let fields: JSONObject

  init(_ place: Place, type: String, id: String?, sent: JSONObject) {
    self.place = place
    self.type = type
    self.id = id
    self.sent = sent
    fields = JSONObject(
      sent.filter { key, value in
        guard !key.contains("."), value.objectValue == nil, value.arrayValue == nil else { return false }
        return key != place.parentField || value.stringValue?.hasPrefix(LocalField.localIdPrefix) == false
      }.map { ($0.key, $0.value) })
  }

  // MARK: Text

  /// - Parameter body: The JSON text of the object that is sent.
  static func text(_ place: Place, type: String, id: String?, body: [UInt8], key: JSONObject? = nil) -> [UInt8] {
    var json = header(place, type: type, id: id)
    if let key { json["key"] = .object(key) }
    var head = json.serialized()
    head.removeLast()
    return head + #","fields":"#.utf8 + body + [UInt8(ascii: "}")]
  }

  /// - Returns: nil when there is none, or when a build wrote it that this one does not understand.
  init?(_ upload: UploadRecord) {
    guard let text = upload.sent, let json = (try? JSONValue(parsing: text))?.objectValue,
      let type = json["type"]?.stringValue, let idField = json["idField"]?.stringValue,
      let dateField = json["dateField"]?.stringValue, let sent = json["fields"]?.objectValue,
      let waitMs = json["waitMs"]?.integerValue
    else { return nil }
    var place = Place(fields: TargetFields(id: idField, modificationDate: dateField), waitMs: waitMs)
    if let soup = json["referencingSoup"]?.stringValue, let field = json["referencingField"]?.stringValue {
      place.references = SoupReference(soup: soup, field: field)
    }
    place.parentField = json["parentField"]?.stringValue
    self.init(place, type: type, id: json["id"]?.stringValue, sent: sent)
    key = json["key"]?.objectValue
  }

  /// What it names as its parent: an id of the server's, or that of an entry that has none yet.
  var parentId: String? { place.parentField.flatMap { sent[$0]?.stringValue } }

  /// The same with another parent.
  func text(parentId: String) -> [UInt8] {
    var sent = sent
    if let field = place.parentField { sent[field] = .string(parentId) }
    return SentCreate.text(place, type: type, id: id, body: sent.serialized(), key: key)
  }

  private static func header(_ place: Place, type: String, id: String?) -> JSONObject {
    var json: JSONObject = [
      "type": .string(type), "idField": .string(place.fields.id), "dateField": .string(place.fields.modificationDate),
      "waitMs": .integer(place.waitMs),
    ]
    if let id { json["id"] = .string(id) }
    if let references = place.references {
      json["referencingSoup"] = .string(references.soup)
      json["referencingField"] = .string(references.field)
    }
    if let field = place.parentField { json["parentField"] = .string(field) }
    return json
  }
}

/// Entries of a soup that name other records in a field.
struct SoupReference: Sendable, Equatable {
  let soup: String
  let field: String
}

/// When a create without an answer may be sent again. No store, network or clock.
struct ResendRule: Sendable {
  /// Ms since 1970 UTC by this machine's clock, when the server was looked at.
  let now: Int64
  /// How far the server's clock is ahead, ms.
  let clockOffset: Int64?
  /// A process that died may have sent until its end; after this time it surely had sent, and the server had answered, ms.
  let longestRequestMs: Int64

  /// Both clocks have to say so where both are known: each may have been set in between.
  func allows(_ upload: UploadRecord) -> Bool {
    guard let resendAt = upload.resendAt else { return now - upload.sentAt >= longestRequestMs }
    guard let then = upload.clockOffset, let clockOffset else { return now >= resendAt }
    let isOverThere = now + clockOffset + ServerClock.accuracyMs >= resendAt + then
    return now < upload.sentAt ? isOverThere : isOverThere && now >= resendAt
  }
}
