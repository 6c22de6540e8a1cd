import JSON
import RecordScan
import SmartStore
import Support

/// Stores the records of a server's page: one look-up of all ids, and one statement each for new and known entries.
final class RecordBatch {
  private let transaction: PostgresTransaction
  private let table: SoupTable
  private let page: ScannedPage
  private let storage: PageStorage
  private let writes: RowWrites
  private let texts: EntryTexts
  /// The members to set and to leave out, and the text of the former.
  private let keys: Set<[UInt8]>, overlay: [UInt8]
  /// Whether every record must be searched for `keys`.
  private let isUnplanned: Bool
  /// The values of the columns that the members determine; nil where the record decides. They point into `members`.
  private var constants: [IndexValue?] = []
  private let members: ScannedPage
  private let constantProjection = IndexProjection()

  private struct Key {
    let value: SQLValue, bytes: KeyBytes

    init(_ value: SQLValue) {
      self.value = value
      bytes = SortKey.bytes(value)
    }
  }

  private struct Row {
    let id: Int64
    let owner: Int64?
    let isDirty: Bool
    /// For the history.
    let former: FormerRow?
  }

  init(
    _ transaction: PostgresTransaction, _ table: SoupTable, _ page: ScannedPage, _ storage: PageStorage
  ) throws {
    self.transaction = transaction
    self.table = table
    self.page = page
    self.storage = storage
    writes = RowWrites(transaction, table)
    texts = EntryTexts(table: table)
    overlay = StoredText.members(storage.members)
    let owned = storage.members.keys + storage.dropped + [SoupField.entryId, SoupField.lastModified]
    keys = Set(owned.map { Array($0.utf8) })
    isUnplanned = !keys.isSubset(of: page.plan.ownedKeys)
    members = try PagePlan(
      soup: table.soup.name, specs: table.soup.specs, idPath: SoupField.entryId, extraPaths: [], ownedKeys: []
    ).scan(ByteArrayPage([UInt8(ascii: "[")] + storage.members.serialized() + [UInt8(ascii: "]")]), recordsKey: nil)
    constants = try writes.columns.map(constant)
  }

  private func constant(_ i: Int) throws -> IndexValue? {
    let spec = table.soup.specs[i], first = String(spec.path.prefix { $0 != "." })
    guard storage.members[first] != nil else { return storage.dropped.contains(first) ? .some(.null) : nil }
    return try constantProjection.value(
      members.scanner.value(record: 0, field: i), type: spec.type, path: spec.path, in: members.bytes,
      record: members.scanner.records[0])
  }

  func store(_ kept: (Int, Int64) -> Void) throws -> StoreOutcome {
    transaction.beginBatch()
    var outcome = StoreOutcome(), written: Set<KeyBytes> = []
    let positions = (0..<page.count).filter { !storage.skipping.contains($0) }
    let keys = positions.map { i -> Key? in
      texts.projection.begin()
      return ((try? texts.externalKey(page, i, storage.idPath)) ?? nil).map(Key.init)
    }
    var known = try find(keys[...])
    let fresh = positions.count - known.count
    writes.reserve(inserts: fresh, updates: known.count, bytesEach: overlay.count + 80 + page.bytes.count / max(1, page.count))
    if known.isEmpty, table.soup.bulkLoad == nil { try transaction.beginBulkLoad(of: table, storage) }
    for (n, i) in positions.enumerated() {
      texts.projection.begin()
      guard let found = try keys[n] ?? texts.externalKey(page, i, storage.idPath).map(Key.init) else {
        let value = page.scanner.value(record: i, field: page.plan.idField)
        throw StoreError.noKey(value, ofRecord: i, in: table.soup.name, storage.idPath, table.soup.specs)
      }
      let key = found.bytes
      // The page has this record twice: the second one finds what the first one wrote.
      if written.contains(key) || known[key]?.first.map({ writes.touched.contains($0.id) }) == true {
        writes.flush(owner: storage.owner)
        known[key] = try find(keys[n...n])[key]
      }
      let values = try values(i)
      guard let row = known[key]?.first else {
        let id = try transaction.takeId(table)
        writes.insert(id, try text(i, id), values)
        written.insert(key)
        outcome.created += 1
        continue
      }
      if storage.keepDirty, row.isDirty {
        outcome.keptDirty += 1
        kept(i, row.id)
        continue
      }
      let text = try text(i, row.id)
      writes.update(row.id, text, values, becomesDirty: row.isDirty ? false : nil)
      note(row, i, text)
      written.insert(key)
      if let owner = row.owner, owner != storage.owner { writes.join(row.id) }
      outcome.stored += 1
    }
    writes.flush(owner: storage.owner)
    outcome.stored += outcome.created
    return outcome
  }

  /// Adds one of the first replaced entries to the history.
  private func note(_ row: Row, _ i: Int, _ text: [UInt8]) {
    guard let history = transaction.history, history.updates < storage.logged, let former = row.former else { return }
    history.noteUpdate(
      row.id, version: former.version + 1, fields: former.changes(to: text).names, recordId: page.id(record: i),
      soup: table.soup.number)
  }

  /// Returns the rows of each key, in the order of their ids.
  private func find(_ keys: ArraySlice<Key?>) throws -> [KeyBytes: [Row]] {
    let hasFormer = transaction.history.map { $0.updates < storage.logged } ?? false
    let rows = try transaction.find(
      keys.map { $0?.value }, by: table.value(storage.idPath), in: table,
      selecting: ["id", "owner", "\(table.isDirty) IS TRUE"] + (hasFormer ? ["version", "soup"] : []))
    var found: [KeyBytes: [Row]] = [:]
    for n in 0..<rows.count {
      guard let key = keys[keys.startIndex + Int(try rows[n].int64(0)) - 1] else { continue }
      found[key.bytes, default: []].append(
        Row(
          id: try rows[n].int64(1), owner: try rows[n].optionalInt64(2), isDirty: try rows[n].bool(3),
          former: hasFormer ? try FormerRow(rows[n], from: 4) : nil))
    }
    return found
  }

  private func values(_ i: Int) throws -> [IndexValue] {
    texts.projection.begin()
    return try writes.columns.enumerated().map { n, spec in
      if let constant = constants[n] { return constant }
      return try texts.projection.value(
        page.scanner.value(record: i, field: spec), type: table.soup.specs[spec].type, path: table.soup.specs[spec].path,
        in: page.bytes, record: page.scanner.records[i])
    }
  }

  private func text(_ i: Int, _ id: Int64) throws -> [UInt8] {
    let record = page.scanner.records[i]
    var text = EntryTexts.begin(id, transaction.stamp, reserving: overlay.count + record.count + 1)
    text += overlay
    try EntryTexts.append(record, of: page, dropping: record.hasOwnedKey || isUnplanned ? keys : nil, to: &text)
    return text
  }
}
