import JSON
import SmartStore

/// The data with which one run claims rows before it sends them.
struct UploadClaim: Sendable {
  let syncId: Int64
  let fence: Int64
  /// Ms since 1970 UTC.
  let now: Int64
  let clockOffset: Int64?
  let owners: UploadOwners

  /// Returns the outbox row of one record; nil if nothing is sent.
  /// - Parameter sent: The record.
  /// - Parameter text: The text of a create; nil if it cannot be looked up on the server.
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

  /// Ends the claims of these entries that belong to this run.
  func settle(_ entryIds: [Int64], in soup: String, _ transaction: StoreTransaction) throws {
    try transaction.settle(entryIds, in: soup, sentBy: (syncId, fence))
  }
}

extension RunRecord {
  /// The claim data of this run.
  var claim: UploadClaim {
    UploadClaim(
      syncId: state.id, fence: lease.fence, now: environment.configuration.now(), clockOffset: environment.clock.offsetMs,
      owners: environment.owners)
  }

  /// Runs a transaction that claims rows.
  /// - Throws: `StoreError` `.leaseLost` if another process has taken over the sync. Nothing is
  ///   written then.
  func taking<T: Sendable>(
    _ durability: Durability, _ body: @escaping @Sendable (StoreTransaction, UploadClaim) throws -> T
  ) async throws -> T {
    let lease = lease, claim = claim
    return try await environment.store.write(durability) { transaction in
      try transaction.verify(lease)
      return try body(transaction, claim)
    }
  }

  /// Claims the rows of a batch.
  /// - Parameter lookup: How creates are looked up on the server; nil if that is not possible.
  func take(
    _ batch: DirtyBatch, in soup: String, _ lookup: SentCreate.Lookup?, keys: [Int64: JSONObject] = [:]
  ) async throws -> ClaimedBatch {
    let hasCreates = lookup != nil && (0..<batch.count).contains { batch.action($0) == .create }
    // The record of a create must survive a power cut; other uploads can be sent twice.
    return try await taking(hasCreates ? .synced : .pulled) { transaction, claim in
      try ClaimedBatch(batch, in: soup, lookup, keys, claim, transaction)
    }
  }
}

/// Rows that one run has claimed for sending.
struct ClaimedBatch: Sendable {
  /// The rows in the state in which they were claimed.
  let batch: DirtyBatch
  /// Entries that another run is sending, or has sent without an answer.
  let held: [Int64]

  init(
    _ batch: DirtyBatch, in soup: String, _ lookup: SentCreate.Lookup?, _ keys: [Int64: JSONObject], _ claim: UploadClaim,
    _ transaction: StoreTransaction
  ) throws {
    var outcomes = try ClaimedBatch.take(batch, in: soup, lookup, keys, claim, transaction)
    guard !outcomes.isEmpty else {
      self.batch = batch
      held = []
      return
    }
    // Rows that were edited since they were read are sent in their current state.
    let changed = batch.entryIds.filter { outcomes[$0] == .changed }
    let fresh = try DirtyBatch(transaction.entries(changed, in: soup), plan: batch.plan)
    for id in changed { outcomes[id] = nil }
    outcomes.merge(try ClaimedBatch.take(fresh, in: soup, lookup, keys, claim, transaction)) { _, second in second }
    let refused = outcomes
    held = batch.entryIds.filter { refused[$0] == .held || refused[$0] == .unsettled }
    let taken = batch.entryIds.filter { refused[$0] == nil }
    self.batch = try DirtyBatch(transaction.entries(taken, in: soup), plan: batch.plan)
  }

  /// - Returns: Why rows were not claimed, by entry id.
  private static func take(
    _ batch: DirtyBatch, in soup: String, _ lookup: SentCreate.Lookup?, _ keys: [Int64: JSONObject], _ claim: UploadClaim,
    _ transaction: StoreTransaction
  ) throws -> [Int64: ClaimOutcome] {
    let uploads = (0..<batch.count).compactMap { i in
      claim.upload(
        SentRecord(entryId: batch.entryIds[i], version: batch.versions[i], action: batch.action(i)),
        lookup.map {
          SentCreate.text(
            $0, type: batch.type(i), id: batch.recordId(i), body: batch.body(i, .create), key: keys[batch.entryIds[i]])
        })
    }
    let outcomes = try claim.take(uploads, in: soup, transaction)
    return Dictionary(uniqueKeysWithValues: zip(uploads.map(\.entryId), outcomes).filter { $0.1 != .claimed })
  }
}

// MARK: - Lost answers

/// Creates in one soup whose answers were lost.
struct LostAnswers: Sendable {
  let soup: String
  let entryIds: [Int64]
  let waitMs: Int64

  /// Stores until when they wait, and counts them.
  func note(_ state: inout SyncState, now: Int64, in transaction: StoreTransaction) throws {
    guard !entryIds.isEmpty else { return }
    try transaction.keepWaiting(entryIds, in: soup, until: now + waitMs)
    state.counts.inDoubt += entryIds.count
    state.inDoubtUntil = max(state.inDoubtUntil, now + waitMs)
  }
}

extension RunRecord {
  /// Logs how many creates are in doubt, and until when.
  func logDoubts() {
    guard state.counts.inDoubt > 0 else { return }
    let until = state.inDoubtUntil > 0 ? TimeStamp.text(state.inDoubtUntil) : "a search can decide"
    environment.configuration.logger.warning(
      "creates are in doubt: their answers were lost; a sync up searches for them and sends none of them again before then",
      metadata: [
        "sync": "\(state.name ?? String(state.id))", "soup": "\(state.soupName)", "count": "\(state.counts.inDoubt)",
        "until": "\(until)",
      ])
  }
}
