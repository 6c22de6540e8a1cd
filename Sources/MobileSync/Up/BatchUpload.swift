import RestClient

/// The uploads of one batch: what is sent, and what every answer says. Touches no store.
struct BatchUpload: Sendable {
  struct Answer: Sendable {
    let sent: SentRecord
    let outcome: UploadOutcome
    let result: UploadResult
  }

  let batch: DirtyBatch
  private let target: any SyncUpTarget
  private let context: UploadContext
  private let planned: [PlannedUpload]
  private(set) var answers: [Answer] = []
  /// Creates that were sent without an answer: the server may have them.
  private(set) var unsettled: Set<Int64> = []

  init(batch: DirtyBatch, target: any SyncUpTarget, in context: UploadContext) {
    self.batch = batch
    self.target = target
    self.context = context
    var planned: [PlannedUpload] = []
    for i in 0..<batch.count {
      let action = batch.action(i)
      if let answer = BatchUpload.answerWithoutServer(batch, i, action) {
        answers.append(answer)
      } else {
        planned.append(PlannedUpload(index: i, action: action, type: batch.type(i)))
      }
    }
    self.planned = planned
  }

  private func sent(_ i: Int, _ action: UploadAction) -> SentRecord {
    SentRecord(entryId: batch.entryIds[i], version: batch.versions[i], action: action)
  }

  /// What needs no request, or cannot be one.
  private static func answerWithoutServer(_ batch: DirtyBatch, _ i: Int, _ action: UploadAction) -> Answer? {
    let sent = SentRecord(entryId: batch.entryIds[i], version: batch.versions[i], action: action)
    switch action {
    case .removeLocally: return Answer(sent: sent, outcome: .succeeded, result: UploadResult(isSuccess: true))
    case .nothing: return Answer(sent: sent, outcome: .skipped, result: UploadResult(isSuccess: true))
    default: return refusal(of: action, batch, i).map { Answer(sent: sent, outcome: .failed, result: $0) }
    }
  }

  /// Why a record cannot be sent; nil when it can.
  static func refusal(of action: UploadAction, _ batch: DirtyBatch, _ i: Int) -> UploadResult? {
    func failed(_ code: String, _ message: String) -> UploadResult { .failure(code, message) }
    switch action {
    case .removeLocally, .nothing: return nil
    case .create, .upsert:
      return batch.plan.create == nil
        ? failed("NO_FIELDLIST", "No fields specified: the target has no createFieldlist, the options no fieldlist") : nil
    case .update:
      if batch.plan.update == nil {
        return failed("NO_FIELDLIST", "No fields specified: the target has no updateFieldlist, the options no fieldlist")
      }
      return batch.serverId(i) == nil ? failed("MISSING_ID", "The entry is no new one and has no id of the server") : nil
    case .delete:
      return batch.serverId(i) == nil ? failed("MISSING_ID", "The entry is no new one and has no id of the server") : nil
    }
  }

  /// Takes up entries that were sorted out before, so that they are counted with the batch.
  mutating func hold(_ held: [(id: Int64, verdict: UploadVerdict)]) {
    for (id, verdict) in held {
      let sent = SentRecord(entryId: id, version: 0, action: .nothing)
      switch verdict {
      case .conflicting: answers.append(Answer(sent: sent, outcome: .conflicting, result: UploadResult(isSuccess: false)))
      case .refused(let result): answers.append(Answer(sent: sent, outcome: .failed, result: result))
      case .settled: answers.append(Answer(sent: sent, outcome: .succeeded, result: UploadResult(isSuccess: true)))
      case .held: answers.append(Answer(sent: sent, outcome: .skipped, result: UploadResult(isSuccess: true)))
      // Counted, and marked, when it was looked for.
      case .inDoubt: break
      }
    }
  }

  /// Sends everything, one request after the other.
  /// - Returns: What ended it before the last request; the answers until then are kept.
  mutating func send() async -> (any Error)? {
    for group in target.groups(planned) {
      do {
        let results = try await target.send(group, of: batch, in: context)
        for (upload, result) in zip(group.uploads, results) { answers.append(answer(upload.index, upload.action, result)) }
      } catch {
        if BatchUpload.mayHaveHappened(error) {
          unsettled.formUnion(group.uploads.filter { $0.action == .create }.map { batch.entryIds[$0.index] })
        }
        return error
      }
    }
    return nil
  }

  /// An answer that says no is certain; so is a request that never left. A good status without a usable body is not.
  static func mayHaveHappened(_ error: any Error) -> Bool {
    guard let error = error as? RestError else { return true }
    if error.code == .invalidBody || error.code == .responseTooLarge { return true }
    if let status = error.status, status >= 500 { return true }
    return error.outcome == .unknown
  }

  private func answer(_ i: Int, _ action: UploadAction, _ result: UploadResult) -> Answer {
    Answer(sent: sent(i, action), outcome: BatchUpload.outcome(of: action, result, context.mergeMode), result: result)
  }

  static func outcome(of action: UploadAction, _ result: UploadResult, _ mergeMode: MergeMode) -> UploadOutcome {
    switch action {
    case _ where result.isSuccess: .succeeded
    case .delete where result.maySayRecordIsGone: .succeeded
    // Looked at once more before anything is created.
    case .update where result.maySayRecordIsGone: mergeMode == .overwrite ? .recreate : .conflicting
    case .update where result.saysRecordHasChanged: .conflicting
    default: .failed
    }
  }

  /// Makes sure of the records that are said to be gone: the same error is given for a lookup that leads nowhere, and a
  /// record that exists must not be created once more.
  /// - Returns: What kept it from finding out; the records in question then stay as they are.
  mutating func findGone() async -> (any Error)? {
    let doubtful = answers.indices.filter { answers[$0].outcome == .recreate || isUpdateConflict(answers[$0]) }
    guard !doubtful.isEmpty else { return nil }
    let positions = Dictionary(uniqueKeysWithValues: zip(batch.entryIds, 0..<batch.count))
    let asked = doubtful.compactMap { n in positions[answers[n].sent.entryId].map { (answer: n, index: $0) } }
      .filter { batch.serverId($0.index) != nil }
    do {
      let found = try await RemoteLookup.find(asked.map(\.index), of: batch, target, in: context)
      for (n, i) in asked where !isGone(found[i]) {
        answers[n] = Answer(sent: answers[n].sent, outcome: .failed, result: answers[n].result)
      }
      return nil
    } catch {
      let undecided = Set(doubtful.filter { answers[$0].outcome != .failed })
      answers = answers.indices.filter { !undecided.contains($0) }.map { answers[$0] }
      return error
    }
  }

  /// Where nothing else is known than the answer itself, that one counts: a target that sends by itself may compare records, and
  /// does not say by that whether they exist.
  private func isGone(_ found: RemoteLookup.Found?) -> Bool {
    switch found {
    case .record(.deleted): true
    case .record(.unknown): target.answersForItself || !target.looksForLostCreates
    case .record(.unchanged), .record(.changed): target.answersForItself
    default: false
    }
  }

  /// Records that are surely gone, by position in the batch.
  var gone: [Int] {
    let gone = Set(answers.filter(isUpdateConflict).map(\.sent.entryId))
    return batch.entryIds.indices.filter { gone.contains(batch.entryIds[$0]) }
  }

  /// Updates that came too late, by position in the batch.
  var lateConflicts: [Int] {
    let late = Set(answers.filter { $0.outcome == .conflicting && $0.sent.action == .update }.map(\.sent.entryId))
    return batch.entryIds.indices.filter { late.contains(batch.entryIds[$0]) }
  }

  private func isUpdateConflict(_ answer: Answer) -> Bool {
    answer.outcome == .conflicting && answer.sent.action == .update && answer.result.maySayRecordIsGone
  }
}
