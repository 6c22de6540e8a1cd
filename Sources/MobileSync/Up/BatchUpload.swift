import RestClient

/// What the updates of a batch send, and what they do not send, by position.
struct UpdateFacts: Sendable {
  var unsent: [Int: UnsentChanges] = [:]
  /// For the history; empty without one.
  var stories: [Int: SentStory] = [:]
}

/// The uploads of one batch: what is sent, and the result of every answer. Does not touch the
/// store.
struct BatchUpload: Sendable {
  let batch: DirtyBatch
  private let target: any SyncUpTarget
  private let context: UploadContext
  private let planned: [PlannedUpload]
  private let unsent: [Int: UnsentChanges]
  /// What the updates send, by position, for the history.
  private let stories: [Int: SentStory]
  private(set) var answers: [UploadAnswer] = []
  /// Creates that were sent without an answer: the server may have them.
  private(set) var unsettled: Set<Int64> = []
  /// Updates that were sent without an answer: the server may have applied them.
  private(set) var openUpdates: Set<Int64> = []
  /// Updates that were refused after an attempt without an answer: the server may have applied that
  /// one.
  private(set) var doubtfulUpdates: Set<Int64> = []

  /// The requests that a planned run would send with each entry, by position.
  private(set) var requestNumbers: [Int: Int] = [:]

  /// - Parameter updates: What the updates send and do not send.
  init(batch: DirtyBatch, target: any SyncUpTarget, in context: UploadContext, _ updates: UpdateFacts = UpdateFacts()) {
    stories = updates.stories
    self.batch = batch
    self.target = target
    self.context = context
    unsent = updates.unsent
    let plan = BatchPlan(batch, unsent)
    planned = plan.uploads
    answers = plan.answers
  }

  private func sent(_ i: Int, _ action: UploadAction) -> SentRecord {
    SentRecord(entryId: batch.entryIds[i], version: batch.versions[i], action: action)
  }

  /// Returns what an upload sent, for the history.
  func story(of sent: SentRecord, at i: Int?) -> SentStory? {
    guard let i else { return nil }
    return stories[i] ?? SentStory(sent.action, of: i, in: batch)
  }

  /// Returns the first-level members that an update sends, if that is not the whole list.
  func sentFields(_ i: Int) -> IdSet? { context.fields(of: i, in: batch) }

  /// Adds entries that were excluded earlier, so that they are counted with the batch.
  mutating func hold(_ held: [(id: Int64, verdict: UploadVerdict)]) {
    for (id, verdict) in held {
      let sent = SentRecord(entryId: id, version: 0, action: .nothing)
      switch verdict {
      case .conflicting: answers.append(UploadAnswer(sent: sent, outcome: .conflicting, result: UploadResult(isSuccess: false)))
      case .refused(let result): answers.append(UploadAnswer(sent: sent, outcome: .failed, result: result))
      case .settled: answers.append(UploadAnswer(sent: sent, outcome: .succeeded, result: UploadResult(isSuccess: true)))
      case .held:
        answers.append(UploadAnswer(sent: sent, outcome: .skipped, result: UploadResult(isSuccess: true), isHeld: true))
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
    if let recorder = context.intent.recorder { return await plan(groups, recorder) }
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

  /// Notes what ``send()`` would send, one group after the other.
  private mutating func plan(_ groups: [UploadGroup], _ recorder: PlanRecorder) async -> (any Error)? {
    for group in groups {
      let before = recorder.begin(.send, records: group.uploads.count), last = recorder.lastNumber
      defer { recorder.resume(before) }
      do {
        add(try await target.send(group, of: batch, in: context), of: group)
      } catch  where error.isPlanned {
        let results = (error as? UploadCutShort)?.results ?? group.uploads.map { _ in nil }
        add(results, of: group)
        number(zip(group.uploads, results).filter { $0.1 == nil }.map(\.0), recorder, after: last)
      } catch {
        return error
      }
    }
    return nil
  }

  /// Notes which request sends each entry: they are sent in the order of the group.
  private mutating func number(_ uploads: [PlannedUpload], _ recorder: PlanRecorder, after last: Int) {
    let requests = recorder.requests[last...].filter { $0.purpose == .send && $0.records > 0 }
    var left = uploads[...]
    for request in requests {
      // A request about owners, such as one for their links, may be for more entries than it names.
      for upload in requests.count == 1 ? left : left.prefix(request.records) {
        requestNumbers[upload.index] = request.number
        guard upload.action == .create, let id = batch.recordId(upload.index) else { continue }
        recorder.assign(id, request: request.number)
      }
      left = requests.count == 1 ? [] : left.dropFirst(request.records)
    }
    for upload in left { requestNumbers[upload.index] = 0 }
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
      if result.leavesDoubt(of: upload.action) { doubtfulUpdates.insert(batch.entryIds[upload.index]) }
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

  /// The entries whose updates the server applied, or that a planned run would send as updates.
  var updatedEntries: Set<Int64> {
    let done = answers.filter { $0.outcome == .succeeded && $0.sent.action == .update }.map(\.sent.entryId)
    let planned = planned.filter { $0.action == .update && requestNumbers[$0.index] != nil }.map { batch.entryIds[$0.index] }
    return Set(done + planned)
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
