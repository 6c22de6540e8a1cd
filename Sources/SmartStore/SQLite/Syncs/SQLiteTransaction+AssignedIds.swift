import Database

/// The ids that the server assigned to locally created records, for entries of other soups that
/// refer to them by local id.
extension SQLiteSnapshot {
  func assignedId(for localId: String, in soup: String) throws -> String? {
    let found = try connection.firstValue(
      "SELECT id FROM assigned_ids WHERE soup = ? AND localId = ?",
      [.integer(try self.soup(soup).number), .text(localId)])
    if case .text(let id)? = found { return id } else { return nil }
  }
}

extension SQLiteTransaction {
  func noteAssignedId(_ id: String, for localId: String, in soup: String, now: Int64) throws {
    try connection.run(
      "INSERT OR REPLACE INTO assigned_ids (soup, localId, id, arrivedAt) VALUES (?, ?, ?, ?)",
      [.integer(try self.soup(soup).number), .text(localId), .text(id), .integer(now)])
  }

  func forgetAssignedIds(before time: Int64) throws {
    try connection.run("DELETE FROM assigned_ids WHERE arrivedAt < ?", [.integer(time)])
  }

  /// Removes the ids of a soup that is dropped.
  func forgetAssignedIds(of soup: Soup) throws {
    try connection.run("DELETE FROM assigned_ids WHERE soup = ?", [.integer(soup.number)])
  }
}
