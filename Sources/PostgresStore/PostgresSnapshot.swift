import Dispatch
import JSON
import SmartStore
import Support

/// A transaction of one connection. A read-only one sees the store as it was at its first statement; in a
/// writing one, it does not change otherwise.
class PostgresSnapshot: StoreSnapshot {
  let server: GatheredTransaction
  /// The quoted schema of the store.
  let schema: String
  let caches: StoreCaches
  /// The number of the store's last commit; in a writing transaction, of its own.
  private(set) var seq: Int64 = 0
  /// Ms that a query may take.
  var timeoutMs: Int64?
  /// The version of the store's tables; only those who look read older ones.
  var version = Int64(StoreTables.migrations.count)

  init(_ server: GatheredTransaction, schema: String, caches: StoreCaches) {
    self.server = server
    self.schema = schema
    self.caches = caches
  }

  /// Reads the store's state. Call first.
  func begin() throws { try look(try server.query("SELECT seq, soups FROM \(schema).state").only()) }

  /// - Parameter state: The numbers of the last commit and of the last change of soups.
  func look(_ state: PostgresRow) throws {
    seq = try state.int64(0)
    guard try state.int64(1) != caches.version else { return }
    server.connection.forgetStatements()
    try loadSoups(version: try state.int64(1))
  }

  func loadSoups(version: Int64) throws {
    caches.forget()
    let rows = try server.query(
      """
      SELECT a.id, a.soupName, m.path, m.columnType, \(loadingColumn) FROM \(schema).soup_attrs a
      LEFT JOIN \(schema).soup_index_map m ON m.soup = a.id ORDER BY a.soupName, m.position
      """)
    var found: [(number: Int64, name: String, load: BulkLoad?, specs: [IndexSpec])] = []
    for i in 0..<rows.count {
      let row = rows[i]
      if try found.last?.number != row.int64(0) {
        found.append((try row.int64(0), try row.string(1), try row.optionalString(4).flatMap(BulkLoad.init(text:)), []))
      }
      guard let path = try row.optionalString(2) else { continue }
      let type = IndexType(rawValue: try row.string(3)) ?? .string
      found[found.count - 1].specs.append(IndexSpec(path: path, type: type))
    }
    let tables = found.map {
      SoupTable(Soup(name: $0.name, number: $0.number, specs: $0.specs, bulkLoad: $0.load), schema)
    }
    caches.set(tables, version: version)
  }

  // MARK: Statements

  func query(_ sql: String, _ parameters: [PostgresParameter] = []) throws -> PostgresRows {
    try server.query(sql, parameters, timeoutMs: timeoutMs)
  }

  /// Calls `body` with each row as it arrives, so that a large result is never in memory as a whole.
  func forEach(_ sql: String, _ parameters: [PostgresParameter], _ body: (PostgresRow) throws -> Void) throws {
    try server.forEach(sql, parameters, timeoutMs: timeoutMs, body)
  }

  func ids(_ sql: String, _ parameters: [PostgresParameter]) throws -> [Int64] {
    try query(sql, parameters).map { try $0.int64(0) }
  }

  func run<T>(for query: QueryCancellation, _ body: () throws -> T) throws -> T {
    guard !query.isCancelled, query.allowsStep() else { throw StoreError.cancelled }
    let cancelling = Cancelling(server.connection.cancellation)
    query.beginWaiting { cancelling.start() }
    defer {
      query.endWaiting()
      // It would end the next statement of the connection.
      if !cancelling.end() { server.connection.close() }
    }
    do {
      return try body()
    } catch let error as PostgresError where error.code == .cancelled && query.isCancelled {
      throw StoreError.cancelled
    }
  }

  // MARK: Soups

  func find(_ name: String) -> SoupTable? { caches.find(name) }

  /// - Throws: ``StoreError`` `.noSuchSoup`.
  func table(_ name: String) throws -> SoupTable {
    guard let table = find(name) else { throw StoreError.noSuchSoup(name) }
    return table
  }

  func number(_ name: String) throws -> PostgresParameter { .int64(try table(name).soup.number) }

  func soupExists(_ name: String) throws -> Bool { find(name) != nil }

  func indexSpecs(of name: String) throws -> [IndexSpec] { try table(name).soup.specs }

  func soupNumber(of name: String) throws -> Int64 { try table(name).soup.number }

  func soupNames() throws -> [String] { caches.all.map(\.soup.name) }

  func isBulkLoading(soup name: String) throws -> Bool { try table(name).soup.bulkLoad != nil }

  func hasLookupIndex(_ path: String, in name: String) throws -> Bool {
    let table = try table(name), value = table.value(path)
    guard !value.isColumn else { return true }
    return try query(
      "SELECT FROM pg_catalog.pg_class c WHERE c.relname = $1 AND c.relnamespace = $2::text::regnamespace",
      [.text(lookupIndex(path, table)), .text(schema)]
    ).count > 0
  }

  /// A name of at most 63 bytes.
  func lookupIndex(_ path: String, _ table: SoupTable) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in path.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return "\(table.name)_lookup_" + String(hash, radix: 16)
  }

  // MARK: Entries

  func storedEntries(_ ids: [Int64], in soup: String) throws -> [StoredEntry] {
    try rows(ids, in: soup).map { StoredEntry(id: try $0.int64(2), version: try $0.int64(1), text: try $0.text(0)) }
  }

  func versions(of ids: [Int64], in soup: String) throws -> [Int64: Int64] {
    let rows = try query("SELECT id, version FROM \(try table(soup).sql) WHERE id = ANY ($1)", [.int64s(ids)])
    var versions: [Int64: Int64] = [:]
    for i in 0..<rows.count { versions[try rows[i].int64(0)] = try rows[i].int64(1) }
    return versions
  }

  private func rows(_ ids: [Int64], in soup: String) throws -> PostgresRows {
    let table = try table(soup).sql
    return try byIndex {
      try query(
        """
        SELECT t.soup, t.version, t.id FROM unnest($1) WITH ORDINALITY AS k(id, n)
        JOIN \(table) t ON t.id = k.id ORDER BY k.n
        """, [.int64s(ids)])
    }
  }

  func entries(_ ids: [Int64], in soup: String) throws -> EntryBatch {
    let rows = try rows(ids, in: soup)
    var batch = EntryBatch(text: [UInt8(ascii: "[")])
    for i in 0..<rows.count {
      if i > 0 { batch.text.append(UInt8(ascii: ",")) }
      batch.ids.append(try rows[i].int64(2))
      batch.versions.append(try rows[i].int64(1))
      try rows[i].withUTF8(0) { if let text = $0 { batch.text.append(contentsOf: text) } }
    }
    batch.text.append(UInt8(ascii: "]"))
    return batch
  }

  func page(of ids: [Int64], in soup: String) throws -> [UInt8] {
    let rows = try rows(ids, in: soup), columns = [ResultColumn(name: "soup", isTyped: false)]
    guard rows.count > 0 else { return Array("[]".utf8) }
    var page = RowText(FetchedRow(rows[0], columns), columns: 1, form: PageForm(row: .entry))
    for i in 0..<rows.count { try page.append(FetchedRow(rows[i], columns)) }
    return page.page(isLast: true).text
  }

  func entryIds(in soup: String, where path: String, equalsEach values: [SQLValue]) throws -> [[Int64]] {
    let table = try table(soup), value = table.value(path)
    let rows = try find(values, by: value, in: table, selecting: ["id"])
    var found = [[Int64]](repeating: [], count: values.count)
    for i in 0..<rows.count { found[Int(try rows[i].int64(0)) - 1].append(try rows[i].int64(1)) }
    return found
  }

  func entryIds(in soup: String, without path: String) throws -> [Int64] {
    let table = try table(soup)
    return try ids("SELECT id FROM \(table.sql) WHERE \(table.value(path).selected) IS NULL ORDER BY id", [])
  }

  func dirtyEntryIds(in soup: String) throws -> [Int64] {
    let table = try table(soup)
    return try ids("SELECT id FROM \(table.sql) WHERE \(table.isDirty) ORDER BY id", [])
  }

  func externalIds(in soup: String, path: String, ownedBy owner: Int64?, dirty: Bool?) throws -> [String] {
    let table = try table(soup), value = table.value(path)
    var conditions = ["\(value.selected) IS NOT NULL"], parameters = Parameters()
    if let owner {
      let mark = parameters.add(.int64(owner))
      conditions.append(
        "(owner = \(mark) OR id IN (SELECT m.entry FROM \(schema).soup_members m "
          + "WHERE m.soup = \(table.soup.number) AND m.owner = \(mark)))")
    }
    if let dirty { conditions.append(dirty ? table.isDirty : "\(table.isDirty) IS NOT TRUE") }
    return try query(
      "SELECT \(value.selected) FROM \(table.sql) WHERE \(conditions.joined(separator: " AND ")) ORDER BY id", parameters.list
    ).map { try $0.string(0, of: value) }
  }

  func bases(of ids: [Int64], in soup: String) throws -> [Int64: [UInt8]] {
    let rows = try query(
      "SELECT entry, base FROM \(schema).soup_bases WHERE soup = $1 AND entry = ANY ($2)", [try number(soup), .int64s(ids)])
    var bases: [Int64: [UInt8]] = [:]
    for i in 0..<rows.count { bases[try rows[i].int64(0)] = try rows[i].text(1) }
    return bases
  }

  // MARK: Ids of a server

  func serverIdCount(in name: String, path: String, localPrefix: String) throws -> Int {
    let table = try table(name)
    var parameters = Parameters()
    let condition = serverIdCondition(table.value(path), localPrefix, &parameters)
    return Int(
      try query("SELECT count(*) FROM \(table.sql) WHERE \(condition)", parameters.list).only().int64(0))
  }

  func serverIds(
    in name: String, path: String, stampPath: String?, localPrefix: String, after last: String?, limit: Int
  ) throws -> [(id: String, stamp: String?)] {
    let table = try table(name), id = table.value(path), stamp = stampPath.map(table.value)
    var parameters = Parameters()
    let condition = serverIdCondition(id, localPrefix, &parameters)
    let rest = id.condition(.above, .text(last ?? ""), &parameters)
    return try query(
      """
      SELECT \(id.selected), \(stamp?.selected ?? "NULL") FROM \(table.sql) WHERE \(condition) AND \(rest)
      ORDER BY \((id.ordering("ASC", "FIRST") + ["id"]).joined(separator: ", ")) LIMIT \(parameters.add(.int(limit)))
      """, parameters.list
    ).map { row in
      (try row.string(0, of: id), try stamp.flatMap { try row.isNull(1) ? nil : row.string(1, of: $0) })
    }
  }

  private func serverIdCondition(_ id: SoupValue, _ localPrefix: String, _ parameters: inout Parameters) -> String {
    "substr(\(id.asText), 1, \(localPrefix.unicodeScalars.count)) <> \(parameters.add(text: localPrefix))"
  }

  // MARK: Owners

  func cleanEntries(
    in name: String, where path: String, equals value: SQLValue, idPath: String, among candidates: [Int64]?
  ) throws -> [OwnedEntry] {
    let table = try table(name), id = table.value(idPath)
    var parameters = Parameters()
    var source = table.sql, order = "id"
    if let candidates {
      let mark = parameters.add(.int64s(candidates))
      source = "unnest(\(mark)) WITH ORDINALITY AS k(k_id, k_n) JOIN \(table.sql) ON id = k_id"
      order = "k_n"
    }
    let isId: String =
      switch id.form {
      case .text, .integer: "\(id.sql) IS NOT NULL"
      case .mixed: "left(\(id.selected), 1) IN ('t', 'i')"
      case .real: "false"
      }
    let condition = table.value(path).condition(.equal, value, &parameters)
    let sql = """
      SELECT id, \(id.selected) FROM \(source) WHERE \(condition) AND \(table.isDirty) IS NOT TRUE AND \(isId) ORDER BY \(order)
      """
    let rows = try candidates == nil ? query(sql, parameters.list) : byIndex { try query(sql, parameters.list) }
    return try rows.map { OwnedEntry(entryId: try $0.int64(0), recordId: try $0.string(1, of: id)) }
  }

  func otherOwners(of id: Int64, than owner: Int64, in name: String) throws -> [Int64] {
    let table = try table(name)
    return try ids(
      """
      SELECT owner FROM \(table.sql) WHERE id = $1 AND owner IS NOT NULL AND owner <> $3
      UNION SELECT owner FROM \(schema).soup_members WHERE soup = $2 AND entry = $1 AND owner <> $3 ORDER BY 1
      """, [.int64(id), .int64(table.soup.number), .int64(owner)])
  }

  func ownedByMakers(in name: String) throws -> [Int64] {
    let table = try table(name)
    return try ids(
      """
      SELECT id FROM \(table.sql) WHERE id IN (SELECT m.entry FROM \(schema).soup_creators m WHERE m.soup = $1)
      AND owner IS NULL AND \(table.isDirty) IS NOT TRUE ORDER BY id
      """, [.int64(table.soup.number)])
  }

  // MARK: Texts of records

  func areStored(
    _ records: [Int], on page: ScannedPage, in name: String, by idPath: String, overlay: JSONObject
  ) throws -> [Bool] {
    let table = try table(name), text = StoredText(overlay: overlay), value = table.value(idPath)
    let keys = records.map { text.key(ofRecord: $0, on: page).map { SQLValue.text(String(decoding: $0, as: UTF8.self)) } }
    let rows = try find(keys, by: value, in: table, selecting: ["id", "soup"])
    var found = [Int](repeating: 0, count: records.count), isSame = [Bool](repeating: false, count: records.count)
    for i in 0..<rows.count {
      let at = Int(try rows[i].int64(0)) - 1
      found[at] += 1
      guard found[at] == 1 else { continue }
      isSame[at] = try rows[i].withUTF8(2) { $0.map { text.isText($0, ofRecord: records[at], on: page) } ?? false }
    }
    return records.indices.map { found[$0] == 1 && isSame[$0] }
  }
}
