import Database
import RecordScan

extension SQLiteTransaction {
  func reIndexSoup(_ name: String, paths: [String]) throws {
    try finishBulkLoad(soup: name)
    let soup = try soup(name), asked = IdSet(paths)
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

  /// Recomputes the columns of some specs in every row. Time stamps and versions stay, because the
  /// entries do not change. Entries whose text is not valid JSON keep their columns.
  func project(_ positions: [Int], of soup: Soup) throws {
    guard !positions.isEmpty else { return }
    state.feed?.isPaused = true
    defer { state.feed?.isPaused = false }
    let projector = try projector(positions, soup)
    let select = try connection.prepare("SELECT id, soup FROM \(soup.table) WHERE id > ? ORDER BY id")
    var last = Int64.min
    while let rows = try nextRows(select, after: last) {
      last = rows.ids.last ?? .max
      try projector.update(rows)
    }
  }

  /// Recomputes the columns of some specs in one row.
  func project(_ positions: [Int], of soup: Soup, id: Int64, text: [UInt8]) throws {
    var rows = RowProjector.Rows()
    text.withUnsafeBytes { rows.append(id, $0) }
    try projector(positions, soup).update(rows)
  }

  private func projector(_ positions: [Int], _ soup: Soup) throws -> RowProjector {
    RowProjector(
      plan: PagePlan(
        soup: soup.name, specs: positions.map { soup.specs[$0] }, idPath: SoupField.entryId, extraPaths: [], ownedKeys: []),
      update: try connection.prepare(
        "UPDATE \(soup.table) SET "
          + positions.enumerated().map { "\(soup.column($1) ?? "") = ?\($0 + 2)" }.joined(separator: ", ") + " WHERE id = ?1"))
  }

  /// Reads the next batch of rows.
  /// - Returns: Nil after the last row.
  private func nextRows(_ select: Statement, after last: Int64) throws -> RowProjector.Rows? {
    select.bind(1, last)
    defer { select.reset() }
    var rows = RowProjector.Rows()
    while rows.bytes.count < Tuning.reIndexBytes, try select.step() { rows.append(select.int64(0), select.bytes(1)) }
    return rows.ids.isEmpty ? nil : rows
  }
}

/// Extracts the indexed paths of stored entries and writes them into their columns.
private struct RowProjector {
  /// A batch of entries, as the text of a JSON array.
  struct Rows {
    private(set) var ids: [Int64] = []
    private(set) var bytes: [UInt8] = [UInt8(ascii: "[")]
    /// The byte range of each entry in `bytes`.
    private(set) var ranges: [Range<Int>] = []

    mutating func append(_ id: Int64, _ entry: UnsafeRawBufferPointer) {
      if !ids.isEmpty { bytes.append(UInt8(ascii: ",")) }
      ids.append(id)
      ranges.append(bytes.count..<(bytes.count + entry.count))
      bytes.append(contentsOf: entry)
    }

    var array: [UInt8] { bytes + [UInt8(ascii: "]")] }

    func row(_ i: Int) -> Rows {
      var rows = Rows()
      bytes.withUnsafeBytes { rows.append(ids[i], UnsafeRawBufferPointer(rebasing: $0[ranges[i]])) }
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
      // One of the entries is not valid JSON: process them one by one.
      guard rows.ids.count > 1 else { return }
      for i in rows.ids.indices { try update(rows.row(i)) }
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
