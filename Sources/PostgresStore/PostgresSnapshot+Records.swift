import SmartStore

/// Reads what a comparison with a server needs.
extension PostgresSnapshot {
  func recordRows(
    _ selection: RecordRow.Selection, in name: String, idPath: String, stampPath: String
  ) throws -> [RecordRow] {
    let table = try table(name), values = [idPath, stampPath, SoupField.syncId].map(table.value)
    let columns = values.map(\.selected).joined(separator: ", "),
      selected = "SELECT id, version, \(columns), \(table.isDirty) IS TRUE"
    let rows: PostgresRows
    switch selection {
    case .after(let last, let limit):
      rows = try query("\(selected) FROM \(table.sql) WHERE id > $1 ORDER BY id LIMIT $2", [.int64(last), .int(limit)])
    case .entries(let ids):
      rows = try byIndex {
        try query(
          "\(selected) FROM unnest($1) WITH ORDINALITY AS k(k_id, k_n) JOIN \(table.sql) ON id = k_id ORDER BY k_n",
          [.int64s(ids)])
      }
    }
    return try rows.map { row in
      func text(_ i: Int) throws -> String? { try row.isNull(2 + i) ? nil : row.string(2 + i, of: values[i]) }
      return RecordRow(
        entryId: try row.int64(0), version: try row.int64(1), recordId: try text(0), stamp: try text(1),
        owner: try text(2).flatMap { Int64($0) }, isDirty: try row.bool(5))
    }
  }
}
