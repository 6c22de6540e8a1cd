import Database
import RecordScan

extension StoreTransaction {
  /// Fills index columns from the entries; see ``Store/reIndexSoup(_:paths:)``.
  package func reIndexSoup(_ name: String, paths: [String]) throws {
    try finishLoading(soup: name)
    let soup = try soup(name), asked = Set(paths)
    let positions = soup.specs.indices.filter { soup.column($0) != nil && asked.contains(soup.specs[$0].path) }
    guard !positions.isEmpty else { return }
    let touchesText = positions.contains { soup.specs[$0].type == .fullText }
    if touchesText {
      connection.forgetStatements()
      state.forget()
      try dropFullText(soup)
    }
    try project(positions, of: soup)
    if touchesText { try rebuildFullText(soup, filling: true) }
  }

  /// Sets the columns of some specs anew in every row. Neither stamps nor versions change: the entries stay what they are.
  /// An entry whose text is no JSON keeps its columns.
  func project(_ positions: [Int], of soup: Soup) throws {
    guard !positions.isEmpty else { return }
    state.feed?.isPaused = true
    defer { state.feed?.isPaused = false }
    let chosen = Soup(name: soup.name, number: soup.number, specs: positions.map { soup.specs[$0] }, loading: nil)
    let projector = RowProjector(
      plan: PagePlan(soup: chosen, idPath: SoupField.entryId, extraPaths: [], ownedKeys: []),
      update: try connection.prepare(
        "UPDATE \(soup.table) SET "
          + positions.enumerated().map { "\(soup.column($1) ?? "") = ?\($0 + 2)" }.joined(separator: ", ") + " WHERE id = ?1"))
    let select = try connection.prepare("SELECT id, soup FROM \(soup.table) WHERE id > ? ORDER BY id")
    var last = Int64.min
    while let rows = try nextRows(select, after: last) {
      last = rows.ids.last ?? .max
      try projector.update(rows)
    }
  }

  /// - Returns: Nil behind the last row.
  private func nextRows(_ select: Statement, after last: Int64) throws -> RowProjector.Rows? {
    select.bind(1, last)
    defer { select.reset() }
    var rows = RowProjector.Rows()
    while rows.bytes.count < Tuning.reIndexBytes, try select.step() { rows.append(select.int64(0), select.bytes(1)) }
    return rows.ids.isEmpty ? nil : rows
  }
}

/// Projects the indexed paths of stored entries and writes them into their columns.
private struct RowProjector {
  /// Entries side by side, as the text of a JSON array.
  struct Rows {
    private(set) var ids: [Int64] = []
    private(set) var bytes: [UInt8] = [UInt8(ascii: "[")]
    /// Where each entry lies in `bytes`.
    private(set) var places: [Range<Int>] = []

    mutating func append(_ id: Int64, _ entry: UnsafeRawBufferPointer) {
      if !ids.isEmpty { bytes.append(UInt8(ascii: ",")) }
      ids.append(id)
      places.append(bytes.count..<(bytes.count + entry.count))
      bytes.append(contentsOf: entry)
    }

    var array: [UInt8] { bytes + [UInt8(ascii: "]")] }

    func alone(_ i: Int) -> Rows {
      var rows = Rows()
      bytes.withUnsafeBytes { rows.append(ids[i], UnsafeRawBufferPointer(rebasing: $0[places[i]])) }
      return rows
    }
  }

  let plan: PagePlan
  let update: Statement
  private let projection = IndexProjection()

  init(plan: PagePlan, update: Statement) {
    self.plan = plan
    self.update = update
  }

  func update(_ rows: Rows) throws {
    guard let page = try? plan.scan(ByteArrayPage(rows.array), recordsKey: nil), page.count == rows.ids.count else {
      // One of them is no JSON: the others are taken one by one.
      guard rows.ids.count > 1 else { return }
      for i in rows.ids.indices { try update(rows.alone(i)) }
      return
    }
    for i in rows.ids.indices { try update(rows.ids[i], page, i) }
  }

  private func update(_ id: Int64, _ page: ScannedPage, _ i: Int) throws {
    projection.begin()
    update.bind(1, id)
    for (field, spec) in plan.specs.enumerated() {
      let value = try projection.value(
        page.scanner.value(record: i, field: field), type: spec.type, path: spec.path, in: page.source.bytes,
        record: page.scanner.records[i])
      value.bind(to: update, Int32(field + 2))
    }
    try update.run()
  }
}
