import SmartStore
import Support

extension Planner {
  /// Replaces what an explanation says of the next sync up by the verdict of the planner, without asking the server. An
  /// explanation stays as it is if its sync has no name, or sends families, or cannot be planned.
  /// - Parameter told: The explanation.
  public func complete(_ told: inout EntryExplanation) async {
    guard let (entryId, name) = Self.asked(told),
      let item = try? await verdict(of: entryId, in: told.soupName, by: .name(name), PlanRecorder(looks: false))
    else { return }
    guard item.expect.explained != told.next[0].expect else { return }
    told.next = [Self.next(item, name)]
  }

  /// Completes an explanation with the run's look at the server: the server's values, and what the next sync up does in view of
  /// them. Entries without local changes, and families, stay as they are.
  /// - Parameters:
  ///   - told: The explanation.
  ///   - asksServer: Whether the look is sent.
  /// - Throws: Errors of the server.
  public func complete(_ told: inout EntryExplanation, asksServer: Bool) async throws {
    guard asksServer else { return await complete(&told) }
    guard let (entryId, name) = Self.asked(told),
      let item = try await verdict(of: entryId, in: told.soupName, by: .name(name), PlanRecorder(looks: true))
    else { return }
    told.next = [Self.next(item, name)]
    for field in item.fields {
      guard let server = field.server, let i = told.fields.firstIndex(where: { $0.name.hasSameBytes(as: field.name) }) else {
        continue
      }
      told.fields[i].server = server
    }
  }

  private static func asked(_ told: EntryExplanation) -> (Int64, String)? {
    guard let entryId = told.entryId, told.next.count == 1, let name = told.next[0].syncName else { return nil }
    return (entryId, name)
  }

  private static func next(_ item: PlannedItem, _ name: String) -> EntryExplanation.Next {
    let expect = item.expect.explained, why = item.why.first?.text ?? ""
    let text =
      switch item.expect {
      case .send: "\(name) sends it"
      case .merge: "\(name) takes what the server changed, and sends it"
      case .conflict: "\(name) leaves it: \(why)"
      case .wait: "\(name) waits: \(why)"
      case .skip: "\(name) skips it: \(why)"
      case .blocked: "\(name) cannot send it: \(why)"
      }
    return EntryExplanation.Next(syncName: name, expect: expect, text: text)
  }

  /// Plans a sync up for one entry alone.
  /// - Returns: nil if the sync would not look at the entry.
  func verdict(
    of entryId: Int64, in soup: String, by reference: SyncReference, _ recorder: PlanRecorder = PlanRecorder(looks: false)
  ) async throws -> PlannedItem? {
    let found = try await look.store.read { snapshot -> (SyncState, Int64)? in
      guard try snapshot.soupExists(SyncsSoup.name), let state = try SyncsSoup.find(reference, in: snapshot),
        let version = try snapshot.entry(entryId, in: soup)?.version
      else { return nil }
      return (state, version)
    }
    guard let (state, version) = found, try look.targets.families(state.target) == nil else { return nil }
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
