import Database

/// Compiles smart SQL over empty soups in memory. An engine with another dialect thus reports the
/// mistakes of a query in the same words as SQLite does, and gives its columns the same names.
///
/// For one thread at a time.
package final class SmartSqlCheck {
  /// What is known about a query without running it.
  package struct Compiled: Sendable {
    package let placeholders: Int
    package let columnNames: [String]
    /// Whether one of the columns is named `id`.
    package let selectsId: Bool
  }

  private var soups: [Soup] = []
  private var snapshot: SQLiteSnapshot?

  package init() {}

  /// - Parameter soups: Those that the query refers to, as they are now.
  /// - Throws: ``StoreError`` `.invalidSmartSql`, `.notReadOnly`, `.queryLimit`, `.invalidQuerySpec`.
  package func compile(_ spec: QuerySpec, over soups: [Soup]) throws -> Compiled {
    let snapshot = try snapshot(of: soups)
    return try snapshot.translatingErrors(spec) {
      let found = try snapshot.smartSql(spec)
      guard spec.arguments.count <= found.placeholders else {
        throw StoreError(
          .invalidQuerySpec,
          "query spec: 'args' has \(spec.arguments.count) values for \(found.placeholders) placeholders in the smart SQL")
      }
      return Compiled(placeholders: found.placeholders, columnNames: found.columnNames, selectsId: found.selectsId)
    }
  }

  /// Checks a json1 path, which follows SQLite's syntax.
  /// - Throws: ``StoreError`` `.invalidIndexSpec`.
  package func checkPath(_ spec: IndexSpec, soup: String) throws {
    let connection = try Connection(path: ":memory:", mode: .readWrite)
    let state = ConnectionState(number: 0, WantedIndexes())
    try SQLiteTransaction(connection: connection, state: state).checkPaths([spec], soup: soup)
  }

  /// Returns empty tables of these soups, and of earlier ones that have not changed.
  private func snapshot(of wanted: [Soup]) throws -> SQLiteSnapshot {
    if let snapshot, wanted.allSatisfy(soups.contains) { return snapshot }
    soups = soups.filter { old in !wanted.contains { $0.number == old.number } } + wanted
    let connection = try Connection(path: ":memory:", mode: .readWrite)
    try Schema.migrate(connection, path: ":memory:")
    let state = ConnectionState(number: 0, WantedIndexes())
    let transaction = SQLiteTransaction(connection: connection, state: state)
    for soup in soups {
      try connection.run(
        "INSERT INTO soup_attrs (id, soupName) VALUES (?, ?)", [.integer(soup.number), .text(soup.name)])
      try connection.execute(transaction.tableDefinition(soup))
      try transaction.recordSpecs(of: soup)
      try transaction.rebuildFullText(soup, filling: true)
    }
    try Schema.configureReader(connection)
    let fresh = SQLiteSnapshot(connection: connection, state: state)
    snapshot = fresh
    return fresh
  }
}
