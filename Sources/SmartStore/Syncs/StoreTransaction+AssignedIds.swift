import Database

/// Which id a server gave to a record that was made here, for entries of other soups that name it by its local one.
///
/// The ids stand among the leases, as the owners of leases that are never acquired, each with the time it came.
extension StoreSnapshot {
  /// nil while the record has none.
  package func assignedId(for localId: String, in soup: String) throws -> String? {
    let name = StoreSnapshot.assignedNames(try self.soup(soup).number) + localId
    let found = try connection.firstValue("SELECT owner FROM leases WHERE name = ?", [.text(name)])
    if case .text(let id)? = found { return id } else { return nil }
  }

  /// What the names of a soup's ids begin with.
  fileprivate static func assignedNames(_ soup: Int64) -> String { "id of \(soup) " }
}

extension StoreTransaction {
  /// - Parameter now: Ms since 1970 UTC.
  package func noteAssignedId(_ id: String, for localId: String, in soup: String, now: Int64) throws {
    let name = StoreSnapshot.assignedNames(try self.soup(soup).number) + localId
    try connection.run(
      """
      INSERT INTO leases (name, owner, fence, expiresAt) VALUES (?, ?, 0, ?)
      ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expiresAt = excluded.expiresAt
      """, [.text(name), .text(id), .integer(now)])
  }

  /// Forgets ids that came before a time: nothing waits for them any more.
  /// - Parameter time: Ms since 1970 UTC.
  package func forgetAssignedIds(before time: Int64) throws {
    try connection.run(
      "DELETE FROM leases WHERE name >= 'id of ' AND name < 'id of!' AND expiresAt < ?", [.integer(time)])
  }

  /// Forgets the ids of a soup that is dropped: another one may get its number.
  func forgetAssignedIds(of soup: Soup) throws {
    let prefix = StoreSnapshot.assignedNames(soup.number)
    try connection.run(
      "DELETE FROM leases WHERE name >= ? AND name < ?", [.text(prefix), .text(String(prefix.dropLast()) + "!")])
  }
}
