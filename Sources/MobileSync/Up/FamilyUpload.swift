import JSON
import RestClient

/// The upload of one family: what is sent, and what every answer says. Touches no store.
struct FamilyUpload: Sendable {
  struct Answer: Sendable {
    let member: FamilyMember
    var answer: UploadAnswer

    var sent: SentRecord { answer.sent }
    var result: UploadResult { answer.result }
    var outcome: UploadOutcome {
      get { answer.outcome }
      set { answer.outcome = newValue }
    }

    init(member: FamilyMember, sent: SentRecord, outcome: UploadOutcome, result: UploadResult) {
      self.member = member
      answer = UploadAnswer(sent: sent, outcome: outcome, result: result)
    }
  }

  let family: Family
  let plan: FamilyPlan
  private let context: UploadContext
  /// Records that are gone on the server are not created once more.
  private let isLastTry: Bool
  private(set) var answers: [Answer] = []
  /// Creates that were sent without an answer: the server may have them.
  private(set) var unsettled: Set<FamilyMember> = []
  /// A child points to a parent that the server has deleted.
  private(set) var parentIsGone = false

  init(_ family: Family, in context: UploadContext, isLastTry: Bool) {
    self.family = family
    self.context = context
    self.isLastTry = isLastTry
    plan = family.plan
    answers = plan.removals.map { member in
      let sent = family.sent(FamilyPlan.Part(member: member, action: .removeLocally))
      return Answer(member: member, sent: sent, outcome: .succeeded, result: UploadResult(isSuccess: true))
    }
  }

  /// Creates that will be sent.
  var creates: [(member: FamilyMember, sent: SentRecord)] {
    plan.parts.filter { $0.action == .create }.map { ($0.member, family.sent($0)) }
  }

  private var isParentNew: Bool { plan.parentAction == .create || plan.parentAction == .upsert }

  /// The id that the server gave to the parent.
  var newParentId: String? {
    isParentNew ? answers.first { $0.member == .parent && $0.result.isSuccess }?.result.id : nil
  }

  // MARK: Sending

  /// Sends everything that can be, one call after the other.
  /// - Returns: What ended it before the last call; the answers until then are kept.
  mutating func send() async -> (any Error)? {
    for call in plan.calls(size: family.target.largestCall) {
      let ready = sendable(call)
      // The children of a parent that was refused wait for it.
      guard !isWaiting(ready), !ready.isEmpty else { continue }
      do {
        let results = try await family.target.send(ready.map { request($0, ready) }, through: context.client)
        for (part, result) in zip(ready, results) { take(part, result) }
      } catch {
        if UploadAnswer.mayHaveHappened(error) {
          unsettled.formUnion(ready.filter { $0.action == .create }.map(\.member))
        }
        return error
      }
    }
    return nil
  }

  /// The parent was to be created, in an earlier call, and was not.
  private func isWaiting(_ parts: [FamilyPlan.Part]) -> Bool {
    isParentNew && newParentId == nil && !parts.contains { $0.member == .parent }
  }

  private func request(_ part: FamilyPlan.Part, _ call: [FamilyPlan.Part]) -> FamilyRequest {
    let (batch, i) = family.batch(part.member)
    let upload = PlannedUpload(index: i, action: part.action, type: family.type(part.member))
    // Nothing is compared in the second try: the first one settled who wins.
    var context = context
    if isLastTry { context.mergeMode = .overwrite }
    let parent = part.member == .parent ? nil : parentReference(call)
    return FamilyRequest(member: part.member, upload: upload, batch: batch, context: context, parent: parent)
  }

  /// What children name as their parent: its id, or the place in this call's answers where it will stand.
  private func parentReference(_ call: [FamilyPlan.Part]) -> ParentReference? {
    switch plan.parentAction {
    case .delete, .removeLocally: nil
    case .create, .upsert: newParentId.map { .id($0) } ?? (call.contains { $0.member == .parent } ? .sameCall : nil)
    default: family.parentId.map { .id($0) }
    }
  }

  // MARK: Answers

  /// Answers for what cannot be a request, and gives the rest.
  private mutating func sendable(_ parts: [FamilyPlan.Part]) -> [FamilyPlan.Part] {
    var ready: [FamilyPlan.Part] = []
    for part in parts {
      let (batch, i) = family.batch(part.member)
      if let result = UploadAnswer.refusal(of: part.action, batch, i) {
        answers.append(Answer(member: part.member, sent: family.sent(part), outcome: .failed, result: result))
      } else {
        ready.append(part)
      }
    }
    return ready
  }

  private mutating func take(_ part: FamilyPlan.Part, _ result: UploadResult) {
    let outcome = UploadAnswer.outcome(of: part.action, result, context.mergeMode)
    answers.append(Answer(member: part.member, sent: family.sent(part), outcome: outcome, result: result))
  }

  /// Looks for the records that are said to be gone: one that exists must not be created once more.
  /// - Returns: What kept it from finding out; the records in question then stay as they are.
  mutating func findGone() async -> (any Error)? {
    let doubtful = answers.indices.filter { answers[$0].sent.action == .update && answers[$0].result.maySayRecordIsGone }
    do {
      for n in doubtful where try await !isGone(answers[n].member) { answers[n].outcome = .failed }
      if needsParent, try await isGone(.parent) { parentIsGone = context.mergeMode == .overwrite }
    } catch {
      answers = answers.indices.filter { !doubtful.contains($0) || answers[$0].outcome == .failed }.map { answers[$0] }
      return error
    }
    if isLastTry {
      for n in doubtful where answers[n].outcome == .recreate { answers[n].outcome = .failed }
      parentIsGone = false
    }
    return nil
  }

  /// A child was refused for what it points to, and nothing was heard about the parent itself.
  private var needsParent: Bool {
    guard family.parent.serverId(0) != nil, [.nothing, .update].contains(plan.parentAction) else { return false }
    guard !answers.contains(where: { $0.member == .parent && ($0.outcome == .recreate || $0.outcome == .succeeded) }) else {
      return false
    }
    return answers.contains { $0.member != .parent && $0.result.saysReferenceIsBroken }
  }

  private func isGone(_ member: FamilyMember) async throws -> Bool {
    let (batch, i) = family.batch(member), type = family.type(member)
    guard let id = batch.serverId(i) else { return false }
    do {
      return try await context.service.versions(
        type: type, ids: [id], fields: [batch.plan.fields.id], through: context.client) == [.deleted]
    } catch let error as RestError where error.status == 404 || context.service.fault(of: error) == .unknownType {
      return false
    }
  }

  /// Entries that the server has lost are to be sent once more.
  var needsAnotherTry: Bool { !isLastTry && (parentIsGone || answers.contains { $0.outcome == .recreate }) }

  /// One word for the whole family.
  var outcome: UploadOutcome {
    if answers.contains(where: { $0.outcome == .failed }) { return .failed }
    if answers.contains(where: { $0.outcome == .conflicting }) { return .conflicting }
    return answers.isEmpty ? .skipped : .succeeded
  }
}
