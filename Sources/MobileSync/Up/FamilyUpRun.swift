import JSON
import RestClient
import SmartStore

/// One run of a sync up of parents with their children: a family at a time, both soups written back in one transaction.
///
/// The families are chosen at the start; what becomes dirty later waits for the next run.
struct FamilyUpRun {
  private let record: RunRecord
  private let target: any FamilyUpTarget
  private let plans: FamilyPlans
  private let places: FamilyPlaces
  private var counter = ProgressCounter(total: 0)

  /// How often a family is sent when the server has lost records of it: as it is, with a new parent, with new children.
  private static let tries = 3

  private var environment: RunEnvironment { record.environment }
  private var state: SyncState { record.state }
  private var info: ParentChildrenInfo { target.info }

  init(_ record: RunRecord, _ target: any FamilyUpTarget) {
    self.record = record
    self.target = target
    plans = FamilyPlans(target, fieldlist: record.state.options.fieldlist)
    places = FamilyPlaces(target, record.environment.configuration)
  }

  /// Runs to the end; the state DONE is then saved and not yet reported.
  /// - Throws: Whatever ended the run before. What was uploaded by then is written back.
  mutating func perform() async throws {
    let inDoubt = try await settleLostCreates()
    let info = info
    try await indexParentIds()
    let ids = try await environment.store.read { try Family.dirty(info, in: $0) }
    counter = ProgressCounter(total: ids.count)
    try await record.save(.pulled) { _, state in state.totalSize = ids.count }
    record.report()
    for id in ids {
      try environment.control.check()
      try await upload(id, inDoubt)
      counter.advance(1)
      if counter.isReported { record.report(status: .running, progress: counter.percent) }
    }
    let now = environment.configuration.now()
    try await record.save(.pulled) { _, state in
      state.progress = 100
      state.enter(.done, now: now)
    }
  }

  /// Every family looks for its children.
  private func indexParentIds() async throws {
    let soup = info.children.soup, field = info.parentIdField
    guard try await !environment.store.read({ try $0.hasLookupIndex(field, in: soup) }) else { return }
    environment.configuration.logger.notice(
      "soup \(soup) has no index on \(field), the parents' id; sync \(state.id) adds one of its own")
    try await environment.store.write(.pulled) { try $0.indexLookups(by: field, in: soup) }
  }

  /// Creates whose outcome stays unknown, by soup.
  private func settleLostCreates() async throws -> [String: Set<Int64>] {
    var doubtful: [String: Set<Int64>] = [:]
    for place in LostCreates.all(of: target, plans, places) {
      doubtful[place.soupName, default: []].formUnion(try await place.resolve(record))
    }
    return doubtful
  }

  // MARK: One family

  private func upload(_ id: Int64, _ inDoubt: [String: Set<Int64>]) async throws {
    guard let family = try await read(id), !isDoubtful(family, inDoubt) else { return }
    var dates: [String: Int64] = [:]
    if state.options.mergeMode != .overwrite {
      let findings = try await FamilyCheck(
        family: family, environment: environment, mergeMode: state.options.mergeMode
      ).compare()
      dates = findings.dates
      guard try await record.mayGoUp(family, findings.changes) else {
        let percent = percent
        try await record.save(.synced) { _, state in
          state.counts.count(.conflicting)
          state.progress = max(state.progress, percent)
        }
        return
      }
    }
    for tries in 1...FamilyUpRun.tries {
      guard let family = try await take(id), try await send(family, dates, isLastTry: tries == FamilyUpRun.tries) else {
        return
      }
    }
  }

  /// Takes the rows of a family before they are sent, all or none of them, as they stand now.
  /// - Returns: nil when the parent is not there any more, or when another run is sending one of them.
  private func take(_ id: Int64) async throws -> Family? {
    let target = target, plans = plans, places = places
    let (family, isHeld) = try await record.taking(.synced) { transaction, claim -> (Family?, Bool) in
      guard let family = try Family(id, target, plans, in: transaction) else { return (nil, false) }
      let isTaken = try family.take(with: claim, places, transaction)
      return (isTaken ? family : nil, !isTaken)
    }
    if isHeld { try await record.save(.pulled) { _, state in state.counts.count(.skipped) } }
    return family
  }

  private var percent: Int { ProgressCounter.percent(counter.done + 1, of: counter.total) }

  private func read(_ id: Int64) async throws -> Family? {
    let target = target, plans = plans
    return try await environment.store.read { try Family(id, target, plans, in: $0) }
  }

  /// Nothing of a family is sent while it is not known whether one of them exists.
  private func isDoubtful(_ family: Family, _ inDoubt: [String: Set<Int64>]) -> Bool {
    let parents = inDoubt[info.parent.soup] ?? [], children = inDoubt[info.children.soup] ?? []
    return family.parent.entryIds.contains(where: parents.contains) || family.children.entryIds.contains(where: children.contains)
  }

  /// - Returns: Whether the family is to be sent once more.
  private func send(_ family: Family, _ dates: [String: Int64], isLastTry: Bool) async throws -> Bool {
    let context = UploadContext(
      client: environment.client, service: environment.service, control: environment.control,
      configuration: environment.configuration, mergeMode: state.options.mergeMode, datesSeen: dates)
    var upload = FamilyUpload(family, in: context, isLastTry: isLastTry)
    var failure = await upload.send()
    if failure == nil { failure = await upload.findGone() }
    let claim = record.claim, writer = FamilyWriteBack(upload, claim), percent = percent, outcome = upload.outcome
    let lost = places.lostAnswers(of: upload)
    let isCounted = failure == nil && !upload.needsAnotherTry
    try await record.save(.synced) { transaction, state in
      try writer.apply(in: transaction)
      for answers in lost { try answers.note(&state, now: claim.now, in: transaction) }
      if isCounted { state.counts.count(outcome) }
      state.progress = max(state.progress, percent)
    }
    if !upload.unsettled.isEmpty { record.logDoubts() }
    if let failure { throw failure }
    if outcome == .conflicting { try await record.noteLateConflicts(upload) }
    return upload.needsAnotherTry
  }
}
