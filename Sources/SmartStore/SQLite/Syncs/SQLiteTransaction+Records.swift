import Database
import JSON

extension SQLiteSnapshot {
  func isBulkLoading(soup name: String) throws -> Bool { try soup(name).bulkLoad != nil }
}

extension SQLiteTransaction {
  /// In a bulk load the indexes are deferred because updating them row by row is nearly half of the
  /// work.
  func storeRecords(
    _ page: ScannedPage, in name: String, _ storage: PageStorage, kept: (Int, Int64) -> Void
  ) throws -> StoreOutcome {
    let idPath = storage.idPath
    let soup = try self.soup(name)
    guard soup.specs.contains(where: { $0.path == idPath }) else {
      throw StoreError(.pathNotIndexed, "\(name) does not have an index on \(idPath)")
    }
    guard page.plan.specs == soup.specs else {
      throw StoreError(
        .invalidIndexSpec, "the index specs of soup \(name) were altered during the sync; run it again")
    }
    try beginOrEndBulkLoad(soup, idPath: idPath, expectedTotal: storage.expectedTotal)
    let writer = try anyWriter(name)
    if writer.soup.bulkLoad != nil { state.loads[name]?.note(page) }
    let overlay = try writer.overlay(storage.members, removing: storage.dropped, plan: page.plan)
    return try writer.store(page, storage, overlay, inserting: writer.soup.bulkLoad != nil, history, kept: kept)
  }

  private func beginOrEndBulkLoad(_ soup: Soup, idPath: String, expectedTotal: Int?) throws {
    if soup.bulkLoad != nil {
      // A bulk load continues only on the connection that began it, by the same path, and while no
      // query needs the indexes.
      if state.wantedIndexes.remove(soup) || soup.bulkLoad != BulkLoad(idPath: idPath, owner: state.loader) {
        try finishBulkLoad(soup: soup.name)
      }
      return
    }
    guard let expectedTotal, expectedTotal >= state.bulkLoadMinimum,
      try connection.firstValue("SELECT 1 FROM \(soup.table) LIMIT 1") == nil
    else {
      state.loads[soup.name] = nil
      return
    }
    let mark = BulkLoad(idPath: idPath, owner: state.loader)
    connection.forgetStatements()
    state.forget()
    state.loads[soup.name] = BulkLoadKeys(expected: expectedTotal)
    // Rows are only added, so cached pages are not needed again.
    try Schema.setCache(connection, kibibytes: Tuning.bulkLoadCacheKiB)
    for i in soup.specs.indices { try connection.execute("DROP INDEX IF EXISTS \(soup.indexName(i))") }
    try dropLookupIndexes(of: soup)
    try rebuildFullText(soup, filling: false)
    try connection.run("UPDATE soup_attrs SET loading = ? WHERE id = ?", [.text(mark.text), .integer(soup.number)])
  }

  func finishBulkLoad(soup name: String) throws {
    let soup = try self.soup(name)
    guard let mark = soup.bulkLoad else { return }
    // If every id since the first page was hashed, we know whether one repeats; otherwise scan the
    // table. Free the hashes before sorting the indexes, which takes more memory than the rest of
    // the load.
    let isUnique = state.loads.removeValue(forKey: name).map { !$0.mayRepeat } ?? false
    connection.forgetStatements()
    state.forget()
    // With a cache as small as during the load, sorting a million keys takes a tenth of the whole
    // load.
    try Schema.setCache(connection, kibibytes: Tuning.sortingCacheKiB)
    for i in soup.specs.indices { try connection.execute(soup.createIndex(i)) }
    try Schema.setCache(connection, kibibytes: Tuning.writerCacheKiB)
    try connection.run("UPDATE soup_attrs SET loading = NULL WHERE id = ?", [.integer(soup.number)])
    // The indexes may have been built ahead, and other connections read the soup again only when the
    // schema changes.
    try connection.execute("DROP INDEX soup_attrs_0; CREATE INDEX soup_attrs_0 ON soup_attrs ( soupName )")
    for double in isUnique ? [] : try repeated(soup.expression(mark.idPath), in: soup) {
      // The owner of the removed row becomes an owner of the remaining one.
      try connection.run(
        """
        INSERT OR IGNORE INTO soup_members (soup, entry, owner)
        SELECT ?1, ?3, owner FROM \(soup.table) WHERE id = ?2
        AND owner IS NOT (SELECT owner FROM \(soup.table) WHERE id = ?3)
        """, [.integer(soup.number), .integer(double.id), .integer(double.keptId)])
      try remove(CollectionOfOne(double.id), from: name)
    }
    if soup.hasFullText {
      connection.forgetStatements()
      state.forget()
      try rebuildFullText(soup, filling: true)
    }
  }

  func buildIndexAhead(soup name: String, whileMissing least: Int) throws -> Bool {
    let soup = try self.soup(name)
    guard soup.bulkLoad?.owner == state.loader else { return false }
    let missing = try soup.specs.indices.filter { i in
      try connection.firstValue("SELECT 1 FROM sqlite_master WHERE name = '\(soup.indexName(i))'") == nil
    }
    guard let next = missing.first, missing.count >= least else { return false }
    connection.forgetStatements()
    try connection.execute(soup.createIndex(next))
    return true
  }

  /// Returns the rows whose value occurs again later, each with the last row that has it.
  private func repeated(_ key: String, in soup: Soup) throws -> [(id: Int64, keptId: Int64)] {
    let statement = try connection.statement(
      "SELECT \(key), max(id) FROM \(soup.table) WHERE \(key) IS NOT NULL GROUP BY \(key) HAVING count(*) > 1")
    defer { statement.reset() }
    var groups: [(value: SQLValue, last: Int64)] = []
    while try statement.step() { groups.append((statement.value(0), statement.int64(1))) }
    return try groups.flatMap { group in
      try ids("SELECT id FROM \(soup.table) WHERE \(key) = ? AND id < ?", [group.value, .integer(group.last)])
        .map { ($0, group.last) }
    }
  }
}
