import Database
import JSON

/// An entry as it stands in its soup.
package struct StoredEntry: Sendable {
  package let id: Int64
  /// Raised by every write of the row, from 1.
  package let version: Int64
  /// The whole entry, JSON text.
  package let text: [UInt8]

  package func object() throws -> JSONObject { try JSONValue(parsing: text).objectValue ?? [:] }
}

/// Several entries as one JSON array.
package struct EntryBatch: Sendable {
  package var ids: [Int64] = []
  package var versions: [Int64] = []
  /// JSON array of the entries, in the order of `ids`.
  package var text: [UInt8] = []
}

/// One consistent view of a store, inside a transaction. Must not leave the closure it was given to.
package class StoreSnapshot {
  let connection: Connection
  let state: ConnectionState

  init(connection: Connection, state: ConnectionState) {
    self.connection = connection
    self.state = state
  }

  /// Runs statements that `query` can end.
  /// - Throws: ``StoreError`` `.cancelled` when it did.
  func run<T>(for query: QueryCancellation, _ body: () throws -> T) throws -> T {
    guard !query.isCancelled else { throw StoreError.cancelled }
    do {
      return try connection.whileAllowed(query.allowsStep, body)
    } catch let error as DatabaseError where error.isInterrupted && query.isCancelled {
      throw StoreError.cancelled
    }
  }

  // MARK: Soups

  package func soupExists(_ name: String) throws -> Bool { try find(name) != nil }

  /// - Throws: ``StoreError`` `.noSuchSoup`.
  package func indexSpecs(of name: String) throws -> [IndexSpec] { try soup(name).specs }

  /// All soups, sorted by name.
  package func soupNames() throws -> [String] {
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
    // Swift's strings are equal when they look the same, the table's names when their bytes are.
    if let known = state.soups[name], known.name.hasSameBytes(as: name) { return known }
    let statement = try connection.statement("SELECT id, loading FROM soup_attrs WHERE soupName = ?")
    statement.bind(1, name)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    let soup = Soup(
      name: name, number: statement.int64(0), specs: try specs(of: name),
      loading: statement.isNull(1) ? nil : LoadMark(text: statement.string(1)))
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

  package func entry(_ id: Int64, in soup: String) throws -> StoredEntry? {
    let statement = try connection.statement("SELECT soup, version FROM \(try self.soup(soup).table) WHERE id = ?")
    statement.bind(1, id)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return StoredEntry(id: id, version: statement.int64(1), text: Array(statement.bytes(0)))
  }

  /// The entries found, in the order asked for; missing ids are left out.
  package func entries(_ ids: some Sequence<Int64>, in soup: String) throws -> EntryBatch {
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

  /// The entries found, in the order asked for, as the text of a JSON array, whatever the file holds.
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

  /// Ids of the entries whose value at `path` (indexed or not) equals `value`, ascending.
  package func entryIds(in soup: String, where path: String, equals value: SQLValue) throws -> [Int64] {
    let soup = try self.soup(soup)
    return try ids("SELECT id FROM \(soup.table) WHERE \(soup.expression(path)) = ? ORDER BY id", [value])
  }

  /// Ids of the entries that have nothing at `path` (indexed or not), ascending.
  package func entryIds(in soup: String, without path: String) throws -> [Int64] {
    let soup = try self.soup(soup)
    return try ids("SELECT id FROM \(soup.table) WHERE \(soup.expression(path)) IS NULL ORDER BY id", [])
  }

  /// Ids of the entries with local changes, ascending.
  package func dirtyEntryIds(in soup: String) throws -> [Int64] {
    let soup = try self.soup(soup)
    return try ids("SELECT id FROM \(soup.table) WHERE \(soup.dirtyCondition) ORDER BY id", [])
  }

  /// Values at `path` as text, in entry order.
  /// - Parameters:
  ///   - owner: Only entries that this sync brought; nil for all.
  ///   - dirty: Only entries with (true) or without (false) local changes; nil for both.
  package func externalIds(in soup: String, path: String, ownedBy owner: Int64?, dirty: Bool?) throws -> [String] {
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

  /// The entry as the server last had it, for an entry that was clean before it was edited here; else nil.
  package func base(of id: Int64, in soup: String) throws -> [UInt8]? {
    let statement = try connection.statement("SELECT base FROM soup_bases WHERE soup = ? AND entry = ?")
    statement.bind(1, try self.soup(soup).number)
    statement.bind(2, id)
    defer { statement.reset() }
    return try statement.step() ? Array(statement.bytes(0)) : nil
  }
}
