import SmartStore

/// A row before a write, for the history.
struct FormerRow {
  let version: Int64
  private let text: [UInt8]

  /// - Parameter column: That of the version; the text follows.
  init(_ row: PostgresRow, from column: Int) throws {
    version = try row.int64(column)
    text = try row.text(column + 1)
  }

  func changes(to new: [UInt8]) -> ChangedMembers {
    text.withUnsafeBytes { old in new.withUnsafeBytes { ChangedMembers(from: old, to: $0) } }
  }
}

/// Writes the history of a transaction, in the flight of its commit.
extension PostgresTransaction {
  /// Adds the statements before the commit. A failing one returns its message and ends nothing else.
  func writeHistory() {
    guard let history, !history.isEmpty else { return }
    let statements = HistoryStatements { [schema] in "\(schema).\($0.rawValue)" }
    if let last = history.lastBegun { add("UPDATE \(schema).state SET runs = $1", [.int64(last)]) }
    for insert in statements.inserts(history) { attempt(sql(insert.table), columns(insert)) }
    for run in statements.ends(history) {
      attempt(
        statements.end("($9::text[])[1]", "($1::bigint[])[1]", "($10::text[])[1]", "($2::bigint[])[1]"),
        [.array(integers([run.endedAt])), .array(integers([run.number]))] + Self.unused(6)
          + [.array(texts([run.status])), .array(texts([run.state]))] + Self.unused(4))
    }
    for step in statements.rest(history) { attempt(step.text, Self.unused(14)) }
  }

  private static func unused(_ count: Int) -> [PostgresParameter] { Array(repeating: .null, count: count) }

  private func attempt(_ statement: String, _ parameters: [PostgresParameter]) {
    let types = (0..<14).map { ", $\($0 + 2)::\($0 < 8 ? "bigint[]" : "text[]")" }.joined()
    add("SELECT \(schema).attempt($1\(types)) AS history_failure", [.text(statement)] + parameters)
  }

  /// Returns the failure of a statement of the history in the flight of the commit; nil if there was none.
  static func historyFailure(_ commit: GatheredTransaction) -> String? {
    for rows in commit.results where rows.columnCount == 1 && (try? rows.column("history_failure")) != nil {
      if let failure = try? rows.first?.optionalString(0) { return failure }
    }
    return nil
  }

  // MARK: Rows

  private func sql(_ table: HistoryTable) -> String {
    let marks = table.integers.indices.map { "$\($0 + 1)" } + table.texts.indices.map { "$\($0 + 9)" }
    return "INSERT INTO \(schema).\(table.rawValue) (\((table.integers + table.texts).joined(separator: ", "))) "
      + "SELECT * FROM unnest(\(marks.joined(separator: ", ")))" + HistoryStatements.suffix(table)
  }

  private func columns(_ insert: HistoryStatements.Insert) -> [PostgresParameter] {
    let table = insert.table
    let integers = table.integers.indices.map { i in PostgresParameter.array(self.integers(insert.rows.map { $0.integers[i] })) }
    let texts = table.texts.indices.map { i in PostgresParameter.array(self.texts(insert.rows.map { $0.texts[i] })) }
    return integers + Self.unused(8 - integers.count) + texts + Self.unused(6 - texts.count)
  }

  private func integers(_ values: [Int64?]) -> PostgresArray {
    var array = PostgresArray(of: .int64)
    for value in values { if let value { array.append(value) } else { array.appendNull() } }
    return array
  }

  private func texts(_ values: [String?]) -> PostgresArray {
    var array = PostgresArray(of: .text)
    for value in values { if let value { array.append(PostgresText.storable(value)) } else { array.appendNull() } }
    return array
  }
}

extension PostgresSnapshot {
  /// The version of the store's tables from which there is a history.
  private static let versionWithHistory: Int64 = 4

  func history(_ query: HistoryQuery) throws -> [HistoryRow] {
    guard version >= Self.versionWithHistory else { return [] }
    let integers = query.table.integers.count, texts = query.table.texts.count
    let rows = try self.query(
      query.sql("\(schema).\(query.table.rawValue)") { "$\($0)" },
      query.values.map { value in
        switch value {
        case .integer(let number): .int64(number)
        case .text(let text): .text(PostgresText.storable(text))
        default: .null
        }
      })
    return try rows.map { row in
      HistoryRow(
        id: try row.int64(0), integers: try (1...integers).map { try row.optionalInt64($0) },
        texts: try (integers + 1...integers + texts).map { try row.optionalString($0) })
    }
  }

  func storeId() throws -> String? {
    guard version >= Self.versionWithHistory else { return nil }
    return try query("SELECT id::text FROM \(schema).state").first?.string(0)
  }
}
