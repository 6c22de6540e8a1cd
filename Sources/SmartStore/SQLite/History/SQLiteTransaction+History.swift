import Database

/// Writes the history of a transaction.
extension SQLiteTransaction {
  private static let statements = HistoryStatements { $0.rawValue }

  func lastRun() throws -> Int64 {
    guard case .integer(let last)? = try connection.firstValue("SELECT max(id) FROM sync_runs") else { return 0 }
    return last
  }

  /// Writes the rows before the commit. A failing statement ends the rest of them, and the transaction goes on.
  func writeHistory() {
    guard let history, !history.isEmpty else { return }
    do {
      for insert in Self.statements.inserts(history) { try write(insert) }
      for run in Self.statements.ends(history) { try write(end: run) }
      for step in Self.statements.rest(history) { try connection.run(step.sql, step.values.map { .integer($0) }) }
    } catch {
      history.failure = "\(error)"
    }
  }

  private func write(_ insert: HistoryStatements.Insert) throws {
    let statement = try connection.statement(Self.inserts[insert.table] ?? "")
    defer { statement.clearBindings() }
    for row in insert.rows {
      for (i, value) in row.integers.enumerated() {
        if let value { statement.bind(Int32(i + 1), value) } else { statement.bindNull(Int32(i + 1)) }
      }
      let first = Int32(row.integers.count + 1)
      for (i, value) in row.texts.enumerated() {
        if let value { statement.bind(first + Int32(i), value) } else { statement.bindNull(first + Int32(i)) }
      }
      try statement.run()
    }
  }

  private static let inserts = Dictionary(
    uniqueKeysWithValues: HistoryTable.allCases.map { table in
      let columns = table.integers + table.texts, marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
      return (
        table,
        "INSERT INTO \(table.rawValue) (\(columns.joined(separator: ", "))) VALUES (\(marks))" + HistoryStatements.suffix(table)
      )
    })

  private static let endStatement = statements.end("?", "?", "?", "?")

  private func write(end run: HistoryRun) throws {
    let statement = try connection.statement(Self.endStatement)
    defer { statement.clearBindings() }
    statement.bind(1, run.status)
    if let endedAt = run.endedAt { statement.bind(2, endedAt) } else { statement.bindNull(2) }
    if let state = run.state { statement.bind(3, state) } else { statement.bindNull(3) }
    statement.bind(4, run.number)
    try statement.run()
  }
}
