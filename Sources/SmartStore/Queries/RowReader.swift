import Database

/// Reads the rows of one query over a soup, by its plan and its keys. Belongs to a transaction.
struct RowReader {
  let plan: QueryPlan
  /// Values of the plan's condition.
  let filter: [SQLValue]
  /// What the keys leave of the order, ascending; not one row is in two of them.
  let ranges: [RowRange]

  /// Which of the rows, in the order they are read.
  struct Span {
    /// Where to begin; nil for the first row, or the last when reading backwards.
    var key: RowKey?
    /// The row at `key` counts as well.
    var isInclusive = false
    /// Rows to pass over first. They are only counted: nothing but the index is read for them.
    var skipping = 0
    /// Rows at most.
    var limit: Int
  }

  /// Calls `body` with rows in the query's order.
  /// - Returns: How many rows there were.
  @discardableResult
  func forEach(
    _ selection: QueryPlan.Selection, in span: Span, backwards: Bool = false, _ body: (Statement) throws -> Void
  ) throws -> Int {
    let growing = plan.isDescending == backwards, limit = span.limit
    let runs = runs(from: span.key, growing: growing, isInclusive: span.isInclusive)
    var found = 0, skipping = span.skipping
    for (i, run) in runs.enumerated() where found < limit {
      let statement = try plan.statement(selection, run, growing: growing)
      let next = bind(statement, run)
      statement.bind(next, Int64(limit - found))
      statement.bind(next + 1, Int64(skipping))
      defer { statement.reset() }
      let before = found
      while found < limit, try statement.step() {
        found += 1
        try body(statement)
      }
      // A run that ended while rows were passed over has passed over all it has.
      if found > before { skipping = 0 } else if skipping > 0, i + 1 < runs.count { skipping -= try count(run) }
    }
    return found
  }

  private func runs(from key: RowKey?, growing: Bool, isInclusive: Bool) -> [RowRun] {
    if key == nil, ranges.count == 1 { return [ranges[0].run] }  // nearly always
    let all = (growing ? ranges : ranges.reversed()).flatMap { range in
      key.map { range.runs(from: $0, isOrdered: plan.order != nil, growing: growing, isInclusive: isInclusive) } ?? [range.run]
    }
    return plan.isInOrder || all.count < 2 ? all : [RowRun(merging: all)]
  }

  /// - Returns: The position of the parameter behind the values.
  private func bind(_ statement: Statement, _ run: RowRun) -> Int32 {
    var position: Int32 = 1
    for value in filter {
      statement.bind(position, value)
      position += 1
    }
    for value in run.values {
      statement.bind(position, value)
      position += 1
    }
    return position
  }

  private func count(_ run: RowRun) throws -> Int {
    let statement = try plan.statement(.count, run, growing: true)
    _ = bind(statement, run)
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  /// How many rows there are in all.
  func count() throws -> Int { try ranges.reduce(0) { $0 + (try count($1.run)) } }

  /// The key of the row that comes `skipping` rows before another, or before the end.
  func key(before key: RowKey?, skipping: Int) throws -> RowKey? {
    var id: Int64?
    try forEach(.ids, in: Span(key: key, skipping: skipping, limit: 1), backwards: true) { id = $0.int64(0) }
    return try id.flatMap(plan.key)
  }
}

extension RowReader {
  /// Reads a page of at most `limit` rows.
  /// - Parameters:
  ///   - start: The first row's number, counted from 0.
  ///   - marks: Rows whose number is known; those around the page are added. Nil when no other page will be asked for.
  func page(from start: Int, limit: Int, as form: PageForm, marks: inout PageMarks?) throws -> QueryPage {
    var span = Span(skipping: start, limit: limit)
    switch marks?.way(to: start) {
    case .at(let mark)?: span = Span(key: mark.key, isInclusive: true, limit: limit)
    case .forwards(let mark, let rows)?: span = Span(key: mark?.key, skipping: rows, limit: limit)
    case .backwards(let mark, let rows)?:
      // Without a key, no row has that number.
      guard let key = try key(before: mark?.key, skipping: rows) else { return .empty(form, isLast: true) }
      span = Span(key: key, isInclusive: true, limit: limit)
    case nil: break
    }
    var ids: (first: Int64, last: Int64)?
    let page = try rows(in: span, as: form, lookingAhead: marks != nil) { id in
      ids = (ids?.first ?? id, id)
    }
    plan.pageBytes = min(page.text.count + page.text.count / 8 + 1024, Tuning.reservedPageBytes)
    if let ids, marks != nil {
      if start > 0, marks?.knows(row: start - 1) == false, let key = try plan.key(ids.first) { marks?.add(row: start, key) }
      if !page.isLast, let key = try plan.key(ids.last) { marks?.add(row: start + page.rows - 1, key) }
    }
    return page
  }

  /// - Parameter lookingAhead: Find out whether the page is the last.
  private func rows(
    in span: Span, as form: PageForm, lookingAhead: Bool, _ note: (Int64) -> Void
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
