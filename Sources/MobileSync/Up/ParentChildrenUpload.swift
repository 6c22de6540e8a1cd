import JSON
import RestClient

/// What the updates of a family do not send.
struct ParentChildrenChanges: Sendable {
  /// Changes that no list names.
  var unsent: [ParentChildrenMember: UnsentChanges] = [:]
  /// What they send, for the history; empty without one.
  var stories: [ParentChildrenMember: SentStory] = [:]
  /// Children that have lost their parent here.
  var detached: Set<ParentChildrenMember> = []
}

/// The upload of one family: what is sent, and the result of every answer. Does not touch the
/// store.
struct ParentChildrenUpload: Sendable {
  struct Answer: Sendable {
    let member: ParentChildrenMember
    var answer: UploadAnswer

    var sent: SentRecord { answer.sent }
    var result: UploadResult { answer.result }
    var outcome: UploadOutcome {
      get { answer.outcome }
      set { answer.outcome = newValue }
    }

    init(member: ParentChildrenMember, sent: SentRecord, outcome: UploadOutcome, result: UploadResult) {
      self.member = member
      answer = UploadAnswer(sent: sent, outcome: outcome, result: result)
    }
  }

  let family: ParentChildrenGroup
  let plan: ParentChildrenPlan
  private let context: UploadContext
  let changes: ParentChildrenChanges
  /// Children that were not sent, because their parent was refused.
  private(set) var waiting: [ParentChildrenMember] = []
  /// Whether this is the last attempt, which does not create records again that the server has
  /// lost.
  private let isLastTry: Bool
  private(set) var answers: [Answer] = []
  /// Creates that were sent without an answer: the server may have them.
  private(set) var unsettled: Set<ParentChildrenMember> = []
  /// Updates that were sent without an answer: the server may have applied them.
  private(set) var openUpdates: Set<ParentChildrenMember> = []
  /// Updates that were refused after an attempt without an answer.
  private(set) var doubtfulUpdates: Set<ParentChildrenMember> = []
  /// The requests that a planned run would send with each member.
  private(set) var requestNumbers: [ParentChildrenMember: Int] = [:]
  /// Whether a child refers to a parent that the server has deleted.
  private(set) var parentIsGone = false

  init(
    _ family: ParentChildrenGroup, in context: UploadContext, _ changes: ParentChildrenChanges, isLastTry: Bool
  ) {
    self.changes = changes
    self.family = family
    self.context = context
    self.isLastTry = isLastTry
    plan = family.plan
    answers = plan.removals.map { member in
      let sent = family.sent(ParentChildrenPlan.Part(member: member, action: .removeLocally))
      return Answer(member: member, sent: sent, outcome: .succeeded, result: UploadResult(isSuccess: true))
    }
  }

  /// The creates to be sent.
  var creates: [(member: ParentChildrenMember, sent: SentRecord)] {
    plan.parts.filter { $0.action == .create }.map { ($0.member, family.sent($0)) }
  }

  /// The id that the server assigned to the parent.
  var newParentId: String? {
    guard family.isParentNew else { return nil }
    if let request = requestNumbers[.parent] { return PlanRecorder.placeholder(request) }
    return answers.first { $0.member == .parent && $0.result.isSuccess }?.result.id
  }

  // MARK: Sending

  /// Sends everything possible, one call after the other.
  /// - Returns: The error that ended it early; earlier answers are kept.
  mutating func send() async -> (any Error)? {
    for call in plan.calls(size: family.target.largestCall) {
      let ready = sendable(call)
      // The children of a refused parent wait for it.
      guard !isWaiting(ready), !ready.isEmpty else {
        waiting += ready.map(\.member)
        continue
      }
      context.intent.recorder?.begin(.send, records: ready.count)
      do {
        let results = try await family.target.send(ready.map { request($0, ready) }, through: context.client)
        for (part, result) in zip(ready, results) { add(part, result) }
      } catch  where error.isPlanned {
        for part in ready { requestNumbers[part.member] = context.intent.recorder?.lastNumber }
      } catch {
        if UploadAnswer.mayHaveTakenEffect(error) {
          unsettled.formUnion(ready.filter { $0.action == .create }.map(\.member))
          openUpdates.formUnion(ready.filter { $0.action == .update }.map(\.member))
        }
        return error
      }
    }
    return nil
  }

  /// Returns whether these members wait for a parent that should have been created in an earlier
  /// call.
  private func isWaiting(_ parts: [ParentChildrenPlan.Part]) -> Bool {
    family.isParentNew && newParentId == nil && !parts.contains { $0.member == .parent }
  }

  private func request(_ part: ParentChildrenPlan.Part, _ call: [ParentChildrenPlan.Part]) -> ParentChildrenRequest {
    let (batch, i) = family.batch(part.member)
    let upload = PlannedUpload(index: i, action: part.action, type: family.type(part.member))
    // The last attempt compares nothing, because the first one decided which side wins.
    var context = context
    if isLastTry { context.mergeMode = .overwrite }
    let parent = part.member == .parent ? nil : parentReference(part, call)
    return ParentChildrenRequest(member: part.member, upload: upload, batch: batch, context: context, parent: parent)
  }

  /// Returns a child's reference to its parent: its id, or that it is in the same call.
  private func parentReference(_ part: ParentChildrenPlan.Part, _ call: [ParentChildrenPlan.Part]) -> ParentReference? {
    guard family.hasParent else { return ownReference(part) }
    return switch plan.parentAction {
    case .delete, .removeLocally: nil
    case .create, .upsert: newParentId.map { .id($0) } ?? (call.contains { $0.member == .parent } ? .sameCall : nil)
    default: family.parentId.map { .id($0) }
    }
  }

  /// Returns the reference of a child whose parent is not in the soup: what it names itself.
  private func ownReference(_ part: ParentChildrenPlan.Part) -> ParentReference? {
    guard case .child(let i) = part.member else { return nil }
    if let id = family.namedParent(of: i) { return .id(id) }
    return part.action == .update && changes.detached.contains(part.member) ? ParentReference.none : nil
  }

  // MARK: Answers

  /// Answers the parts that cannot be sent, and returns the others.
  private mutating func sendable(_ parts: [ParentChildrenPlan.Part]) -> [ParentChildrenPlan.Part] {
    var ready: [ParentChildrenPlan.Part] = []
    for part in parts {
      let (batch, i) = family.batch(part.member)
      if let result = UploadAnswer.refusal(of: part.action, batch, i) ?? missingParent(part) {
        answers.append(Answer(member: part.member, sent: family.sent(part), outcome: .failed, result: result))
      } else if part.action == .update, let unsent = changes.unsent[part.member], unsent.isAll {
        answers.append(
          Answer(member: part.member, sent: family.sent(part), outcome: .skipped, result: .nothingToSend(unsent.names)))
      } else {
        ready.append(part)
      }
    }
    return ready
  }

  /// Returns why a child cannot be sent whose parent is neither on the server nor in the soup.
  private func missingParent(_ part: ParentChildrenPlan.Part) -> UploadResult? {
    guard !family.hasParent, part.action != .delete, case .child(let i) = part.member,
      let id = family.namedParent(of: i), id.hasPrefix(LocalField.localIdPrefix)
    else { return nil }
    let (soup, field) = (family.info.parent.soup, family.info.parentIdField)
    return .failure(
      SkipReason.parentMissingCode,
      "'\(field)' is '\(id)', and soup \(soup) has no entry with this id: save the parent, or give the entry another one")
  }

  private mutating func add(_ part: ParentChildrenPlan.Part, _ given: UploadResult) {
    var result = given
    if given.isSuccess, part.action == .update { result.unsent = changes.unsent[part.member]?.names ?? [] }
    if given.leavesDoubt(of: part.action) { doubtfulUpdates.insert(part.member) }
    let outcome = UploadAnswer.outcome(of: part.action, result, context.mergeMode)
    answers.append(Answer(member: part.member, sent: family.sent(part), outcome: outcome, result: result))
  }

  /// Looks up records that are reported as deleted, because an existing record must not be created
  /// again.
  /// - Returns: The error that prevented this; the records in question then stay unchanged.
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

  /// Whether a child was refused for its reference, and no answer is about the parent itself.
  private var needsParent: Bool {
    guard family.hasParent, family.parent.serverId(0) != nil, [.nothing, .update].contains(plan.parentAction) else {
      return false
    }
    guard !answers.contains(where: { $0.member == .parent && ($0.outcome == .recreate || $0.outcome == .succeeded) }) else {
      return false
    }
    return answers.contains { $0.member != .parent && $0.result.saysReferenceIsBroken }
  }

  private func isGone(_ member: ParentChildrenMember) async throws -> Bool {
    let (batch, i) = family.batch(member), type = family.type(member)
    guard let id = batch.serverId(i) else { return false }
    do {
      return try await context.service.versions(
        type: type, ids: [id], fields: [batch.plan.fields.id], through: context.client) == [.deleted]
    } catch let error as RestError where error.status == 404 || context.service.fault(of: error) == .unknownType {
      return false
    }
  }

  /// Whether entries that the server has lost must be sent again.
  var needsAnotherTry: Bool { !isLastTry && (parentIsGone || answers.contains { $0.outcome == .recreate }) }

  /// The outcome of the whole family.
  var outcome: UploadOutcome {
    if answers.contains(where: { $0.outcome == .failed }) { return .failed }
    if answers.contains(where: { $0.outcome == .conflicting }) { return .conflicting }
    return answers.allSatisfy { $0.outcome == .skipped } ? .skipped : .succeeded
  }
}
