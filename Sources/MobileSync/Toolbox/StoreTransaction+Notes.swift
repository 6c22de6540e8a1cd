import SmartStore

extension StoreTransaction {
  /// Notes in an entry why it was not sent: the server refused twice because its record has changed, and it shows no change.
  func notePrecondition(of id: Int64, in soup: String) throws {
    try noteSkipped([id], because: SkipReason.preconditionFailed, in: soup)
    guard let entry = try entry(id, in: soup)?.object(), entry.hasFlag(LocalField.local),
      // The same reason is not written again.
      ErrorNote(entry)?.code != ErrorNote.preconditionFailed
    else { return }
    _ = try patch(id, in: soup, setting: [LocalField.lastError: .string(ErrorNote.preconditionNote.text)])
  }
}
