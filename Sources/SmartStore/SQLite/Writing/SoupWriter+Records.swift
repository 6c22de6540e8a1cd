import Database
import JSON
import RecordScan

/// Stores records as servers send them.
extension SoupWriter {
  /// The members that the caller sets on every record of a page, and their effect on the index
  /// columns.
  struct Overlay {
    let keys: Set<[UInt8]>
    /// The text `,"a":1,"b":2`, which follows the store's own members.
    let text: [UInt8]
    /// The index values that the members determine, by column; nil where the record decides.
    let values: [IndexValue?]
    /// Retain the bytes that `values` point to.
    let page: ScannedPage
    let projection: IndexProjection
    /// Whether every record must be searched for `keys`, because the page's plan does not report
    /// them.
    let isUnplanned: Bool
  }

  /// - Parameter plan: The plan with which the records were scanned.
  func overlay(_ members: JSONObject, removing: [String], plan: PagePlan) throws -> Overlay {
    let source = ByteArrayPage([UInt8(ascii: "[")] + members.serialized() + [UInt8(ascii: "]")])
    let page = try PagePlan(soup: soup.name, specs: soup.specs, idPath: SoupField.entryId, extraPaths: [], ownedKeys: []).scan(
      source, recordsKey: nil)
    let projection = IndexProjection()
    let values: [IndexValue?] = try columns.map { column in
      let spec = soup.specs[column.spec]
      let first = String(spec.path.prefix { $0 != "." })
      guard members[first] != nil else { return removing.contains(first) ? .some(.null) : nil }
      let scanned = page.scanner.value(record: 0, field: column.spec)
      return try projection.value(
        scanned, type: spec.type, path: spec.path, in: source.bytes, record: page.scanner.records[0])
    }
    let text = StoredText.members(members)
    let keys = Set((members.keys + removing + [SoupField.entryId, SoupField.lastModified]).map { Array($0.utf8) })
    return Overlay(
      keys: keys, text: text, values: values, page: page, projection: projection,
      isUnplanned: !keys.isSubset(of: plan.ownedKeys))
  }

  /// Stores the records of a page by external id: replaces existing entries and creates missing
  /// ones.
  ///
  /// - Parameters:
  ///   - inserting: Whether the soup is in a bulk load: look-ups are not possible, and every record
  ///     is inserted.
  ///   - history: Gets the first records that replace an entry.
  ///   - kept: Called with the position of each record whose entry is kept because of its local
  ///     changes, and the entry id.
  func store(
    _ page: ScannedPage, _ storage: PageStorage, _ overlay: Overlay, inserting: Bool, _ history: HistoryRows? = nil,
    kept: (Int, Int64) -> Void
  ) throws -> StoreOutcome {
    let (idPath, keepDirty, owner) = (storage.idPath, storage.keepDirty, storage.owner)
    begin()
    var outcome = StoreOutcome()
    let hasBases =
      try connection.firstValue(
        """
        SELECT 1 WHERE EXISTS (SELECT 1 FROM soup_bases WHERE soup = ?1)
        OR EXISTS (SELECT 1 FROM soup_conflicts WHERE soup = ?1)
        """, [.integer(soup.number)]) != nil
    let logsUpdates = history.map { $0.updates < storage.logged } ?? false
    let finder = try self.finder(
      where: "\(soup.expression(idPath)) = ?", withDirty: keepDirty || hasBases, withText: logsUpdates)
    defer { finder.reset() }
    var values = [IndexValue](repeating: .null, count: columns.count)
    for i in 0..<page.count where !storage.skipping.contains(i) {
      try fill(&values, page, i, overlay)
      let record = page.scanner.records[i], scanned = page.scanner.value(record: i, field: page.plan.idField)
      if inserting, scanned.kind != .missing, scanned.kind != .null,
        // Ids of a list have one type.
        try outcome.created > 0 || externalKey(scanned, idPath, in: page.bytes, record) != nil
      {
        try add(page, record, overlay, owner: owner, values)
        outcome.created += 1
        continue
      }
      guard let key = try externalKey(scanned, idPath, in: page.bytes, record) else {
        throw StoreError.noKey(scanned, ofRecord: i, in: soup.name, idPath, soup.specs)
      }
      key.bind(to: finder, 1)
      guard try finder.step() else {
        finder.reset()
        try add(page, record, overlay, owner: owner, values)
        outcome.created += 1
        continue
      }
      let id = finder.int64(0), isDirty = finder.int64(2) == 1
      let otherOwner = finder.isNull(1) ? nil : finder.int64(1)
      if keepDirty, isDirty {
        finder.reset()
        outcome.keptDirty += 1
        kept(i, id)
        continue
      }
      let mask = changedColumns(values, in: finder)
      try splice(page, record, overlay, id: id)
      if logsUpdates, let history, history.updates < storage.logged { noteUpdate(id, page, i, history, from: finder) }
      finder.reset()
      try update(id, setOwner: otherOwner == nil ? owner : nil, mask: mask, values)
      if let otherOwner, otherOwner != owner { try join(id, owner) }
      if isDirty { try keepBase(of: id, isDirty: false) }
      outcome.stored += 1
    }
    outcome.stored += outcome.created
    return outcome
  }

  @inline(__always)
  private func fill(_ values: inout [IndexValue], _ page: ScannedPage, _ i: Int, _ overlay: Overlay) throws {
    let record = page.scanner.records[i]
    projection.begin()
    for c in 0..<columns.count {
      if let constant = overlay.values[c] {
        values[c] = constant
        continue
      }
      let spec = columns[c].spec
      values[c] = try projection.value(
        page.scanner.value(record: i, field: spec), type: soup.specs[spec].type, path: soup.specs[spec].path,
        in: page.bytes, record: record)
    }
  }

  private func add(
    _ page: ScannedPage, _ record: ScannedRecord, _ overlay: Overlay, owner: Int64, _ values: borrowing [IndexValue]
  ) throws {
    let id = try takeId()
    try splice(page, record, overlay, id: id)
    try insert(id, owner: owner, values)
  }

  private func splice(_ page: ScannedPage, _ record: ScannedRecord, _ overlay: Overlay, id: Int64) throws {
    let text = UnsafeRawBufferPointer(rebasing: page.bytes[record.start..<record.start + record.count])
    try body.begin(id: id, stamp: stamp)
    body.append(overlay.text)
    guard record.hasOwnedKey || overlay.isUnplanned else {
      body.appendMembers(ofObject: text, isEmpty: record.isEmpty)
      return
    }
    var members: [UInt8] = []
    try EntryText.appendMembers(text, dropping: overlay.keys, to: &members)
    if !members.isEmpty { body.append(byte: UInt8(ascii: ",")) }
    body.append(members)
    body.append(byte: UInt8(ascii: "}"))
  }

  /// Adds an owner to an entry that already has one.
  func join(_ id: Int64, _ owner: Int64) throws {
    try connection.run(
      "INSERT OR IGNORE INTO soup_members (soup, entry, owner) VALUES (?, ?, ?)",
      [.integer(soup.number), .integer(id), .integer(owner)])
  }
}
