import Database

/// The ids that the server assigned to locally created records, for entries of other soups that
/// refer to them by local id.
///
/// They are stored in the lease table, as owners of leases that are never acquired, each with the
/// time of its arrival.
extension SQLiteSnapshot {
  func assignedId(for localId: String, in soup: String) throws -> String? {
    let name = SQLiteSnapshot.assignedNames(try self.soup(soup).number) + localId
    let found = try connection.firstValue("SELECT owner FROM leases WHERE name = ?", [.text(name)])
    if case .text(let id)? = found { return id } else { return nil }
  }

  /// Returns the prefix of the lease names of a soup's ids.
  static func assignedNames(_ soup: Int64) -> String { "id of \(soup) " }
}

extension SQLiteTransaction {
  func noteAssignedId(_ id: String, for localId: String, in soup: String, now: Int64) throws {
    let name = SQLiteSnapshot.assignedNames(try self.soup(soup).number) + localId
    try connection.run(
      """
      INSERT INTO leases (name, owner, fence, expiresAt) VALUES (?, ?, 0, ?)
      ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expiresAt = excluded.expiresAt
      """, [.text(name), .text(id), .integer(now)])
  }

  func forgetAssignedIds(before time: Int64) throws {
    try connection.run(
      "DELETE FROM leases WHERE name >= 'id of ' AND name < 'id of!' AND expiresAt < ?", [.integer(time)])
  }

  /// Removes the ids of a soup that is dropped, because another soup may get its number.
  func forgetAssignedIds(of soup: Soup) throws {
    let prefix = SQLiteSnapshot.assignedNames(soup.number)
    try connection.run(
      "DELETE FROM leases WHERE name >= ? AND name < ?", [.text(prefix), .text(String(prefix.dropLast()) + "!")])
  }
}
