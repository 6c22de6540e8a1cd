import Database

/// Entries whose record a sync up created on the server. The sync up owns them until a sync down
/// brings the record; otherwise nothing would detect that the server has deleted it.
extension SQLiteTransaction {
  func noteMaker(_ syncId: Int64, of id: Int64, in name: String) throws {
    let soup = try self.soup(name)
    try connection.run(
      """
      INSERT OR IGNORE INTO soup_creators (soup, entry, sync)
      SELECT ?, id, ? FROM \(soup.table) WHERE id = ? AND owner IS NULL
      """, [.integer(soup.number), .integer(syncId), .integer(id)])
  }
}

extension SQLiteSnapshot {
  func ownedByMakers(in name: String) throws -> [Int64] {
    let soup = try self.soup(name)
    return try ids(
      """
      SELECT id FROM \(soup.table) WHERE id IN (SELECT entry FROM soup_creators WHERE soup = ?)
      AND owner IS NULL AND (\(soup.dirtyCondition)) IS NOT 1 ORDER BY id
      """, [.integer(soup.number)])
  }
}
