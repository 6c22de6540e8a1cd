import Database

extension SQLiteTransaction {
  func alterSoup(_ name: String, indexSpecs specs: [IndexSpec], reIndexData: Bool) throws {
    try alterSoup(name, indexSpecs: specs, reIndexData: reIndexData) { _ in }
  }

  /// Rebuilds a soup with other index specs; see ``Store/alterSoup(_:indexSpecs:reIndexData:)``.
  ///
  /// All steps belong to this transaction, so readers never see an intermediate state.
  /// - Parameter afterStep: Called after each step, for tests.
  func alterSoup(
    _ name: String, indexSpecs specs: [IndexSpec], reIndexData: Bool, afterStep: (AlterStep) throws -> Void
  ) throws {
    try IndexSpec.validate(specs, soup: name)
    try checkPaths(specs, soup: name)
    try finishBulkLoad(soup: name)
    let old = try soup(name)
    state.feed?.isPaused = true
    defer { state.feed?.isPaused = false }
    let new = Soup(name: old.name, number: old.number, specs: specs, bulkLoad: nil)
    // Prepared statements and compiled plans of the old specs become invalid.
    connection.forgetStatements()
    state.forget()
    let copies = specs.indices.map { AlterCopy(spec: specs[$0], from: old, reIndexing: reIndexData) }
    let oldTable = "\(old.table)_old", lastId = try connection.firstValue(SQLiteTransaction.sequence, [.text(old.table)])
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

  /// Continues the id sequence, so that ids of removed entries are not reused.
  func keepSequence(of soup: Soup, _ lastId: SQLValue?) throws {
    guard let lastId else { return }
    try connection.run("DELETE FROM sqlite_sequence WHERE name = ?", [.text(soup.table)])
    try connection.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [.text(soup.table), lastId])
  }
}

/// The source of the values of one new index spec.
private struct AlterCopy {
  /// The old column of the same path, if it has the same column type.
  let oldColumn: String?
  /// Whether the values are extracted from the entries' text.
  let isProjected: Bool

  init(spec: IndexSpec, from old: Soup, reIndexing: Bool) {
    let position = old.specs.firstIndex { $0.path == spec.path }
    let type = position.map { old.specs[$0].type }
    oldColumn = type.flatMap { $0.columnType == spec.type.columnType ? position : nil }.flatMap(old.column)
    // json1 paths have no column but were queryable, so the new column must be complete at once.
    isProjected = spec.type.columnType != nil && (type == .json1 || reIndexing && type != spec.type)
  }
}
