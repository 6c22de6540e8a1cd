import JSON
import RestClient
import SmartStore

/// One run of a sync up of parents with their children: one family at a time, with both soups
/// written back in one transaction. A child whose parent is not in the soup is sent alone.
///
/// The families are selected at the start; those that become dirty later wait for the next run.
struct ParentChildrenUpRun {
  let record: RunRecord
  let target: any ParentChildrenUploadTarget
  let plans: ParentChildrenBatchPlans
  let lookups: ParentChildrenLookups
  private var counter = ProgressCounter(total: 0)
  private var soups = FamilySoups()

  /// How often a family is sent if the server has lost some of its records: as it is, with a new
  /// parent, with new children.
  private static let tries = 3

  var environment: RunEnvironment { record.environment }
  var state: SyncState { record.state }
  var info: ParentChildrenInfo { target.info }

  init(_ record: RunRecord, _ target: any ParentChildrenUploadTarget) {
    self.record = record
    self.target = target
    plans = ParentChildrenBatchPlans(target, fieldlist: record.state.options.fieldlist)
    lookups = ParentChildrenLookups(target, record.environment.configuration)
  }

  /// Runs to the end. The state DONE is then saved but not yet reported.
  /// - Throws: The error that ended the run. Uploads until then are written back.
  mutating func perform() async throws {
    let inDoubt = try await resolveLostCreates()
    let info = info
    try await indexParentIds()
    try await writeServerIds()
    let claim = record.claim
    let ids: [ParentChildrenGroup.Key]
    (ids, soups) = try await environment.store.read {
      (try ParentChildrenGroup.dirty(info, in: $0), try FamilySoups(info, in: $0))
    }
    counter = ProgressCounter(total: ids.count)
    try await record.save(.pulled) { transaction, state in
      for soup in [info.parent.soup, info.children.soup] {
        try transaction.forgetEndedUpdates(in: soup) { try claim.isLive($0, in: transaction) }
      }
      // Those that were found need not be sent.
      state.totalSize = ids.count + state.counts.succeeded
    }
    record.report()
    for id in ids {
      try environment.control.check()
      try await upload(id, inDoubt)
      counter.advance(1)
      if counter.isReported { record.report(status: .running, progress: counter.percent) }
    }
    try record.checkResolver()
    let now = environment.configuration.now(), warnings = environment.refusedFields.warnings, limit = environment.limit
    try await record.save(.pulled) { _, state in
      limit?.note(in: &state)
      state.progress = 100
      state.warnings += warnings
      state.enter(.done, now: now)
    }
  }

  func writeServerIds() async throws {
    let id = environment.service.defaultFields.id
    for side in [info.parent, info.children] where side.fields.id == id {
      try await record.writeServerIds(in: side.soup, at: id, own: side.fields)
    }
    guard info.parent.fields.id == id else { return }
    try await record.writeServerIds(in: info.children.soup, at: info.parentIdField, own: nil)
  }

  /// Creates an index for looking up the children of each family.
  private func indexParentIds() async throws {
    let soup = info.children.soup, field = info.parentIdField
    guard try await !environment.store.read({ try $0.hasLookupIndex(field, in: soup) }) else { return }
    environment.configuration.logger.notice(
      "soup \(soup) has no index on \(field), the parent id; sync \(state.id) creates one")
    try await environment.store.write(.pulled) { try $0.indexLookups(by: field, in: soup) }
  }

  /// Settles creates with lost answers; returns those that stay in doubt, by soup.
  private func resolveLostCreates() async throws -> IdMap<Set<Int64>> {
    var doubtful: IdMap<Set<Int64>> = [:]
    for lookup in LostCreates.all(of: target, plans, lookups) {
      doubtful[lookup.soupName, default: []].formUnion(try await lookup.resolve(record))
    }
    return doubtful
  }

  // MARK: One family

  private func upload(_ id: ParentChildrenGroup.Key, _ inDoubt: IdMap<Set<Int64>>) async throws {
    guard let family = try await read(id), !isDoubtful(family, inDoubt) else { return }
    if let limit = environment.limit, !family.isPlanned(limit) || !family.isAllowed(limit) { return }
    var dates: IdMap<Int64> = [:]
    if state.options.mergeMode != .overwrite {
      let findings = try await ParentChildrenCheck(
        family: family, environment: environment, mergeMode: state.options.mergeMode
      ).compare()
      dates = findings.dates
      guard try await record.canUpload(family, findings.changes) else {
        let percent = percent
        try await record.save(.synced) { _, state in
          state.counts.count(.conflicting)
          state.progress = max(state.progress, percent)
        }
        return
      }
    }
    for tries in 1...ParentChildrenUpRun.tries {
      guard let family = try await claimFamily(id, isFirst: tries == 1),
        try await send(family, dates, isLastTry: tries == ParentChildrenUpRun.tries)
      else {
        return
      }
    }
  }

  /// Claims the rows of a family in their current state before they are sent, all or none.
  /// - Returns: nil if its first member no longer exists, or if another run is sending one of the rows.
  private func claimFamily(_ id: ParentChildrenGroup.Key, isFirst: Bool) async throws -> ParentChildrenGroup? {
    let target = target, plans = plans, lookups = lookups, soups = soups, limit = isFirst ? environment.limit : nil
    let (family, isHeld) = try await record.claiming(.synced) { transaction, claim -> (ParentChildrenGroup?, Bool) in
      guard try soups.areSame(in: transaction), let family = try ParentChildrenGroup(id, target, plans, in: transaction) else {
        return (nil, false)
      }
      if let limit, !family.isAllowed(limit) { return (nil, false) }
      return (family, try !family.claimRows(with: claim, lookups, transaction))
    }
    guard isHeld, let family else { return family }
    try await record.save(.pulled) { transaction, state in
      state.counts.count(.skipped)
      for member in family.members where family.isDirty(member) {
        let (batch, i) = family.batch(member)
        try transaction.noteSkipped([batch.entryIds[i]], because: SkipReason.held, in: family.side(member).soup)
      }
    }
    return nil
  }

  private var percent: Int { ProgressCounter.percent(counter.done + 1, of: counter.total) }

  func read(_ id: ParentChildrenGroup.Key) async throws -> ParentChildrenGroup? {
    let target = target, plans = plans
    return try await environment.store.read { try ParentChildrenGroup(id, target, plans, in: $0) }
  }

  /// Returns whether a create in the family is in doubt; nothing of the family is sent then.
  func isDoubtful(_ family: ParentChildrenGroup, _ inDoubt: IdMap<Set<Int64>>) -> Bool {
    let parents = inDoubt[info.parent.soup] ?? [], children = inDoubt[info.children.soup] ?? []
    return family.parent.entryIds.contains(where: parents.contains) || family.children.entryIds.contains(where: children.contains)
  }

  func changes(_ family: ParentChildrenGroup) async throws -> ParentChildrenChanges {
    let updates = family.members.filter { member in
      let (batch, i) = family.batch(member)
      return batch.action(i) == .update && batch.serverId(i) != nil && batch.plan.update != nil
    }
    guard !updates.isEmpty else { return ParentChildrenChanges() }
    let recorder = environment.intent.recorder
    let field = info.parentIdField, isTold = environment.history.run != nil
    return try await environment.store.read { snapshot in
      try updates.reduce(into: ParentChildrenChanges()) { found, member in
        let (batch, i) = family.batch(member), side = family.side(member)
        let id = batch.entryIds[i], stored = try snapshot.baseObjects(of: [id], in: side.soup)[id]
        let base = recorder?.merged(id, in: side.soup)?.base ?? stored
        found.unsent[member] = UnsentChanges(batch.entry(i), base: base, family.sendable(member), side.fields)
        if isTold {
          found.stories[member] = SentStory(
            update: batch.entry(i), base: base, family.sendable(member).paths?.compactMap(\.first), side.fields)
        }
        // A child is updated in any case if its parent gets an id.
        if member != .parent, family.isParentNew { found.unsent[member] = found.unsent[member]?.beside }
        if member != .parent, batch.entry(i)[field]?.isNull == true, base?[field]?.isNull == false {
          found.detached.insert(member)
        }
      }
    }
  }

  func context(_ dates: IdMap<Int64>) -> UploadContext {
    UploadContext(
      client: environment.client, service: environment.service, control: environment.control,
      configuration: environment.configuration, mergeMode: state.options.mergeMode, intent: environment.intent, datesSeen: dates)
  }

  /// Sends a family and writes the answers back.
  /// - Returns: Whether the family must be sent again.
  private func send(_ family: ParentChildrenGroup, _ dates: IdMap<Int64>, isLastTry: Bool) async throws -> Bool {
    var upload = ParentChildrenUpload(family, in: context(dates), try await changes(family), isLastTry: isLastTry)
    var failure = await upload.send()
    if failure == nil { failure = await upload.findGone() }
    let claim = record.claim, writer = ParentChildrenWriteBack(upload, claim), percent = percent, outcome = upload.outcome
    let lost = lookups.lostAnswers(of: upload)
    let isCounted = failure == nil && !upload.needsAnotherTry
    let made = RunStep(kind: .upload, soup: info.parent.soup, rows: upload.answers.count)
    try await record.save(.synced, noting: made) { transaction, state in
      if try writer.apply(in: transaction) {
        for answers in lost { try answers.note(&state, now: claim.now, in: transaction) }
      }
      if isCounted { state.counts.count(outcome) }
      state.progress = max(state.progress, percent)
    }
    if !upload.unsettled.isEmpty { record.logDoubts() }
    if let failure { throw failure }
    if outcome == .conflicting { try await record.noteLateConflicts(upload) }
    return upload.needsAnotherTry
  }
}
