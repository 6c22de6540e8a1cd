import Database

/// How far the rebuilding of a soup has come. The words are those of the model's `long_operations_status`.
package enum AlterStep: String, CaseIterable, Sendable {
  case starting = "STARTING"
  case renameOldSoupTable = "RENAME_OLD_SOUP_TABLE"
  case dropOldIndexes = "DROP_OLD_INDEXES"
  case registerSoupUsingTableName = "REGISTER_SOUP_USING_TABLE_NAME"
  case copyTable = "COPY_TABLE"
  case reIndexSoup = "RE_INDEX_SOUP"
  case dropOldTable = "DROP_OLD_TABLE"
}

extension StoreTransaction {
  /// Rebuilds a soup with other index specs; see ``Store/alterSoup(_:indexSpecs:reIndexData:)``.
  ///
  /// All of it belongs to this one transaction, so no reader sees a step of it.
  /// - Parameter afterStep: Called behind each step, for tests.
  package func alterSoup(
    _ name: String, indexSpecs specs: [IndexSpec], reIndexData: Bool, afterStep: (AlterStep) throws -> Void = { _ in }
  ) throws {
    try IndexSpec.validate(specs, soup: name)
    try checkPaths(specs, soup: name)
    try finishLoading(soup: name)
    let old = try soup(name)
    state.feed?.isPaused = true
    defer { state.feed?.isPaused = false }
    let new = Soup(name: old.name, number: old.number, specs: specs, loading: nil)
    // Statements and what was compiled from the old specs must not outlive them.
    connection.forgetStatements()
    state.forget()
    let copies = specs.indices.map { AlterCopy(spec: specs[$0], from: old, reIndexing: reIndexData) }
    let oldTable = "\(old.table)_old", lastId = try connection.firstValue(StoreTransaction.sequence, [.text(old.table)])
    try dropFullText(old)
    try connection.execute("ALTER TABLE \(old.table) RENAME TO \(oldTable)")
    try afterStep(.renameOldSoupTable)

    for i in old.specs.indices { try connection.execute("DROP INDEX IF EXISTS \(old.indexName(i))") }
    try connection.run("DELETE FROM soup_index_map WHERE soupName = ?", [.text(name)])
    try afterStep(.dropOldIndexes)

    try connection.execute(tableDefinition(new))
    try recordSpecs(of: new)
    try afterStep(.registerSoupUsingTableName)

    try copyRows(from: oldTable, to: new, copies)
    try keepSequence(of: new, lastId)
    try afterStep(.copyTable)

    try project(specs.indices.filter { copies[$0].isProjected }, of: new)
    for i in specs.indices { try connection.execute(new.createIndex(i)) }
    try rebuildFullText(new, filling: true)
    try afterStep(.reIndexSoup)

    connection.forgetStatements()
    try connection.execute("DROP TABLE \(oldTable)")
    state.forget()
    try afterStep(.dropOldTable)
  }

  private static let sequence = "SELECT seq FROM sqlite_sequence WHERE name = ?"

  private func copyRows(from oldTable: String, to soup: Soup, _ copies: [AlterCopy]) throws {
    var targets = ["id", "soup", "created", "lastModified", "version", "owner"], sources = targets
    for (i, copy) in copies.enumerated() {
      guard let column = soup.column(i), let source = copy.oldColumn else { continue }
      targets.append(column)
      sources.append(source)
    }
    try connection.run(
      "INSERT INTO \(soup.table) (\(targets.joined(separator: ", "))) "
        + "SELECT \(sources.joined(separator: ", ")) FROM \(oldTable) ORDER BY id")
  }

  /// Ids of entries that were removed are not given out again.
  private func keepSequence(of soup: Soup, _ lastId: SQLValue?) throws {
    guard let lastId else { return }
    try connection.run("DELETE FROM sqlite_sequence WHERE name = ?", [.text(soup.table)])
    try connection.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [.text(soup.table), lastId])
  }
}

/// Where the values of one new index spec come from.
private struct AlterCopy {
  /// The old column of the same path, where it keeps the same kind of value.
  let oldColumn: String?
  /// Taken from the entries' text.
  let isProjected: Bool

  init(spec: IndexSpec, from old: Soup, reIndexing: Bool) {
    let place = old.specs.firstIndex { $0.path == spec.path }
    let type = place.map { old.specs[$0].type }
    oldColumn = type.flatMap { $0.columnType == spec.type.columnType ? place : nil }.flatMap(old.column)
    // What json1 found without a column, the column finds at once.
    isProjected = spec.type.columnType != nil && (type == .json1 || reIndexing && type != spec.type)
  }
}
