import RecordScan
import SmartStore

extension PostgresTransaction {
  /// Recomputes the columns of some specs in every row. Entries whose text is not valid JSON keep theirs.
  func project(_ positions: [Int], of table: SoupTable) throws {
    guard !positions.isEmpty else { return }
    let plan = PagePlan(
      soup: table.soup.name, specs: positions.map { table.soup.specs[$0] }, idPath: SoupField.entryId, extraPaths: [],
      ownedKeys: [])
    var last = Int64.min
    while true {
      let rows = try query(
        """
        SELECT id, soup FROM (SELECT id, soup, sum(octet_length(soup)) OVER (ORDER BY id) AS bytes,
            row_number() OVER (ORDER BY id) AS n
          FROM (SELECT id, soup FROM \(table.sql) WHERE id > $1 ORDER BY id LIMIT 2000) r) s
        WHERE bytes <= \(Tuning.reIndexBytes) OR n = 1 ORDER BY id
        """, [.int64(last)])
      guard rows.count > 0 else { return }
      var ids: [Int64] = [], texts: [[UInt8]] = []
      for i in 0..<rows.count {
        ids.append(try rows[i].int64(0))
        texts.append(try rows[i].text(1))
      }
      last = ids.last ?? .max
      try project(ids, texts, plan, positions, table)
    }
  }

  private func project(
    _ ids: [Int64], _ texts: [[UInt8]], _ plan: PagePlan, _ positions: [Int], _ table: SoupTable
  ) throws {
    let array = [UInt8(ascii: "[")] + texts.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    guard let page = try? plan.scan(ByteArrayPage(array), recordsKey: nil), page.count == ids.count else {
      // One of the entries is not valid JSON: process them one by one.
      guard ids.count > 1 else { return }
      for i in ids.indices { try project([ids[i]], [texts[i]], plan, positions, table) }
      return
    }
    let projection = IndexProjection()
    var columns = positions.map { PostgresArray(of: table.form($0).element) }
    for i in ids.indices {
      projection.begin()
      for (n, spec) in plan.specs.enumerated() {
        columns[n].append(
          try projection.value(
            page.scanner.value(record: i, field: n), type: spec.type, path: spec.path, in: page.bytes,
            record: page.scanner.records[i]))
      }
    }
    let sets = positions.enumerated().map { "\(table.column($1)) = u_c\($0)" }.joined(separator: ", ")
    let sources = (["u_id"] + positions.indices.map { "u_c\($0)" }).joined(separator: ", ")
    let marks = (0...positions.count).map { "$\($0 + 1)" }.joined(separator: ", ")
    byIndex {
      add(
        "UPDATE \(table.sql) SET \(sets) FROM unnest(\(marks)) AS u(\(sources)) WHERE id = u_id",
        [.int64s(ids)] + columns.map { .array($0) })
    }
  }
}
