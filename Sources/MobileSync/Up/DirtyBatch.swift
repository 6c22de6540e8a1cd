import JSON
import RecordScan
import SmartStore

/// Dirty entries as stored, scanned: flags and positions, no values. Immutable.
package final class DirtyBatch: Sendable {
  /// The fields to find in each entry, compiled once for a whole sync.
  package struct Plan: Sendable {
    package let fields: TargetFields
    package let externalIdField: String?
    /// Fields to send. The id, the date, `attributes` and the engine's own members are never sent
    /// as data.
    package let create: [String]?
    package let update: [String]?
    let scan: ScanPlan

    init(fields: TargetFields, externalIdField: String?, create: [String]?, update: [String]?) {
      func sendable(_ list: [String]?) -> [String]? {
        list?.filter {
          $0 != fields.id && $0 != fields.modificationDate && $0 != LocalField.attributes && !LocalField.all.contains($0)
        }
      }
      self.fields = fields
      self.externalIdField = externalIdField
      self.create = sendable(create)
      self.update = sendable(update)
      let fixed = [
        fields.id, fields.modificationDate, LocalField.type, LocalField.local, LocalField.created, LocalField.updated,
        LocalField.deleted, externalIdField ?? fields.id,
      ]
      scan = ScanPlan(paths: fixed + (self.create ?? []) + (self.update ?? []))
    }

    /// Positions of the fixed values, in the order above; those of the field lists follow.
    enum Field {
      static let id = 0, date = 1, type = 2, local = 3, created = 4, updated = 5, deleted = 6, externalId = 7, first = 8
    }
  }

  package let plan: Plan
  package let entryIds: [Int64]
  let versions: [Int64]
  private let text: [UInt8]
  private let scanner: RecordScanner

  /// - Throws: `ScanError` if the stored text is not valid JSON, which means that another program
  ///   wrote the file.
  init(_ batch: EntryBatch, plan: Plan) throws {
    entryIds = batch.ids
    versions = batch.versions
    text = batch.text
    let scanned = try DirtyBatch.scanned(batch.text, plan)
    let spelled = plan.fields.ignoresCase ? plan.spelled(as: scanned, batch.text) : nil
    self.plan = spelled ?? plan
    scanner = try spelled.map { try DirtyBatch.scanned(batch.text, $0) } ?? scanned
  }

  private static func scanned(_ text: [UInt8], _ plan: Plan) throws -> RecordScanner {
    var scanner = RecordScanner(plan: plan.scan)
    try text.withUnsafeBytes { try scanner.scanArray($0) }
    return scanner
  }

  var count: Int { entryIds.count }

  // MARK: Reading

  private func value(_ i: Int, _ field: Int) -> ScannedValue { scanner.value(record: i, field: field) }

  private func string(_ i: Int, _ field: Int) -> String? { text.withUnsafeBytes { value(i, field).string(in: $0) } }

  /// Returns the value of the id field, a server id or a local one; nil if it is missing or empty.
  package func recordId(_ i: Int) -> String? { string(i, Plan.Field.id).flatMap { $0.isEmpty ? nil : $0 } }

  /// Returns the id if it is not a local one.
  package func serverId(_ i: Int) -> String? {
    recordId(i).flatMap { $0.hasPrefix(LocalField.localIdPrefix) ? nil : $0 }
  }

  /// Returns the type of the record. Without one, this is the text `null`: the server then refuses
  /// the record with a reason.
  package func type(_ i: Int) -> String { string(i, Plan.Field.type) ?? "null" }

  func stamp(_ i: Int) -> Int64? {
    let found = value(i, Plan.Field.date)
    let text = text.withUnsafeBytes { bytes in
      found.kind == .number ? String(decoding: found.slice(in: bytes), as: UTF8.self) : found.string(in: bytes)
    }
    return text.flatMap { plan.fields.dates.stamp($0) }
  }

  func flags(_ i: Int) -> LocalFlags {
    text.withUnsafeBytes { bytes in
      func flag(_ field: Int) -> Bool { value(i, field).isFlagSet(in: bytes) }
      return LocalFlags(
        isLocal: flag(Plan.Field.local), isCreated: flag(Plan.Field.created), isUpdated: flag(Plan.Field.updated),
        isDeleted: flag(Plan.Field.deleted))
    }
  }

  package func action(_ i: Int) -> UploadAction { flags(i).action(hasExternalId: hasExternalId(i)) }

  private func hasExternalId(_ i: Int) -> Bool {
    guard plan.externalIdField != nil else { return false }
    switch value(i, Plan.Field.externalId).kind {
    case .number: return true
    case .plainString, .escapedString:
      let text = string(i, Plan.Field.externalId) ?? ""
      return !text.isEmpty && !text.hasPrefix(LocalField.localIdPrefix)
    default: return false
    }
  }

  // MARK: Bodies

  /// Passes the text of the entries to `body`, for writers of request bodies.
  package func withText<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T { try text.withUnsafeBytes(body) }

  /// Appends the external id as stored.
  package func appendExternalId(_ i: Int, _ bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
    value(i, Plan.Field.externalId).appendJSON(from: bytes, to: &out)
  }

  /// Returns the body of a request for one record. The type, the id and an upsert's external id are
  /// in the address.
  package func body(_ i: Int, _ action: UploadAction, only: IdSet? = nil, adding more: JSONObject = [:]) -> [UInt8] {
    var out: [UInt8] = []
    text.withUnsafeBytes { bytes in
      appendFields(i, action, only, except: action == .upsert ? plan.externalIdField : nil, bytes, to: &out)
    }
    for (key, value) in more {
      appendKey(key, to: &out)
      value.append(to: &out)
    }
    // Each member starts with a comma.
    return [UInt8(ascii: "{")] + out.dropFirst() + [UInt8(ascii: "}")]
  }

  /// Returns the external id as text; empty if there is none.
  package func externalId(_ i: Int) -> String {
    let found = value(i, Plan.Field.externalId)
    if found.kind == .number { return text.withUnsafeBytes { String(decoding: found.slice(in: $0), as: UTF8.self) } }
    return string(i, Plan.Field.externalId) ?? ""
  }

  /// Appends the members to send, each with a comma before it.
  /// - Parameters:
  ///   - only: Limits the list to these first-level members; nil for all.
  ///   - field: A field to leave out.
  package func appendFields(
    _ i: Int, _ action: UploadAction, _ only: IdSet?, except externalIdField: String?, _ bytes: UnsafeRawBufferPointer,
    to out: inout [UInt8]
  ) {
    let list = (action == .update ? plan.update : plan.create) ?? []
    let first = Plan.Field.first + (action == .update ? (plan.create ?? []).count : 0)
    for (n, field) in list.enumerated() where field != externalIdField {
      if let only, !only.contains(String(field.prefix { $0 != "." })) { continue }
      appendMember(i, field, value(i, first + n), bytes, to: &out)
    }
  }

  private func appendMember(
    _ i: Int, _ field: String, _ value: ScannedValue, _ bytes: UnsafeRawBufferPointer, to out: inout [UInt8]
  ) {
    switch value.kind {
    case .missing: return
    case .arrayStep:
      guard let mapped = Projection.value(entry(i), field) else { return }
      appendKey(field, to: &out)
      mapped.append(to: &out)
    default:
      appendKey(field, to: &out)
      value.appendJSON(from: bytes, to: &out)
    }
  }

  /// Appends a comma, the key and a colon.
  package func appendKey(_ key: String, to out: inout [UInt8]) {
    out.append(UInt8(ascii: ","))
    JSONText.appendQuoted(key, to: &out)
    out.append(UInt8(ascii: ":"))
  }

  /// Returns the JSON text of an entry as stored.
  func text(_ i: Int) -> [UInt8] {
    let record = scanner.records[i]
    return Array(text[record.start..<record.start + record.count])
  }

  /// Returns the text of an attempt with what it sends; see ``UploadRecord/sent``. Without a list of
  /// fields, the target sends all.
  func sentText(_ i: Int, _ action: UploadAction) -> [UInt8] {
    let list = (action == .update ? plan.update : plan.create) ?? []
    let all = list.isEmpty ? entry(i).filtered { !RecordMerge.isBookkeeping($0.key, plan.fields) }.serialized() : nil
    return Array(#"{"fields":"#.utf8) + (all ?? body(i, action)) + [UInt8(ascii: "}")]
  }

  /// Returns the fields that an upload sent of an entry, by first-level member.
  func sentFields(_ sent: SentRecord) -> JSONObject {
    guard let i = entryIds.firstIndex(of: sent.entryId) else { return [:] }
    let list = (sent.action == .update ? plan.update : plan.create) ?? [], entry = entry(i)
    return JSONObject(
      list.compactMap { field in
        let key = String(field.prefix { $0 != "." })
        return entry[key].map { (key, $0) }
      })
  }

  /// Parses a whole entry, for the rare paths that need it.
  package func entry(_ i: Int) -> JSONObject {
    scanner.object(i, in: text)
  }
}

extension RecordScanner {
  /// Parses a whole record.
  func object(_ i: Int, in text: [UInt8]) -> JSONObject {
    let record = records[i]
    return text.withUnsafeBytes { bytes in
      (try? JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[record.start..<record.start + record.count])))?
        .objectValue ?? [:]
    }
  }
}
