import Database
import JSON

extension SQLiteTransaction {
  private func checkIsUnfinished() throws {
    guard try connection.firstValue("PRAGMA user_version") == .integer(Schema.unfinishedVersion) else {
      throw StoreError.copyEnded
    }
  }

  func prepareSoups(_ soups: [CopiedSoup]) throws {
    try checkIsUnfinished()
    for name in try soupNames() {
      let specs = try indexSpecs(of: name)
      if !soups.contains(where: { $0.name.hasSameBytes(as: name) && $0.specs == specs }) { try removeSoup(name) }
    }
    for soup in soups {
      if try find(soup.name) == nil { try addSoup(soup.name, soup.specs) }
      try keepSequence(of: try self.soup(soup.name), .integer(soup.lastId))
    }
  }

  func replaceRows(of part: StorePart, in range: CopiedRange, with rows: [[CopiedValue]]) throws {
    try checkIsUnfinished()
    if part == .keyValues, try !hasKeyValueTable() {
      guard !rows.isEmpty else { return }
      try makeKeyValueTable()
    }
    let table = try copyTable(part), old = table.rows(in: range)
    try connection.run("DELETE FROM \(table.table)" + old.sql, old.values)
    let insert = try connection.statement(table.insert)
    for row in rows {
      for (i, value) in row.enumerated() { insert.bindCopied(Int32(i + 1), value) }
      if let fixed = table.fixed { insert.bind(Int32(row.count + 1), fixed.value) }
      try insert.run()
    }
    insert.clearBindings()
    if case .entries(let name) = part { try restoreNuls(rows, in: try soup(name)) }
  }

  /// Computes the columns anew whose text has U+FFFD where the entry has U+0000: they come from
  /// PostgreSQL, whose texts cannot contain that character.
  private func restoreNuls(_ rows: [[CopiedValue]], in soup: Soup) throws {
    let columns = soup.specs.indices.filter { soup.column($0) != nil }
    for row in rows {
      guard case .integer(let id)? = row.first, case .text(let text) = row[1], Self.occurs("\\u0000", in: text) else { continue }
      let positions = columns.indices.filter {
        if case .text(let value) = row[6 + $0] { Self.occurs("\u{fffd}", in: value) } else { false }
      }.map { columns[$0] }
      if !positions.isEmpty { try project(positions, of: soup, id: id, text: text) }
    }
  }

  private static func occurs(_ part: String, in text: [UInt8]) -> Bool {
    let part = Array(part.utf8)
    guard let first = part.first, text.count >= part.count else { return false }
    return text.indices.dropLast(part.count - 1).contains { text[$0] == first && text[$0..<$0 + part.count].elementsEqual(part) }
  }

  func indexSoup(_ name: String) throws {
    try checkIsUnfinished()
    let soup = try self.soup(name)
    for i in soup.specs.indices { try connection.execute(soup.createIndex(i)) }
    connection.forgetStatements()
    state.forget()
    try rebuildFullText(soup, filling: true)
  }

  func setCounters(_ counters: CopiedCounters) throws {
    try checkIsUnfinished()
    for table in ["leases", "counters"] { try connection.run("DELETE FROM \(table)") }
    if counters.uploads > 0 {
      try connection.run(
        "INSERT INTO counters (name, value) VALUES (?, ?)",
        [.text(SQLiteSnapshot.uploadCounter), .integer(counters.uploads)])
    }
    for (name, fence) in counters.fences {
      try connection.run(
        "INSERT INTO leases (name, owner, fence, expiresAt) VALUES (?, '', ?, 0)", [.text(name), .integer(fence)])
    }
  }
}

extension Statement {
  /// Binds a copied value.
  fileprivate func bindCopied(_ index: Int32, _ value: CopiedValue) {
    switch value {
    case .null: bindNull(index)
    case .integer(let value): bind(index, value)
    case .real(let value): bind(index, value)
    case .text(let bytes): bind(index, textCopy: bytes)
    case .blob(let bytes): bind(index, SQLValue.blob(bytes))
    }
  }
}
