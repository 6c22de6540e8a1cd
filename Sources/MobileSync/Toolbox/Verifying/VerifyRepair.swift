import JSON
import RestClient
import SmartStore

extension SyncManager {
  /// Compares and mends in one run of the sync.
  func repair(
    _ run: VerifyRun, _ order: VerifyOrder, _ completion: @escaping @Sendable (Result<VerifyResult, SyncError>) -> Void
  ) throws {
    let state = run.state, control = run.control
    try reserve(state.id, control)
    let ticket = turns.book(run.mappings.map(\.soup))
    launch {
      var result: Result<VerifyResult, SyncError>
      do {
        try await self.waitTurn(ticket, control)
        try await self.settleOrg(of: state, control)
        let (held, history) = try await self.acquireLease(of: state, .repair, control)
        result = try await self.perform(run, order, held, history)
      } catch {
        result = .failure(control.failure(error))
      }
      self.turns.leave(ticket)
      self.release(state.id)
      completion(result)
    }
  }

  private func perform(
    _ run: VerifyRun, _ order: VerifyOrder, _ held: HeldLease, _ history: RunHistory
  ) async throws -> Result<VerifyResult, SyncError> {
    let meter = RequestMeter(history: history)
    let repair = VerifyRepair(
      run: run, held: held, history: history, owners: UploadOwners(leases: leases) { self.isRunning($0) }, most: order.most)
    var result: Result<VerifyResult, SyncError> = await renewals.holding(held) {
      await meter.counting {
        do { return .success(try await repair.perform()) } catch { return .failure(run.control.failure(held.failure ?? error)) }
      }
    }
    result = result.map { $0.requesting(meter.totals) }
    let end = end(of: result, meter.totals), step = history.step()
    try await store.write(.pulled) { transaction in
      history.begin(step, in: transaction, now: end.at)
      held.end()
      try transaction.releaseLease(held.lease)
      history.end(end, step, in: transaction)
    }
    return result
  }
}

/// Mends what a comparison found, with the steps of a sync down and of a search for ghosts.
struct VerifyRepair: Sendable {
  let run: VerifyRun
  let held: HeldLease
  let history: RunHistory
  let owners: UploadOwners
  /// How many differences are mended at most; nil for the usual limits.
  let most: Int?

  /// The usual limits: this many differences, and this share of the records unless they are few.
  private static let mostDifferences = 1000, largestShare = 0.1

  func perform() async throws -> VerifyResult {
    var result = try await run.perform()
    try check(result)
    var repair = VerifyResult.Repair()
    if !result.missing.isEmpty || !result.different.isEmpty { repair.stored = try await store(result) }
    repair.removed = try await remove(
      result.extra.compactMap { extra in
        extra.ownedEntry.map { (extra.soupName, $0) }
      } + result.unlistedExtra)
    repair.left = max(0, result.differences - repair.stored - repair.removed)
    result.repair = repair
    return result
  }

  /// - Throws: ``SyncError`` `.tooMuch`; `.unexpectedAnswer` if records changed while they were compared.
  private func check(_ result: VerifyResult) throws {
    let found = result.differences, all = max(result.local, result.server)
    if let most {
      guard found > most else { return }
      throw SyncError(.tooMuch, "\(found) differences, more than the \(most) that may be mended; nothing was changed")
    }
    let isLarge = all >= GhostGuard.fewestRows && Double(found) > Double(all) * Self.largestShare
    guard isLarge || found > Self.mostDifferences else { return }
    throw SyncError(
      .tooMuch,
      "\(found) of \(all) records differ, more than a repair mends without being asked (\(Self.mostDifferences), or a tenth); "
        + "nothing was changed; look at them, then give 'max': \(found), or --max \(found)")
  }

  // MARK: Storing

  /// Stores what is missing and different, page by page.
  /// - Returns: How many records were stored.
  private func store(_ result: VerifyResult) async throws -> Int {
    let wanted = result.missing + result.different.filter { $0.reason != .moving }
    let ids = IdSet(wanted.compactMap(\.recordId)), first = run.mappings[0].soup
    let isSmall = ids.count <= VerifyRun.readSingly && wanted.allSatisfy { $0.soupName.hasSameBytes(as: first) }
    var stored = 0, pages = 0
    let mark = try await run.store.read { try $0.uploadSequence() }
    func take(_ page: SyncDownPage) async throws {
      pages += 1
      stored += try await store(page, number: pages, since: mark)
    }
    if isSmall, try await run.forEachPage(ids.sorted(), .content, take) { return stored }
    try await run.forEachPage(nil, .content, take)
    return stored
  }

  /// Stores those records of a page that differ from the soup, in one transaction.
  private func store(_ page: SyncDownPage, number: Int, since mark: Int64) async throws -> Int {
    let run = run, owners = owners, now = run.configuration.now(), soup = run.mappings[0].soup
    var plain = page
    // What the target says about its progress belongs to runs of the sync.
    plain.notes = nil
    let bare = plain
    return try await write(noting: RunStep(kind: .page, soup: soup, rows: bare.parts.reduce(0) { $0 + ($1?.count ?? 0) })) {
      transaction in
      var known: [UnchangedRecordFilter.Found] = [], mended: [(mapping: Int, suspect: PageComparison.Suspect)] = []
      for (i, part) in bare.parts.enumerated() {
        var found = UnchangedRecordFilter.Found()
        if let part {
          let suspects = try run.comparison(i).compare(part, in: transaction).suspects.filter { !$0.isDirty }
          found.unchanged = Set(0..<part.count).subtracting(suspects.map(\.position))
          mended += suspects.map { (i, $0) }
        }
        known.append(found)
      }
      guard !mended.isEmpty else { return 0 }
      let state = run.state
      let progress = SyncDownProgress(
        maxTimeStamp: state.maxTimeStamp, covered: state.coveredTimeStamp, previousRunEnded: true, isSortedByModification: false)
      let step = PageStep(
        page: bare, pages: number, mappings: run.mappings, known: known, progress: progress, counter: ProgressCounter(total: -1),
        end: nil, tracksOwnProgress: false, uploadSequence: mark, owners: owners, now: now)
      // A scratch copy takes the progress and the counts, which belong to runs of the sync.
      var scratch = SyncState(
        id: state.id, type: state.type, name: state.name, target: state.target, options: SyncOptions(mergeMode: .leaveIfChanged),
        soupName: state.soupName)
      _ = try step.apply(&scratch, in: transaction)
      return try mended.count { try note($0.suspect, run.mappings[$0.mapping], transaction) }
    }
  }

  /// Adds to the history that a record was stored.
  /// - Returns: False if it was not: an upload, or a change of its family, came first.
  private func note(
    _ suspect: PageComparison.Suspect, _ mapping: SoupMapping, _ transaction: StoreTransaction
  ) throws -> Bool {
    let ids = try transaction.entryIds(in: mapping.soup, where: mapping.fields.id, equals: .text(suspect.recordId))
    let rows = try transaction.recordRows(
      .entries(Array(ids.prefix(1))), in: mapping.soup, idPath: mapping.fields.id, stampPath: mapping.fields.modificationDate)
    guard let row = rows.first, row.owner == run.state.id else { return false }
    let reason = suspect.entryId == nil ? "missing" : "different"
    try transaction.note(
      EntryChange(
        .repaired, row.entryId, version: row.version, reason: reason, fields: suspect.fields.isEmpty ? nil : suspect.fields,
        recordId: suspect.recordId), in: mapping.soup)
    return true
  }

  // MARK: Removing

  /// Removes extra entries as ghosts; those with local changes stay, and those that the sync did not bring.
  private func remove(_ extra: [(soupName: String, entry: OwnedEntry)]) async throws -> Int {
    guard !extra.isEmpty else { return 0 }
    let ghosts = GhostRun(
      store: run.store, client: run.client, targets: run.targets, control: run.control, configuration: run.configuration,
      held: held,
      state: run.state, target: run.target, isForced: true, onConflicts: { _ in }, history: history)
    var removed = 0
    for mapping in run.mappings {
      let found = extra.filter { $0.soupName.hasSameBytes(as: mapping.soup) }.map(\.entry)
      removed += try await ghosts.remove(found, from: mapping)
    }
    return removed
  }

  /// Writes to the store while the lease of the sync still belongs to this process.
  private func write(
    noting made: RunStep, _ body: @escaping @Sendable (StoreTransaction) throws -> Int
  ) async throws -> Int {
    let held = held, history = history, step = history.step(), configuration = run.configuration
    let (stored, written) = try await run.store.write(.pulled) { transaction in
      var step = step
      history.begin(step, in: transaction, now: configuration.now())
      try transaction.verify(held.lease)
      let stored = try body(transaction)
      if stored > 0 { try history.add(made, to: &step, in: transaction) }
      return (stored, step)
    }
    history.written(written)
    return stored
  }
}
