import JSON
import SmartStore

/// Rows that one run has claimed for sending.
struct ClaimedBatch: Sendable {
  /// The rows in the state in which they were claimed. A create that is repeated with its key is as
  /// it was sent at first.
  let batch: DirtyBatch
  /// Entries that another run is sending, or has sent without an answer.
  let held: [Int64]
  /// Creates that are repeated with their key.
  let repeated: Set<Int64>

  /// Where the rows are, and how they are claimed.
  struct Source: Sendable {
    let soup: String
    /// How creates are looked up on the server; nil if that is not possible.
    let lookup: SentCreate.Lookup?
    /// The keys of creates, by entry id.
    let keys: [Int64: JSONObject]
    let claim: UploadClaim
    /// The entries that the run may send; nil for all, also in other versions than they were read.
    var limit: PlanLimit?
  }

  init(none plan: DirtyBatch.Plan) throws {
    batch = try DirtyBatch(EntryBatch(text: Array("[]".utf8)), plan: plan)
    (held, repeated) = ([], [])
  }

  init(_ given: DirtyBatch, _ source: Source, _ transaction: StoreTransaction) throws {
    let former = try source.repeatable(given, transaction)
    var claimed = given
    var outcomes = try source.claim(given, transaction)
    if !outcomes.isEmpty {
      // Rows that were edited since they were read are sent in their current state.
      let edited = given.entryIds.filter { outcomes[$0] == .changed }
      if let limit = source.limit { for id in edited { limit.noteEdited(id, in: source.soup) } }
      let changed = source.limit == nil ? edited : []
      let fresh = try DirtyBatch(transaction.entries(changed, in: source.soup), plan: given.plan)
      for id in changed { outcomes[id] = nil }
      outcomes.merge(try source.claim(fresh, transaction)) { _, second in second }
      let refused = outcomes, taken = given.entryIds.filter { refused[$0] == nil }
      claimed = try DirtyBatch(transaction.entries(taken, in: source.soup), plan: given.plan)
    }
    held = given.entryIds.filter { outcomes[$0] == .held || outcomes[$0] == .unsettled }
    let ids = Set(claimed.entryIds), mine = former.filter { ids.contains($0.key) }
    repeated = Set(mine.keys)
    batch = try mine.isEmpty ? claimed : source.repeating(mine, claimed, transaction)
  }
}

extension ClaimedBatch.Source {
  /// - Returns: Why rows were not claimed, by entry id.
  fileprivate func claim(_ batch: DirtyBatch, _ transaction: StoreTransaction) throws -> [Int64: ClaimOutcome] {
    let uploads = (0..<batch.count).compactMap { upload(of: $0, batch) }
    let outcomes = try claim.claimRows(uploads, in: soup, transaction)
    return Dictionary(uniqueKeysWithValues: zip(uploads.map(\.entryId), outcomes).filter { $0.1 != .claimed })
  }

  private func upload(of i: Int, _ batch: DirtyBatch) -> UploadRecord? {
    let id = batch.entryIds[i], action = batch.action(i), key = keys[id]
    let sent = SentRecord(entryId: id, version: batch.versions[i], action: action)
    var upload = claim.upload(sent, isLookedUp: lookup != nil, text(of: i, action, batch, key))
    if action == .create, key != nil { upload?.entryText = batch.text(i) }
    return upload
  }

  private func text(of i: Int, _ action: UploadAction, _ batch: DirtyBatch, _ key: JSONObject?) -> [UInt8] {
    guard action == .create, let lookup else { return batch.sentText(i, action) }
    return SentCreate.text(
      lookup, type: batch.type(i), id: batch.recordId(i), body: batch.body(i, .create), key: key)
  }

  // MARK: Repeating creates

  /// Returns the earlier attempts of creates that are repeated with their key, by entry id.
  fileprivate func repeatable(_ batch: DirtyBatch, _ transaction: StoreTransaction) throws -> [Int64: UploadRecord] {
    guard !keys.isEmpty else { return [:] }
    let former = try transaction.unsettledUploads(of: Array(keys.keys).sorted(), in: soup)
    return Dictionary(
      uniqueKeysWithValues: former.filter { $0.state == .repeatable || $0.state == .refused }.map { ($0.entryId, $0) })
  }

  /// Returns the batch with what the repeated creates sent at first: the server may answer with the
  /// first result in any case, and may refuse a key with another content. The answer then
  /// belongs to that version of the entry, and later edits follow as an update.
  fileprivate func repeating(
    _ former: [Int64: UploadRecord], _ batch: DirtyBatch, _ transaction: StoreTransaction
  ) throws -> DirtyBatch {
    var entries = EntryBatch(text: [UInt8(ascii: "[")])
    for i in 0..<batch.count {
      let id = batch.entryIds[i]
      var text = batch.text(i), version = batch.versions[i]
      if let first = former[id], let attempt = try transaction.unsettledUpload(of: id, in: soup) {
        var attempt = attempt
        (text, version) = content(of: first, text, version)
        (attempt.version, attempt.sent, attempt.entryText) = (version, first.sent, first.entryText)
        try transaction.journal([attempt], in: soup)
      }
      if i > 0 { entries.text.append(UInt8(ascii: ",")) }
      entries.text += text
      entries.ids.append(id)
      entries.versions.append(version)
    }
    entries.text.append(UInt8(ascii: "]"))
    return try DirtyBatch(entries, plan: batch.plan)
  }

  /// Returns what is sent in place of the current row, and the version that the answer is about.
  private func content(of first: UploadRecord, _ text: [UInt8], _ version: Int64) -> (text: [UInt8], version: Int64) {
    let isEdited = first.version != version
    // The server refused the first content, so only the edit can succeed. If the server has the first
    // one after all, the edit still follows.
    if first.state == .refused, isEdited { return (text, 0) }
    guard let sent = first.entryText else { return (text, isEdited ? 0 : version) }
    return (sent, first.version)
  }
}
