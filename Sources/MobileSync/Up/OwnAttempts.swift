import SmartStore

/// The attempts of one run, as they are in the transaction that writes their answers back. An answer
/// is written only through its attempt: if the entry, its soup or the run is another one by now,
/// the answer is dropped.
struct OwnAttempts {
  private let soup: String
  private let attempts: [Int64: UploadRecord]

  init(_ claim: UploadClaim, in soup: String, _ transaction: StoreTransaction) throws {
    self.soup = soup
    let own = try transaction.unsettledUploads(in: soup).filter { $0.syncId == claim.syncId && $0.fence == claim.fence }
    attempts = Dictionary(uniqueKeysWithValues: own.map { ($0.entryId, $0) })
  }

  /// Returns the answer for the version that its attempt is about; nil if there is no attempt. The
  /// answer of an entry that was not sent needs none.
  func answer(_ answer: UploadAnswer) -> UploadAnswer? {
    guard answer.sent.action != .nothing else { return answer }
    guard let attempt = attempts[answer.sent.entryId] else { return nil }
    let sent = SentRecord(entryId: attempt.entryId, version: attempt.version, action: answer.sent.action)
    return UploadAnswer(sent: sent, outcome: answer.outcome, result: answer.result)
  }

  /// Ends the attempts of a batch.
  /// - Parameters:
  ///   - succeeded: Entries that the server accepted.
  ///   - unanswered: Entries that the server may have accepted; their attempts stay.
  ///   - doubtful: Entries that the server refused, but may have accepted before: what was sent
  ///     stays, and the run may send them again.
  func end(
    _ entryIds: [Int64], succeeded: Set<Int64>, unanswered: Set<Int64>, doubtful: Set<Int64>, _ transaction: StoreTransaction
  ) throws {
    let ended = entryIds.filter { attempts[$0] != nil && !unanswered.contains($0) }
    let staying = ended.filter { !succeeded.contains($0) }.compactMap {
      doubtful.contains($0) ? attempts[$0].map(OwnAttempts.released) : attempts[$0]?.former
    }
    let kept = Set(staying.map(\.entryId))
    try transaction.endAttempts(ended.filter { !kept.contains($0) }, in: soup)
    if !staying.isEmpty { try transaction.journal(staying, in: soup) }
  }

  private static func released(_ attempt: UploadRecord) -> UploadRecord {
    var released = attempt
    released.fence = UploadRecord.noRun
    return released
  }

  /// Keeps the keys of repeated creates that the server did not accept.
  /// - Parameters:
  ///   - entryIds: Repeated creates without success, and whose answers are not missing.
  ///   - refused: Those with an answer.
  ///   - versions: The versions of the rows before the answers were written.
  func keep(
    _ entryIds: [Int64], refused: Set<Int64>, versions: [Int64: Int64], _ transaction: StoreTransaction
  ) throws {
    guard !entryIds.isEmpty else { return }
    let now = try transaction.versions(of: entryIds, in: soup)
    let kept = entryIds.compactMap { id -> UploadRecord? in
      guard var attempt = attempts[id], let version = now[id] else { return nil }
      attempt.state = refused.contains(id) ? .refused : .repeatable
      // Writing the error is not an edit.
      if attempt.version == versions[id] { attempt.version = version }
      return attempt
    }
    try transaction.journal(kept, in: soup)
  }
}
