/// The full-text index of a soup.
extension Soup {
  /// The FTS5 table, which has copies of the full_text columns under the same names. Its rowid is
  /// the entry's id.
  var fullTextTable: String { "\(table)_fts" }

  /// The columns of the full_text specs, in the order of the specs.
  var fullTextColumns: [String] { specs.indices.filter { specs[$0].type == .fullText }.compactMap(column) }

  var hasFullText: Bool { specs.contains { $0.type == .fullText } }

  var createFullTextTable: String {
    "CREATE VIRTUAL TABLE \(fullTextTable) USING fts5(\(fullTextColumns.joined(separator: ", ")))"
  }

  /// Copies every row, including entries without any text.
  var fillFullTextTable: String {
    let columns = fullTextColumns.joined(separator: ", ")
    return "INSERT INTO \(fullTextTable) (rowid, \(columns)) SELECT id, \(columns) FROM \(table) ORDER BY id"
  }

  private static let triggerKinds = ["insert", "update", "delete"]

  private func triggerName(_ kind: String) -> String { "\(fullTextTable)_\(kind)" }

  var dropFullText: [String] {
    Soup.triggerKinds.map { "DROP TRIGGER IF EXISTS \(triggerName($0))" } + ["DROP TABLE IF EXISTS \(fullTextTable)"]
  }

  /// Triggers that keep the copies in sync within each statement of any writer. An update that
  /// leaves the text alone costs nothing.
  var createFullTextTriggers: [String] {
    let columns = fullTextColumns
    let add =
      "INSERT INTO \(fullTextTable) (rowid, \(columns.joined(separator: ", "))) "
      + "VALUES (new.id, \(columns.map { "new.\($0)" }.joined(separator: ", ")));"
    let drop = "DELETE FROM \(fullTextTable) WHERE rowid = old.id;"
    let changed = columns.map { "old.\($0) IS NOT new.\($0)" }.joined(separator: " OR ")
    return [
      "CREATE TRIGGER \(triggerName("insert")) AFTER INSERT ON \(table) BEGIN \(add) END",
      "CREATE TRIGGER \(triggerName("update")) AFTER UPDATE OF \(columns.joined(separator: ", ")) ON \(table) "
        + "WHEN \(changed) BEGIN \(drop) \(add) END",
      "CREATE TRIGGER \(triggerName("delete")) AFTER DELETE ON \(table) BEGIN \(drop) END",
    ]
  }
}

extension SQLiteTransaction {
  /// Recreates the full-text table. Does nothing for a soup without full_text.
  /// - Parameter filling: Copies the existing rows and keeps the copies in sync from now on;
  ///   otherwise the table stays empty.
  func rebuildFullText(_ soup: Soup, filling: Bool) throws {
    guard soup.hasFullText else { return }
    try dropFullText(soup)
    try connection.execute(soup.createFullTextTable)
    guard filling else { return }
    try connection.execute(soup.fillFullTextTable)
    for trigger in soup.createFullTextTriggers { try connection.execute(trigger) }
  }

  /// Drops the full-text table. Finalize the statements that use it first.
  func dropFullText(_ soup: Soup) throws {
    guard soup.hasFullText else { return }
    for statement in soup.dropFullText { try connection.execute(statement) }
  }
}
