import Database
import Synchronization

extension SQLiteSnapshot {
  func namedRows(_ spec: QuerySpec, pageIndex: Int) throws -> NamedRows {
    try spec.validate()
    let statement = try smartStatement(spec, limit: spec.pageSize + 1, offset: spec.firstRow(ofPage: pageIndex))
    defer { statement.reset() }
    let names = (0..<statement.columnCount).map { statement.columnName($0) }
    var rows = RowText(statement, columns: statement.columnCount, form: PageForm(head: "", row: .columns))
    return try translatingErrors(spec) {
      while rows.rows < spec.pageSize, try statement.step() { try rows.append(statement) }
      let isLast = try rows.rows < spec.pageSize || !statement.step()
      return NamedRows(names: names, text: rows.page(isLast: isLast).text, isLast: isLast)
    }
  }

  func soupNames(inSmartSql text: String) throws -> [String] {
    let names = Mutex<[String]>([])
    _ = try SmartSql.convert(text, dialect: SQLiteDialect()) { name in
      names.withLock { known in
        if !known.contains(where: { $0.hasSameBytes(as: name) }) { known.append(name) }
      }
      return try self.find(name)
    }
    return names.withLock { $0 }
  }
}
