import Database

extension SQLiteSnapshot {
  func history(_ query: HistoryQuery) throws -> [HistoryRow] {
    let statement = try connection.statement(query.sql(query.table.rawValue) { _ in "?" })
    defer { statement.reset() }
    try statement.bind(query.values)
    let integers = query.table.integers.count, texts = query.table.texts.count
    var rows: [HistoryRow] = []
    while try statement.step() {
      rows.append(
        HistoryRow(
          id: statement.int64(0),
          integers: (1...integers).map { statement.isNull(Int32($0)) ? nil : statement.int64(Int32($0)) },
          texts: (integers + 1...integers + texts).map { statement.isNull(Int32($0)) ? nil : statement.string(Int32($0)) }))
    }
    return rows
  }

  func storeId() throws -> String? {
    guard case .text(let id)? = try connection.firstValue("SELECT id FROM store_id") else { return nil }
    return id
  }
}
