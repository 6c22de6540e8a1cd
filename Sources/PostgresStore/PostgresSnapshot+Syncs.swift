import SmartStore
import Support

extension PostgresSnapshot {
  // MARK: Conflicts

  private func conflicts(_ condition: String, _ parameters: [PostgresParameter]) throws -> [ConflictRecord] {
    try query(
      """
      SELECT entry, sync, state, server, idField, dateField, detectedAt FROM \(schema).soup_conflicts
      WHERE \(condition) ORDER BY entry
      """, parameters
    ).map { row in
      let server: ConflictRecord.Server =
        switch try row.string(2) {
        case "record": .record(try row.text(3))
        case "deleted": .deleted
        default: .unknown
        }
      return ConflictRecord(
        entryId: try row.int64(0), syncId: try row.int64(1), server: server, idField: try row.string(4),
        dateField: try row.string(5), detectedAt: try row.int64(6))
    }
  }

  func conflicts(in soup: String) throws -> [ConflictRecord] { try conflicts("soup = $1", [try number(soup)]) }

  func conflicts(of ids: [Int64], in soup: String) throws -> [ConflictRecord] {
    let found = try conflicts("soup = $1 AND entry = ANY ($2)", [try number(soup), .int64s(ids)])
    let byId = Dictionary(found.map { ($0.entryId, $0) }) { first, _ in first }
    return ids.compactMap { byId[$0] }
  }

  func soupsInConflict() throws -> [String] {
    try query(
      """
      SELECT soupName FROM \(schema).soup_attrs WHERE id IN (SELECT soup FROM \(schema).soup_conflicts) ORDER BY soupName
      """
    ).map { try $0.string(0) }
  }

  // MARK: Uploads

  /// Selects what ``UploadRecord/isUnknownCreate`` says.
  static let isUnknownCreate = "operation = 'create' AND state IN ('sent', 'inDoubt')"

  private func uploads(_ condition: String, _ parameters: [PostgresParameter]) throws -> [UploadRecord] {
    try query(
      """
      SELECT entry, version, operation, state, sync, fence, sentAt, clockOffset, resendAt, sent, earlier, entryText
      FROM \(uploadsTable) WHERE \(condition) ORDER BY entry
      """, parameters
    ).map { row -> UploadRecord? in
      guard let operation = UploadRecord.Operation(rawValue: try row.string(2)),
        let state = UploadRecord.State(rawValue: try row.string(3))
      else { return nil }
      func text(_ column: Int) throws -> [UInt8]? { try row.isNull(column) ? nil : row.text(column) }
      return UploadRecord(
        entryId: try row.int64(0), version: try row.int64(1), syncId: try row.int64(4), fence: try row.int64(5),
        operation: operation, state: state, sentAt: try row.int64(6), clockOffset: try row.optionalInt64(7),
        resendAt: try row.optionalInt64(8), sent: try text(9), earlier: try text(10), entryText: try text(11))
    }.compactMap { $0 }
  }

  func unsettledUploads(in soup: String) throws -> [UploadRecord] { try uploads("soup = $1", [try number(soup)]) }

  func unsettledCreates(in soup: String) throws -> [UploadRecord] {
    try uploads("soup = $1 AND \(Self.isUnknownCreate)", [try number(soup)])
  }

  func unsettledUploads(of entryIds: [Int64], in soup: String) throws -> [UploadRecord] {
    let found = try uploads("soup = $1 AND entry = ANY ($2)", [try number(soup), .int64s(entryIds)])
    let byId = Dictionary(found.map { ($0.entryId, $0) }) { first, _ in first }
    return entryIds.compactMap { byId[$0] }
  }

  func arrivals(in soup: String) throws -> Set<Int64> {
    Set(try ids("SELECT entry FROM \(arrivalsTable) WHERE soup = $1", [try number(soup)]))
  }

  func assignedId(for localId: String, in soup: String) throws -> String? {
    try query(
      """
      SELECT id FROM \(schema).assigned_ids
      WHERE soup = $1 AND \(schema).digest(localId) = \(schema).digest($2) AND localId = $2
      """,
      [try number(soup), .text(PostgresText.storable(localId))]
    ).first?.string(0)
  }

  // MARK: Echoes

  func echoes(in name: String, idPath: String) throws -> IdMap<Int64> {
    let table = try table(name), value = table.value(idPath)
    return try idsByText(
      """
      SELECT \(value.selected), id FROM \(table.sql)
      WHERE (id, version) IN (SELECT o.entry, o.version FROM \(uploadedTable) o WHERE o.soup = $1)
      ORDER BY id
      """, [.int64(table.soup.number)], value)
  }

  func uploadSequence() throws -> Int64 { try query("SELECT uploads FROM \(schema).state").only().int64(0) }

  func uploads(in name: String, idPath: String, since mark: Int64) throws -> IdMap<Int64> {
    let table = try table(name), value = table.value(idPath)
    let rows = try query(
      """
      SELECT t.v, o.entry, o.deletedId FROM \(uploadedTable) o
      LEFT JOIN (SELECT id, \(value.selected) AS v FROM \(table.sql)) t ON t.id = o.entry
      WHERE o.soup = $1 AND o.sequence > $2 ORDER BY o.entry
      """, [.int64(table.soup.number), .int64(mark)])
    var found: IdMap<Int64> = [:]
    for i in 0..<rows.count {
      let row = rows[i]
      found[try row.isNull(0) ? row.optionalString(2) ?? "" : row.string(0, of: value)] = try row.int64(1)
    }
    return found
  }

  private func idsByText(_ sql: String, _ parameters: [PostgresParameter], _ value: SoupValue) throws -> IdMap<Int64> {
    let rows = try query(sql, parameters)
    var found: IdMap<Int64> = [:]
    for i in 0..<rows.count { found[try rows[i].isNull(0) ? "" : rows[i].string(0, of: value)] = try rows[i].int64(1) }
    return found
  }

  func uploaded(of entryIds: [Int64], in name: String) throws -> [Int64: UploadedRecord] {
    let rows = try query(
      "SELECT entry, stamp, sent FROM \(uploadedTable) o WHERE soup = $1 AND entry = ANY ($2)",
      [try number(name), .int64s(entryIds)])
    var found: [Int64: UploadedRecord] = [:]
    for i in 0..<rows.count {
      found[try rows[i].int64(0)] = UploadedRecord(
        stamp: try rows[i].optionalInt64(1), sent: try rows[i].isNull(2) ? nil : rows[i].text(2))
    }
    return found
  }

  // MARK: Syncs

  /// Its expiry is a time of this machine's clock, which may differ from the server's.
  func lease(_ name: String) throws -> Lease? {
    try query(
      """
      SELECT owner, fence, expires = 'epoch', ceil(extract(epoch FROM expires - clock_timestamp()) * 1000)::bigint
      FROM \(schema).leases WHERE name = $1
      """, [.text(PostgresText.storable(name))]
    ).first.map { row in
      let expiry = try row.bool(2) ? 0 : SystemClock.millisecondsSince1970() + row.int64(3)
      return Lease(name: name, owner: try row.string(0), fence: try row.int64(1), expiresAt: expiry)
    }
  }

  func syncPages(of sync: Int64) throws -> IdMap<String> {
    let rows = try query("SELECT page, value FROM \(schema).sync_pages WHERE sync = $1", [.int64(sync)])
    var pages: IdMap<String> = [:]
    for i in 0..<rows.count { pages[try rows[i].string(0)] = try rows[i].string(1) }
    return pages
  }

  // MARK: Key-value stores

  /// Finds the key `$2` of the store `$1`.
  static let keyCondition = "store = $1 AND sha256(key) = sha256($2) AND key = $2"

  static func key(_ key: String, _ store: String) -> [PostgresParameter] { [.text(store), .bytes(Array(key.utf8))] }

  func keyValue(_ key: String, in store: String) throws -> [UInt8]? {
    try query("SELECT value FROM \(schema).keyvalue WHERE \(Self.keyCondition)", Self.key(key, store)).first?.optionalBytes(0)
  }

  func hasKeyValue(_ key: String, in store: String) throws -> Bool {
    try query("SELECT FROM \(schema).keyvalue WHERE \(Self.keyCondition)", Self.key(key, store)).count > 0
  }

  func keyValueCount(in store: String) throws -> Int {
    Int(try query("SELECT count(*) FROM \(schema).keyvalue WHERE store = $1", [.text(store)]).only().int64(0))
  }

  func keyValueKeys(in store: String, matching pattern: String?) throws -> [String] {
    var like = ""
    for c in (pattern ?? "*").unicodeScalars {
      if c == "%" || c == "_" || c == "\\" { like += "\\" }
      like.unicodeScalars.append(c == "*" ? "%" : c)
    }
    return try query(
      "SELECT key FROM \(schema).keyvalue WHERE store = $1 AND key LIKE $2 ORDER BY key", Self.key(like, store)
    ).map { String(decoding: try $0.optionalBytes(0) ?? [], as: UTF8.self) }
  }

  func keyValueStoreNames() throws -> [String] {
    try query("SELECT DISTINCT store FROM \(schema).keyvalue ORDER BY store").map { try $0.string(0) }
  }
}
