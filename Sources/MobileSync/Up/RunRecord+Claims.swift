import JSON
import SmartStore

/// One run's way of taking rows before it sends them, as of now.
struct UploadClaim: Sendable {
  let syncId: Int64
  let fence: Int64
  /// Ms since 1970 UTC.
  let now: Int64
  let clockOffset: Int64?
  let owners: UploadOwners

  /// What is written down for one record.
  /// - Parameter sent: What a create tells the server; nil when it cannot be looked for there.
  func upload(_ sent: SentRecord, _ text: @autoclosure () -> [UInt8]?) -> UploadRecord? {
    let operation: UploadRecord.Operation, kept: [UInt8]?
    switch sent.action {
    case .nothing: return nil
    case .update: (operation, kept) = (.update, nil)
    case .upsert: (operation, kept) = (.upsert, nil)
    case .delete, .removeLocally: (operation, kept) = (.delete, nil)
    case .create:
      kept = text()
      operation = kept == nil ? .customCreate : .create
    }
    return UploadRecord(
      entryId: sent.entryId, version: sent.version, syncId: syncId, fence: fence, operation: operation, sentAt: now,
      clockOffset: clockOffset, sent: kept)
  }

  func take(_ uploads: [UploadRecord], in soup: String, _ transaction: StoreTransaction) throws -> [ClaimOutcome] {
    try transaction.claim(uploads, in: soup) { try owners.isLive($0, now: now, in: transaction) }
  }

  /// Ends the claims of these entries, as far as they are this run's.
  func settle(_ entryIds: [Int64], in soup: String, _ transaction: StoreTransaction) throws {
    try transaction.settle(entryIds, in: soup, sentBy: (syncId, fence))
  }
}

extension RunRecord {
  /// What claims are made with.
  var claim: UploadClaim {
    UploadClaim(
      syncId: state.id, fence: lease.fence, now: environment.configuration.now(), clockOffset: environment.clock.offsetMs,
      owners: environment.owners)
  }

  /// Runs one transaction that takes rows for sending.
  /// - Throws: `StoreError` `.leaseLost` when another process took the sync over. Nothing is written then.
  func taking<T: Sendable>(
    _ durability: Durability, _ body: @escaping @Sendable (StoreTransaction, UploadClaim) throws -> T
  ) async throws -> T {
    let lease = lease, claim = claim
    return try await environment.store.write(durability) { transaction in
      try transaction.verify(lease)
      return try body(transaction, claim)
    }
  }

  /// Takes the rows of a batch.
  /// - Parameter place: How creates are found again; nil when they cannot be looked for.
  func take(
    _ batch: DirtyBatch, in soup: String, _ place: SentCreate.Place?, keys: [Int64: JSONObject] = [:]
  ) async throws -> ClaimedBatch {
    let hasCreates = place != nil && (0..<batch.count).contains { batch.action($0) == .create }
    // A create has to be remembered through a power cut; the rest can be sent twice.
    return try await taking(hasCreates ? .synced : .pulled) { transaction, claim in
      try ClaimedBatch(batch, in: soup, place, keys, claim, transaction)
    }
  }
}

/// Rows that one run has taken for sending.
struct ClaimedBatch: Sendable {
  /// As the rows stood when they were taken.
  let batch: DirtyBatch
  /// Entries that another run is sending, or sent without an answer.
  let held: [Int64]

  init(
    _ batch: DirtyBatch, in soup: String, _ place: SentCreate.Place?, _ keys: [Int64: JSONObject], _ claim: UploadClaim,
    _ transaction: StoreTransaction
  ) throws {
    var outcomes = try ClaimedBatch.take(batch, in: soup, place, keys, claim, transaction)
    guard !outcomes.isEmpty else {
      self.batch = batch
      held = []
      return
    }
    // What was edited since it was read goes as it stands now.
    let changed = batch.entryIds.filter { outcomes[$0] == .changed }
    let fresh = try DirtyBatch(transaction.entries(changed, in: soup), plan: batch.plan)
    for id in changed { outcomes[id] = nil }
    outcomes.merge(try ClaimedBatch.take(fresh, in: soup, place, keys, claim, transaction)) { _, second in second }
    let refused = outcomes
    held = batch.entryIds.filter { refused[$0] == .held || refused[$0] == .unsettled }
    let taken = batch.entryIds.filter { refused[$0] == nil }
    self.batch = try DirtyBatch(transaction.entries(taken, in: soup), plan: batch.plan)
  }

  /// - Returns: Why rows were not taken, by entry id.
  private static func take(
    _ batch: DirtyBatch, in soup: String, _ place: SentCreate.Place?, _ keys: [Int64: JSONObject], _ claim: UploadClaim,
    _ transaction: StoreTransaction
  ) throws -> [Int64: ClaimOutcome] {
    let uploads = (0..<batch.count).compactMap { i in
      claim.upload(
        SentRecord(entryId: batch.entryIds[i], version: batch.versions[i], action: batch.action(i)),
        place.map {
          SentCreate.text(
            $0, type: batch.type(i), id: batch.recordId(i), body: batch.body(i, .create), key: keys[batch.entryIds[i]])
        })
    }
    let outcomes = try claim.take(uploads, in: soup, transaction)
    return Dictionary(uniqueKeysWithValues: zip(uploads.map(\.entryId), outcomes).filter { $0.1 != .claimed })
  }
}

// MARK: - Lost answers

/// Creates whose answers were lost, in one soup.
struct LostAnswers: Sendable {
  let soup: String
  let entryIds: [Int64]
  let waitMs: Int64

  /// Notes until when they wait, and counts them.
  func note(_ state: inout SyncState, now: Int64, in transaction: StoreTransaction) throws {
    guard !entryIds.isEmpty else { return }
    try transaction.keepWaiting(entryIds, in: soup, until: now + waitMs)
    state.counts.inDoubt += entryIds.count
    state.inDoubtUntil = max(state.inDoubtUntil, now + waitMs)
  }
}

extension RunRecord {
  /// Says in the log how many creates are in doubt, and until when.
  func logDoubts() {
    guard state.counts.inDoubt > 0 else { return }
    let until = state.inDoubtUntil > 0 ? TimeStamp.text(state.inDoubtUntil) : "the server's records tell them apart"
    environment.configuration.logger.warning(
      "creates are in doubt: their answers were lost; a sync up looks for them and sends none of them again before then",
      metadata: [
        "sync": "\(state.name ?? String(state.id))", "soup": "\(state.soupName)", "count": "\(state.counts.inDoubt)",
        "until": "\(until)",
      ])
  }
}
