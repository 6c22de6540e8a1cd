import Database
import JSON
import RecordScan

/// Entries that a script read before the upload that created their record ended, and saves after it. They must not undo what the
/// upload wrote: the record would be created a second time, or a deletion of it be lost.
extension SoupWriter {
  /// Such an entry as it may be stored.
  struct KeptCopy {
    let entry: [UInt8]
    /// A sync down has written the row since: what the copy was made from is not known any more, and every field that differs
    /// from the server's is one that both may have changed.
    let wasBroughtSince: Bool
  }

  /// An entry that may undo what an upload wrote.
  struct SuspectCopy {
    /// The row was surely written after the entry was read.
    let isOld: Bool
  }

  /// A first look, without reading the row's text: no more than a comparison where nothing has happened.
  /// - Parameters:
  ///   - values: Of the entry, for the index columns.
  ///   - mask: The columns that differ from the row's.
  ///   - row: A finder with the time of the last write.
  /// - Returns: nil when there is nothing to undo.
  func suspectCopy(
    _ page: ScannedPage, _ i: Int, _ values: borrowing [IndexValue], _ mask: UInt64, _ row: Statement
  ) -> SuspectCopy? {
    if isCreated(page, i), wasReadBefore(page, i, row) == true { return SuspectCopy(isOld: true) }
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

  /// The row that an entry is a copy of, when the entry has the id that the record had here before the server gave one.
  /// - Returns: A finder that stands on it; nil when there is none.
  func rowOfCopy(_ page: ScannedPage, _ i: Int, _ path: String) throws -> Statement? {
    let value = page.scanner.value(record: i, field: page.plan.idField), bytes = page.bytes
    guard value.kind == .plainString,
      SoupWriter.isLocalId(UnsafeRawBufferPointer(rebasing: bytes[value.start..<value.start + value.count])),
      let id = try? entryId(page, i), let column = columns.firstIndex(where: { soup.specs[$0.spec].path == path }),
      let row = try row(id)
    else { return nil }
    let position = SoupWriter.firstColumn + Int32(column)
    if wasReadBefore(page, i, row) != false, !row.isNull(position), !SoupWriter.isLocalId(row.bytes(position)) { return row }
    row.reset()
    return nil
  }

  private func isCreated(_ page: ScannedPage, _ i: Int) -> Bool {
    page.scanner.value(record: i, field: page.plan.firstExtra + Extra.isCreated).kind == .true
  }

  /// True when the row was written after the entry was read; nil when the entry does not say.
  private func wasReadBefore(_ page: ScannedPage, _ i: Int, _ row: Statement) -> Bool? {
    let stamp = page.scanner.value(record: i, field: page.plan.firstExtra + Extra.stamp)
    guard stamp.kind == .number else { return nil }
    let digits = UnsafeRawBufferPointer(rebasing: page.bytes[stamp.start..<stamp.start + stamp.count])
    guard case .integer(let read) = JSONValue.number(parsing: digits) else { return nil }
    return read < row.int64(stampColumn)
  }

  private static let localIdPrefix = Array(SoupField.localIdPrefix.utf8)

  private static func isLocalId(_ text: UnsafeRawBufferPointer) -> Bool { text.starts(with: localIdPrefix) }

  // MARK: What an upload wrote

  /// The entry as it may be stored: with the server's id, and flags that say what is left to do with a record that exists.
  /// - Returns: nil when it undoes nothing.
  func keepingUpload(_ page: ScannedPage, _ i: Int, _ suspect: SuspectCopy, id: Int64) throws -> KeptCopy? {
    guard let row = try storedObject(id), !row.hasFlag(SoupField.locallyCreated) else { return nil }
    let entry = try page.object(record: i)
    var members = JSONObject()
    for path in try outdatedPaths(entry, row, suspect) { members[path] = row[path] }
    if entry.hasFlag(SoupField.locallyCreated) {
      members[SoupField.locallyCreated] = false
      let isDeletion = entry.hasFlag(SoupField.locallyDeleted)
      if !isDeletion, entry.hasFlag(SoupField.local) { members[SoupField.locallyUpdated] = true }
    }
    guard !members.isEmpty else { return nil }
    let place = page.scanner.records[i]
    let text = UnsafeRawBufferPointer(rebasing: page.bytes[place.start..<place.start + place.count])
    return KeptCopy(
      entry: try EntryText.rewrite(text, dropping: Set(members.map(\.key)), adding: members),
      wasBroughtSince: row[SoupField.syncId] != nil && entry[SoupField.syncId] == nil)
  }

  /// Where the row has an id of the server's and the entry an older one. `Id` is an id wherever it is indexed; a field of another
  /// name is one when the entry says that the server has not got it. Any other may name a record that was made here, unless the
  /// copy is old and the store has no such record any more: the upload has given that one its id.
  private func outdatedPaths(_ entry: JSONObject, _ row: JSONObject, _ suspect: SuspectCopy) throws -> [String] {
    let differing = columns.map { soup.specs[$0.spec].path }.filter { path in
      guard let old = entry[path]?.stringValue, let new = row[path]?.stringValue else { return false }
      return !old.hasSameBytes(as: new) && !new.hasPrefix(SoupField.localIdPrefix)
    }
    let isCreated = entry.hasFlag(SoupField.locallyCreated)
    let local = differing.filter { entry[$0]?.stringValue?.hasPrefix(SoupField.localIdPrefix) == true }
    var ids = isCreated && local.count == 1 ? local : []
    if differing.contains("Id") { ids = isCreated || local.contains("Id") ? ["Id"] : [] }
    guard suspect.isOld else { return ids }
    return try ids + local.filter { try !ids.contains($0) && isDangling(entry[$0]?.stringValue ?? "", at: $0) }
  }

  /// True when no entry of the store has this id: it stands nowhere but where it is a reference like this one.
  private func isDangling(_ id: String, at path: String) throws -> Bool {
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
