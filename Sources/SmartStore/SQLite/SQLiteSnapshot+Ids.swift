import Database

/// Reads the server ids of a soup in pages.
extension SQLiteSnapshot {
  func serverIdCount(in name: String, path: String, localPrefix: String) throws -> Int {
    let soup = try self.soup(name)
    let value = try connection.firstValue(
      "SELECT count(*) FROM \(soup.table) WHERE \(serverIdCondition(soup.expression(path)))",
      [.integer(Int64(localPrefix.unicodeScalars.count)), .text(localPrefix)])
    if case .integer(let count)? = value { return Int(count) }
    return 0
  }

  func serverIds(
    in name: String, path: String, stampPath: String?, localPrefix: String, after last: String?, limit: Int
  ) throws -> [(id: String, stamp: String?)] {
    let soup = try self.soup(name), id = soup.expression(path)
    let stamp = stampPath.map { soup.expression($0) } ?? "NULL"
    let statement = try connection.statement(
      "SELECT \(id), \(stamp) FROM \(soup.table) WHERE \(serverIdCondition(id)) AND \(id) > ?3 ORDER BY \(id) LIMIT ?4")
    try statement.bind([
      .integer(Int64(localPrefix.unicodeScalars.count)), .text(localPrefix), .text(last ?? ""), .integer(Int64(limit)),
    ])
    defer { statement.reset() }
    var found: [(id: String, stamp: String?)] = []
    while try statement.step() {
      found.append((statement.string(0), statement.isNull(1) ? nil : statement.string(1)))
    }
    return found
  }

  private func serverIdCondition(_ id: String) -> String { "substr(\(id), 1, ?1) <> ?2" }
}
