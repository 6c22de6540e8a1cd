import Database
import JSON

/// Everything that changes a store happens inside one of these; it is committed when the closure it was given to returns.
package final class StoreTransaction: StoreSnapshot {
  // MARK: Soups

  /// Creates a soup. One that exists stays as it is, whatever its specs.
  /// - Throws: ``StoreError`` `.invalidSoupName`, `.invalidIndexSpec`.
  package func registerSoup(_ name: String, _ specs: [IndexSpec]) throws {
    try Soup.validate(name: name)
    try IndexSpec.validate(specs, soup: name)
    try checkPaths(specs, soup: name)
    guard try find(name) == nil else { return }
    try connection.run("INSERT INTO soup_attrs (soupName) VALUES (?)", [.text(name)])
    let soup = Soup(name: name, number: connection.lastInsertRowID, specs: specs, loading: nil)
    try connection.execute(tableDefinition(soup))
    try recordSpecs(of: soup)
    for i in specs.indices { try connection.execute(soup.createIndex(i)) }
    try rebuildFullText(soup, filling: true)
    state.forget()
  }

  /// Paths of json1 indexes are SQLite's: without entries it would only speak of a mistake when the first one comes.
  func checkPaths(_ specs: [IndexSpec], soup: String) throws {
    for spec in specs where spec.type == .json1 {
      do {
        _ = try connection.firstValue("SELECT json_insert('{}', '$.\(spec.path)', 1)")
        guard spec.hasGoodSubscripts else { throw DatabaseError(code: 1, message: "a subscript is [n], [#] or [#-n]") }
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
    // Behind the columns that `select *` of the model shows: how often the row was written, and which sync brought it.
    columns += ["version INTEGER NOT NULL DEFAULT 1", "owner INTEGER"]
    return "CREATE TABLE \(soup.table) (\(columns.joined(separator: ", ")))"
  }

  /// Drops a soup with all that belongs to it; nothing happens when there is none.
  package func removeSoup(_ name: String) throws {
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
  }

  /// Removes every entry; the soup, its specs and its id sequence stay.
  package func clearSoup(_ name: String) throws {
    let soup = try self.soup(name)
    state.feed?.noteAll(soup)
    try finishLoading(soup: name)
    if soup.hasFullText {
      // Emptied as a whole: word by word takes as long as filling it did.
      connection.forgetStatements()
      state.forget()
      try dropFullText(soup)
    }
    try connection.run("DELETE FROM \(soup.table)")
    try rebuildFullText(soup, filling: true)
    try forgetEntries(of: soup)
  }

  private func forgetEntries(of soup: Soup) throws {
    for table in StoreTransaction.entryTables {
      try connection.run("DELETE FROM \(table) WHERE soup = ?", [.integer(soup.number)])
    }
  }

  /// What the store keeps about entries beside their soups' tables, each with the columns `soup` and `entry`.
  private static let entryTables = ["soup_members", "soup_bases", "soup_conflicts", "outbox", "outbox_arrivals"]

  // MARK: Entries

  /// Adds an entry.
  /// - Returns: Its `_soupEntryId`.
  package func create(_ entry: JSONObject, in soup: String) throws -> Int64 {
    try writer(soup).upsertOne(entry.serialized(), id: nil) ?? 0
  }

  /// Replaces an entry whole.
  /// - Returns: False when there is no such row.
  package func replace(_ id: Int64, with entry: JSONObject, in soup: String) throws -> Bool {
    try writer(soup).upsertOne(entry.serialized(), id: id) != nil
  }

  /// Sets and removes first-level members of an entry; the rest of its text stays byte for byte.
  /// - Returns: False when there is no such row.
  package func patch(
    _ id: Int64, in soup: String, setting members: JSONObject, removing keys: [String] = []
  ) throws -> Bool {
    guard let entry = try entry(id, in: soup) else { return false }
    let text = try EntryText.rewrite(entry.text, dropping: Set(members.keys + keys), adding: members)
    return try writer(soup).upsertOne(text, id: id) != nil
  }

  /// Removes entries with everything kept about them; unknown ids are ignored.
  package func remove(_ ids: some Sequence<Int64>, from soup: String) throws {
    let found = try self.soup(soup)
    let delete = try connection.statement("DELETE FROM \(found.table) WHERE id = ?")
    for id in ids {
      delete.bind(1, id)
      try delete.run()
      for table in StoreTransaction.entryTables {
        try connection.run("DELETE FROM \(table) WHERE soup = ? AND entry = ?", [.integer(found.number), .integer(id)])
      }
    }
  }

  /// The writer of a soup, its indexes complete: a load that another process began is ended first.
  func writer(_ name: String) throws -> SoupWriter {
    if try soup(name).loading != nil { try finishLoading(soup: name) }
    return try anyWriter(name)
  }

  /// The writer of a soup, which may be in the middle of a load.
  func anyWriter(_ name: String) throws -> SoupWriter {
    let soup = try self.soup(name)
    if let writer = state.writers[soup.name], writer.soup.number == soup.number { return writer }
    let writer = SoupWriter(soup: soup, connection: connection)
    state.writers[name] = writer
    return writer
  }
}
