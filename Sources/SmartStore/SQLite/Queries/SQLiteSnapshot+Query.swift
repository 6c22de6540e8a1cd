import Database
import JSON

extension SQLiteSnapshot {
  func page(
    _ index: Int, of spec: QuerySpec, soup name: String?, head: String, asRecords: Bool,
    anchors: inout CursorAnchors?
  ) throws -> QueryPage {
    let start = spec.firstRow(ofPage: index)
    guard spec.kind != .smart else {
      return try smartPage(spec, from: start, as: PageForm(head: head, row: .columns), lookingAhead: anchors != nil)
    }
    let form = PageForm(head: head, row: spec.selectPaths != nil ? .columns : asRecords ? .record : .entry)
    let reader = try rows(spec, name)
    return try translatingErrors(spec) { try reader.page(from: start, limit: spec.pageSize, as: form, anchors: &anchors) }
  }

  func count(_ spec: QuerySpec, soup name: String?) throws -> Int {
    guard spec.kind == .smart else {
      let reader = try rows(spec, name)
      return try translatingErrors(spec) { try reader.count() }
    }
    return try translatingErrors(spec) {
      let statement = try smartStatement(spec, "SELECT count(*) FROM (", ")")
      defer { statement.reset() }
      return try statement.step() ? Int(statement.int64(0)) : 0
    }
  }

  func entryIds(_ spec: QuerySpec, soup name: String, limit: Int) throws -> [Int64] {
    var ids: [Int64] = []
    guard spec.kind == .smart else {
      let reader = try rows(spec, name)
      try translatingErrors(spec) { _ = try reader.forEach(.ids, in: RowSpan(limit: limit)) { ids.append($0.int64(0)) } }
      return ids
    }
    return try translatingErrors(spec) {
      guard try smartSql(spec).selectsId else {
        throw StoreError(
          .invalidSmartSql, "to remove entries, smart SQL must select their ids as the column id: {\(name):_soupEntryId}")
      }
      let statement = try smartStatement(spec, "SELECT id FROM (", ") LIMIT \(limit)")
      defer { statement.reset() }
      while try statement.step() { ids.append(statement.int64(0)) }
      return ids
    }
  }

  func view() throws -> CursorAnchors.View {
    guard case .integer(let version)? = try connection.firstValue("PRAGMA data_version") else {
      return CursorAnchors.View(reader: state.number, version: -1)
    }
    return CursorAnchors.View(reader: state.number, version: version)
  }

  // MARK: Queries over a soup

  private func rows(_ spec: QuerySpec, _ name: String?) throws -> RowReader {
    try spec.validate()
    guard let name else { throw StoreError(.invalidQuerySpec, "query spec: a '\(spec.kind.rawValue)' query needs a soup") }
    let soup = try soup(name), index = spec.indexPath.flatMap { path in soup.specs.firstIndex { $0.path == path } }
    if soup.bulkLoad != nil, let path = spec.indexPath ?? spec.orderPath, path != SoupField.entryId {
      state.wantedIndexes.insert(soup)
    }
    let keys = spec.bindings(index.map { soup.specs[$0].type })
    let like = try likeBounds(spec, soup, index)
    let plan = try plan(spec, soup, boundsCount: like.count)
    guard spec.kind == .like || plan.hasBounds else { return RowReader(plan: plan, filter: keys, bounds: [KeyBounds()]) }
    if spec.kind == .range {
      let low = spec.beginKey == nil ? nil : keys.first, high = spec.endKey == nil ? nil : keys.last
      return RowReader(plan: plan, filter: [], bounds: [KeyBounds(low: low, high: high)])
    }
    if plan.hasBounds || like.isEmpty {
      return RowReader(plan: plan, filter: keys, bounds: like.isEmpty ? [KeyBounds()] : like)
    }
    return RowReader(plan: plan, filter: like.flatMap { keys + [$0.low, $0.high].compactMap { $0 } }, bounds: [KeyBounds()])
  }

  /// Returns the index ranges that can match a LIKE pattern. Only string indexes have any, because
  /// their columns hold nothing but text.
  private func likeBounds(_ spec: QuerySpec, _ soup: Soup, _ index: Int?) throws -> [KeyBounds] {
    guard spec.kind == .like, let key = spec.likeKey, let index, soup.specs[index].type == .string, soup.bulkLoad == nil,
      let prefix = LikePrefix(pattern: key)
    else { return [] }
    return prefix.bounds
  }

  private func plan(_ spec: QuerySpec, _ soup: Soup, boundsCount: Int) throws -> QueryPlan {
    // The key of a match query is part of its SQL.
    guard spec.kind != .match else {
      let filter = try convert(spec.filter(soup.name))
      _ = try convert(spec.smartSql(soupName: soup.name))
      return QueryPlan(spec, soup, connection, match: String(filter.dropFirst("WHERE ".count)), boundsCount: 0)
    }
    if let known = state.plans.first(where: { $0.serves(spec, soup: soup.name, boundsCount: boundsCount) }) { return known }
    // Names and paths must pass the same checks as in smart SQL.
    _ = try convert(spec.smartSql(soupName: soup.name))
    let plan = QueryPlan(spec, soup, connection, match: nil, boundsCount: boundsCount)
    if state.plans.count >= Tuning.queryPlans { state.plans.removeFirst() }
    state.plans.append(plan)
    return plan
  }

  // MARK: Smart SQL

  /// Reads a page of a smart query. Its order is unknown, so the page is found by counting rows.
  private func smartPage(_ spec: QuerySpec, from start: Int, as form: PageForm, lookingAhead: Bool) throws -> QueryPage {
    try spec.validate()
    return try translatingErrors(spec) {
      let statement = try smartStatement(spec, limit: spec.pageSize + (lookingAhead ? 1 : 0), offset: start)
      defer { statement.reset() }
      var result = RowText(statement, columns: statement.columnCount, form: form)
      while result.rows < spec.pageSize, try statement.step() { try result.append(statement) }
      let isLast = try result.rows < spec.pageSize || !lookingAhead || !statement.step()
      return result.page(isLast: isLast)
    }
  }

  /// Returns the statement of a smart query with its arguments bound.
  func smartStatement(_ spec: QuerySpec, limit: Int, offset: Int) throws -> Statement {
    try translatingErrors(spec) { try smartStatement(spec, "SELECT * FROM (", ") LIMIT \(limit) OFFSET \(offset)") }
  }

  /// Returns a smart query wrapped in another statement. The line break ends a comment at the end
  /// of the query.
  private func smartStatement(_ spec: QuerySpec, _ before: String, _ after: String) throws -> Statement {
    let compiled = try smartSql(spec)
    guard spec.arguments.count <= compiled.placeholders else {
      throw StoreError(
        .invalidQuerySpec,
        "query spec: 'args' has \(spec.arguments.count) values for \(compiled.placeholders) placeholders in the smart SQL")
    }
    let statement = try connection.statement(before + compiled.sql + "\n" + after)
    try statement.bind(spec.smartBindings(dialect: SQLiteDialect()) { try self.find($0) })
    return statement
  }

  /// Compiles a smart query by itself, so that SQLite reports its mistakes before it is wrapped.
  /// Compiled queries are cached.
  func smartSql(_ spec: QuerySpec) throws -> CompiledSmartSql {
    try spec.validate()
    let text = spec.smartSql ?? ""
    if let known = state.smartSql[text], known.smartSql.hasSameBytes(as: text) { return known }
    let statement = try connection.prepare(try SmartSql.convert(text, dialect: SQLiteDialect()) { try self.find($0) })
    guard !statement.isExplain else { throw StoreError(.invalidSmartSql, "smart SQL must be a SELECT, not an EXPLAIN") }
    guard statement.isReadOnly, statement.columnCount > 0 else { throw StoreError(.notReadOnly, "Only SELECT are supported") }
    if state.smartSql.count >= 1024 { state.smartSql.removeAll() }
    let compiled = CompiledSmartSql(smartSql: text, statement)
    state.smartSql[text] = compiled
    return compiled
  }

  private func convert(_ part: String) throws -> String {
    try SmartSql.convert(part, isStatement: false, dialect: SQLiteDialect()) { try self.find($0) }
  }
}

/// Smart SQL that SQLite has accepted.
struct CompiledSmartSql {
  /// The source text. Canonically equivalent texts are the same dictionary key, so the bytes are
  /// compared as well.
  let smartSql: String
  let sql: String
  let placeholders: Int
  let columnNames: [String]
  /// Whether one of the columns is named `id`.
  let selectsId: Bool

  init(smartSql: String, _ statement: Statement) {
    self.smartSql = smartSql
    sql = statement.sql
    placeholders = statement.parameterCount
    columnNames = (0..<statement.columnCount).map { statement.columnName($0) }
    selectsId = columnNames.contains { $0.lowercased() == "id" }
  }
}
