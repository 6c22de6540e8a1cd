import SmartStore

extension PostgresTransaction {
  /// - Throws: An error of the server if the table `copy_of` is gone.
  private func checkIsUnfinished() { add("SELECT source FROM \(schema).copy_of") }

  func prepareSoups(_ soups: [CopiedSoup]) throws {
    checkIsUnfinished()
    for name in try soupNames() {
      let specs = try indexSpecs(of: name)
      if !soups.contains(where: { $0.name.utf8.elementsEqual(name.utf8) && $0.specs == specs }) { try removeSoup(name) }
    }
    for soup in soups {
      if find(soup.name) == nil { try addSoup(soup.name, soup.specs) }
      keepLastId(try table(soup.name), soup.lastId)
    }
  }

  func replaceRows(of part: StorePart, in range: CopiedRange, with rows: [[CopiedValue]]) throws {
    checkIsUnfinished()
    let table = try copyTable(part), old = table.rows(in: range)
    add("DELETE FROM \(table.table)" + old.sql, old.parameters)
    guard !rows.isEmpty else { return }
    let insert = try table.insert(rows)
    add(insert.sql, insert.parameters)
  }

  func indexSoup(_ name: String) throws {
    checkIsUnfinished()
    let table = try table(name)
    for i in table.soup.specs.indices { try execute(table.createIndex(i, unlessExists: true)) }
  }

  func setCounters(_ counters: CopiedCounters) throws {
    checkIsUnfinished()
    add("DELETE FROM \(schema).leases")
    let fences = counters.fences.sorted { $0.key < $1.key }
    add(
      "INSERT INTO \(schema).leases (name, owner, fence, expires) SELECT n, '', f, 'epoch' FROM unnest($1, $2) AS u(n, f)",
      [.texts(fences.map { PostgresText.storable($0.key) }), .int64s(fences.map(\.value))])
    add("UPDATE \(schema).state SET uploads = $1", [.int64(counters.uploads)])
  }
}
