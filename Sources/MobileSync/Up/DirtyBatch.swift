import JSON
import RecordScan
import SmartStore

/// Dirty entries as they stand in the soup, scanned: flags and positions, no values. Immutable.
package final class DirtyBatch: Sendable {
  /// What is looked for in each entry, compiled once for a whole sync.
  package struct Plan: Sendable {
    package let fields: TargetFields
    package let externalIdField: String?
    /// Fields to send. The id, the date, `attributes` and what the engine keeps are never sent as data.
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

  /// - Throws: `ScanError` when the stored text is no JSON: somebody else wrote the file.
  init(_ batch: EntryBatch, plan: Plan) throws {
    self.plan = plan
    entryIds = batch.ids
    versions = batch.versions
    text = batch.text
    var scanner = RecordScanner(plan: plan.scan)
    try batch.text.withUnsafeBytes { try scanner.scanArray($0) }
    self.scanner = scanner
  }

  var count: Int { entryIds.count }

  // MARK: Reading

  private func value(_ i: Int, _ field: Int) -> ScannedValue { scanner.value(record: i, field: field) }

  private func string(_ i: Int, _ field: Int) -> String? { text.withUnsafeBytes { value(i, field).string(in: $0) } }

  /// The id field's value, be it the server's or a local one; nil when it is missing or empty.
  package func recordId(_ i: Int) -> String? { string(i, Plan.Field.id).flatMap { $0.isEmpty ? nil : $0 } }

  /// The id when it can be one of the server's.
  package func serverId(_ i: Int) -> String? {
    recordId(i).flatMap { $0.hasPrefix(LocalField.localIdPrefix) ? nil : $0 }
  }

  /// The type of the record. Without one, the text `null`: the server then refuses that record and names the reason.
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

  /// Reads the entries as they stand, for writers of bodies.
  package func withText<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T { try text.withUnsafeBytes(body) }

  /// Appends the external id as it stands.
  package func appendExternalId(_ i: Int, _ bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
    value(i, Plan.Field.externalId).appendJSON(from: bytes, to: &out)
  }

  /// One record for a request of its own: the type and the id are in the address, and so is an upsert's external id.
  package func body(_ i: Int, _ action: UploadAction, only: Set<String>? = nil, adding more: JSONObject = [:]) -> [UInt8] {
    var out: [UInt8] = []
    text.withUnsafeBytes { bytes in
      appendFields(i, action, only, except: action == .upsert ? plan.externalIdField : nil, bytes, to: &out)
    }
    for (key, value) in more {
      appendKey(key, to: &out)
      value.append(to: &out)
    }
    // Each member has a comma in front.
    return [UInt8(ascii: "{")] + out.dropFirst() + [UInt8(ascii: "}")]
  }

  /// The external id as text; empty without one.
  package func externalId(_ i: Int) -> String {
    let found = value(i, Plan.Field.externalId)
    if found.kind == .number { return text.withUnsafeBytes { String(decoding: found.slice(in: $0), as: UTF8.self) } }
    return string(i, Plan.Field.externalId) ?? ""
  }

  /// Appends the members to send, each with a comma in front.
  /// - Parameters:
  ///   - only: The first-level members of those on the list; nil for all.
  ///   - field: One to leave out.
  package func appendFields(
    _ i: Int, _ action: UploadAction, _ only: Set<String>?, except externalIdField: String?, _ bytes: UnsafeRawBufferPointer,
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

  /// What an upload told the server of an entry, by first-level members.
  func sentFields(_ sent: SentRecord) -> JSONObject {
    guard let i = entryIds.firstIndex(of: sent.entryId) else { return [:] }
    let list = (sent.action == .update ? plan.update : plan.create) ?? [], entry = entry(i)
    return JSONObject(
      list.compactMap { field in
        let key = String(field.prefix { $0 != "." })
        return entry[key].map { (key, $0) }
      })
  }

  /// A whole entry as a value: for the rare paths that need one.
  package func entry(_ i: Int) -> JSONObject {
    let record = scanner.records[i]
    return text.withUnsafeBytes { bytes in
      (try? JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[record.start..<record.start + record.count])))?
        .objectValue ?? [:]
    }
  }
}
