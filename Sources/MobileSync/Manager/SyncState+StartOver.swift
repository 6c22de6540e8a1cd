import SmartStore

extension SyncState {
  /// Forgets the progress of a sync down if one of its soups was cleared, or removed and registered
  /// again, since the last run: the server would not send unchanged records again.
  ///
  /// - Returns: Whether it did.
  mutating func startOver(ifEmptied soups: [String], in transaction: StoreTransaction) throws -> Bool {
    guard type == .syncDown else { return false }
    let emptied = try transaction.timesEmptied(soups)
    guard !emptied.isEmpty else { return false }
    let now = emptied.keys.sorted().map { "\(emptied[$0] ?? "") \($0)" }.joined(separator: "\n")
    guard try transaction.syncPages(of: id)[Self.emptiedPage] != now else { return false }
    maxTimeStamp = TimeStamp.never
    coveredTimeStamp = TimeStamp.never
    ghostsCheckedUntil = TimeStamp.never
    memory = [:]
    try transaction.forgetSyncPages(of: id)
    try transaction.keepSyncPage(Self.emptiedPage, Array(now.utf8), of: id)
    return true
  }

  private static let emptiedPage = "\(PageNotes.ownPrefix)emptied"
}
