import JSON
import SmartStore

/// A run that is only planned: the same steps up to the doors of requests and of writes.
extension ParentChildrenUpRun {
  /// Notes what the run would do. A family is one item.
  func plan(_ recorder: PlanRecorder) async throws {
    var doubtful: IdMap<Set<Int64>> = [:]
    for lookup in LostCreates.all(of: target, plans, lookups) {
      doubtful[lookup.soupName, default: []].formUnion(try await lookup.plan(record, recorder))
    }
    try await writeServerIds()
    let info = info
    for key in try await environment.store.read({ try ParentChildrenGroup.dirty(info, in: $0) }) {
      try environment.control.check()
      if let item = try await plan(key, doubtful, recorder) { recorder.add(item) }
    }
  }

  private func plan(
    _ key: ParentChildrenGroup.Key, _ doubtful: IdMap<Set<Int64>>, _ recorder: PlanRecorder
  ) async throws -> PlannedItem? {
    guard let family = try await read(key) else { return nil }
    let items = PlannedFamily(family: family, state: state, facts: try await facts(family))
    if isDoubtful(family, doubtful) { return try items.held(.inDoubt) }
    if try await isHeld(family) { return try items.held(.held) }
    var dates: IdMap<Int64> = [:]
    if state.options.mergeMode != .overwrite {
      let findings = try await ParentChildrenCheck(
        family: family, environment: environment, mergeMode: state.options.mergeMode
      ).compare()
      dates = findings.dates
      guard try await record.canUpload(family, findings.changes) else { return try items.held(.conflicting) }
    }
    let merged = try family.merged(recorder)
    var upload = ParentChildrenUpload(merged, in: context(dates), try await changes(merged), isLastTry: false)
    if let failure = await upload.send() { throw failure }
    return items.sent(upload, recorder)
  }

  private func facts(_ family: ParentChildrenGroup) async throws -> PlannedFamily.Facts {
    let info = info
    return try await environment.store.read { snapshot in
      PlannedFamily.Facts(
        parents: try PlannedItems.Facts(family.parent.entryIds, in: info.parent.soup, snapshot),
        children: try PlannedItems.Facts(family.children.entryIds, in: info.children.soup, snapshot))
    }
  }

  /// Returns whether another run is sending a member.
  private func isHeld(_ family: ParentChildrenGroup) async throws -> Bool {
    let owners = environment.owners, now = environment.configuration.now()
    let sides = [(info.parent.soup, family.parent.entryIds), (info.children.soup, family.children.entryIds)]
    return try await environment.store.read { snapshot in
      try sides.contains { soup, ids in
        try snapshot.unsettledUploads(of: ids, in: soup).contains { try owners.isLive($0, now: now, in: snapshot) }
      }
    }
  }
}

extension ParentChildrenGroup {
  /// Returns the family with the server's changes that a plan has merged in.
  func merged(_ recorder: PlanRecorder) throws -> ParentChildrenGroup {
    ParentChildrenGroup(
      target, parent: try parent.merged(recorder, in: info.parent.soup),
      children: try children.merged(recorder, in: info.children.soup), soups: soups)
  }
}
