import SmartStore
import Support

/// A large first load into an empty soup keeps one index, of the path that finds the records' entries; the others are built
/// in the end. Since look-ups stay as they are, a load that ends early leaves nothing wrong behind: what is missing makes
/// queries slow until a writer, or the next program that opens the store, builds it.
extension PostgresTransaction {
  /// Begins a load if the soup is empty and the server announces many records.
  func beginBulkLoad(of table: SoupTable, _ storage: PageStorage) throws {
    guard (storage.expectedTotal ?? 0) >= bulkLoadMinimum else { return }
    let specs = table.soup.specs, others = specs.indices.filter { specs[$0].path != storage.idPath }
    guard !others.isEmpty else { return }
    let mark = BulkLoad(idPath: storage.idPath, owner: caches.loader)
    let hasBegun = try query(
      "SELECT \(schema).begin_load($1, $2, $3, $4)",
      [.int64(table.soup.number), .text(table.name), .texts(others.map(table.index)), .text(mark.text)]
    ).only().bool(0)
    if hasBegun { try soupsChanged() }
  }

  /// A load goes on only on the connection that began it, by the same path, and while no query needs the indexes.
  func continueOrFinishBulkLoad(of table: SoupTable, idPath: String) throws {
    let isWanted = caches.wantedIndexes.remove(table.soup)
    guard isWanted || table.soup.bulkLoad != BulkLoad(idPath: idPath, owner: caches.loader) else { return }
    try finishBulkLoad(soup: table.soup.name)
  }

  func finishBulkLoad(soup name: String) throws {
    let table = try table(name)
    guard table.soup.bulkLoad != nil else { return }
    for i in table.soup.specs.indices { try execute(table.createIndex(i, unlessExists: true)) }
    add("UPDATE \(schema).soup_attrs SET loading = NULL WHERE id = $1", [.int64(table.soup.number)])
    try soupsChanged()
  }

  func buildIndexAhead(soup name: String, whileMissing least: Int) throws -> Bool {
    let table = try table(name)
    guard table.soup.bulkLoad?.owner == caches.loader else { return false }
    let names = table.soup.specs.indices.map(table.index)
    let present = try query(
      "SELECT relname::text FROM pg_catalog.pg_class WHERE relnamespace = $1::text::regnamespace AND relname = ANY ($2)",
      [.text(schema), .texts(names)]
    ).map { try $0.string(0) }
    let missing = table.soup.specs.indices.filter { !present.contains(names[$0]) }
    guard let next = missing.first, missing.count >= least else { return false }
    try execute(table.createIndex(next))
    return true
  }
}

extension PostgresEngine {
  /// Builds the indexes that loads of ended processes have left missing. If it fails, queries stay slow, and the next open
  /// tries again.
  func finishAbandonedLoads() {
    _ = try? writerQueue.sync {
      let abandoned = try readers.read(for: nil, isSmart: false) { try abandonedLoads($0) }
      guard !abandoned.isEmpty else { return }
      try write(.synced) { transaction in
        for soup in abandoned where try transaction.soupExists(soup) { try transaction.finishBulkLoad(soup: soup) }
      }
    }
  }

  private func abandonedLoads(_ snapshot: PostgresSnapshot) throws -> [String] {
    try snapshot.caches.all.filter { table in
      guard let process = table.soup.bulkLoad?.owner.process else { return false }
      switch process.liveness() {
      case .running: return false
      case .dead: return true
      case .unknown: return try !isWriting(process, snapshot)
      }
    }.map(\.soup.name)
  }

  /// Whether a process of another host has written lately, to any store of the database.
  private func isWriting(_ process: ProcessIdentity, _ snapshot: PostgresSnapshot) throws -> Bool {
    try snapshot.query(
      """
      SELECT FROM \(control.sql).writers WHERE starts_with(id, $1) AND seen > clock_timestamp() - $2 * interval '1 s' LIMIT 1
      """, [.text(Writer.idPrefix(of: process)), .double(Double(Tuning.endedLoadS))]
    ).count > 0
  }
}
