import Database
import RecordScan

/// What the writes of a soup add to the history.
extension SoupWriter {
  /// Adds an entry that a program has created, if it is to be uploaded.
  func noteCreation(_ page: ScannedPage, _ i: Int, id: Int64) {
    guard let history, page.isMarkedDirty(record: i) else { return }
    history.note(EntryChange(.created, id, version: 1), soup: soup.number)
  }

  /// Adds an edit of a program; see ``change(from:)``.
  func noteEdit(_ id: Int64, _ change: RowChange) {
    let cause: EntryChange.Cause = change.members.isDeletion ? .deleted : .updated
    history?.note(EntryChange(cause, id, version: change.version, fields: change.members.names), soup: soup.number)
  }

  /// Adds that a record replaces the entry at which a finder with the text stands. Its new text is in ``body``.
  func noteUpdate(_ id: Int64, _ page: ScannedPage, _ i: Int, _ history: HistoryRows, from row: Statement) {
    let change = rowChange(from: row)
    history.noteUpdate(
      id, version: change.version, fields: change.members.names, recordId: page.id(record: i), soup: soup.number)
  }

  /// What a write changes in a row, and its next version.
  struct RowChange {
    let members: ChangedMembers
    let version: Int64
  }

  /// Compares the row at which a finder stands with the new text, which is in ``body``.
  /// - Returns: nil without a history.
  func change(from row: Statement) -> RowChange? { history == nil ? nil : rowChange(from: row) }

  private func rowChange(from row: Statement) -> RowChange {
    RowChange(
      members: ChangedMembers(from: row.bytes(stampColumn + 2), to: body.bytes), version: row.int64(stampColumn + 1) + 1)
  }
}
