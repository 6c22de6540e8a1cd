import Database
import JSON
import RecordScan

/// Detects stale copies; see ``SuspectCopy``.
extension SoupWriter {
  /// Checks an entry without reading the row's text; usually a single comparison.
  /// - Parameters:
  ///   - values: The entry's index values.
  ///   - mask: The columns that differ from the row's.
  ///   - row: A finder with the time of the last write.
  /// - Returns: nil if the entry cannot undo anything.
  func suspectCopy(
    _ page: ScannedPage, _ i: Int, _ values: borrowing [IndexValue], _ mask: UInt64, _ row: Statement
  ) -> SuspectCopy? {
    if page.isMarkedCreated(record: i), wasReadBefore(page, i, row) == true { return SuspectCopy(isOld: true) }
    guard mask != 0 else { return nil }
    for c in 0..<values.count where mask == .max || mask >> UInt64(c) & 1 == 1 {
      guard case .text(let text) = values[c], SoupWriter.isLocalId(text) else { continue }
      let column = SoupWriter.firstColumn + Int32(c)
      if !row.isNull(column), !SoupWriter.isLocalId(row.bytes(column)) {
        return SuspectCopy(isOld: wasReadBefore(page, i, row) == true)
      }
    }
    return nil
  }

  /// Finds the row of a stale copy by entry id, for an entry that still has its local id.
  /// - Returns: A finder at the row; nil if there is none.
  func rowOfCopy(_ page: ScannedPage, _ i: Int, _ path: String) throws -> Statement? {
    let value = page.scanner.value(record: i, field: page.plan.idField), bytes = page.bytes
    guard value.kind == .plainString,
      SoupWriter.isLocalId(UnsafeRawBufferPointer(rebasing: bytes[value.start..<value.start + value.count])),
      let id = try? page.entryId(record: i), let column = columns.firstIndex(where: { soup.specs[$0.spec].path == path }),
      let row = try row(id)
    else { return nil }
    let position = SoupWriter.firstColumn + Int32(column)
    if wasReadBefore(page, i, row) != false, !row.isNull(position), !SoupWriter.isLocalId(row.bytes(position)) { return row }
    row.reset()
    return nil
  }

  /// Returns whether the row was written after the entry was read; nil if the entry has no time
  /// stamp.
  private func wasReadBefore(_ page: ScannedPage, _ i: Int, _ row: Statement) -> Bool? {
    page.readStamp(record: i).map { $0 < row.int64(stampColumn) }
  }

  private static let localIdPrefix = Array(SoupField.localIdPrefix.utf8)

  private static func isLocalId(_ text: UnsafeRawBufferPointer) -> Bool { text.starts(with: localIdPrefix) }

  // MARK: What an upload wrote

  /// See ``SuspectCopy/keepingUpload(_:_:over:paths:isDangling:)``.
  func keepingUpload(_ page: ScannedPage, _ i: Int, _ suspect: SuspectCopy, id: Int64) throws -> KeptCopy? {
    guard let row = try storedObject(id) else { return nil }
    return try suspect.keepingUpload(
      page, i, over: row, paths: columns.map { soup.specs[$0.spec].path }, isDangling: isDangling)
  }

  /// Returns whether no entry of the store has this id, apart from references in the same field.
  private func isDangling(_ id: String, _ path: String) throws -> Bool {
    for soup in try texts("SELECT id, soupName FROM soup_attrs", [], columns: 2) {
      let specs = try texts(
        "SELECT path, columnName FROM soup_index_map WHERE soupName = ? AND columnType = 'string'", [.text(soup[1])],
        columns: 2)
      for spec in specs where soup[1] != self.soup.name || spec[0] != path {
        let sql = "SELECT 1 FROM TABLE_\(soup[0]) WHERE \(spec[1]) = ? LIMIT 1"
        if try connection.firstValue(sql, [.text(id)]) != nil { return false }
      }
    }
    return true
  }

  private func texts(_ sql: String, _ values: [SQLValue], columns: Int32) throws -> [[String]] {
    let statement = try connection.statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    var rows: [[String]] = []
    while try statement.step() { rows.append((0..<columns).map { statement.string($0) }) }
    return rows
  }

  private func storedObject(_ id: Int64) throws -> JSONObject? {
    let text = try connection.firstValue("SELECT soup FROM \(soup.table) WHERE id = ?", [.integer(id)])
    guard case .text(let text)? = text else { return nil }
    return try JSONValue(parsing: Array(text.utf8)).objectValue
  }
}
