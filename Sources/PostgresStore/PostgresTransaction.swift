import JSON
import SmartStore
import Support

/// A transaction that writes. All other writers of the store wait until it ends.
final class PostgresTransaction: PostgresSnapshot, StoreTransaction {
  var history: HistoryRows?
  /// The number of the store's last run, before this transaction.
  private(set) var lastRun: Int64 = 0
  private(set) var notes = ChangeNotes()
  /// The last entry id of each soup, by number.
  private var lastIds: [Int64: Int64] = [:]
  /// Ms since 1970 UTC, for the entries that a call writes.
  var stamp: Int64 = 0
  /// The announced number of records from which a first load builds its indexes afterwards.
  var bulkLoadMinimum = Tuning.bulkLoadMinimum

  override func begin() throws {
    server.add("UPDATE \(schema).state SET seq = seq + 1 RETURNING seq, soups, runs")
    server.add("SELECT id, lastId FROM \(schema).soup_attrs")
    let results = try server.send()
    guard results.count >= 2 else { throw PostgresError(.unexpectedResult, "the store has no state") }
    let ids = results[results.count - 1]
    for i in 0..<ids.count { lastIds[try ids[i].int64(0)] = try ids[i].int64(1) }
    let state = try results[results.count - 2].only()
    lastRun = try state.int64(2)
    try look(state)
  }

  /// Adds the transaction's changes to the feed. Call last.
  func finish() throws {
    for (number, soup) in notes.soups.sorted(by: { $0.key < $1.key }) where !soup.changes.isEmpty {
      func ids(_ kind: EntryChanges.Kind) -> PostgresParameter { .int64s(soup.changes.ids(kind)) }
      add(
        """
        INSERT INTO \(schema).changes (soup, seq, name, created, updated, removed, everything)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """,
        [
          .int64(number), .int64(seq), .text(soup.name), ids(.created), ids(.updated), ids(.removed),
          .bool(soup.changes.isAll),
        ])
    }
    if seq % Tuning.commitsPerPruning == 0 { pruneChanges() }
    writeHistory()
  }

  private func pruneChanges() {
    add(
      """
      WITH gone AS (DELETE FROM \(schema).changes WHERE at < clock_timestamp() - \(Tuning.changesStayHours) * interval '1 hour'
        RETURNING seq)
      UPDATE \(schema).state SET pruned = (SELECT max(seq) FROM gone) WHERE EXISTS (SELECT FROM gone)
      """)
  }

  /// Adds a statement that is sent with the next query, or in the end.
  func add(_ sql: String, _ parameters: [PostgresParameter] = []) { server.add(sql, parameters) }

  func execute(_ sql: String) throws { _ = try server.query(sql, [], timeoutMs: Tuning.longAnswerMs) }

  func note(_ kind: EntryChanges.Kind, _ ids: some Sequence<Int64>, in table: SoupTable) { notes.note(kind, ids, in: table) }

  func beginBatch() { stamp = SystemClock.millisecondsSince1970() }

  func takeId(_ table: SoupTable) throws -> Int64 {
    let last = lastIds[table.soup.number] ?? 0
    guard last < .max else { throw StoreError(.postgres, "soup \(table.soup.name) has no entry ids left") }
    lastIds[table.soup.number] = last + 1
    return last + 1
  }

  /// Keeps the soup's last id; call after entries were created.
  func keepLastId(_ table: SoupTable) { keepLastId(table, lastIds[table.soup.number] ?? 0) }

  func keepLastId(_ table: SoupTable, _ id: Int64) {
    lastIds[table.soup.number] = id
    add("UPDATE \(schema).soup_attrs SET lastId = $1 WHERE id = $2", [.int64(id), .int64(table.soup.number)])
  }

  // MARK: Soups

  /// Reads the soups again after they were changed here, and has other connections do so.
  func soupsChanged() throws {
    let version = try query("UPDATE \(schema).state SET soups = soups + 1 RETURNING soups").only().int64(0)
    server.connection.forgetStatements()
    try loadSoups(version: version)
  }

  func registerSoup(_ name: String, _ specs: [IndexSpec]) throws {
    try Soup.validate(name: name)
    try IndexSpec.validate(specs, soup: name)
    try checkPaths(specs, soup: name)
    guard find(name) == nil else { return }
    try addSoup(name, specs)
    let table = try table(name)
    for i in specs.indices { try execute(table.createIndex(i)) }
  }

  /// Adds the table of a soup, without indexes.
  func addSoup(_ name: String, _ specs: [IndexSpec]) throws {
    let row = try query("INSERT INTO \(schema).soup_attrs (soupName) VALUES ($1) RETURNING id", [.text(name)]).only()
    let table = SoupTable(Soup(name: name, number: try row.int64(0), specs: specs, bulkLoad: nil), schema)
    try execute(table.definition)
    recordSpecs(of: table)
    try soupsChanged()
  }

  private func checkPaths(_ specs: [IndexSpec], soup: String) throws {
    for spec in specs where spec.type == .json1 { try caches.check.checkPath(spec, soup: soup) }
  }

  private func recordSpecs(of table: SoupTable) {
    for (i, spec) in table.soup.specs.enumerated() {
      add(
        "INSERT INTO \(schema).soup_index_map (soup, position, path, columnType) VALUES ($1, $2, $3, $4)",
        [.int64(table.soup.number), .int(i), .text(spec.path), .text(spec.type.rawValue)])
    }
  }

  func alterSoup(_ name: String, indexSpecs specs: [IndexSpec], reIndexData: Bool) throws {
    try alterSoup(name, indexSpecs: specs, reIndexData: reIndexData) { _ in }
  }

  /// Rebuilds the table. All steps belong to this transaction, and readers see the old table until the last ones.
  /// - Parameter afterStep: Called after each step, for tests.
  func alterSoup(
    _ name: String, indexSpecs specs: [IndexSpec], reIndexData: Bool, afterStep: (AlterStep) throws -> Void
  ) throws {
    try IndexSpec.validate(specs, soup: name)
    try checkPaths(specs, soup: name)
    let old = try table(name), soup = Soup(name: name, number: old.soup.number, specs: specs, bulkLoad: nil)
    let new = SoupTable(soup, schema), draft = SoupTable(soup, schema, suffix: "_new")
    add("DELETE FROM \(schema).soup_index_map WHERE soup = $1", [.int64(soup.number)])
    add("UPDATE \(schema).soup_attrs SET loading = NULL WHERE id = $1", [.int64(soup.number)])
    recordSpecs(of: new)
    try execute(draft.definition)
    try afterStep(.registerSoupUsingTableName)
    var targets = ["id", "soup", "created", "lastModified", "version", "owner"], sources = targets, projected: [Int] = []
    for i in new.projected {
      let spec = specs[i], position = old.soup.specs.firstIndex { $0.path == spec.path }
      let type = position.map { old.soup.specs[$0].type }
      if let position, old.form(position) == new.form(i) {
        targets.append(new.column(i))
        sources.append(old.column(position))
      }
      // json1 paths were complete, so the new column must be complete at once.
      if type == .json1 || reIndexData && type != spec.type { projected.append(i) }
    }
    try execute(
      "INSERT INTO \(draft.sql) (\(targets.joined(separator: ", "))) "
        + "SELECT \(sources.joined(separator: ", ")) FROM \(old.sql)"
    )
    try afterStep(.copyTable)
    try project(projected, of: draft)
    for i in specs.indices { try execute(draft.createIndex(i)) }
    try afterStep(.reIndexSoup)
    try waitForReaders()
    try execute("DROP TABLE \(old.sql)")
    try execute("ALTER TABLE \(draft.sql) RENAME TO \(new.name)")
    try execute("ALTER TABLE \(new.sql) RENAME CONSTRAINT \(draft.name)_pkey TO \(new.name)_pkey")
    for i in specs.indices { try execute("ALTER INDEX \(schema).\(draft.index(i)) RENAME TO \(new.index(i))") }
    try soupsChanged()
    try afterStep(.dropOldTable)
  }

  /// Waits until no reader is left, and keeps others out until the transaction ends.
  ///
  /// A reader sees the rows of its snapshot, but finds tables by their current names: in a table that is newer than
  /// its snapshot it would see no rows.
  private func waitForReaders() throws { try execute("LOCK TABLE \(schema).soup_attrs IN ACCESS EXCLUSIVE MODE") }

  func reIndexSoup(_ name: String, paths: [String]) throws {
    let table = try table(name), asked = IdSet(paths)
    try project(table.projected.filter { asked.contains(table.soup.specs[$0].path) }, of: table)
  }

  func indexLookups(by path: String, in name: String) throws {
    let table = try table(name)
    guard table.soup.bulkLoad == nil, try !hasLookupIndex(path, in: name) else { return }
    let key = table.value(path).sql
    try execute(
      "CREATE INDEX \(lookupIndex(path, table)) ON \(table.sql) (left(\(key), \(SoupTable.indexedCharacters)), id)")
    try soupsChanged()
  }

  func removeSoup(_ name: String) throws {
    guard let table = find(name) else { return }
    notes.noteAll(table)
    try waitForReaders()
    try execute("DROP TABLE \(table.sql)")
    for other in ["soup_index_map", "assigned_ids"] {
      add("DELETE FROM \(schema).\(other) WHERE soup = $1", [.int64(table.soup.number)])
    }
    add("DELETE FROM \(schema).soup_attrs WHERE id = $1", [.int64(table.soup.number)])
    forgetEntries(of: table)
    try noteEmptied(name)
    try soupsChanged()
  }

  func clearSoup(_ name: String) throws {
    let table = try table(name)
    notes.noteAll(table)
    add("DELETE FROM \(table.sql)")
    forgetEntries(of: table)
    try noteEmptied(name)
  }

  private func forgetEntries(of table: SoupTable) {
    for other in Self.entryTables { add("DELETE FROM \(schema).\(other) WHERE soup = $1", [.int64(table.soup.number)]) }
  }

  /// The tables with data about entries, each with the columns `soup` and `entry`.
  private static let entryTables = [
    "soup_members", "soup_creators", "soup_bases", "soup_conflicts", "uploads", "uploaded", "arrivals",
  ]

  // MARK: Entries

  func upsert(_ entries: [UInt8], into soup: String, externalIdPath: String) throws -> [UInt8] {
    try finishBulkLoad(soup: soup)
    return try SavedEntries(self, table(soup)).upsert(entries, externalIdPath: externalIdPath)
  }

  func save(_ entry: [UInt8], as id: Int64?, in soup: String) throws -> Int64? {
    try finishBulkLoad(soup: soup)
    return try SavedEntries(self, table(soup)).save(entry, as: id)
  }

  func remove(_ ids: [Int64], from soup: String) throws {
    let table = try table(soup)
    guard !ids.isEmpty else { return }
    let removed = try query("DELETE FROM \(table.sql) WHERE id = ANY ($1) RETURNING id", [.int64s(ids)])
    note(.removed, try removed.map { try $0.int64(0) }, in: table)
    for other in Self.entryTables {
      add(
        "DELETE FROM \(schema).\(other) WHERE soup = $1 AND entry = ANY ($2)", [.int64(table.soup.number), .int64s(ids)])
    }
  }

  func storeRecords(
    _ page: ScannedPage, in name: String, _ storage: PageStorage, kept: (Int, Int64) -> Void
  ) throws -> StoreOutcome {
    let table = try table(name)
    guard table.soup.specs.contains(where: { $0.path == storage.idPath }) else {
      throw StoreError(.pathNotIndexed, "\(name) does not have an index on \(storage.idPath)")
    }
    guard page.plan.specs == table.soup.specs else {
      throw StoreError(.invalidIndexSpec, "the index specs of soup \(name) were altered during the sync; run it again")
    }
    if table.soup.bulkLoad != nil { try continueOrFinishBulkLoad(of: table, idPath: storage.idPath) }
    return try RecordBatch(self, table, page, storage).store(kept)
  }
}
