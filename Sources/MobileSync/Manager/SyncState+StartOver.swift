import SmartStore

extension SyncState {
  /// Forgets the progress of a sync down if one of its soups was cleared, or removed and registered
  /// again, since the last run: the server would not send unchanged records again.
  ///
  /// - Returns: Whether it did.
  mutating func startOver(ifEmptied soups: [String], in transaction: StoreTransaction) throws -> Bool {
    guard let now = try emptying(of: soups, in: transaction) else { return false }
    maxTimeStamp = TimeStamp.never
    coveredTimeStamp = TimeStamp.never
    ghostsCheckedUntil = TimeStamp.never
    memory = [:]
    try transaction.forgetSyncPages(of: id)
    try transaction.keepSyncPage(Self.emptiedPage, Array(now.utf8), of: id)
    return true
  }

  /// Returns whether the next run starts over; see ``startOver(ifEmptied:in:)``.
  func startsOver(ifEmptied soups: [String], in snapshot: StoreSnapshot) throws -> Bool {
    try emptying(of: soups, in: snapshot) != nil
  }

  /// Returns when a program emptied one of the soups, if that was after the last run.
  private func emptying(of soups: [String], in snapshot: StoreSnapshot) throws -> String? {
    guard type == .syncDown else { return nil }
    let emptied = try snapshot.timesEmptied(soups)
    guard !emptied.isEmpty else { return nil }
    let now = emptied.keys.sorted().map { "\(emptied[$0] ?? "") \($0)" }.joined(separator: "\n")
    return try snapshot.syncPages(of: id)[Self.emptiedPage] == now ? nil : now
  }

  private static let emptiedPage = "\(PageNotes.ownPrefix)emptied"
}
