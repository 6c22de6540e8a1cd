import Database
import JSON

/// A transaction of the writing connection.
final class SQLiteTransaction: SQLiteSnapshot, StoreTransaction {
  var history: HistoryRows?

  // MARK: Soups

  func registerSoup(_ name: String, _ specs: [IndexSpec]) throws {
    try Soup.validate(name: name)
    try IndexSpec.validate(specs, soup: name)
    try checkPaths(specs, soup: name)
    guard try find(name) == nil else { return }
    let soup = try addSoup(name, specs)
    for i in specs.indices { try connection.execute(soup.createIndex(i)) }
    try rebuildFullText(soup, filling: true)
    state.forget()
  }

  /// Adds the table of a soup, without indexes.
  @discardableResult
  func addSoup(_ name: String, _ specs: [IndexSpec]) throws -> Soup {
    try connection.run("INSERT INTO soup_attrs (soupName) VALUES (?)", [.text(name)])
    let soup = Soup(name: name, number: connection.lastInsertRowID, specs: specs, bulkLoad: nil)
    try connection.execute(tableDefinition(soup))
    try recordSpecs(of: soup)
    state.forget()
    return soup
  }

  /// Checks the paths of json1 indexes, which follow SQLite's syntax: otherwise SQLite would report
  /// a mistake only when the first entry is written.
  func checkPaths(_ specs: [IndexSpec], soup: String) throws {
    for spec in specs where spec.type == .json1 {
      do {
        _ = try connection.firstValue("SELECT json_insert('{}', '$.\(spec.path)', 1)")
        guard spec.hasGoodSubscripts else { throw DatabaseError(code: 1, message: "a subscript must be [n], [#] or [#-n]") }
      } catch let error as DatabaseError {
        throw StoreError(.invalidIndexSpec, "path '\(spec.path)' of soup \(soup) is not a valid json1 path: \(error.message)")
      }
    }
  }

  func recordSpecs(of soup: Soup) throws {
    for (i, spec) in soup.specs.enumerated() {
      try connection.run(
        "INSERT INTO soup_index_map (soupName, path, columnName, columnType) VALUES (?, ?, ?, ?)",
        [.text(soup.name), .text(spec.path), .text(soup.indexedExpression(i)), .text(spec.type.rawValue)])
    }
  }

  func tableDefinition(_ soup: Soup) -> String {
    var columns = ["id INTEGER PRIMARY KEY AUTOINCREMENT", "soup TEXT", "created INTEGER", "lastModified INTEGER"]
    for (i, spec) in soup.specs.enumerated() {
      if let column = soup.column(i), let type = spec.type.columnType { columns.append("\(column) \(type)") }
    }
    // These follow the columns that `select *` shows in the Mobile SDK: the row's version, and the
    // sync that brought it.
    columns += ["version INTEGER NOT NULL DEFAULT 1", "owner INTEGER"]
    return "CREATE TABLE \(soup.table) (\(columns.joined(separator: ", ")))"
  }

  func removeSoup(_ name: String) throws {
    guard let soup = try find(name) else { return }
    state.feed?.noteAll(soup)
    state.forget()
    connection.forgetStatements()
    try dropFullText(soup)
    try connection.execute("DROP TABLE \(soup.table)")
    try connection.run("DELETE FROM soup_index_map WHERE soupName = ?", [.text(name)])
    try connection.run("DELETE FROM soup_attrs WHERE id = ?", [.integer(soup.number)])
    try forgetEntries(of: soup)
    try forgetAssignedIds(of: soup)
    try noteEmptied(name)
  }

  func clearSoup(_ name: String) throws {
    let soup = try self.soup(name)
    state.feed?.noteAll(soup)
    try finishBulkLoad(soup: name)
    if soup.hasFullText {
      // Recreate the full-text table: deleting word by word would take as long as filling it.
      connection.forgetStatements()
      state.forget()
      try dropFullText(soup)
    }
    try connection.run("DELETE FROM \(soup.table)")
    try rebuildFullText(soup, filling: true)
    try forgetEntries(of: soup)
    try noteEmptied(name)
  }

  private func forgetEntries(of soup: Soup) throws {
    for table in SQLiteTransaction.entryTables {
      try connection.run("DELETE FROM \(table) WHERE soup = ?", [.integer(soup.number)])
    }
  }

  /// The tables with data about entries besides those of the soups, each with the columns `soup`
  /// and `entry`.
  private static let entryTables = [
    "soup_members", "soup_creators", "soup_bases", "soup_conflicts", "uploads", "uploaded", "arrivals",
  ]

  // MARK: Entries

  func upsert(_ entries: [UInt8], into soup: String, externalIdPath: String) throws -> [UInt8] {
    let writer = try writer(soup)
    writer.history = history
    defer { writer.history = nil }
    return try writer.upsert(entries, externalIdPath: externalIdPath)
  }

  func save(_ entry: [UInt8], as id: Int64?, in soup: String) throws -> Int64? {
    try writer(soup).upsertOne(entry, id: id)
  }

  func remove(_ ids: [Int64], from soup: String) throws {
    let found = try self.soup(soup)
    let delete = try connection.statement("DELETE FROM \(found.table) WHERE id = ?")
    for id in ids {
      delete.bind(1, id)
      try delete.run()
      for table in SQLiteTransaction.entryTables {
        try connection.run("DELETE FROM \(table) WHERE soup = ? AND entry = ?", [.integer(found.number), .integer(id)])
      }
    }
  }

  /// Returns the writer of a soup after finishing any bulk load, so that its indexes are complete.
  func writer(_ name: String) throws -> SoupWriter {
    if try soup(name).bulkLoad != nil { try finishBulkLoad(soup: name) }
    return try anyWriter(name)
  }

  /// Returns the writer of a soup, which may be in a bulk load.
  func anyWriter(_ name: String) throws -> SoupWriter {
    let soup = try self.soup(name)
    if let writer = state.writers[soup.name], writer.soup.number == soup.number { return writer }
    let writer = SoupWriter(soup: soup, connection: connection)
    state.writers[name] = writer
    return writer
  }
}
