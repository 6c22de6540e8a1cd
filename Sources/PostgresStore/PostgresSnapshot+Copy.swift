import SmartStore
import Support

extension PostgresSnapshot {
  func soupsToCopy() throws -> [CopiedSoup] {
    // The server would end a session that waits for long, such as while the copy gets its indexes.
    server.add("SET LOCAL idle_in_transaction_session_timeout = 0")
    let rows = try query("SELECT id, soupName, lastId FROM \(schema).soup_attrs ORDER BY id")
    return try rows.map { row in
      let table = try table(try row.string(1))
      return CopiedSoup(
        name: table.soup.name, specs: table.soup.specs, lastId: try row.int64(2),
        entries: try query("SELECT count(*) FROM \(table.sql)").only().int64(0))
    }
  }

  func leases() throws -> [Lease] {
    let names = try query("SELECT name FROM \(schema).leases WHERE owner <> '' ORDER BY name").map { try $0.string(0) }
    return try names.compactMap { try lease($0) }
  }

  func countersToCopy() throws -> CopiedCounters {
    var fences: IdMap<Int64> = [:]
    for row in try query("SELECT name, fence FROM \(schema).leases").map({ $0 }) {
      fences[try row.string(0)] = try row.int64(1)
    }
    return CopiedCounters(fences: fences, uploads: try uploadSequence())
  }

  func copyTable(_ part: StorePart) throws -> PostgresCopyTable {
    PostgresCopyTable(part, try part.soup.map { try table($0) }, schema: schema)
  }

  func copiedRows(of part: StorePart, in range: CopiedRange) throws -> CopiedRows {
    let table = try copyTable(part), wanted = table.rows(in: range), keys = table.keys
    // The sizes decide which rows are read: a batch of large texts has few of them.
    let rows = try query(
      """
      SELECT \(table.columns.map(\.name).joined(separator: ", ")), copy_count FROM \(table.table) JOIN (
        SELECT \(keys), copy_count FROM (
          SELECT \(keys), sum(copy_size) OVER (ORDER BY \(keys)) AS copy_bytes, row_number() OVER (ORDER BY \(keys)) AS copy_row,
            count(*) OVER () AS copy_count
          FROM (SELECT \(keys), \(table.bytes) AS copy_size FROM \(table.table)\(wanted.sql)
            ORDER BY \(keys) LIMIT \(Tuning.copyBatchRows)) sizes) numbered
        WHERE copy_bytes <= \(Tuning.copyBatchBytes) OR copy_row = 1) batch USING (\(keys))
      \(table.soup == nil ? "" : "WHERE soup = $1") ORDER BY \(keys)
      """, wanted.parameters)
    let read = try rows.map { try table.row($0) }, found = try rows.first?.int64(table.columns.count) ?? 0
    return CopiedRows(rows: read, isLast: read.count == found && found < Tuning.copyBatchRows)
  }
}
