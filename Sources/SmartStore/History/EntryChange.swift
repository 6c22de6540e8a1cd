/// What happened to an entry: a row of the log.
package struct EntryChange: Sendable {
  package enum Cause: String, Sendable, CaseIterable {
    // Writes of programs.
    case created, updated, deleted
    // The server's version came in: combined with local changes, without any left, or against them.
    case merged, settled, conflict, resolved
    // Uploads.
    case uploaded, refused, skipped, inDoubt, adopted
    case discarded, repaired, removed
  }

  package var cause: Cause
  package var entryId: Int64
  /// The version of the row after it.
  package var version: Int64
  package var reason: String?
  /// The members concerned; nil for all, or if that is not known.
  package var fields: [String]?
  package var recordId: String?
  /// JSON texts of the sent members: as the server had them, and as they were sent; see ``HistoryTable/log``.
  package var before: [UInt8]?
  package var sent: [UInt8]?

  package init(
    _ cause: Cause, _ entryId: Int64, version: Int64, reason: String? = nil, fields: [String]? = nil, recordId: String? = nil,
    before: [UInt8]? = nil, sent: [UInt8]? = nil
  ) {
    self.cause = cause
    self.entryId = entryId
    self.version = version
    self.reason = reason
    self.fields = fields
    self.recordId = recordId
    self.before = before
    self.sent = sent
  }
}

extension StoreTransaction {
  /// Adds what happened to an entry to the history, if the store keeps one.
  package func note(_ change: @autoclosure () -> EntryChange, in soup: String) throws {
    guard let history else { return }
    history.note(change(), soup: try soupNumber(of: soup))
  }

  /// Adds that a program removes entries. Call before they are gone.
  func noteRemoval(of entryIds: [Int64], from soup: String) throws {
    guard let history, !entryIds.isEmpty else { return }
    let number = try soupNumber(of: soup), paths = ["Id", "id", "objectId"]
    for start in stride(from: 0, to: entryIds.count, by: 500) {
      for stored in try storedEntries(Array(entryIds[start..<min(start + 500, entryIds.count)]), in: soup) {
        let entry = try? stored.object()
        let recordId = paths.lazy.compactMap { entry?[$0]?.stringValue }.first
        history.note(
          EntryChange(.removed, stored.id, version: stored.version, reason: "script", recordId: recordId), soup: number)
      }
    }
  }

  /// Adds that a program removes all entries of a soup: those with local changes, and the first others. Call before they are
  /// gone.
  func noteEmptying(of soup: String) throws {
    guard history != nil, try soupExists(soup) else { return }
    let unsent = try dirtyEntryIds(in: soup).prefix(Self.mostNoted), known = Set(unsent)
    let rows = try recordRows(
      .after(.min, limit: Self.mostNoted), in: soup, idPath: SoupField.entryId, stampPath: SoupField.lastModified)
    try noteRemoval(of: unsent + rows.map(\.entryId).filter { !known.contains($0) }, from: soup)
  }

  /// Entries of each kind that the history names when a soup is emptied: it keeps 50,000 rows in all.
  private static var mostNoted: Int { 1000 }

  /// Removes the values of entries from the history, because the server has deleted their records or no longer shows
  /// them. What happened, and to which fields, stays.
  package func forgetValues(of entryIds: [Int64], in soup: String) throws {
    guard let history, !entryIds.isEmpty else { return }
    history.forget(entryIds, soup: try soupNumber(of: soup))
  }
}
