import Database

/// Additional indexes, which no index spec defines, for paths by which the engine looks up entries
/// often. Altering or bulk-loading a soup drops them, and the next run that needs one creates it
/// again.
extension SQLiteTransaction {
  func indexLookups(by path: String, in name: String) throws {
    guard try !hasLookupIndex(path, in: name) else { return }
    let soup = try self.soup(name)
    guard soup.bulkLoad == nil else { return }
    connection.forgetStatements()
    try connection.execute("CREATE INDEX \"\(lookupIndex(path, soup))\" ON \(soup.table) ( \(soup.expression(path)) )")
  }

  /// Drops the look-up indexes of a soup, before a bulk load.
  func dropLookupIndexes(of soup: Soup) throws {
    let statement = try connection.statement(
      "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND substr(name, 1, length(?)) = ?")
    let prefix = lookupPrefix(soup)
    try statement.bind([.text(soup.table), .text(prefix), .text(prefix)])
    var names: [String] = []
    while try statement.step() { names.append(statement.string(0)) }
    statement.reset()
    if !names.isEmpty { connection.forgetStatements() }
    for name in names { try connection.execute("DROP INDEX \"\(name)\"") }
  }
}

extension SQLiteSnapshot {
  func hasLookupIndex(_ path: String, in name: String) throws -> Bool {
    let soup = try self.soup(name)
    guard soup.expression(path) == Soup.extract(path), !soup.specs.contains(where: { $0.path == path }) else { return true }
    return try connection.firstValue(
      "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?", [.text(lookupIndex(path, soup))]) != nil
  }

  func lookupPrefix(_ soup: Soup) -> String { "\(soup.table)_lookup_" }

  func lookupIndex(_ path: String, _ soup: Soup) -> String {
    lookupPrefix(soup) + path.utf8.map { String($0, radix: 16) }.joined(separator: "_")
  }
}
