import Database
import JSON

extension StoreSnapshot {
  /// Whether a large first load into a soup has put its indexes off.
  package func isLoading(soup name: String) throws -> Bool { try soup(name).loading != nil }

  /// Compiles what a sync needs from each record: the soup's index specs, the id, and paths of the caller's own.
  /// - Parameter ownedKeys: First-level members that the caller will overlay or remove; the store's own are added.
  package func pagePlan(
    soup name: String, idPath: String, extraPaths: [String] = [], ownedKeys: [String]
  ) throws -> PagePlan {
    PagePlan(
      soup: try soup(name), idPath: idPath, extraPaths: extraPaths,
      ownedKeys: ownedKeys + [SoupField.entryId, SoupField.lastModified])
  }
}

extension StoreTransaction {
  /// Stores the records of a page by their external id; see ``SoupWriter/store``.
  ///
  /// A large first load into an empty soup puts the indexes off until ``finishLoading(soup:)``: nearly half the work of such a
  /// load is keeping indexes in order row by row. Until then queries scan, full-text searches find nothing, and any other writer
  /// ends the load first. A query of this process that goes by a path has them built at the next page.
  ///
  /// - Parameter kept: Told the position and the entry id of each record whose entry stays as it is for its local changes.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.pathNotIndexed`, `.missingExternalId`; nothing of the page is written then.
  package func storeRecords(
    _ page: ScannedPage, in name: String, _ storage: PageStorage, kept: (Int, Int64) -> Void = { _, _ in }
  ) throws -> StoreOutcome {
    let idPath = storage.idPath
    let soup = try self.soup(name)
    guard soup.specs.contains(where: { $0.path == idPath }) else {
      throw StoreError(.pathNotIndexed, "\(name) does not have an index on \(idPath)")
    }
    guard page.plan.specs == soup.specs else {
      throw StoreError(
        .invalidIndexSpec, "the index specs of soup \(name) were altered while records were on their way; run the sync again")
    }
    try enterOrLeaveLoading(soup, idPath: idPath, expectedTotal: storage.expectedTotal)
    let writer = try anyWriter(name)
    if writer.soup.loading != nil { state.loads[name]?.note(page) }
    let overlay = try writer.overlay(storage.members, removing: storage.dropped, plan: page.plan)
    return try writer.store(page, storage, overlay, inserting: writer.soup.loading != nil, kept: kept)
  }

  private func enterOrLeaveLoading(_ soup: Soup, idPath: String, expectedTotal: Int?) throws {
    if soup.loading != nil {
      // A load goes on without indexes only in the process that began it, by the path it began with, and while no query runs.
      if state.wantedIndexes.remove(soup) || soup.loading != LoadMark(idPath: idPath, process: .current) {
        try finishLoading(soup: soup.name)
      }
      return
    }
    guard let expectedTotal, expectedTotal >= Tuning.deferIndexesFrom,
      try connection.firstValue("SELECT 1 FROM \(soup.table) LIMIT 1") == nil
    else {
      state.loads[soup.name] = nil
      return
    }
    let mark = LoadMark(idPath: idPath, process: .current)
    connection.forgetStatements()
    state.forget()
    state.loads[soup.name] = LoadKeys(expected: expectedTotal)
    // Rows that are only added need none of what was read before.
    try Schema.setCache(connection, kibibytes: Tuning.loadingCacheKiB)
    for i in soup.specs.indices { try connection.execute("DROP INDEX IF EXISTS \(soup.indexName(i))") }
    try dropLookupIndexes(of: soup)
    try rebuildFullText(soup, filling: false)
    try connection.run("UPDATE soup_attrs SET loading = ? WHERE id = ?", [.text(mark.text), .integer(soup.number)])
  }

  /// Builds the indexes that a load put off; nothing happens when there was none. Rows that arrived twice, because the server's
  /// pages shifted under the load, are reduced to the later one.
  package func finishLoading(soup name: String) throws {
    let soup = try self.soup(name)
    guard let mark = soup.loading else { return }
    // If every id since the first page was noted, it is known whether one came twice; otherwise the table is searched. The ids go
    // before the indexes are sorted, which takes more memory than all the rest of a load.
    let isUnique = state.loads.removeValue(forKey: name).map { !$0.mayRepeat } ?? false
    connection.forgetStatements()
    state.forget()
    // Sorting a million keys in runs as small as the load's cache costs a tenth of the whole load.
    try Schema.setCache(connection, kibibytes: Tuning.sortingCacheKiB)
    for i in soup.specs.indices { try connection.execute(soup.createIndex(i)) }
    try Schema.setCache(connection, kibibytes: Tuning.writerCacheKiB)
    try connection.run("UPDATE soup_attrs SET loading = NULL WHERE id = ?", [.integer(soup.number)])
    for double in isUnique ? [] : try repeated(soup.expression(mark.idPath), in: soup) {
      // Who brought the earlier row owns the one that stays, too.
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

  /// Builds one of the indexes that a load of this process put off, while the load waits for its next page anyway. The load goes
  /// on as before, and keeps that index in order from then on.
  /// - Parameter least: Nothing happens while fewer are missing.
  /// - Returns: Whether one was built.
  package func buildIndexAhead(soup name: String, whileMissing least: Int) throws -> Bool {
    let soup = try self.soup(name)
    guard soup.loading?.process == .current else { return false }
    let missing = try soup.specs.indices.filter { i in
      try connection.firstValue("SELECT 1 FROM sqlite_master WHERE name = '\(soup.indexName(i))'") == nil
    }
    guard let next = missing.first, missing.count >= least else { return false }
    connection.forgetStatements()
    try connection.execute(soup.createIndex(next))
    return true
  }

  /// The rows whose value appears again further on, each with the last row that has it.
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
