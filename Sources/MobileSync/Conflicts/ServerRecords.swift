import JSON
import SmartStore

/// Records of a server that a program fetched itself, and how they are stored.
public struct ServerRecords: Sendable {
  public var records: [JSONObject]
  /// How entries with local changes are handled.
  public var mergeMode: MergeMode
  /// The indexed path that finds a record's entry.
  public var idField: String
  /// The field with the server's date of the last change.
  public var modificationDateField: String
  /// Whether members that a record lacks keep their values in its entry.
  public var isPartial = false
  /// Members that stay in an entry although its record lacks them.
  public var kept: [String] = []
  /// Whether records without an entry are left out.
  public var onlyKnown = false

  public init(
    _ records: [JSONObject], mergeMode: MergeMode = .leaveIfChanged, idField: String = "Id",
    modificationDateField: String = "LastModifiedDate"
  ) {
    self.records = records
    self.mergeMode = mergeMode
    self.idField = idField
    self.modificationDateField = modificationDateField
  }

  /// Stores the records as a page of a sync down does, without a sync.
  /// - Returns: For each record its entry; nil if it has none and none was to be added.
  func store(into soup: String, in transaction: StoreTransaction) throws -> [EditedEntry?] {
    try transaction.finishBulkLoad(soup: soup)
    let ids = try records.map { record in
      guard let id = Projection.value(record, idField), !id.isNull, id != "" else {
        throw StoreError(.missingExternalId, "a record for soup \(soup) has no '\(idField)'")
      }
      return id
    }
    var edits = EntryEdits(soup: soup), added: IdMap<Int> = [:]
    let found = try edits.find(ids, at: idField, in: transaction)
    let places = zip(zip(records, ids), found).map { one, place -> Int? in
      let (record, id) = one, name = String(decoding: id.serialized(), as: UTF8.self)
      let server = record.filtered { key, _ in !LocalField.isLocalOnly(key) }
      if let place = place ?? added[name] {
        merge(server, into: &edits.rows[place])
        return place
      }
      guard !onlyKnown else { return nil }
      added[name] = edits.rows.count
      edits.rows.append(EditedRow(creating: server.replacing(with: LocalField.clean)))
      return edits.rows.count - 1
    }
    let written = try edits.write(in: transaction)
    return places.map { $0.map { written[$0] } }
  }

  private func merge(_ server: JSONObject, into row: inout EditedRow) {
    let fields = TargetFields(id: idField, modificationDate: modificationDateField)
    guard row.isDirty, mergeMode != .overwrite else {
      // The entry was uploaded or fetched after the server had answered with this record.
      let isOld = fields.stamp(of: server) ?? .max < fields.stamp(of: row.entry) ?? .min
      if !isOld || mergeMode == .overwrite { row.replace(with: replacement(for: row.entry, server)) }
      return
    }
    guard mergeMode == .merge, !row.entry.hasFlag(LocalField.deleted) else {
      row.outcome = .kept
      return
    }
    let base = RecordMerge.base(row.base, fitting: row.entry, fields)
    let merge = RecordMerge(base: base, local: row.entry, server: server, fields: fields)
    guard merge.conflicts.isEmpty else {
      row.outcome = .conflict
      return
    }
    if merge.isSettled { return row.replace(with: RecordMerge.cleaned(merge.merged)) }
    row.replace(with: merge.merged)
    row.setBase(RecordMerge.base(base, after: server))
  }

  /// Returns the entry for a record whose entry is clean or to be overwritten.
  private func replacement(for entry: JSONObject, _ server: JSONObject) -> JSONObject {
    let stays = entry.filtered { key, _ in isPartial || key == LocalField.syncId || kept.contains(key) }
    var next = stays.replacing(with: server).replacing(with: LocalField.clean)
    next[LocalField.lastError] = nil
    return next
  }
}

extension Store {
  /// Stores records of a server that were fetched without a sync, all in one transaction: as a page of
  /// a sync down does.
  /// - Returns: For each record its entry; nil if it has none and none was to be added.
  /// - Throws: ``SmartStore/StoreError`` `.noSuchSoup`, `.missingExternalId`, `.ambiguousExternalId`, `.pathNotIndexed`.
  public func merge(_ records: ServerRecords, into soup: String) throws -> [EditedEntry?] {
    try writeBlocking(.synced) { try records.store(into: soup, in: $0) }
  }
}
