import RestClient

/// The uploads of one batch: what is sent, and the result of every answer. Does not touch the
/// store.
struct BatchUpload: Sendable {
  let batch: DirtyBatch
  private let target: any SyncUpTarget
  private let context: UploadContext
  private let planned: [PlannedUpload]
  private let unsent: [Int: UnsentChanges]
  private(set) var answers: [UploadAnswer] = []
  /// Creates that were sent without an answer: the server may have them.
  private(set) var unsettled: Set<Int64> = []
  /// Updates that were sent without an answer: the server may have applied them.
  private(set) var openUpdates: Set<Int64> = []

  /// - Parameter unsent: The changes that the updates do not send, by position.
  init(batch: DirtyBatch, target: any SyncUpTarget, in context: UploadContext, unsent: [Int: UnsentChanges]) {
    self.batch = batch
    self.target = target
    self.context = context
    self.unsent = unsent
    var planned: [PlannedUpload] = []
    for i in 0..<batch.count {
      let action = batch.action(i)
      if let answer = BatchUpload.answerWithoutServer(batch, i, action) {
        answers.append(answer)
      } else if let unsent = unsent[i], unsent.isAll {
        let sent = SentRecord(entryId: batch.entryIds[i], version: batch.versions[i], action: action)
        answers.append(UploadAnswer(sent: sent, outcome: .skipped, result: .nothingToSend(unsent.names)))
      } else {
        planned.append(PlannedUpload(index: i, action: action, type: batch.type(i)))
      }
    }
    self.planned = planned
  }

  private func sent(_ i: Int, _ action: UploadAction) -> SentRecord {
    SentRecord(entryId: batch.entryIds[i], version: batch.versions[i], action: action)
  }

  /// Returns the answer of an upload that needs no request, or cannot be sent.
  private static func answerWithoutServer(_ batch: DirtyBatch, _ i: Int, _ action: UploadAction) -> UploadAnswer? {
    let sent = SentRecord(entryId: batch.entryIds[i], version: batch.versions[i], action: action)
    switch action {
    case .removeLocally: return UploadAnswer(sent: sent, outcome: .succeeded, result: UploadResult(isSuccess: true))
    case .nothing: return UploadAnswer(sent: sent, outcome: .skipped, result: UploadResult(isSuccess: true))
    default: return UploadAnswer.refusal(of: action, batch, i).map { UploadAnswer(sent: sent, outcome: .failed, result: $0) }
    }
  }

  /// Adds entries that were excluded earlier, so that they are counted with the batch.
  mutating func hold(_ held: [(id: Int64, verdict: UploadVerdict)]) {
    for (id, verdict) in held {
      let sent = SentRecord(entryId: id, version: 0, action: .nothing)
      switch verdict {
      case .conflicting: answers.append(UploadAnswer(sent: sent, outcome: .conflicting, result: UploadResult(isSuccess: false)))
      case .refused(let result): answers.append(UploadAnswer(sent: sent, outcome: .failed, result: result))
      case .settled: answers.append(UploadAnswer(sent: sent, outcome: .succeeded, result: UploadResult(isSuccess: true)))
      case .held: answers.append(UploadAnswer(sent: sent, outcome: .skipped, result: UploadResult(isSuccess: true)))
      // Counted and marked when it was looked up.
      case .inDoubt: break
      }
    }
  }

  /// Sends everything, with as many requests in flight as the target allows.
  /// - Returns: The error that ended it early. Earlier answers are kept, and requests in flight are
  ///   awaited.
  mutating func send() async -> (any Error)? {
    let groups = target.groups(planned, of: batch)
    let endings = await RequestsInFlight(target: target, batch: batch, context: context).send(groups)
    var failure: (any Error)?
    for (group, ending) in zip(groups, endings) {
      switch ending {
      case .success(let results): add(results, of: group)
      case .failure(let error as UploadNotSent): failure = failure ?? error.cause
      case .failure(let error as UploadCutShort):
        failure = failure ?? error.cause
        add(error.results, of: group)
      case .failure(let error):
        failure = failure ?? error
        guard UploadAnswer.mayHaveTakenEffect(error) else { continue }
        unsettled.formUnion(group.uploads.filter { $0.action == .create }.map { batch.entryIds[$0.index] })
        openUpdates.formUnion(group.uploads.filter { $0.action == .update }.map { batch.entryIds[$0.index] })
      case nil: continue
      }
    }
    return failure
  }

  private mutating func add(_ results: [UploadResult?], of group: UploadGroup) {
    for (upload, result) in zip(group.uploads, results) {
      guard let result else {
        if upload.action == .update { openUpdates.insert(batch.entryIds[upload.index]) }
        continue
      }
      if result.isPending {
        unsettled.insert(batch.entryIds[upload.index])
      } else {
        answers.append(answer(upload.index, upload.action, result))
      }
    }
  }

  private func answer(_ i: Int, _ action: UploadAction, _ given: UploadResult) -> UploadAnswer {
    var result = given
    if given.isSuccess, action == .update, let unsent = unsent[i] {
      result.unsent = unsent.names
      result.removed = unsent.removed
    }
    let outcome = UploadAnswer.outcome(of: action, result, context.mergeMode)
    return UploadAnswer(sent: sent(i, action), outcome: outcome, result: result)
  }

  /// Verifies that records reported as deleted are really gone: a failing look-up inside a request
  /// gives the same error, and an existing record must not be created again.
  /// - Returns: The error that prevented this; the records in question then stay unchanged.
  mutating func findGone() async -> (any Error)? {
    let doubtful = answers.indices.filter { answers[$0].outcome == .recreate || isUpdateConflict(answers[$0]) }
    guard !doubtful.isEmpty else { return nil }
    let positions = Dictionary(uniqueKeysWithValues: zip(batch.entryIds, 0..<batch.count))
    let asked = doubtful.compactMap { n in positions[answers[n].sent.entryId].map { (answer: n, index: $0) } }
      .filter { batch.serverId($0.index) != nil }
    do {
      let found = try await RemoteLookup.find(asked.map(\.index), of: batch, target, in: context)
      for (n, i) in asked where !isGone(found[i]) {
        answers[n] = UploadAnswer(sent: answers[n].sent, outcome: .failed, result: answers[n].result)
      }
      return nil
    } catch {
      let undecided = Set(doubtful.filter { answers[$0].outcome != .failed })
      answers = answers.indices.filter { !undecided.contains($0) }.map { answers[$0] }
      return error
    }
  }

  /// If the answer is the only source, it counts: a target that sends by itself may compare records
  /// without knowing whether they exist.
  private func isGone(_ found: RemoteLookup.Found?) -> Bool {
    switch found {
    case .record(.deleted): true
    case .record(.unknown): target.traits.answersForItself || !target.traits.looksForLostCreates
    case .record(.unchanged), .record(.changed): target.traits.answersForItself
    default: false
    }
  }

  /// Records that are certainly gone, by position in the batch.
  var gone: [Int] {
    let gone = Set(answers.filter(isUpdateConflict).map(\.sent.entryId))
    return batch.entryIds.indices.filter { gone.contains(batch.entryIds[$0]) }
  }

  /// Updates and deletes that conflicted on the server, by position in the batch.
  var lateConflicts: [Int] {
    let late = Set(
      answers.filter { $0.outcome == .conflicting && ($0.sent.action == .update || $0.sent.action == .delete) }
        .map(\.sent.entryId))
    return batch.entryIds.indices.filter { late.contains(batch.entryIds[$0]) }
  }

  private func isUpdateConflict(_ answer: UploadAnswer) -> Bool {
    answer.outcome == .conflicting && answer.sent.action == .update && answer.result.maySayRecordIsGone
  }
}
