import Dispatch
import SmartStore
import Support

extension PostgresSnapshot {
  func page(
    _ index: Int, of spec: QuerySpec, soup name: String?, head: String, asRecords: Bool, anchors: inout CursorAnchors?
  ) throws -> QueryPage {
    let (product, isTooFar) = max(0, index).multipliedReportingOverflow(by: spec.pageSize)
    let start = isTooFar ? Int.max : product
    guard spec.kind != .smart else {
      return try smartPage(spec, from: start, as: PageForm(head: head, row: .columns), lookingAhead: anchors != nil)
    }
    let form = PageForm(head: head, row: spec.selectPaths != nil ? .columns : asRecords ? .record : .entry)
    return try reader(spec, name).page(from: start, limit: spec.pageSize, as: form, anchors: &anchors)
  }

  func view() throws -> CursorAnchors.View { CursorAnchors.View(reader: 0, version: seq) }

  func count(_ spec: QuerySpec, soup name: String?) throws -> Int {
    guard spec.kind == .smart else { return try reader(spec, name).count() }
    let rows = try smartRows(spec, "SELECT count(*) FROM (", ") AS q")
    return Int(try rows.rows.only().int64(0))
  }

  func entryIds(_ spec: QuerySpec, soup name: String, limit: Int) throws -> [Int64] {
    guard spec.kind == .smart else { return try reader(spec, name).ids(limit: limit) }
    guard try translated(spec).selectsId else {
      throw StoreError(
        .invalidSmartSql, "to remove entries, smart SQL must select their ids as the column id: {\(name):_soupEntryId}")
    }
    let rows = try smartRows(spec, "SELECT q.id FROM (", ") AS q LIMIT \(limit)").rows
    return try rows.map { try $0.int64(0) }
  }

  private func reader(_ spec: QuerySpec, _ name: String?) throws -> RowReader {
    try spec.validate()
    guard let name else { throw StoreError(.invalidQuerySpec, "query spec: a '\(spec.kind.rawValue)' query needs a soup") }
    let table = try table(name)
    // Names and paths must pass the same checks as in smart SQL.
    _ = try SmartSql.convert(
      spec.smartSql(soupName: name), isStatement: false, dialect: PostgresDialect(caches: caches)
    ) { [caches] in caches.find($0)?.soup }
    return try RowReader(spec, table, self)
  }

  // MARK: Smart SQL

  /// The rows of a smart query, and its columns as SQLite names them.
  struct SmartRows {
    let rows: PostgresRows
    let columns: [ResultColumn]

    func text(as form: PageForm, limit: Int, lookingAhead: Bool) throws -> QueryPage {
      guard rows.count > 0 else { return .empty(form, isLast: true) }
      var text = RowText(FetchedRow(rows[0], columns), columns: Int32(columns.count), form: form)
      for i in 0..<min(limit, rows.count) { try text.append(FetchedRow(rows[i], columns)) }
      return text.page(isLast: !lookingAhead || rows.count <= limit)
    }
  }

  private func smartPage(_ spec: QuerySpec, from start: Int, as form: PageForm, lookingAhead: Bool) throws -> QueryPage {
    let rows = try smartRows(spec, limit: spec.pageSize + (lookingAhead ? 1 : 0), offset: start)
    return try rows.text(as: form, limit: spec.pageSize, lookingAhead: lookingAhead)
  }

  func namedRows(_ spec: QuerySpec, pageIndex: Int) throws -> NamedRows {
    let rows = try smartRows(spec, limit: spec.pageSize + 1, offset: pageIndex * spec.pageSize)
    let page = try rows.text(as: PageForm(head: "", row: .columns), limit: spec.pageSize, lookingAhead: true)
    return NamedRows(names: rows.columns.map(\.name), text: page.text, isLast: page.isLast)
  }

  func soupNames(inSmartSql text: String) throws -> [String] {
    let names = NameList()
    _ = try SmartSql.convert(text, dialect: PostgresDialect(caches: caches)) { [caches] name in
      names.add(name)
      return caches.find(name)?.soup
    }
    return names.list
  }

  func resultHash(of spec: QuerySpec) throws -> Int? {
    server.add("SET LOCAL statement_timeout = \(Tuning.watchedMs)")
    let found: SmartRows
    do {
      found = try smartRows(spec, limit: Tuning.watchedRows + 1, offset: 0)
    } catch let error as PostgresError where error.code == .cancelled {
      return nil
    }
    guard found.rows.count <= Tuning.watchedRows else { return nil }
    var hasher = Hasher(), bytes = 0
    for i in 0..<found.rows.count {
      let row = FetchedRow(found.rows[i], found.columns)
      for column in 0..<Int32(found.columns.count) {
        hasher.combine(row.type(column))
        let raw = row.bytes(column)
        hasher.combine(raw.count)
        hasher.combine(bytes: raw)
        bytes += raw.count
      }
      if bytes > Tuning.watchedBytes { return nil }
    }
    hasher.combine(found.rows.count)
    return hasher.finalize()
  }

  private func smartRows(_ spec: QuerySpec, limit: Int, offset: Int) throws -> SmartRows {
    try smartRows(spec, "SELECT * FROM (", ") AS q LIMIT \(limit) OFFSET \(offset)")
  }

  /// Runs a smart query wrapped in another statement.
  /// - Throws: ``StoreError`` `.notOnThisEngine` for what PostgreSQL refuses and SQLite does not.
  private func smartRows(_ spec: QuerySpec, _ before: String, _ after: String) throws -> SmartRows {
    let translated = try translated(spec)
    var parameters = Parameters()
    let sql = translated.sql(spec.bindings(nil), &parameters)
    do {
      let rows = try server.query(before + sql + after, parameters.list, timeoutMs: Tuning.longAnswerMs)
      return SmartRows(rows: rows, columns: translated.resultColumns)
    } catch let error as PostgresError where error.isOfStatement {
      throw StoreError.notOnThisEngine("this smart SQL (\(error.message))", sql: spec.smartSql)
    }
  }

  private func translated(_ spec: QuerySpec) throws -> TranslatedSmartSql {
    try spec.validate()
    let text = spec.smartSql ?? ""
    if let known = caches.smartSql[text], known.source.utf8.elementsEqual(text.utf8), spec.arguments.count <= known.placeholders {
      return known
    }
    let soups = try soupNames(inSmartSql: text).compactMap { caches.find($0)?.soup }
    let compiled = try caches.check.compile(spec, over: soups)
    let converted = try SmartSql.convert(text, dialect: PostgresDialect(caches: caches)) { [caches] in caches.find($0)?.soup }
    let translated = try SmartSqlTranslation.translate(
      converted, source: text, tables: caches.all, schema: schema, columnNames: compiled.columnNames,
      placeholders: compiled.placeholders, selectsId: compiled.selectsId)
    caches.keep(translated)
    return translated
  }
}

/// Collects names in a closure that runs on this thread.
private final class NameList {
  private(set) var list: [String] = []

  func add(_ name: String) {
    if !list.contains(where: { $0.utf8.elementsEqual(name.utf8) }) { list.append(name) }
  }
}

extension PostgresError {
  /// True if the server refuses the statement for what it says or for its values, and would again.
  var isOfStatement: Bool {
    guard let sqlState else { return false }
    return sqlState == "TU010" || ["22", "42", "0A", "54"].contains(sqlState.prefix(2))
  }
}
