import Database
import JSON

extension StoreSnapshot {
  /// Runs one page of a query.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.invalidSmartSql`, `.invalidQuerySpec`, `.notReadOnly`, `.queryLimit`.
  package func query(_ spec: QuerySpec, soup name: String?, pageIndex: Int) throws -> QueryPage {
    var marks: PageMarks?
    return try page(pageIndex, of: spec, soup: name, marks: &marks)
  }

  /// - Parameters:
  ///   - head: Stands before the page's array.
  ///   - asRecords: Leave entries unchecked: their reader checks them.
  ///   - marks: Rows of the result that are known by their number, for a cursor; nil for a page of its own.
  func page(
    _ index: Int, of spec: QuerySpec, soup name: String?, head: String = "", asRecords: Bool = false, marks: inout PageMarks?
  ) throws -> QueryPage {
    let (product, isTooFar) = max(0, index).multipliedReportingOverflow(by: spec.pageSize)
    let start = isTooFar ? Int.max : product
    guard spec.kind != .smart else {
      return try smartPage(spec, from: start, as: PageForm(head: head, row: .columns), lookingAhead: marks != nil)
    }
    let form = PageForm(head: head, row: spec.selectPaths != nil ? .columns : asRecords ? .record : .entry)
    let reader = try rows(spec, name)
    return try inWordsOf(spec) { try reader.page(from: start, limit: spec.pageSize, as: form, marks: &marks) }
  }

  /// How many rows a query has in all.
  package func count(_ spec: QuerySpec, soup name: String?) throws -> Int {
    guard spec.kind == .smart else {
      let reader = try rows(spec, name)
      return try inWordsOf(spec) { try reader.count() }
    }
    return try inWordsOf(spec) {
      let statement = try smartStatement(spec, "SELECT count(*) FROM (", ")")
      defer { statement.reset() }
      return try statement.step() ? Int(statement.int64(0)) : 0
    }
  }

  /// The entry ids that a page of a query selects. Smart SQL must select the column `id`.
  func entryIds(_ spec: QuerySpec, soup name: String, limit: Int) throws -> [Int64] {
    var ids: [Int64] = []
    guard spec.kind == .smart else {
      let reader = try rows(spec, name)
      try inWordsOf(spec) { _ = try reader.forEach(.ids, in: RowReader.Span(limit: limit)) { ids.append($0.int64(0)) } }
      return ids
    }
    return try inWordsOf(spec) {
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

  /// A number for what this snapshot sees: the same until the next commit.
  func view() throws -> PageMarks.View {
    guard case .integer(let version)? = try connection.firstValue("PRAGMA data_version") else {
      return PageMarks.View(reader: state.number, version: -1)
    }
    return PageMarks.View(reader: state.number, version: version)
  }

  // MARK: Queries over a soup

  private func rows(_ spec: QuerySpec, _ name: String?) throws -> RowReader {
    try spec.validate()
    guard let name else { throw StoreError(.invalidQuerySpec, "query spec: a '\(spec.kind.rawValue)' query needs a soup") }
    let soup = try soup(name), index = spec.indexPath.flatMap { path in soup.specs.firstIndex { $0.path == path } }
    if soup.loading != nil, let path = spec.indexPath ?? spec.orderPath, path != SoupField.entryId {
      state.wantedIndexes.insert(soup)
    }
    let keys = spec.bindings(index.map { soup.specs[$0].type })
    let like = try likeRanges(spec, soup, index)
    let plan = try plan(spec, soup, ranges: like.count)
    guard spec.kind == .like || plan.hasBounds else { return RowReader(plan: plan, filter: keys, ranges: [RowRange()]) }
    if spec.kind == .range {
      let low = spec.beginKey == nil ? nil : keys.first, high = spec.endKey == nil ? nil : keys.last
      return RowReader(plan: plan, filter: [], ranges: [RowRange(low: low, high: high)])
    }
    if plan.hasBounds || like.isEmpty {
      return RowReader(plan: plan, filter: keys, ranges: like.isEmpty ? [RowRange()] : like)
    }
    return RowReader(plan: plan, filter: like.flatMap { keys + [$0.low, $0.high].compactMap { $0 } }, ranges: [RowRange()])
  }

  /// The ranges of an index that a LIKE pattern can match in. Only of string indexes, whose column holds nothing but text.
  private func likeRanges(_ spec: QuerySpec, _ soup: Soup, _ index: Int?) throws -> [RowRange] {
    guard spec.kind == .like, let key = spec.likeKey, let index, soup.specs[index].type == .string, soup.loading == nil,
      let prefix = LikePrefix(pattern: key)
    else { return [] }
    return prefix.ranges
  }

  private func plan(_ spec: QuerySpec, _ soup: Soup, ranges: Int) throws -> QueryPlan {
    // A match query's key is part of its SQL.
    guard spec.kind != .match else {
      let filter = try convert(spec.filter(soup.name))
      _ = try convert(spec.smartSql(soupName: soup.name))
      return QueryPlan(spec, soup, connection, match: String(filter.dropFirst("WHERE ".count)), ranges: 0)
    }
    if let known = state.plans.first(where: { $0.serves(spec, soup: soup.name, ranges: ranges) }) { return known }
    // What smart SQL refuses in a name or a path is refused here as well.
    _ = try convert(spec.smartSql(soupName: soup.name))
    let plan = QueryPlan(spec, soup, connection, match: nil, ranges: ranges)
    if state.plans.count >= Tuning.queryPlans { state.plans.removeFirst() }
    state.plans.append(plan)
    return plan
  }

  // MARK: Smart SQL

  /// Smart SQL may be anything: its pages are counted up to.
  private func smartPage(_ spec: QuerySpec, from start: Int, as form: PageForm, lookingAhead: Bool) throws -> QueryPage {
    try spec.validate()
    return try inWordsOf(spec) {
      let statement = try smartStatement(spec, limit: spec.pageSize + (lookingAhead ? 1 : 0), offset: start)
      defer { statement.reset() }
      var result = RowText(statement, columns: statement.columnCount, form: form)
      while result.rows < spec.pageSize, try statement.step() { try result.append(statement) }
      let isLast = try result.rows < spec.pageSize || !lookingAhead || !statement.step()
      return result.page(isLast: isLast)
    }
  }

  /// The statement of a smart query, its arguments bound.
  func smartStatement(_ spec: QuerySpec, limit: Int, offset: Int) throws -> Statement {
    try inWordsOf(spec) { try smartStatement(spec, "SELECT * FROM (", ") LIMIT \(limit) OFFSET \(offset)") }
  }

  /// The statement of a smart query within another one. A comment at its end does not reach what stands behind it.
  private func smartStatement(_ spec: QuerySpec, _ before: String, _ after: String) throws -> Statement {
    let compiled = try smartSql(spec)
    guard spec.arguments.count <= compiled.placeholders else {
      throw StoreError(
        .invalidQuerySpec,
        "query spec: 'args' has \(spec.arguments.count) values for \(compiled.placeholders) placeholders in the smart SQL")
    }
    let statement = try connection.statement(before + compiled.sql + "\n" + after)
    try statement.bind(spec.bindings(nil))
    return statement
  }

  /// A smart query's own SQL, compiled once by itself: what is wrong with it comes out before something is put around it.
  private func smartSql(_ spec: QuerySpec) throws -> CompiledSmartSql {
    try spec.validate()
    let text = spec.smartSql ?? ""
    if let known = state.smartSql[text], known.smartSql.hasSameBytes(as: text) { return known }
    let statement = try connection.prepare(try SmartSql.convert(text) { try self.find($0) })
    guard !statement.isExplain else { throw StoreError(.invalidSmartSql, "smart SQL is a SELECT, not an EXPLAIN") }
    guard statement.isReadOnly, statement.columnCount > 0 else { throw StoreError(.notReadOnly, "Only SELECT are supported") }
    if state.smartSql.count >= 1024 { state.smartSql.removeAll() }
    let compiled = CompiledSmartSql(smartSql: text, statement)
    state.smartSql[text] = compiled
    return compiled
  }

  private func convert(_ part: String) throws -> String {
    try SmartSql.convert(part, isStatement: false) { try self.find($0) }
  }
}

/// Smart SQL that SQLite has accepted.
struct CompiledSmartSql {
  /// What it was made from: strings that only look the same are one key.
  let smartSql: String
  let sql: String
  let placeholders: Int
  /// One of its columns is called `id`.
  let selectsId: Bool

  init(smartSql: String, _ statement: Statement) {
    self.smartSql = smartSql
    sql = statement.sql
    placeholders = statement.parameterCount
    selectsId = (0..<statement.columnCount).contains { statement.columnName($0).lowercased() == "id" }
  }
}
