import Database

/// Entries whose record a sync up made on the server. It owns them until a sync down brings the record: nobody else would notice
/// that the server has deleted it.
///
/// Such an owner stands in `soup_members` with its number below zero.
extension StoreTransaction {
  /// - Parameter syncId: The sync up. Nothing is noted of an entry that a sync down owns.
  package func noteMaker(_ syncId: Int64, of id: Int64, in name: String) throws {
    let soup = try self.soup(name)
    try connection.run(
      """
      INSERT OR IGNORE INTO soup_members (soup, entry, owner)
      SELECT ?, id, ? FROM \(soup.table) WHERE id = ? AND owner IS NULL
      """, [.integer(soup.number), .integer(-syncId), .integer(id)])
  }

  /// Forgets the makers of entries that a sync down has taken over.
  package func forgetMakers(in name: String) throws {
    let soup = try self.soup(name)
    try connection.run(
      """
      DELETE FROM soup_members WHERE soup = ? AND owner < 0
      AND NOT EXISTS (SELECT 1 FROM \(soup.table) AS t WHERE t.id = entry AND t.owner IS NULL)
      """, [.integer(soup.number)])
  }
}

extension StoreSnapshot {
  /// Entries without local changes whose only owner is the sync up that made their records, ascending.
  package func ownedByMakers(in name: String) throws -> [Int64] {
    let soup = try self.soup(name)
    return try ids(
      """
      SELECT id FROM \(soup.table) WHERE id IN (SELECT entry FROM soup_members WHERE soup = ? AND owner < 0)
      AND owner IS NULL AND (\(soup.dirtyCondition)) IS NOT 1 ORDER BY id
      """, [.integer(soup.number)])
  }
}
