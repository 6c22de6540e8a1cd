import Database

extension SQLiteSnapshot {
  func soupsToCopy() throws -> [CopiedSoup] {
    let statement = try connection.prepare(
      """
      SELECT soupName, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'TABLE_' || id), 0) FROM soup_attrs ORDER BY id
      """)
    var found: [(name: String, lastId: Int64)] = []
    while try statement.step() { found.append((statement.string(0), statement.int64(1))) }
    return try found.map { name, lastId in
      let soup = try self.soup(name)
      guard case .integer(let count)? = try connection.firstValue("SELECT count(*) FROM \(soup.table)") else {
        throw StoreError.noSuchSoup(name)
      }
      return CopiedSoup(name: name, specs: soup.specs, lastId: lastId, entries: count)
    }
  }

  func leases() throws -> [Lease] {
    let statement = try connection.prepare(
      "SELECT name, owner, fence, expiresAt FROM leases WHERE owner <> '' ORDER BY name")
    var leases: [Lease] = []
    while try statement.step() {
      leases.append(
        Lease(
          name: statement.string(0), owner: statement.string(1), fence: statement.int64(2), expiresAt: statement.int64(3)))
    }
    return leases
  }

  func countersToCopy() throws -> CopiedCounters {
    let statement = try connection.prepare("SELECT name, fence FROM leases")
    var fences: IdMap<Int64> = [:]
    while try statement.step() { fences[statement.string(0)] = statement.int64(1) }
    return CopiedCounters(fences: fences, uploads: try uploadSequence())
  }

  func copyTable(_ part: StorePart) throws -> SQLiteCopyTable { SQLiteCopyTable(part, try part.soup.map { try soup($0) }) }

  func copiedRows(of part: StorePart, in range: CopiedRange) throws -> CopiedRows {
    if part == .keyValues, try !hasKeyValueTable() { return CopiedRows(isLast: true) }
    let table = try copyTable(part), rows = table.rows(in: range)
    let statement = try connection.statement(table.select + rows.sql + " ORDER BY \(table.order)")
    try statement.bind(rows.values)
    defer { statement.reset() }
    var batch = CopiedRows(isLast: true), bytes = 0
    while try statement.step() {
      guard bytes < Tuning.copyBatchBytes, batch.rows.count < Tuning.copyBatchRows else {
        batch.isLast = false
        break
      }
      let row = (0..<statement.columnCount).map { statement.copiedValue($0) }
      bytes += row.reduce(0) { $0 + $1.bytes }
      batch.rows.append(row)
    }
    return batch
  }
}

extension Statement {
  fileprivate func copiedValue(_ column: Int32) -> CopiedValue {
    switch type(column) {
    case .null: return .null
    case .integer: return .integer(int64(column))
    case .real: return .real(double(column))
    case .text: return .text(Array(bytes(column)))
    case .blob:
      guard case .blob(let bytes) = value(column) else { return .null }
      return .blob(bytes)
    }
  }
}
