import Database
import JSON

/// A page of a smart query's rows with the names of its columns.
package struct NamedRows: Sendable {
  /// As the query calls them, with `AS` or without.
  package let names: [String]
  /// JSON text of an array of rows, which are arrays.
  package let text: [UInt8]
  /// There are no further rows.
  package let isLast: Bool
}

extension Store {
  /// Reads a page of a smart query, away from the cooperative pool.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.invalidSmartSql`, `.notReadOnly`, `.queryLimit`, `.storeClosed`, `.cancelled`.
  package func namedRows(_ spec: QuerySpec, pageIndex: Int) async throws -> NamedRows {
    try await readSmart { try $0.namedRows(spec, pageIndex: pageIndex) }
  }
}

extension StoreSnapshot {
  func namedRows(_ spec: QuerySpec, pageIndex: Int) throws -> NamedRows {
    let statement = try smartStatement(spec, limit: spec.pageSize + 1, offset: pageIndex * spec.pageSize)
    defer { statement.reset() }
    let names = (0..<statement.columnCount).map { statement.columnName($0) }
    var rows = RowText(statement, columns: statement.columnCount, form: PageForm(head: "", row: .columns))
    return try inWordsOf(spec) {
      while rows.rows < spec.pageSize, try statement.step() { try rows.append(statement) }
      let isLast = try rows.rows < spec.pageSize || !statement.step()
      return NamedRows(names: names, text: rows.page(isLast: isLast).text, isLast: isLast)
    }
  }
}
