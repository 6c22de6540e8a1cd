import JSON
import RecordScan
import RestClient
import SmartStore

extension SyncManager {
  /// Removes the clean entries a sync down brought that the server would no longer send: deleted there, or no longer in
  /// the target's scope. Entries with local changes stay. The sync state is not touched.
  ///
  /// - Parameter completion: Called once, from the run's task: the number of entries removed, or why it ended before.
  /// - Throws: ``SyncError`` `.managerStopped`, `.noSuchSync`, `.wrongSyncType`, `.alreadyRunning`.
  /// - Note: An entry belongs to the sync that wrote it last (`__sync_id__`), as in the model.
  public func cleanResyncGhosts(
    _ reference: SyncReference, completion: @escaping @Sendable (Result<Int, SyncError>) -> Void
  ) throws {
    try checkAccepting()
    guard let state = try getSyncStatus(reference) else { throw SyncError.noSuchSync(reference) }
    guard state.type == .syncDown else {
      throw SyncError(
        .wrongSyncType, "Cannot run cleanResyncGhosts:\(reference): wrong type:\(state.type.rawValue)")
    }
    let target = try TargetRegistry.down(state.target)
    let control = RunControl()
    try reserve(state.id, control)
    let ticket = turns.book(state.soupName)
    launch {
      let result: Result<Int, SyncError>
      do {
        try await self.waitTurn(ticket, control)
        result = .success(try await self.removeGhosts(of: state, target, control))
      } catch {
        result = .failure(control.isStopping ? SyncError(.stopped, "the sync was stopped") : SyncError(wrapping: error))
      }
      self.turns.leave(ticket)
      self.release(state.id)
      completion(result)
    }
  }

  private func removeGhosts(
    of state: SyncState, _ target: any SyncDownTarget, _ control: RunControl
  ) async throws -> Int {
    let soup = state.soupName, fields = target.fields, syncId = state.id
    let (plan, local) = try await store.read { snapshot in
      let plan = try snapshot.pagePlan(soup: soup, idPath: fields.id, ownedKeys: LocalField.all)
      return (plan, try SyncManager.cleanEntries(of: syncId, in: soup, fields.id, snapshot))
    }
    guard !local.isEmpty else { return 0 }
    let context = FetchContext(
      client: MeteredClient(client: client, meter: RequestMeter()), plan: plan, control: control)
    let ids = local.map(\.recordId)
    let remote = try await control.value(of: Task { try await target.remoteIds(among: ids, in: context) })
    let ghosts = Set(local.filter { !remote.contains($0.recordId) }.map(\.entryId))
    guard !ghosts.isEmpty else { return 0 }
    return try await store.write(.pulled) { transaction in
      // Looked at again: it may have been edited here, or brought by another sync, while the server was asked.
      let still = try SyncManager.cleanEntries(of: syncId, in: soup, fields.id, transaction).map(\.entryId)
      let gone = still.filter(ghosts.contains)
      try transaction.remove(gone, from: soup)
      return gone.count
    }
  }

  /// Entries without local changes that this sync wrote last.
  private static func cleanEntries(
    of syncId: Int64, in soup: String, _ idField: String, _ snapshot: StoreSnapshot
  ) throws -> [(entryId: Int64, recordId: String)] {
    let dirty = Set(try snapshot.dirtyEntryIds(in: soup))
    let owned = try snapshot.entryIds(in: soup, where: LocalField.syncId, equals: .integer(syncId))
    let clean = owned.filter { !dirty.contains($0) }
    var scanner = RecordScanner(plan: ScanPlan(paths: [idField]))
    var found: [(entryId: Int64, recordId: String)] = []
    for start in stride(from: 0, to: clean.count, by: entriesAtOnce) {
      let batch = try snapshot.entries(clean[start..<min(start + entriesAtOnce, clean.count)], in: soup)
      try batch.text.withUnsafeBytes { bytes in
        try scanner.scanArray(bytes)
        for (i, entryId) in batch.ids.enumerated() {
          if let id = scanner.value(record: i, field: 0).string(in: bytes) { found.append((entryId, id)) }
        }
      }
    }
    return found
  }

  /// Entries held in memory at a time: about 1 MB.
  private static let entriesAtOnce = 2000
}
