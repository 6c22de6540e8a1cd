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

  /// Returns the attempt to upload one record; nil if nothing is sent.
  /// - Parameters:
  ///   - sent: The record.
  ///   - isLookedUp: Whether a create without an answer can be looked up on the server.
  ///   - text: The text with what is sent; nil if unknown.
  func upload(_ sent: SentRecord, isLookedUp: Bool, _ text: @autoclosure () -> [UInt8]?) -> UploadRecord? {
    let operation: UploadRecord.Operation
    switch sent.action {
    case .nothing: return nil
    case .update: operation = .update
    case .upsert: operation = .upsert
    case .delete, .removeLocally: operation = .delete
    case .create: operation = isLookedUp ? .create : .customCreate
    }
    return UploadRecord(
      entryId: sent.entryId, version: sent.version, syncId: syncId, fence: fence, operation: operation, sentAt: now,
      clockOffset: clockOffset, sent: operation == .delete ? nil : text())
  }

  func claimRows(_ uploads: [UploadRecord], in soup: String, _ transaction: StoreTransaction) throws -> [ClaimOutcome] {
    try transaction.claim(uploads, in: soup) { try isLive($0, in: transaction) }
  }

  func isLive(_ upload: UploadRecord, in snapshot: StoreSnapshot) throws -> Bool {
    try owners.isLive(upload, now: now, in: snapshot)
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
  func claiming<T: Sendable>(
    _ durability: Durability, _ body: @escaping @Sendable (StoreTransaction, UploadClaim) throws -> T
  ) async throws -> T {
    let lease = lease, claim = claim
    return try await environment.store.write(durability) { transaction in
      try transaction.verify(lease)
      return try body(transaction, claim)
    }
  }

  /// Claims the rows of a batch.
  /// - Parameters:
  ///   - number: The number of the soup that the entries belong to.
  ///   - lookup: How creates are looked up on the server; nil if that is not possible.
  func claimBatch(
    _ batch: DirtyBatch, in soup: String, number: Int64, _ lookup: SentCreate.Lookup?, keys: [Int64: JSONObject] = [:]
  ) async throws -> ClaimedBatch {
    let limit = environment.limit
    let hasCreates = lookup != nil && (0..<batch.count).contains { batch.action($0) == .create }
    // The record of a create must survive a power cut; other uploads can be sent twice.
    return try await claiming(hasCreates ? .synced : .pulled) { transaction, claim in
      guard try transaction.soupNumber(of: soup) == number else { return try ClaimedBatch(none: batch.plan) }
      return try ClaimedBatch(
        batch, ClaimedBatch.Source(soup: soup, lookup: lookup, keys: keys, claim: claim, limit: limit), transaction)
    }
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
    try transaction.noteInDoubt(entryIds, in: soup)
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
