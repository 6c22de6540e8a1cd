import Database
import JSON
import RecordScan

/// Entries as scripts save them: found by `_soupEntryId` or an external id path, all or none.
extension SoupWriter {
  /// The fields an entry brings that decide what happens to it, behind those of the index specs. The flags stand from `local` on.
  enum Extra { static let entryId = 0, local = 1, isCreated = 2, stamp = 1 + SoupField.localFlags.count }

  static let ownedKeys = [SoupField.entryId, SoupField.lastModified]

  private func plan(externalIdPath: String) -> PagePlan {
    PagePlan(
      soup: soup, idPath: externalIdPath, extraPaths: [SoupField.entryId] + SoupField.localFlags + [SoupField.lastModified],
      ownedKeys: SoupWriter.ownedKeys)
  }

  /// Inserts or updates entries; see ``Store/upsert(_:into:externalIdPath:)``.
  /// - Returns: The entries as stored, as the text of a JSON array.
  func upsert(_ entries: [UInt8], externalIdPath: String) throws -> [UInt8] {
    let byEntryId = externalIdPath == SoupField.entryId
    guard byEntryId || soup.specs.contains(where: { $0.path == externalIdPath }) else {
      throw StoreError(.pathNotIndexed, "\(soup.name) does not have an index on \(externalIdPath)")
    }
    begin()
    let page = try plan(externalIdPath: externalIdPath).scan(ByteArrayPage(entries), recordsKey: nil)
    var out: [UInt8] = [UInt8(ascii: "[")]
    out.reserveCapacity(entries.count + page.count * 80)
    for i in 0..<page.count {
      try checkFlags(page, i)
      if byEntryId {
        let id = try entryId(page, i)
        guard try write(page, i, id: id, isCopy: true) != nil else {
          throw StoreError(.noSuchEntry, "No entry with _soupEntryId \(id ?? 0) in soup \(soup.name)")
        }
      } else {
        projection.begin()
        let match = try externalMatch(page, i, externalIdPath) ?? rowOfCopy(page, i, externalIdPath)
        try write(page, i, over: match, foundBy: externalIdPath, isCopy: true)
      }
      if i > 0 { out.append(UInt8(ascii: ",")) }
      out.append(contentsOf: body.bytes)
    }
    out.append(UInt8(ascii: "]"))
    return out
  }

  /// A flag that is neither true nor false would make an edit that no sync sends.
  private func checkFlags(_ page: ScannedPage, _ i: Int) throws {
    for (n, flag) in SoupField.localFlags.enumerated() {
      switch page.scanner.value(record: i, field: page.plan.firstExtra + Extra.local + n).kind {
      case .missing, .null, .true, .false: continue
      default:
        throw StoreError(
          .invalidEntry, "entry \(i + 1) for soup \(soup.name): '\(flag)' must be true or false; it marks what was changed here")
      }
    }
  }

  /// Writes an entry of a script as ``keepingUpload(_:_:_:id:)`` made it.
  private func write(_ kept: KeptCopy, id: Int64, wasDirty: Bool) throws -> Int64 {
    let page = try plan(externalIdPath: SoupField.entryId).scan(
      ByteArrayPage([UInt8(ascii: "[")] + kept.entry + [UInt8(ascii: "]")]), recordsKey: nil)
    let written = try write(page, 0, id: id) ?? id
    if kept.wasBroughtSince, !wasDirty {
      try connection.run(
        "UPDATE soup_bases SET base = '{}' WHERE soup = ? AND entry = ?", [.integer(soup.number), .integer(id)])
    }
    return written
  }

  /// Writes one entry: a new one without an id, else the row with that id.
  /// - Returns: Its id, nil when there is no such row.
  func upsertOne(_ entry: [UInt8], id: Int64?) throws -> Int64? {
    begin()
    let page = try plan(externalIdPath: SoupField.entryId).scan(
      ByteArrayPage([UInt8(ascii: "[")] + entry + [UInt8(ascii: "]")]), recordsKey: nil)
    return try write(page, 0, id: id)
  }

  /// - Returns: The id to update, nil to create.
  func entryId(_ page: ScannedPage, _ i: Int) throws -> Int64? {
    let value = page.scanner.value(record: i, field: page.plan.firstExtra + Extra.entryId)
    switch value.kind {
    case .missing, .null: return nil
    case .number:
      let digits = UnsafeRawBufferPointer(rebasing: page.bytes[value.start..<value.start + value.count])
      if case .integer(let id) = JSONValue.number(parsing: digits) { return id }
    default: break
    }
    throw StoreError(.invalidEntry, "entry \(i + 1) for soup \(soup.name): _soupEntryId must be an integer")
  }

  /// - Returns: A finder that stands on the row of an entry with the same external id; nil when there is none.
  private func externalMatch(_ page: ScannedPage, _ i: Int, _ path: String) throws -> Statement? {
    let bytes = page.bytes, record = page.scanner.records[i]
    let scanned = page.scanner.value(record: i, field: page.plan.idField)
    guard let key = try externalKey(scanned, path, in: bytes, record) else {
      throw StoreError(
        .missingExternalId, "For upsert with external ID path '\(path)', value cannot be empty for any entries.")
    }
    let finder = try finder(where: "\(soup.expression(path)) = ?", withDirty: true, withStamp: true)
    key.bind(to: finder, 1)
    if try finder.step() { return finder }
    finder.reset()
    return nil
  }

  /// What to look for under an external id path; nil when the entry has no value there.
  func externalKey(
    _ value: ScannedValue, _ path: String, in bytes: UnsafeRawBufferPointer, _ record: ScannedRecord
  ) throws -> IndexValue? {
    guard value.kind != .missing, value.kind != .null else { return nil }
    var type = soup.specs.first { $0.path == path }?.type ?? .string
    if type == .json1 {
      // json1 keeps each value's own class: a number is found by a number, a text by a text, and containers not at all.
      switch value.kind {
      case .number: return projection.ownClass(value, in: bytes)
      case .true, .false: type = .integer
      case .plainString, .escapedString: type = .string
      default: return nil
      }
    }
    let key = try projection.value(value, type: type, path: path, in: bytes, record: record)
    if case .null = key { return nil }
    return key
  }

  /// Splices and writes one scanned entry: a new one without an id, else the row with that id.
  /// - Returns: Its id, nil when there is no such row.
  @discardableResult
  private func write(_ page: ScannedPage, _ i: Int, id: Int64?, isCopy: Bool = false) throws -> Int64? {
    projection.begin()
    guard let id else { return try write(page, i, over: nil, foundBy: SoupField.entryId, isCopy: isCopy) }
    guard let row = try row(id) else { return nil }
    return try write(page, i, over: row, foundBy: SoupField.entryId, isCopy: isCopy)
  }

  /// A finder that stands on a row; nil when there is no such row.
  func row(_ id: Int64) throws -> Statement? {
    let row = try finder(where: "id = ?", withDirty: true, withStamp: true)
    row.bind(1, id)
    if try row.step() { return row }
    row.reset()
    return nil
  }

  /// Splices and writes one scanned entry, in the place of the row that a finder stands on.
  /// - Parameters:
  ///   - row: Reset when this returns or throws. A second row is an error. Nil for a new entry.
  ///   - path: What the row was found by.
  ///   - isCopy: It comes from a script, which may have read it some time ago.
  @discardableResult
  private func write(
    _ page: ScannedPage, _ i: Int, over row: Statement?, foundBy path: String, isCopy: Bool
  ) throws -> Int64 {
    defer { row?.reset() }
    let record = page.scanner.records[i]
    guard record.count <= Tuning.maximumEntryBytes else {
      throw StoreError(
        .invalidEntry, "entry \(i + 1) for soup \(soup.name) has \(record.count) bytes; at most \(Tuning.maximumEntryBytes)")
    }
    let id = try row?.int64(0) ?? takeId()
    try splice(page, record, id: id)
    let values = try values(page, i, id: id)
    guard let row else {
      try insert(id, owner: nil, values)
      return id
    }
    let wasDirty = row.int64(2) == 1, mask = changedColumns(values, in: row)
    let suspect = isCopy ? suspectCopy(page, i, values, mask, row) : nil
    guard try !row.step() else {
      throw StoreError(.ambiguousExternalId, "There are more than one soup elements where \(path) is the value of entry \(i + 1)")
    }
    row.reset()
    if let suspect, let kept = try keepingUpload(page, i, suspect, id: id) {
      return try write(kept, id: id, wasDirty: wasDirty)
    }
    let isDirty = page.scanner.value(record: i, field: page.plan.firstExtra + Extra.local).isFlagSet(in: page.bytes)
    if wasDirty != isDirty { try keepBase(of: id, isDirty: isDirty) }
    try update(id, setOwner: nil, mask: mask, values)
    return id
  }

  /// What the index columns of an entry hold.
  private func values(_ page: ScannedPage, _ i: Int, id: Int64) throws -> [IndexValue] {
    let bytes = page.bytes, record = page.scanner.records[i]
    var values: [IndexValue] = []
    values.reserveCapacity(columns.count)
    for column in columns {
      let spec = soup.specs[column.spec]
      values.append(
        try stampedValue(spec, id: id)
          ?? projection.value(
            page.scanner.value(record: i, field: column.spec), type: spec.type, path: spec.path, in: bytes, record: record))
    }
    return values
  }

  private func stampedValue(_ spec: IndexSpec, id: Int64) -> IndexValue? {
    let value: Int64
    switch spec.path {
    case SoupField.entryId: value = id
    case SoupField.lastModified: value = stamp
    default: return nil
    }
    return spec.type == .floating ? .real(Double(value)) : .integer(value)
  }

  private func splice(_ page: ScannedPage, _ record: ScannedRecord, id: Int64) throws {
    let text = UnsafeRawBufferPointer(rebasing: page.bytes[record.start..<record.start + record.count])
    try body.begin(id: id, stamp: stamp)
    guard record.hasOwnedKey else {
      body.appendMembers(ofObject: text, isEmpty: record.isEmpty)
      return
    }
    var members: [UInt8] = []
    try EntryText.appendMembers(text, dropping: Set(SoupWriter.ownedKeys.map { Array($0.utf8) }), to: &members)
    if !members.isEmpty { body.append(byte: UInt8(ascii: ",")) }
    body.append(members)
    body.append(byte: UInt8(ascii: "}"))
  }

  /// An edit of a clean entry keeps the text the server last had; a clean entry needs none, and is in no conflict.
  func keepBase(of id: Int64, isDirty: Bool) throws {
    if isDirty {
      try connection.run(
        "INSERT OR IGNORE INTO soup_bases (soup, entry, base) SELECT ?, id, soup FROM \(soup.table) WHERE id = ?",
        [.integer(soup.number), .integer(id)])
    } else {
      for table in ["soup_bases", "soup_conflicts"] {
        try connection.run("DELETE FROM \(table) WHERE soup = ? AND entry = ?", [.integer(soup.number), .integer(id)])
      }
    }
  }
}

extension TextBuffer {
  /// Starts an entry: the brace and the two members that the store owns.
  func begin(id: Int64, stamp: Int64) throws {
    clear()
    append("{\"_soupEntryId\":")
    append(id)
    append(",\"_soupLastModifiedDate\":")
    append(stamp)
  }

  /// Appends what stands behind the opening brace of `text`, the closing one included.
  func appendMembers(ofObject text: UnsafeRawBufferPointer, isEmpty: Bool) {
    if isEmpty {
      append(byte: UInt8(ascii: "}"))
      return
    }
    append(byte: UInt8(ascii: ","))
    append(UnsafeRawBufferPointer(rebasing: text[1...]))
  }
}
