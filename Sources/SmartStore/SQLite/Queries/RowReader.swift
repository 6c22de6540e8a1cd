import Database

/// Reads the rows of one query over a soup. Valid during one transaction.
struct RowReader {
  let plan: QueryPlan
  /// The values of the plan's condition.
  let filter: [SQLValue]
  /// The bounds that the keys set on the sort order: ascending and disjoint.
  let bounds: [KeyBounds]

  /// Calls `body` with rows in the query's order.
  /// - Returns: The number of rows.
  @discardableResult
  func forEach(
    _ selection: QueryPlan.Selection, in span: RowSpan, backwards: Bool = false, _ body: (Statement) throws -> Void
  ) throws -> Int {
    let ascending = plan.isDescending == backwards, limit = span.limit
    let ranges = ranges(from: span.key, ascending: ascending, isInclusive: span.isInclusive)
    var found = 0, skipping = span.skipping
    for (i, range) in ranges.enumerated() where found < limit {
      let statement = try plan.statement(selection, range, ascending: ascending)
      let next = bind(statement, range)
      statement.bind(next, Int64(limit - found))
      statement.bind(next + 1, Int64(skipping))
      defer { statement.reset() }
      let before = found
      while found < limit, try statement.step() {
        found += 1
        try body(statement)
      }
      // If the range ended while rows were skipped, all of its rows were skipped.
      if found > before { skipping = 0 } else if skipping > 0, i + 1 < ranges.count { skipping -= try count(range) }
    }
    return found
  }

  private func ranges(from key: RowKey?, ascending: Bool, isInclusive: Bool) -> [KeyRange] {
    if key == nil, bounds.count == 1 { return [bounds[0].range] }  // the usual case
    let all = (ascending ? bounds : bounds.reversed()).flatMap { bound in
      key.map { bound.ranges(from: $0, isOrdered: plan.order != nil, ascending: ascending, isInclusive: isInclusive) } ?? [
        bound.range
      ]
    }
    return plan.isInOrder || all.count < 2 ? all : [KeyRange(merging: all)]
  }

  /// Binds the values of the condition and of a range.
  /// - Returns: The position of the next parameter.
  private func bind(_ statement: Statement, _ range: KeyRange) -> Int32 {
    var position: Int32 = 1
    for value in filter {
      statement.bind(position, value)
      position += 1
    }
    for value in range.values {
      statement.bind(position, value)
      position += 1
    }
    return position
  }

  private func count(_ range: KeyRange) throws -> Int {
    let statement = try plan.statement(.count, range, ascending: true)
    _ = bind(statement, range)
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  /// Returns the total number of rows.
  func count() throws -> Int { try bounds.reduce(0) { $0 + (try count($1.range)) } }

  /// Returns the key of the row that is `skipping` rows before another row, or before the end.
  func key(before key: RowKey?, skipping: Int) throws -> RowKey? {
    var id: Int64?
    try forEach(.ids, in: RowSpan(key: key, skipping: skipping, limit: 1), backwards: true) { id = $0.int64(0) }
    return try id.flatMap(plan.key)
  }
}

extension RowReader {
  /// Reads a page of at most `limit` rows.
  /// - Parameters:
  ///   - start: The number of the first row, counted from 0.
  ///   - anchors: Known positions in the result; the ones around this page are added. Nil if no
  ///     other page will be read.
  func page(from start: Int, limit: Int, as form: PageForm, anchors: inout CursorAnchors?) throws -> QueryPage {
    guard let span = try RowSpan(from: start, limit: limit, by: anchors, keyBefore: key(before:skipping:)) else {
      return .empty(form, isLast: true)
    }
    var ids: (first: Int64, last: Int64)?
    let page = try rows(in: span, as: form, lookingAhead: anchors != nil) { id in
      ids = (ids?.first ?? id, id)
    }
    plan.pageBytes = min(page.text.count + page.text.count / 8 + 1024, Tuning.reservedPageBytes)
    if let ids, anchors != nil {
      if start > 0, anchors?.contains(row: start - 1) == false, let key = try plan.key(ids.first) {
        anchors?.add(row: start, key)
      }
      if !page.isLast, let key = try plan.key(ids.last) { anchors?.add(row: start + page.rows - 1, key) }
    }
    return page
  }

  /// - Parameter lookingAhead: Whether to find out if the page is the last one.
  private func rows(
    in span: RowSpan, as form: PageForm, lookingAhead: Bool, _ note: (Int64) -> Void
  ) throws -> QueryPage {
    var wanted = span
    if lookingAhead { wanted.limit += 1 }
    let columns = plan.columnCount
    guard plan.isInOrder else {
      var ids: [Int64] = []
      try forEach(.ids, in: wanted) { ids.append($0.int64(0)) }
      let isLast = ids.count < wanted.limit
      var result: RowText?
      for id in ids.prefix(span.limit) {
        let row = try plan.row(id)
        defer { row.reset() }
        guard try row.step() else { continue }
        if result == nil { result = RowText(row, columns: columns, form: form, capacity: plan.pageBytes) }
        try result?.append(row)
        note(id)
      }
      return result?.page(isLast: isLast) ?? .empty(form, isLast: isLast)
    }
    var result: RowText?, count = 0
    try forEach(.page, in: wanted) { row in
      count += 1
      guard count <= span.limit else { return }
      if result == nil { result = RowText(row, columns: columns, form: form, capacity: plan.pageBytes) }
      try result?.append(row)
      note(row.int64(columns))
    }
    return result?.page(isLast: count < wanted.limit) ?? .empty(form, isLast: true)
  }
}
