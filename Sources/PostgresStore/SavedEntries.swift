import JSON
import RecordScan
import SmartStore
import Support

/// Saves the entries of scripts, found by `_soupEntryId` or an external id path, all or none. They are written together;
/// an entry that depends on an earlier one of the same call is looked up after that one was written.
final class SavedEntries {
  let transaction: PostgresTransaction
  let table: SoupTable
  private let writes: RowWrites
  private let texts: EntryTexts
  /// Set while a program's edits are saved, and the store keeps a history.
  private var history: HistoryRows?

  /// A row as it is looked up.
  struct Row {
    let id: Int64
    let isDirty: Bool
    let lastModified: Int64
    /// The first characters of the value in each column.
    let beginnings: [String?]
    /// The version and the text, for the history.
    let former: FormerRow?
  }

  init(_ transaction: PostgresTransaction, _ table: SoupTable) {
    self.transaction = transaction
    self.table = table
    writes = RowWrites(transaction, table)
    texts = EntryTexts(table: table)
  }

  private func plan(externalIdPath: String) -> PagePlan {
    PagePlan(savingInto: table.soup, externalIdPath: externalIdPath)
  }

  private func scan(_ entry: [UInt8]) throws -> ScannedPage {
    try plan(externalIdPath: SoupField.entryId).scan(
      ByteArrayPage([UInt8(ascii: "[")] + entry + [UInt8(ascii: "]")]), recordsKey: nil)
  }

  /// See ``Store/upsert(_:into:externalIdPath:)``.
  /// - Returns: The entries as stored, as the text of a JSON array.
  func upsert(_ entries: [UInt8], externalIdPath path: String) throws -> [UInt8] {
    let isByEntryId = path == SoupField.entryId
    guard isByEntryId || table.soup.specs.contains(where: { $0.path == path }) else {
      throw StoreError(.pathNotIndexed, "\(table.soup.name) does not have an index on \(path)")
    }
    transaction.beginBatch()
    history = transaction.history
    defer { history = nil }
    let page = try plan(externalIdPath: path).scan(ByteArrayPage(entries), recordsKey: nil)
    let keys = (0..<page.count).map { i -> SQLValue? in
      texts.projection.begin()
      if isByEntryId { return (try? page.entryId(record: i)).flatMap { $0 }.map { .integer($0) } }
      return (try? texts.externalKey(page, i, path)) ?? nil
    }
    var out: [UInt8] = [UInt8(ascii: "[")], written: Set<KeyBytes> = [], known = try find(keys, by: path), i = 0
    out.reserveCapacity(entries.count + page.count * 80)
    /// Writes what waits, so that the entries from `first` on find it.
    func settle(from first: Int) throws {
      writes.flush(owner: nil)
      written = []
      known = try find(Array(keys[first...]), by: path)
    }
    while i < page.count {
      texts.projection.begin()
      try page.checkFlags(record: i)
      let key = try key(page, i, path, isByEntryId, keys[i]), bytes = key.map(SortKey.bytes)
      var rows = bytes.flatMap { known[$0] } ?? []
      if let bytes, written.contains(bytes) || rows.contains(where: { writes.touched.contains($0.id) }) {
        try settle(from: i)
        continue
      }
      if isByEntryId, case .integer(let id)? = key, rows.isEmpty {
        if writes.touched.contains(id) {
          try settle(from: i)
          continue
        }
        throw StoreError(.noSuchEntry, "No entry with _soupEntryId \(id) in soup \(table.soup.name)")
      }
      if !isByEntryId, rows.isEmpty, let id = idOfCopy(page, i) {
        if !writes.isEmpty {
          try settle(from: i)
          continue
        }
        if let row = try find([.integer(id)], by: SoupField.entryId).values.first?.first, isRow(row, ofCopy: page, i, path) {
          rows = [row]
        }
      }
      switch try write(page, i, over: rows, foundBy: path, isCopy: true) {
      case .written(let text, _):
        if i > 0 { out.append(UInt8(ascii: ",")) }
        out += text
        if let bytes { written.insert(bytes) }
        i += 1
      case .mustSettle: try settle(from: i)
      case .kept(let text):
        if i > 0 { out.append(UInt8(ascii: ",")) }
        out += text
        i += 1
        try settle(from: i)
      }
    }
    writes.flush(owner: nil)
    out.append(UInt8(ascii: "]"))
    return out
  }

  /// Writes one entry: inserts it if `id` is nil, else updates the row with that id.
  /// - Returns: The entry id; nil if the row does not exist.
  func save(_ entry: [UInt8], as id: Int64?) throws -> Int64? {
    transaction.beginBatch()
    let page = try scan(entry)
    var rows: [Row] = []
    if let id {
      guard let row = try find([.integer(id)], by: SoupField.entryId).values.first?.first else { return nil }
      rows = [row]
    }
    texts.projection.begin()
    guard case .written(_, let written) = try write(page, 0, over: rows, foundBy: SoupField.entryId, isCopy: false) else {
      return nil
    }
    writes.flush(owner: nil)
    return written
  }

  // MARK: Keys

  /// - Returns: What finds the entry; nil for a new one.
  private func key(
    _ page: ScannedPage, _ i: Int, _ path: String, _ isByEntryId: Bool, _ known: SQLValue?
  ) throws -> SQLValue? {
    if isByEntryId { return try page.entryId(record: i).map { .integer($0) } }
    guard let key = try known ?? texts.externalKey(page, i, path) else {
      throw StoreError(
        .missingExternalId, "For upsert with external ID path '\(path)', value cannot be empty for any entries.")
    }
    return key
  }

  /// Returns the rows of each key, in the order of their ids.
  private func find(_ keys: [SQLValue?], by path: String) throws -> [KeyBytes: [Row]] {
    guard keys.contains(where: { $0 != nil }) else { return [:] }
    let value = table.value(path)
    let beginnings = writes.columns.map { "left(\(table.column($0))::text, \(SoupField.localIdPrefix.utf8.count))" }
    let hasFormer = history != nil
    let rows = try transaction.find(
      keys, by: value, in: table,
      selecting: ["id", "\(table.isDirty) IS TRUE", "lastModified"] + beginnings + (hasFormer ? ["version", "soup"] : []))
    var found: [KeyBytes: [Row]] = [:]
    for n in 0..<rows.count {
      let row = rows[n]
      guard let key = keys[Int(try row.int64(0)) - 1] else { continue }
      let bytes = SortKey.bytes(key), id = try row.int64(1)
      // Keys may repeat.
      if found[bytes]?.contains(where: { $0.id == id }) ?? false { continue }
      found[bytes, default: []].append(
        Row(
          id: id, isDirty: try row.bool(2), lastModified: try row.int64(3),
          beginnings: try writes.columns.indices.map { try row.optionalString(4 + $0) },
          former: hasFormer ? try FormerRow(row, from: 4 + writes.columns.count) : nil))
    }
    return found
  }

  // MARK: Writing

  private enum Outcome {
    case written([UInt8], Int64)
    /// Entries that wait must be written first.
    case mustSettle
    /// The entry was a stale copy and is written, merged with what an upload wrote.
    case kept([UInt8])
  }

  /// Writes one scanned entry over the row that was found; a second row is an error, none means a new entry.
  private func write(
    _ page: ScannedPage, _ i: Int, over rows: [Row], foundBy path: String, isCopy: Bool
  ) throws -> Outcome {
    let record = page.scanner.records[i]
    guard record.count <= Tuning.maximumEntryBytes else {
      throw StoreError(
        .invalidEntry,
        "entry \(i + 1) for soup \(table.soup.name) has \(record.count) bytes; the limit is \(Tuning.maximumEntryBytes)")
    }
    let row = rows.first, id = try row?.id ?? transaction.takeId(table)
    var text = EntryTexts.begin(id, transaction.stamp)
    try EntryTexts.append(record, of: page, dropping: record.hasOwnedKey ? page.plan.ownedKeys : nil, to: &text)
    let values = try values(page, i, id: id)
    guard let row else {
      writes.insert(id, text, values)
      if let history, page.isMarkedDirty(record: i) {
        history.note(EntryChange(.created, id, version: 1), soup: table.soup.number)
      }
      return .written(text, id)
    }
    let suspect = isCopy ? suspectCopy(page, i, values, row) : nil
    guard rows.count == 1 else {
      throw StoreError(.ambiguousExternalId, "There are more than one soup elements where \(path) is the value of entry \(i + 1)")
    }
    if let suspect {
      guard writes.isEmpty else { return .mustSettle }
      if let kept = try keepingUpload(page, i, suspect, id: id) { return .kept(try write(kept, over: row)) }
    }
    let isDirty = page.isMarkedDirty(record: i)
    writes.update(id, text, values, becomesDirty: row.isDirty == isDirty ? nil : isDirty)
    if isDirty, let history, let former = row.former {
      let changed = former.changes(to: text), cause: EntryChange.Cause = changed.isDeletion ? .deleted : .updated
      history.note(
        EntryChange(cause, id, version: former.version + 1, fields: changed.names), soup: table.soup.number)
    }
    return .written(text, id)
  }

  private func write(_ kept: KeptCopy, over row: Row) throws -> [UInt8] {
    let page = try scan(kept.entry)
    texts.projection.begin()
    guard case .written(let text, _) = try write(page, 0, over: [row], foundBy: SoupField.entryId, isCopy: false) else {
      return []
    }
    writes.flush(owner: nil)
    if kept.wasBroughtSince, !row.isDirty {
      transaction.add(
        "UPDATE \(transaction.schema).soup_bases SET base = '{}' WHERE soup = $1 AND entry = $2",
        [.int64(table.soup.number), .int64(row.id)])
    }
    return text
  }

  /// Returns the values of the columns.
  private func values(_ page: ScannedPage, _ i: Int, id: Int64) throws -> [IndexValue] {
    try writes.columns.map { n in
      let spec = table.soup.specs[n]
      switch spec.path {
      case SoupField.entryId: return .integer(id)
      case SoupField.lastModified: return .integer(transaction.stamp)
      default:
        return try texts.projection.value(
          page.scanner.value(record: i, field: n), type: spec.type, path: spec.path, in: page.bytes,
          record: page.scanner.records[i])
      }
    }
  }

  // MARK: Stale copies

  private static func isLocalId(_ text: some Sequence<UInt8>) -> Bool { text.starts(with: SoupField.localIdPrefix.utf8) }

  /// - Returns: nil if the entry cannot undo anything.
  private func suspectCopy(_ page: ScannedPage, _ i: Int, _ values: [IndexValue], _ row: Row) -> SuspectCopy? {
    let isOld = wasReadBefore(page, i, row) == true
    if page.isMarkedCreated(record: i), isOld { return SuspectCopy(isOld: true) }
    for (value, old) in zip(values, row.beginnings) {
      guard case .text(let text) = value, Self.isLocalId(text), let old, !Self.isLocalId(old.utf8) else { continue }
      return SuspectCopy(isOld: isOld)
    }
    return nil
  }

  /// Returns the id of the row that a stale copy came from, for an entry that still has its local id.
  private func idOfCopy(_ page: ScannedPage, _ i: Int) -> Int64? {
    let value = page.scanner.value(record: i, field: page.plan.idField)
    guard value.kind == .plainString, Self.isLocalId(value.slice(in: page.bytes)) else { return nil }
    return (try? page.entryId(record: i)).flatMap { $0 }
  }

  private func isRow(_ row: Row, ofCopy page: ScannedPage, _ i: Int, _ path: String) -> Bool {
    guard wasReadBefore(page, i, row) != false,
      let column = writes.columns.firstIndex(where: { table.soup.specs[$0].path == path }), let old = row.beginnings[column]
    else { return false }
    return !Self.isLocalId(old.utf8)
  }

  /// Returns whether the row was written after the entry was read; nil if the entry has no time stamp.
  private func wasReadBefore(_ page: ScannedPage, _ i: Int, _ row: Row) -> Bool? {
    page.readStamp(record: i).map { $0 < row.lastModified }
  }
}
