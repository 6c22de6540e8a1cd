import Database
import JSON

/// A transaction of one connection, which sees the file as it is at its first statement.
class SQLiteSnapshot: StoreSnapshot {
  let connection: Connection
  let state: ConnectionState

  init(connection: Connection, state: ConnectionState) {
    self.connection = connection
    self.state = state
  }

  func run<T>(for query: QueryCancellation, _ body: () throws -> T) throws -> T {
    guard !query.isCancelled else { throw StoreError.cancelled }
    do {
      return try connection.readWhileAllowed(
        query.allowsStep,
        wasTooLarge: { DatabaseError.isTooLarge(($0 as? StoreError)?.sqliteCode ?? ($0 as? DatabaseError)?.code) }, body)
    } catch let error as DatabaseError where error.isInterrupted && query.isCancelled {
      throw StoreError.cancelled
    }
  }

  // MARK: Soups

  func soupExists(_ name: String) throws -> Bool { try find(name) != nil }

  func indexSpecs(of name: String) throws -> [IndexSpec] { try soup(name).specs }

  func soupNumber(of name: String) throws -> Int64 { try soup(name).number }

  func soupNames() throws -> [String] {
    let statement = try connection.statement("SELECT soupName FROM soup_attrs ORDER BY soupName")
    defer { statement.reset() }
    var names: [String] = []
    while try statement.step() { names.append(statement.string(0)) }
    return names
  }

  /// - Throws: ``StoreError`` `.noSuchSoup`.
  func soup(_ name: String) throws -> Soup {
    guard let soup = try find(name) else { throw StoreError.noSuchSoup(name) }
    return soup
  }

  func find(_ name: String) throws -> Soup? {
    // Swift compares strings by canonical equivalence, but soup names differ if their bytes do.
    if let known = state.soups[name], known.name.hasSameBytes(as: name) { return known }
    let statement = try connection.statement("SELECT id, loading FROM soup_attrs WHERE soupName = ?")
    statement.bind(1, name)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    let soup = Soup(
      name: name, number: statement.int64(0), specs: try specs(of: name),
      bulkLoad: statement.isNull(1) ? nil : BulkLoad(text: statement.string(1)))
    state.soups[name] = soup
    return soup
  }

  private func specs(of name: String) throws -> [IndexSpec] {
    let statement = try connection.statement(
      "SELECT path, columnType FROM soup_index_map WHERE soupName = ? ORDER BY rowid")
    statement.bind(1, name)
    defer { statement.reset() }
    var specs: [IndexSpec] = []
    while try statement.step() {
      specs.append(IndexSpec(path: statement.string(0), type: IndexType(rawValue: statement.string(1)) ?? .string))
    }
    return specs
  }

  // MARK: Entries

  func storedEntries(_ ids: [Int64], in soup: String) throws -> [StoredEntry] {
    let statement = try connection.statement("SELECT soup, version FROM \(try self.soup(soup).table) WHERE id = ?")
    defer { statement.reset() }
    return try ids.compactMap { id in
      statement.reset()
      statement.bind(1, id)
      guard try statement.step() else { return nil }
      return StoredEntry(id: id, version: statement.int64(1), text: Array(statement.bytes(0)))
    }
  }

  func versions(of ids: [Int64], in soup: String) throws -> [Int64: Int64] {
    let statement = try connection.statement("SELECT version FROM \(try self.soup(soup).table) WHERE id = ?")
    defer { statement.reset() }
    var versions: [Int64: Int64] = [:]
    for id in ids {
      statement.reset()
      statement.bind(1, id)
      if try statement.step() { versions[id] = statement.int64(0) }
    }
    return versions
  }

  func entries(_ ids: [Int64], in soup: String) throws -> EntryBatch {
    let statement = try connection.statement("SELECT soup, version FROM \(try self.soup(soup).table) WHERE id = ?")
    var batch = EntryBatch(text: [UInt8(ascii: "[")])
    for id in ids {
      statement.bind(1, id)
      if try statement.step() {
        if !batch.ids.isEmpty { batch.text.append(UInt8(ascii: ",")) }
        batch.ids.append(id)
        batch.versions.append(statement.int64(1))
        batch.text.append(contentsOf: statement.bytes(0))
      }
      statement.reset()
    }
    batch.text.append(UInt8(ascii: "]"))
    return batch
  }

  func page(of ids: [Int64], in soup: String) throws -> [UInt8] {
    let statement = try connection.statement("SELECT soup FROM \(try self.soup(soup).table) WHERE id = ?")
    var page = RowText(statement, columns: 1, form: PageForm(row: .entry))
    for id in ids {
      statement.bind(1, id)
      if try statement.step() { try page.append(statement) }
      statement.reset()
    }
    return page.page(isLast: true).text
  }

  func entryIds(in soup: String, where path: String, equalsEach values: [SQLValue]) throws -> [[Int64]] {
    let soup = try self.soup(soup)
    let statement = try connection.statement(
      "SELECT id FROM \(soup.table) WHERE \(soup.expression(path)) = ? ORDER BY id")
    defer { statement.reset() }
    return try values.map { value in
      statement.reset()
      statement.bind(1, value)
      var ids: [Int64] = []
      while try statement.step() { ids.append(statement.int64(0)) }
      return ids
    }
  }

  func entryIds(in soup: String, without path: String) throws -> [Int64] {
    let soup = try self.soup(soup)
    return try ids("SELECT id FROM \(soup.table) WHERE \(soup.expression(path)) IS NULL ORDER BY id", [])
  }

  func dirtyEntryIds(in soup: String) throws -> [Int64] {
    let soup = try self.soup(soup)
    return try ids("SELECT id FROM \(soup.table) WHERE \(soup.dirtyCondition) ORDER BY id", [])
  }

  func externalIds(in soup: String, path: String, ownedBy owner: Int64?, dirty: Bool?) throws -> [String] {
    let soup = try self.soup(soup)
    var conditions = ["\(soup.expression(path)) IS NOT NULL"], values: [SQLValue] = []
    if let owner {
      conditions.append(
        "(owner = ? OR id IN (SELECT entry FROM soup_members WHERE soup = \(soup.number) AND owner = ?))")
      values += [.integer(owner), .integer(owner)]
    }
    if let dirty { conditions.append(dirty ? soup.dirtyCondition : "(\(soup.dirtyCondition)) IS NOT 1") }
    let statement = try connection.statement(
      "SELECT \(soup.expression(path)) FROM \(soup.table) WHERE \(conditions.joined(separator: " AND ")) ORDER BY id")
    try statement.bind(values)
    defer { statement.reset() }
    var result: [String] = []
    while try statement.step() { result.append(statement.string(0)) }
    return result
  }

  func ids(_ sql: String, _ values: [SQLValue]) throws -> [Int64] {
    let statement = try connection.statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    var ids: [Int64] = []
    while try statement.step() { ids.append(statement.int64(0)) }
    return ids
  }

  func bases(of ids: [Int64], in soup: String) throws -> [Int64: [UInt8]] {
    let statement = try connection.statement("SELECT base FROM soup_bases WHERE soup = ? AND entry = ?")
    defer { statement.reset() }
    statement.bind(1, try self.soup(soup).number)
    var bases: [Int64: [UInt8]] = [:]
    for id in ids {
      statement.reset()
      statement.bind(2, id)
      if try statement.step() { bases[id] = Array(statement.bytes(0)) }
    }
    return bases
  }
}
