import Database

/// Which id a server gave to a record that was made here, for entries of other soups that name it by its local one.
extension StoreSnapshot {
  /// nil while the record has none.
  package func assignedId(for localId: String, in soup: String) throws -> String? {
    let name = StoreSnapshot.assignedName(localId, try self.soup(soup).number)
    let found = try connection.firstValue("SELECT owner FROM leases WHERE name = ?", [.text(name)])
    if case .text(let id)? = found { return id } else { return nil }
  }

  /// The ids stand among the leases, as the owners of leases that are never acquired.
  fileprivate static func assignedName(_ localId: String, _ soup: Int64) -> String { "id of \(soup) \(localId)" }
}

extension StoreTransaction {
  package func noteAssignedId(_ id: String, for localId: String, in soup: String) throws {
    let name = StoreSnapshot.assignedName(localId, try self.soup(soup).number)
    try connection.run(
      """
      INSERT INTO leases (name, owner, fence, expiresAt) VALUES (?, ?, 0, 0)
      ON CONFLICT (name) DO UPDATE SET owner = excluded.owner
      """, [.text(name), .text(id)])
  }
}
