import SmartStore
import Support

/// Reads the rows of one query over a soup. Rows are ordered by a path and then by entry id, so every row has a
/// unique position, and a page can start after a known row.
struct RowReader {
  let snapshot: PostgresSnapshot
  let table: SoupTable
  private let columns: [SoupValue]
  private let order: SoupValue?
  private let isDescending: Bool
  /// The conditions besides the bounds; adds their parameters.
  private let filter: (inout Parameters) -> [String]
  /// The bounds that the keys set on the sort order: ascending and disjoint.
  private let bounds: [KeyBounds]
  private let names: [ResultColumn]

  /// - Throws: ``StoreError`` `.invalidQuerySpec`, `.queryLimit`, `.notOnThisEngine`.
  init(_ spec: QuerySpec, _ table: SoupTable, _ snapshot: PostgresSnapshot) throws {
    guard spec.kind != .match else { throw StoreError.notOnThisEngine("full-text queries ('match')") }
    if let key = spec.likeKey, spec.kind == .like, key.utf8.count > Tuning.likePatternBytes {
      throw StoreError(.queryLimit, "the query exceeds a limit: LIKE or GLOB pattern too complex")
    }
    self.snapshot = snapshot
    self.table = table
    columns = (spec.selectPaths ?? [SoupField.soup]).map(table.value)
    names = columns.map { ResultColumn(name: $0.name, isTyped: $0.form == .mixed) }
    let path = RowReader.orderPath(spec, table.soup)
    let isById = path == nil || path == SoupField.entryId || (spec.kind == .exact && path == spec.indexPath)
    order = isById ? nil : path.map(table.value)
    isDescending = spec.orderPath != nil && spec.order == .descending
    let index = spec.indexPath.flatMap { path in table.soup.specs.firstIndex { $0.path == path } }
    let keys = spec.bindings(index.map { table.soup.specs[$0].type }), field = spec.indexPath.map(table.value)
    let isBounded = !isById && path == spec.indexPath
    let like = RowReader.likeBounds(spec, table.soup, index)
    switch spec.kind {
    case .like:
      bounds = isBounded && !like.isEmpty ? like : [KeyBounds()]
      filter = { parameters in
        guard let field, let key = spec.likeKey else { return [] }
        let ranges = isBounded ? [] : like.map { RowReader.condition($0, field, &parameters) }
        return [field.like(key, &parameters)] + (ranges.isEmpty ? [] : ["(\(ranges.joined(separator: " OR ")))"])
      }
    case .range:
      var range = KeyBounds(low: spec.beginKey == nil ? nil : keys.first, high: spec.endKey == nil ? nil : keys.last)
      if isBounded, order?.form == .mixed {
        range.low = range.low.map { SortKey.encoded($0).map { .text($0) } ?? .null }
        range.high = range.high.map { SortKey.encoded($0).map { .text($0) } ?? .null }
      }
      let final = range
      bounds = isBounded ? [final] : [KeyBounds()]
      filter = { parameters in
        guard let field, !isBounded, final.low != nil || final.high != nil else { return [] }
        return [RowReader.condition(final, field, &parameters)]
      }
    case .exact:
      bounds = [KeyBounds()]
      filter = { parameters in field.map { [$0.condition(.equal, keys.first ?? .null, &parameters)] } ?? [] }
    case .match, .smart:
      bounds = [KeyBounds()]
      filter = { _ in [] }
    }
  }

  /// A query without an order of its own follows the index that SQLite's engine would use.
  private static func orderPath(_ spec: QuerySpec, _ soup: Soup) -> String? {
    if let path = spec.orderPath { return path }
    guard spec.kind == .range || spec.kind == .like, let path = spec.indexPath else { return nil }
    return soup.specs.contains { $0.path == path } ? path : nil
  }

  /// The index ranges that can match a LIKE pattern. Only string indexes have any.
  private static func likeBounds(_ spec: QuerySpec, _ soup: Soup, _ index: Int?) -> [KeyBounds] {
    guard spec.kind == .like, let key = spec.likeKey, let index, soup.specs[index].type == .string,
      let prefix = LikePrefix(pattern: key)
    else { return [] }
    return prefix.bounds
  }

  private static func condition(_ bounds: KeyBounds, _ field: SoupValue, _ parameters: inout Parameters) -> String {
    var conditions: [String] = []
    if let low = bounds.low { conditions.append(field.condition(.from, low, &parameters)) }
    if let high = bounds.high { conditions.append(field.condition(bounds.isOpen ? .below : .through, high, &parameters)) }
    return "(\(conditions.joined(separator: " AND ")))"
  }

  // MARK: Statements

  /// The conditions of a range, whose values are in the order of the conditions.
  private func conditions(_ range: KeyRange, _ parameters: inout Parameters) -> String? {
    var values = range.values[...]
    let ids = table.value(SoupField.entryId), order = order ?? ids
    let comparisons: [(KeyRange.Conditions, SoupValue, Comparison)] = [
      (.from, order, .from), (.through, order, .through), (.before, order, .below), (.above, order, .above),
      (.equal, order, .equal), (.idAbove, ids, .above), (.idFrom, ids, .from), (.idBelow, ids, .below),
      (.idThrough, ids, .through),
    ]
    let alternatives = range.alternatives.map { wanted in
      var parts: [String] = []
      for (one, value, comparison) in comparisons where wanted.contains(one) {
        parts.append(value.condition(comparison, values.popFirst() ?? .null, &parameters, isSortKey: true))
      }
      if wanted.contains(.isNull) { parts.append("\(order.sql) IS NULL") }
      if wanted.contains(.isNotNull) { parts.append("\(order.sql) IS NOT NULL") }
      return parts.joined(separator: " AND ")
    }.filter { !$0.isEmpty }
    return alternatives.isEmpty ? nil : alternatives.map { "(\($0))" }.joined(separator: " OR ")
  }

  private func source(_ range: KeyRange, _ parameters: inout Parameters) -> String {
    let all = filter(&parameters) + [conditions(range, &parameters)].compactMap { $0.map { "(\($0))" } }
    return "FROM \(table.sql)" + (all.isEmpty ? "" : " WHERE \(all.joined(separator: " AND "))")
  }

  private func ordering(ascending: Bool) -> String {
    let direction = ascending ? "ASC" : "DESC"
    let items = order.map { $0.ordering(direction, ascending ? "FIRST" : "LAST") } ?? []
    return (items + ["id \(direction)"]).joined(separator: ", ")
  }

  /// Calls `body` with rows in the query's order, each as it arrives.
  private func forEach(
    _ selected: String, in span: RowSpan, backwards: Bool = false, _ body: (PostgresRow) throws -> Void
  ) throws {
    let ascending = isDescending == backwards
    var found = 0, skipping = span.skipping
    let ranges = ranges(from: span.key, ascending: ascending, isInclusive: span.isInclusive)
    for (i, range) in ranges.enumerated() where found < span.limit {
      var parameters = Parameters()
      let source = source(range, &parameters)
      let before = found
      try snapshot.forEach(
        """
        SELECT \(selected) \(source) ORDER BY \(ordering(ascending: ascending))
        LIMIT \(parameters.add(.int(span.limit - found))) OFFSET \(parameters.add(.int(skipping)))
        """, parameters.list
      ) { row in
        found += 1
        try body(row)
      }
      // If the range ended while rows were skipped, all of its rows were skipped.
      if found > before { skipping = 0 } else if skipping > 0, i + 1 < ranges.count { skipping -= try count(range) }
    }
  }

  private func ranges(from key: RowKey?, ascending: Bool, isInclusive: Bool) -> [KeyRange] {
    (ascending ? bounds : bounds.reversed()).flatMap { bound in
      key.map { bound.ranges(from: $0, isOrdered: order != nil, ascending: ascending, isInclusive: isInclusive) } ?? [
        bound.range
      ]
    }
  }

  private func count(_ range: KeyRange) throws -> Int {
    var parameters = Parameters()
    let source = source(range, &parameters)
    return Int(try snapshot.query("SELECT count(*) \(source)", parameters.list).only().int64(0))
  }

  /// Returns the total number of rows.
  func count() throws -> Int { try bounds.reduce(0) { $0 + (try count($1.range)) } }

  func ids(limit: Int) throws -> [Int64] {
    var ids: [Int64] = []
    try forEach("id", in: RowSpan(limit: limit)) { ids.append(try $0.int64(0)) }
    return ids
  }

  // MARK: Pages

  /// What a page selects: its columns, the sort key and the id.
  private var selection: String { (columns.map(\.selected) + [order?.sql ?? "NULL::text", "id"]).joined(separator: ", ") }

  private func key(_ row: PostgresRow, after columns: Int) throws -> RowKey {
    let value = order == nil ? .null : FetchedRow(row, names + [ResultColumn(name: "", isTyped: false)]).value(Int32(columns))
    return RowKey(value: value, id: try row.int64(columns + 1))
  }

  /// Returns the key of the row that is `skipping` rows before another row, or before the end.
  private func key(before key: RowKey?, skipping: Int) throws -> RowKey? {
    var found: RowKey?
    try forEach("\(order?.sql ?? "NULL::text"), id", in: RowSpan(key: key, skipping: skipping, limit: 1), backwards: true) {
      row in
      let value = order == nil ? .null : FetchedRow(row, [ResultColumn(name: "", isTyped: false)]).value(0)
      found = RowKey(value: value, id: try row.int64(1))
    }
    return found
  }

  /// Reads a page of at most `limit` rows.
  /// - Parameters:
  ///   - start: The number of the first row, counted from 0.
  ///   - anchors: Known positions in the result; the ones around this page are added. Nil if no other page will be read.
  func page(from start: Int, limit: Int, as form: PageForm, anchors: inout CursorAnchors?) throws -> QueryPage {
    guard let span = try RowSpan(from: start, limit: limit, by: anchors, keyBefore: key(before:skipping:)) else {
      return .empty(form, isLast: true)
    }
    var wanted = span
    if anchors != nil { wanted.limit += 1 }
    var result: RowText?, count = 0, first: RowKey?, last: RowKey?
    try forEach(selection, in: wanted) { row in
      count += 1
      guard count <= limit else { return }
      let fetched = FetchedRow(row, names)
      if result == nil { result = RowText(fetched, columns: Int32(columns.count), form: form) }
      try result?.append(fetched)
      last = try key(row, after: columns.count)
      first = first ?? last
    }
    let isLast = anchors == nil || count < wanted.limit
    guard let page = result?.page(isLast: isLast) else { return .empty(form, isLast: true) }
    if let first, let last, anchors != nil {
      if start > 0, anchors?.contains(row: start - 1) == false { anchors?.add(row: start, first) }
      if !page.isLast { anchors?.add(row: start + page.rows - 1, last) }
    }
    return page
  }
}
