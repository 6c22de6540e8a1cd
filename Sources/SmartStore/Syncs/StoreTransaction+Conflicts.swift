import Database

/// An entry with local changes that the server changed too, and what the server has.
///
/// What the entry was before and what it is now stand elsewhere in the store, and are read on request.
package struct ConflictRecord: Sendable, Equatable {
  /// What is known of the server's side.
  package enum Server: Sendable, Equatable {
    /// JSON text of an object.
    case record([UInt8])
    case deleted
    case unknown
  }

  package var entryId: Int64
  /// The sync that met it last.
  package var syncId: Int64
  package var server: Server
  /// The names of the fields with the server's id and its modification date.
  package var idField: String
  package var dateField: String
  /// Ms since 1970 UTC.
  package var detectedAt: Int64

  package init(
    entryId: Int64, syncId: Int64, server: Server, idField: String, dateField: String, detectedAt: Int64
  ) {
    self.entryId = entryId
    self.syncId = syncId
    self.server = server
    self.idField = idField
    self.dateField = dateField
    self.detectedAt = detectedAt
  }
}

extension StoreSnapshot {
  private static let conflictColumns = "entry, sync, state, server, idField, dateField, detectedAt"

  private func conflicts(_ condition: String, _ values: [SQLValue]) throws -> [ConflictRecord] {
    let statement = try connection.statement(
      "SELECT \(Self.conflictColumns) FROM soup_conflicts WHERE \(condition) ORDER BY entry")
    try statement.bind(values)
    defer { statement.reset() }
    var found: [ConflictRecord] = []
    while try statement.step() {
      let server: ConflictRecord.Server =
        switch statement.string(2) {
        case "record": .record(Array(statement.bytes(3)))
        case "deleted": .deleted
        default: .unknown
        }
      found.append(
        ConflictRecord(
          entryId: statement.int64(0), syncId: statement.int64(1), server: server, idField: statement.string(4),
          dateField: statement.string(5), detectedAt: statement.int64(6)))
    }
    return found
  }

  /// The conflicts of a soup, by entry id.
  package func conflicts(in soup: String) throws -> [ConflictRecord] {
    try conflicts("soup = ?", [.integer(try self.soup(soup).number)])
  }

  package func conflict(of id: Int64, in soup: String) throws -> ConflictRecord? {
    try conflicts("soup = ? AND entry = ?", [.integer(try self.soup(soup).number), .integer(id)]).first
  }

  /// The soups that have conflicts, sorted by name.
  package func soupsInConflict() throws -> [String] {
    let statement = try connection.statement(
      "SELECT soupName FROM soup_attrs WHERE id IN (SELECT soup FROM soup_conflicts) ORDER BY soupName")
    defer { statement.reset() }
    var names: [String] = []
    while try statement.step() { names.append(statement.string(0)) }
    return names
  }
}

extension StoreTransaction {
  /// Writes a conflict down; an entry has at most one, the latest. It goes when the entry gets clean, or is removed.
  package func noteConflict(_ conflict: ConflictRecord, in soup: String) throws {
    let state: String, server: SQLValue
    switch conflict.server {
    case .record(let text): (state, server) = ("record", .text(String(decoding: text, as: UTF8.self)))
    case .deleted: (state, server) = ("deleted", .null)
    case .unknown: (state, server) = ("unknown", .null)
    }
    try connection.run(
      """
      INSERT OR REPLACE INTO soup_conflicts (soup, entry, sync, state, server, idField, dateField, detectedAt)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(try self.soup(soup).number), .integer(conflict.entryId), .integer(conflict.syncId), .text(state), server,
        .text(conflict.idField), .text(conflict.dateField), .integer(conflict.detectedAt),
      ])
  }

  package func forgetConflict(of id: Int64, in soup: String) throws {
    try connection.run(
      "DELETE FROM soup_conflicts WHERE soup = ? AND entry = ?", [.integer(try self.soup(soup).number), .integer(id)])
  }

  /// Sets what the server last had of an entry with local changes; see ``StoreSnapshot/base(of:in:)``.
  /// - Parameter text: JSON text of the entry as it would stand here without those changes.
  package func setBase(of id: Int64, in soup: String, to text: [UInt8]) throws {
    try connection.run(
      "INSERT OR REPLACE INTO soup_bases (soup, entry, base) VALUES (?, ?, ?)",
      [.integer(try self.soup(soup).number), .integer(id), .text(String(decoding: text, as: UTF8.self))])
  }

  /// Forgets what the server last had of an entry: nothing is known then of what it was made from.
  package func forgetBase(of id: Int64, in soup: String) throws {
    try connection.run(
      "DELETE FROM soup_bases WHERE soup = ? AND entry = ?", [.integer(try self.soup(soup).number), .integer(id)])
  }

  /// Notes that a sync brought an entry: as its owner when it has none, else as one more.
  package func join(_ id: Int64, in name: String, owner: Int64) throws {
    let soup = try self.soup(name)
    try connection.run("UPDATE \(soup.table) SET owner = ? WHERE id = ? AND owner IS NULL", [.integer(owner), .integer(id)])
    let found = try connection.firstValue("SELECT owner FROM \(soup.table) WHERE id = ?", [.integer(id)])
    if found != .integer(owner) { try writer(name).join(id, owner) }
  }

  /// Removes an entry that stands for the same record as another: the syncs that brought it own that one, too.
  package func absorb(_ other: Int64, into id: Int64, in name: String) throws {
    let soup = try self.soup(name)
    let owners = try ids(
      """
      SELECT owner FROM \(soup.table) WHERE id = ?1 AND owner IS NOT NULL
      UNION SELECT owner FROM soup_members WHERE soup = ?2 AND entry = ?1 AND owner > 0
      """, [.integer(other), .integer(soup.number)])
    for owner in owners { try join(id, in: name, owner: owner) }
    try remove(CollectionOfOne(other), from: name)
  }
}
