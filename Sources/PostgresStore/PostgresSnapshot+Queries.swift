import Dispatch
import SmartStore
import Support

extension PostgresSnapshot {
  func page(
    _ index: Int, of spec: QuerySpec, soup name: String?, head: String, asRecords: Bool, anchors: inout CursorAnchors?
  ) throws -> QueryPage {
    let start = spec.firstRow(ofPage: index)
    guard spec.kind != .smart else {
      return try smartRows(spec, from: start, as: PageForm(head: head, row: .columns), lookingAhead: anchors != nil).page
    }
    let form = PageForm(head: head, row: spec.selectPaths != nil ? .columns : asRecords ? .record : .entry)
    return try reader(spec, name).page(from: start, limit: spec.pageSize, as: form, anchors: &anchors)
  }

  func view() throws -> CursorAnchors.View { CursorAnchors.View(reader: 0, version: seq) }

  func count(_ spec: QuerySpec, soup name: String?) throws -> Int {
    guard spec.kind == .smart else { return try reader(spec, name).count() }
    let rows = try smartRows(spec, "SELECT count(*) FROM (", ") AS q")
    return Int(try rows.only().int64(0))
  }

  func entryIds(_ spec: QuerySpec, soup name: String, limit: Int) throws -> [Int64] {
    guard spec.kind == .smart else { return try reader(spec, name).ids(limit: limit) }
    guard try translated(spec).selectsId else {
      throw StoreError(
        .invalidSmartSql, "to remove entries, smart SQL must select their ids as the column id: {\(name):_soupEntryId}")
    }
    let rows = try smartRows(spec, "SELECT q.id FROM (", ") AS q LIMIT \(limit)")
    return try rows.map { try $0.int64(0) }
  }

  private func reader(_ spec: QuerySpec, _ name: String?) throws -> RowReader {
    try spec.validate()
    guard let name else { throw StoreError(.invalidQuerySpec, "query spec: a '\(spec.kind.rawValue)' query needs a soup") }
    let table = try table(name)
    if let load = table.soup.bulkLoad, let path = spec.indexPath ?? spec.orderPath, path != SoupField.entryId, path != load.idPath
    {
      caches.wantedIndexes.insert(table.soup)
    }
    // Names and paths must pass the same checks as in smart SQL.
    _ = try SmartSql.convert(
      spec.smartSql(soupName: name), isStatement: false, dialect: PostgresDialect(caches: caches)
    ) { [caches] in caches.find($0)?.soup }
    return try RowReader(spec, table, self)
  }

  // MARK: Smart SQL

  func namedRows(_ spec: QuerySpec, pageIndex: Int) throws -> NamedRows {
    let rows = try smartRows(
      spec, from: spec.firstRow(ofPage: pageIndex), as: PageForm(head: "", row: .columns), lookingAhead: true)
    return NamedRows(names: rows.columns.map(\.name), text: rows.page.text, isLast: rows.page.isLast)
  }

  /// A page of a smart query, and its columns as SQLite names them.
  func smartRows(
    _ spec: QuerySpec, from start: Int, as form: PageForm, lookingAhead: Bool
  ) throws -> (page: QueryPage, columns: [ResultColumn]) {
    let columns = try translated(spec).resultColumns
    var text: RowText?, isLast = true
    try forEachSmart(spec, limit: spec.pageSize + (lookingAhead ? 1 : 0), offset: start) { row in
      let row = FetchedRow(row, columns)
      var page = text ?? RowText(row, columns: Int32(columns.count), form: form)
      text = nil
      if page.rows < spec.pageSize { try page.append(row) } else { isLast = false }
      text = page
    }
    return (text?.page(isLast: isLast) ?? .empty(form, isLast: true), columns)
  }

  func queryPlan(of spec: QuerySpec) throws -> SmartQueryPlan {
    let rows = try smartRows(spec, "EXPLAIN (COSTS OFF) SELECT * FROM (", ") AS q")
    let clauses = SmartSqlClauses(spec.smartSql ?? "")
    var steps: [SmartQueryPlan.Step] = [], scans: [SmartQueryPlan.Scan] = [], outer: [(indent: Int, id: Int64)] = []
    for (i, line) in try rows.map({ try $0.string(0) }).enumerated() {
      let indent = line.prefix { $0 == " " }.count, id = Int64(i + 1)
      outer.removeAll { $0.indent >= indent }
      let text = line.drop { $0 == " " || $0 == "-" || $0 == ">" }
      steps.append(SmartQueryPlan.Step(id: id, parent: outer.last?.id ?? 0, text: String(text)))
      outer.append((indent, id))
      guard text.hasPrefix("Seq Scan on ") else { continue }
      let name = text.dropFirst("Seq Scan on ".count).prefix { $0 != " " }
      guard let soup = caches.all.first(where: { $0.name == name })?.soup, !scans.contains(where: { $0.soupName == soup.name })
      else { continue }
      scans.append(clauses.scan(of: soup.name, soup.specs))
    }
    return SmartQueryPlan(steps: steps, scans: scans)
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
    struct TooMuch: Error {}
    let columns = try translated(spec).resultColumns
    var hasher = Hasher(), rows = 0, bytes = 0
    do {
      try forEachSmart(spec, limit: Tuning.watchedRows + 1, offset: 0) { row in
        rows += 1
        let row = FetchedRow(row, columns)
        for column in 0..<Int32(columns.count) {
          row.withBytes(column) { raw in
            hasher.combine(row.type(column))
            hasher.combine(raw.count)
            hasher.combine(bytes: raw)
            bytes += raw.count
          }
        }
        guard rows <= Tuning.watchedRows, bytes <= Tuning.watchedBytes else { throw TooMuch() }
      }
    } catch is TooMuch {
      return nil
    } catch let error as PostgresError where error.code == .cancelled {
      return nil
    }
    hasher.combine(rows)
    return hasher.finalize()
  }

  /// Calls `body` with rows of a smart query as they arrive.
  private func forEachSmart(
    _ spec: QuerySpec, limit: Int, offset: Int, _ body: (PostgresRow) throws -> Void
  ) throws {
    try smart(spec, "SELECT * FROM (", ") AS q LIMIT \(limit) OFFSET \(offset)") { sql, parameters in
      try server.forEach(sql, parameters, timeoutMs: Tuning.longAnswerMs, body)
    }
  }

  private func smartRows(_ spec: QuerySpec, _ before: String, _ after: String) throws -> PostgresRows {
    try smart(spec, before, after) { try server.query($0, $1, timeoutMs: Tuning.longAnswerMs) }
  }

  /// Runs a smart query wrapped in another statement.
  /// - Throws: ``StoreError`` `.notOnThisEngine` for what PostgreSQL refuses and SQLite does not.
  private func smart<T>(
    _ spec: QuerySpec, _ before: String, _ after: String, _ run: (String, [PostgresParameter]) throws -> T
  ) throws -> T {
    let translated = try translated(spec)
    var parameters = Parameters()
    let values = try spec.smartBindings(dialect: PostgresDialect(caches: caches)) { [caches] in caches.find($0)?.soup }
    let sql = translated.sql(values, &parameters)
    do {
      return try run(before + sql + after, parameters.list)
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
