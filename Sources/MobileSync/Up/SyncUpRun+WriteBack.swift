import JSON
import SmartStore

extension SyncUpRun {
  /// Writes all answers of a batch back in one transaction.
  /// - Returns: Entries to create again, and the versions of those that were updated.
  mutating func writeBack(
    _ upload: BatchUpload, _ claimed: ClaimedBatch
  ) async throws -> (toCreate: [Int64], versions: [Int64: Int64]) {
    let unsettled = target.traits.looksForLostCreates ? upload.unsettled : []
    let writer = BatchWriteBack(
      upload: upload, repeated: claimed.repeated, soup: soup, soupNumber: soupNumber, fields: target.fields,
      references: references, claim: record.claim, maker: target.traits.looksForLostCreates ? state.id : nil,
      unsettled: unsettled,
      looked: unconditionalUpdates(upload))
    let lost = LostAnswers(soup: soup, entryIds: unsettled.sorted(), waitMs: lookup.waitMs)
    let answers = upload.answers, now = writer.claim.now
    let percent = ProgressCounter.percent(counter.done + answers.count, of: counter.total)
    let made = RunStep(kind: .upload, soup: soup, rows: answers.count)
    let versions = try await record.save(.synced, noting: made) { transaction, state in
      // A partial answer is counted with its follow-up.
      for answer in answers where !answer.isPartial { state.counts.count(answer.outcome) }
      state.progress = max(state.progress, percent)
      guard let versions = try writer.write(in: transaction) else { return [Int64: Int64]() }
      try lost.note(&state, now: now, in: transaction)
      return versions
    }
    if !unsettled.isEmpty { record.logDoubts() }
    followUps += answers.filter(\.isPartial).map(\.sent.entryId)
    return (answers.filter { $0.outcome == .recreate }.map(\.sent.entryId), versions)
  }
}

/// Writes the answers of one batch.
struct BatchWriteBack: Sendable {
  let upload: BatchUpload
  /// Creates that were repeated with their key.
  let repeated: Set<Int64>
  let soup: String
  /// The number of the soup that the entries were read from.
  let soupNumber: Int64
  let fields: TargetFields
  let references: [SoupReference]
  let claim: UploadClaim
  /// The sync up, if it creates records that a sync down will bring; nil otherwise.
  let maker: Int64?
  /// Creates that are looked up, because their answers were lost.
  let unsettled: Set<Int64>
  /// Updates whose versions are returned.
  let looked: [Int64]

  /// - Returns: The versions of the updates to look at; nil if nothing was written, because the soup
  ///   is another one by now.
  func write(in transaction: StoreTransaction) throws -> [Int64: Int64]? {
    guard try transaction.soupNumber(of: soup) == soupNumber else { return nil }
    let attempts = try OwnAttempts(claim, in: soup, transaction), answers = upload.answers.compactMap(attempts.answer)
    let before = try repeated.isEmpty ? [:] : transaction.versions(of: repeated.sorted(), in: soup)
    try write(answers, in: transaction)
    let succeeded = answers.filter { $0.outcome == .succeeded }
    try transaction.expectEchoes(succeeded.map(\.sent.entryId), in: soup)
    for answer in succeeded {
      if let stamp = answer.result.stamp { try transaction.noteOwnStamp(stamp, of: answer.sent.entryId, in: soup) }
    }
    try end(attempts, answers, before, in: transaction)
    return try looked.isEmpty ? [:] : transaction.versions(of: looked, in: soup)
  }

  private func write(_ answers: [UploadAnswer], in transaction: StoreTransaction) throws {
    let updated = Set(answers.filter { $0.sent.action == .update }.map(\.sent.entryId)), batch = upload.batch
    var named: [(local: String, id: String)] = []
    let isTold = transaction.history != nil
    let positions = isTold ? Dictionary(zip(batch.entryIds, 0..<batch.count), uniquingKeysWith: { first, _ in first }) : [:]
    for answer in answers {
      let local = try transaction.writeBack(
        answer, in: soup, fields: fields, madeBy: maker, now: claim.now, updated: updated,
        story: { upload.story(of: answer.sent, at: positions[answer.sent.entryId]) }
      ) { batch.sentFields(answer.sent) }
      if let local, let id = answer.result.id { named.append((local, id)) }
    }
    // Update references after all answers: an entry with a reference may have been sent in the same
    // batch.
    for (local, id) in named { for reference in references { try transaction.redirect(reference, from: local, to: id) } }
  }

  private func end(
    _ attempts: OwnAttempts, _ answers: [UploadAnswer], _ before: [Int64: Int64], in transaction: StoreTransaction
  ) throws {
    let succeeded = Set(answers.filter { $0.outcome == .succeeded }.map(\.sent.entryId))
    let unanswered = unsettled.union(upload.openUpdates), all = upload.batch.entryIds
    let used = Set(answers.filter(\.result.endsKey).map(\.sent.entryId))
    let kept = repeated.subtracting(succeeded).subtracting(unanswered).subtracting(used)
    try attempts.end(
      all.filter { !kept.contains($0) }, succeeded: succeeded, unanswered: unanswered, doubtful: upload.doubtfulUpdates,
      transaction)
    let refused = Set(answers.filter { $0.outcome == .failed }.map(\.sent.entryId))
    try attempts.keep(kept.sorted(), refused: refused, versions: before, transaction)
  }
}
