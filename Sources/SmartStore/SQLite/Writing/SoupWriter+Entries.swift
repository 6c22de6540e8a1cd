import Database
import JSON
import RecordScan

/// Saves the entries of scripts, found by `_soupEntryId` or an external id path, all or none.
extension SoupWriter {
  private func plan(externalIdPath: String) -> PagePlan { PagePlan(savingInto: soup, externalIdPath: externalIdPath) }

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
      try page.checkFlags(record: i)
      if byEntryId {
        let id = try page.entryId(record: i)
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

  /// Writes the result of ``keepingUpload(_:_:_:id:)``.
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

  /// Writes one entry: inserts it if `id` is nil, else updates the row with that id.
  /// - Returns: The entry id; nil if the row does not exist.
  func upsertOne(_ entry: [UInt8], id: Int64?) throws -> Int64? {
    begin()
    let page = try plan(externalIdPath: SoupField.entryId).scan(
      ByteArrayPage([UInt8(ascii: "[")] + entry + [UInt8(ascii: "]")]), recordsKey: nil)
    return try write(page, 0, id: id)
  }

  /// - Returns: A finder at the row with the same external id; nil if there is none.
  private func externalMatch(_ page: ScannedPage, _ i: Int, _ path: String) throws -> Statement? {
    let bytes = page.bytes, record = page.scanner.records[i]
    let scanned = page.scanner.value(record: i, field: page.plan.idField)
    guard let key = try externalKey(scanned, path, in: bytes, record) else {
      throw StoreError(
        .missingExternalId, "For upsert with external ID path '\(path)', value cannot be empty for any entries.")
    }
    let finder = try finder(where: "\(soup.expression(path)) = ?", withDirty: true, withText: history != nil)
    key.bind(to: finder, 1)
    if try finder.step() { return finder }
    finder.reset()
    return nil
  }

  /// Returns the key for an external id path; nil if the entry has no value there.
  func externalKey(
    _ value: ScannedValue, _ path: String, in bytes: UnsafeRawBufferPointer, _ record: ScannedRecord
  ) throws -> IndexValue? {
    guard value.kind != .missing, value.kind != .null else { return nil }
    var type = soup.specs.first { $0.path == path }?.type ?? .string
    if type == .json1 {
      // json1 keeps the type of each value: numbers match numbers, texts match texts, and
      // containers match nothing.
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

  /// Writes one scanned entry: inserts it if `id` is nil, else updates the row with that id.
  /// - Returns: The entry id; nil if the row does not exist.
  @discardableResult
  private func write(_ page: ScannedPage, _ i: Int, id: Int64?, isCopy: Bool = false) throws -> Int64? {
    projection.begin()
    guard let id else { return try write(page, i, over: nil, foundBy: SoupField.entryId, isCopy: isCopy) }
    guard let row = try row(id) else { return nil }
    return try write(page, i, over: row, foundBy: SoupField.entryId, isCopy: isCopy)
  }

  /// Returns a finder at a row; nil if the row does not exist.
  func row(_ id: Int64) throws -> Statement? {
    let row = try finder(where: "id = ?", withDirty: true, withText: history != nil)
    row.bind(1, id)
    if try row.step() { return row }
    row.reset()
    return nil
  }

  /// Writes one scanned entry over the row at which a finder stands.
  /// - Parameters:
  ///   - row: Reset when this returns or throws. A second matching row is an error. Nil for a new
  ///     entry.
  ///   - path: The path that found the row.
  ///   - isCopy: Whether the entry comes from a script, which may have read it earlier.
  @discardableResult
  private func write(
    _ page: ScannedPage, _ i: Int, over row: Statement?, foundBy path: String, isCopy: Bool
  ) throws -> Int64 {
    defer { row?.reset() }
    let record = page.scanner.records[i]
    guard record.count <= Tuning.maximumEntryBytes else {
      throw StoreError(
        .invalidEntry, "entry \(i + 1) for soup \(soup.name) has \(record.count) bytes; the limit is \(Tuning.maximumEntryBytes)")
    }
    let id = try row?.int64(0) ?? takeId()
    try splice(page, record, id: id)
    let values = try values(page, i, id: id)
    guard let row else {
      try insert(id, owner: nil, values)
      noteCreation(page, i, id: id)
      return id
    }
    let wasDirty = row.int64(2) == 1, mask = changedColumns(values, in: row)
    let suspect = isCopy ? suspectCopy(page, i, values, mask, row) : nil
    let isDirty = page.isMarkedDirty(record: i), change = isDirty ? change(from: row) : nil
    guard try !row.step() else {
      throw StoreError(.ambiguousExternalId, "There are more than one soup elements where \(path) is the value of entry \(i + 1)")
    }
    row.reset()
    if let suspect, let kept = try keepingUpload(page, i, suspect, id: id) {
      return try write(kept, id: id, wasDirty: wasDirty)
    }
    if wasDirty != isDirty { try keepBase(of: id, isDirty: isDirty) }
    if let change { noteEdit(id, change) }
    try update(id, setOwner: nil, mask: mask, values)
    return id
  }

  /// Returns the index values of an entry.
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
    try EntryText.appendMembers(text, dropping: page.plan.ownedKeys, to: &members)
    if !members.isEmpty { body.append(byte: UInt8(ascii: ",")) }
    body.append(members)
    body.append(byte: UInt8(ascii: "}"))
  }

  /// Keeps the base: an edit of a clean entry saves the server's text. When an entry becomes clean,
  /// its base and its conflict are removed.
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
  /// Starts an entry: the opening brace and the two members that the store owns.
  func begin(id: Int64, stamp: Int64) throws {
    clear()
    append("{\"_soupEntryId\":")
    append(id)
    append(",\"_soupLastModifiedDate\":")
    append(stamp)
  }

  /// Appends the rest of an object after its opening brace, including the closing one.
  func appendMembers(ofObject text: UnsafeRawBufferPointer, isEmpty: Bool) {
    if isEmpty {
      append(byte: UInt8(ascii: "}"))
      return
    }
    append(byte: UInt8(ascii: ","))
    append(UnsafeRawBufferPointer(rebasing: text[1...]))
  }
}
