import Database
import JSON

extension StoreSnapshot {
  /// Runs one page of a query.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.invalidSmartSql`, `.notReadOnly`, and SQLite's own words for bad SQL.
  package func query(_ spec: QuerySpec, soup name: String?, pageIndex: Int) throws -> QueryPage {
    var marks: PageMarks?
    return try page(pageIndex, of: spec, soup: name, marks: &marks)
  }

  /// - Parameters:
  ///   - head: Stands before the page's array.
  ///   - asRecords: Nobody needs to look into entries: whoever reads them does.
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
    return try rows(spec, name).page(from: start, limit: spec.pageSize, as: form, marks: &marks)
  }

  /// How many rows a query has in all.
  package func count(_ spec: QuerySpec, soup name: String?) throws -> Int {
    guard spec.kind == .smart else { return try rows(spec, name).count() }
    try check(spec)
    let statement = try readOnlyStatement(convert(spec.countSmartSql(soupName: "")))
    try statement.bind(spec.bindings(nil))
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  /// The entry ids that a page of a query selects. Smart SQL must select the column `id`.
  func entryIds(_ spec: QuerySpec, soup name: String, limit: Int) throws -> [Int64] {
    var ids: [Int64] = []
    guard spec.kind == .smart else {
      try rows(spec, name).forEach(.ids, from: nil, limit: limit) { ids.append($0.int64(0)) }
      return ids
    }
    try check(spec)
    let sql = try convert(spec.idsSmartSql(soupName: name))
    let statement = try readOnlyStatement("SELECT * FROM (\(sql)) LIMIT \(limit)")
    try statement.bind(spec.bindings(nil))
    defer { statement.reset() }
    while try statement.step() { ids.append(statement.int64(0)) }
    return ids
  }

  /// A number for what this snapshot sees: the same as long as nobody commits.
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
    let statement = try smartStatement(spec, limit: spec.pageSize + (lookingAhead ? 1 : 0), offset: start)
    defer { statement.reset() }
    var result = RowText(statement, columns: statement.columnCount, form: form)
    while result.rows < spec.pageSize, try statement.step() { result.append(statement) }
    let isLast = try result.rows < spec.pageSize || !lookingAhead || !statement.step()
    return result.page(isLast: isLast)
  }

  /// The SQL of a smart query on its own: what is wrong with it is said before something is put around it.
  @discardableResult
  private func check(_ spec: QuerySpec) throws -> String {
    try spec.validate()
    return try convert(spec.smartSql(soupName: ""))
  }

  /// The statement of a smart query, its arguments bound.
  func smartStatement(_ spec: QuerySpec, limit: Int, offset: Int) throws -> Statement {
    let sql = try check(spec)
    let statement = try readOnlyStatement("SELECT * FROM (\(sql)) LIMIT \(limit) OFFSET \(offset)")
    try statement.bind(spec.bindings(nil))
    return statement
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
    if let known = state.smartSql[smartSql], known.smartSql.hasSameBytes(as: smartSql) { return known.sql }
    let sql = try SmartSql.convert(smartSql) { try self.find($0) }
    if state.smartSql.count >= 1024 { state.smartSql.removeAll() }
    state.smartSql[smartSql] = (smartSql, sql)
    return sql
  }
}
