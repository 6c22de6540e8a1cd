import Database
import JSON
import RecordScan

/// A page of a query's result, as JSON text.
package struct QueryPage: Sendable {
  /// JSON array: entries, or rows as arrays.
  package var text: [UInt8]
  package var rows: Int
}

extension StoreSnapshot {
  /// Runs one page of a query.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.invalidSmartSql`, `.notReadOnly`, and SQLite's own words for bad SQL.
  package func query(_ spec: QuerySpec, soup name: String?, pageIndex: Int) throws -> QueryPage {
    let soup = try checkedSoup(spec, name)
    let (product, isTooFar) = max(0, pageIndex).multipliedReportingOverflow(by: spec.pageSize)
    let offset = isTooFar ? Int.max : product
    let statement: Statement
    if let like = try indexedLikePage(spec, soup: soup, limit: spec.pageSize, offset: offset) {
      statement = try readOnlyStatement(like.sql)
      try statement.bind(like.values)
    } else {
      let sql = try convert(spec.smartSql(soupName: soup))
      statement = try readOnlyStatement("SELECT * FROM (\(sql)) LIMIT \(spec.pageSize) OFFSET \(offset)")
      try statement.bind(bindings(spec, name))
    }
    defer { statement.reset() }
    return try ResultText.page(statement, asEntries: spec.kind != .smart && spec.selectPaths == nil)
  }

  /// How many rows a query has in all.
  package func count(_ spec: QuerySpec, soup name: String?) throws -> Int {
    let soup = try checkedSoup(spec, name)
    let like = try indexedLikeCount(spec, soup: soup)
    let statement = try readOnlyStatement(like?.sql ?? convert(spec.countSmartSql(soupName: soup)))
    try statement.bind(like?.values ?? bindings(spec, name))
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  /// The entry ids that a page of a query selects. Smart SQL must select the column `id`.
  func entryIds(_ spec: QuerySpec, soup name: String, limit: Int) throws -> [Int64] {
    let sql = try convert(spec.idsSmartSql(soupName: try checkedSoup(spec, name)))
    let statement = try readOnlyStatement("SELECT * FROM (\(sql)) LIMIT \(limit)")
    try statement.bind(bindings(spec, name))
    defer { statement.reset() }
    var ids: [Int64] = []
    while try statement.step() { ids.append(statement.int64(0)) }
    return ids
  }

  private func checkedSoup(_ spec: QuerySpec, _ name: String?) throws -> String {
    try spec.validate()
    if spec.kind == .smart {
      _ = try convert(spec.smartSql ?? "")
      return ""
    }
    guard let name else { throw StoreError(.invalidQuerySpec, "query spec: a '\(spec.kind.rawValue)' query needs a soup") }
    return try soup(name).name
  }

  private func bindings(_ spec: QuerySpec, _ name: String?) throws -> [SQLValue] {
    guard spec.kind != .smart, let name, let path = spec.indexPath else { return spec.bindings(nil) }
    return spec.bindings(try soup(name).specs.first { $0.path == path }?.type)
  }

  private func readOnlyStatement(_ sql: String) throws -> Statement {
    let statement = try connection.statement(sql)
    guard statement.isReadOnly, statement.columnCount > 0 else {
      throw StoreError(.notReadOnly, "Only SELECT are supported")
    }
    return statement
  }

  /// Smart SQL to SQL, remembered until a soup changes.
  private func convert(_ smartSql: String) throws -> String {
    if let known = state.smartSql[smartSql], known.smartSql.utf8.elementsEqual(smartSql.utf8) { return known.sql }
    let sql = try SmartSql.convert(smartSql) { try self.find($0) }
    if state.smartSql.count >= 1024 { state.smartSql.removeAll() }
    state.smartSql[smartSql] = (smartSql, sql)
    return sql
  }
}

/// Builds result pages as text. Stored entries are spliced in as they are, never parsed.
enum ResultText {
  static func page(_ statement: Statement, asEntries: Bool) throws -> QueryPage {
    let columns = statement.columnCount
    let isEntry = (0..<columns).map { i in
      let name = statement.columnName(i)
      return name == "soup" || name.hasPrefix("soup:")
    }
    var page = QueryPage(text: [0x5b], rows: 0)
    while try statement.step() {
      if page.rows > 0 { page.text.append(0x2c) }
      page.rows += 1
      if asEntries {
        append(statement, 0, isEntry: true, to: &page.text)
        continue
      }
      page.text.append(0x5b)
      for i in 0..<columns {
        if i > 0 { page.text.append(0x2c) }
        append(statement, i, isEntry: isEntry[Int(i)], to: &page.text)
      }
      page.text.append(0x5d)
    }
    page.text.append(0x5d)
    return page
  }

  private static func append(_ statement: Statement, _ i: Int32, isEntry: Bool, to out: inout [UInt8]) {
    switch statement.type(i) {
    case .null, .blob: out.append(contentsOf: "null".utf8)
    case .integer: out.append(contentsOf: String(statement.int64(i)).utf8)
    case .real: JSONText.append(statement.double(i), to: &out)
    case .text:
      let text = statement.bytes(i)
      // A column that a query itself named `soup` may hold anything: only what is JSON is spliced as JSON.
      if isEntry, JSONWalker.isObject(text) {
        out.append(contentsOf: text)
      } else if JSONWalker.isUTF8(text) {
        out.append(0x22)
        JSONText.appendEscaped(text.bindMemory(to: UInt8.self), to: &out)
        out.append(0x22)
      } else {
        JSONText.appendQuoted(String(decoding: text, as: UTF8.self), to: &out)
      }
    }
  }
}
