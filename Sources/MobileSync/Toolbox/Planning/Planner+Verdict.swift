import SmartStore

extension Planner {
  /// Replaces what an explanation says of the next sync up by the verdict of the planner, without asking the server. An
  /// explanation stays as it is if its sync has no name, or sends families, or cannot be planned.
  /// - Parameter told: The explanation.
  public func complete(_ told: inout EntryExplanation) async {
    guard let entryId = told.entryId, told.next.count == 1, let name = told.next[0].syncName,
      let item = try? await verdict(of: entryId, in: told.soupName, by: .name(name))
    else { return }
    let expect = item.expect.explained, why = item.why.first?.text ?? ""
    guard expect != told.next[0].expect else { return }
    let text =
      switch expect {
      case .send: "\(name) sends it"
      case .conflict: "\(name) leaves it: \(why)"
      case .wait: "\(name) waits: \(why)"
      case .skip: "\(name) skips it: \(why)"
      case .blocked, .none: "\(name) cannot send it: \(why)"
      }
    told.next = [EntryExplanation.Next(syncName: name, expect: expect, text: text)]
  }

  /// Plans a sync up for one entry alone.
  /// - Returns: nil if the sync would not look at the entry.
  func verdict(of entryId: Int64, in soup: String, by reference: SyncReference) async throws -> PlannedItem? {
    let found = try await look.store.read { snapshot -> (SyncState, Int64)? in
      guard try snapshot.soupExists(SyncsSoup.name), let state = try SyncsSoup.find(reference, in: snapshot),
        let version = try snapshot.entry(entryId, in: soup)?.version
      else { return nil }
      return (state, version)
    }
    guard let (state, version) = found, try look.targets.families(state.target) == nil else { return nil }
    let recorder = PlanRecorder(looks: false)
    try await run(state, recorder, PlanLimit(only: entryId, version: version, in: soup))
    return recorder.items.first { $0.entryId == entryId && $0.soup.hasSameBytes(as: soup) }
  }
}

extension PlannedItem.Expectation {
  fileprivate var explained: EntryExplanation.Expectation {
    switch self {
    case .send, .merge: .send
    case .conflict: .conflict
    case .skip: .skip
    case .wait: .wait
    case .blocked: .blocked
    }
  }
}
