import Support

/// The names of a soup's table and columns, and the SQL expressions of its paths.
extension Soup {
  var table: String { "TABLE_\(number)" }

  /// Returns the column of the i-th spec; nil for json1.
  func column(_ i: Int) -> String? { specs[i].type.columnType == nil ? nil : "\(table)_\(i)" }

  func indexName(_ i: Int) -> String { "\(table)_\(i)_idx" }

  /// Returns the SQL expression that the i-th index is built over.
  func indexedExpression(_ i: Int) -> String { column(i) ?? Soup.extract(specs[i].path) }

  func createIndex(_ i: Int) -> String {
    "CREATE INDEX IF NOT EXISTS \(indexName(i)) ON \(table) ( \(indexedExpression(i)) )"
  }

  /// Returns `json_extract` of a path, on an unqualified or qualified `soup` column.
  static func extract(_ path: String, qualifier: String? = nil) -> String {
    "json_extract(\(qualifier.map { $0 + "." } ?? "")soup, \("$.\(path)".quoted(with: UInt8(ascii: "'"))))"
  }

  /// Returns the SQL expression of any path of the soup, without a table name.
  func expression(_ path: String) -> String {
    switch path {
    case SoupField.entryId: "id"
    case SoupField.lastModified: "lastModified"
    case SoupField.created: "created"
    case SoupField.soup: "soup"
    default: specs.firstIndex { $0.path == path }.map(indexedExpression) ?? Soup.extract(path)
    }
  }

  /// True for entries whose `__local__` is JSON true, whatever the type of its index. The number 1
  /// and the texts "1" and "true" count as well: files of earlier releases may contain them, and an
  /// edit must not be lost.
  var dirtyCondition: String {
    guard let i = specs.firstIndex(where: { $0.path == SoupField.local }) else {
      return "\(Soup.extract(SoupField.local)) IN (1, 'true', '1')"
    }
    return switch specs[i].type {
    case .string, .fullText: "\(indexedExpression(i)) IN ('true', '1')"
    // An integer column holds no text.
    case .integer:
      "(\(indexedExpression(i)) = 1 OR \(indexedExpression(i)) IS NULL AND \(Soup.extract(SoupField.local)) IN ('true', '1'))"
    case .json1: "\(indexedExpression(i)) IN (1, 'true', '1')"
    case .floating: "\(Soup.extract(SoupField.local)) IN (1, 'true', '1')"
    }
  }
}

extension IndexType {
  /// The type of the column that holds the value; nil for `json1`, which indexes an expression.
  var columnType: String? {
    switch self {
    case .string, .fullText: "TEXT"
    case .integer: "INTEGER"
    case .floating: "REAL"
    case .json1: nil
    }
  }
}

/// The names of tables and columns in a store's file.
struct SQLiteDialect: SQLDialect {
  func table(of soup: Soup) -> String { soup.table }

  func column(of path: String, in soup: Soup) -> String? {
    let expression = soup.expression(path)
    return expression == Soup.extract(path) ? nil : expression
  }

  func extraction(of path: String, qualifier: String?) -> String { Soup.extract(path, qualifier: qualifier) }
}
