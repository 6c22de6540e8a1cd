import SmartStore

extension SyncManager {
  /// Saves a new sync. Each call of `syncDown` or `syncUp` without a name leaves one behind, so the
  /// oldest ended ones are removed.
  /// - Throws: ``SyncError`` `.duplicateName`; nothing is written then.
  func add(_ state: inout SyncState, in transaction: StoreTransaction) throws {
    try SyncsSoup.insert(&state, in: transaction)
    guard state.name == nil else { return }
    let ids = try transaction.entryIds(in: SyncsSoup.name, without: "name"), most = configuration.unnamedSyncs
    // Remove several at a time, because all rows must be read to find the oldest.
    guard ids.count > most + most / 10 else { return }
    let now = configuration.now()
    let ended = ids.compactMap { try? SyncsSoup.find(.id($0), in: transaction) }.filter(\.status.isTerminal)
    let oldest = ended.sorted { ($0.endTime, $0.id) < ($1.endTime, $1.id) }.prefix(ids.count - most)
    let idle = oldest.filter { (try? checkNotRunning($0.id, now: now, transaction)) != nil }
    try SyncsSoup.remove(idle.map(\.id), in: transaction)
  }
}
