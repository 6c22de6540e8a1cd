import JSON
import SmartStore
import Synchronization

/// The entries that a run may send: those of a plan, in the versions that the plan saw. Threads: any.
final class PlanLimit: Sendable {
  private typealias Key = PlanRecorder.MergedKey

  private struct State {
    var versions: [Key: Int64] = [:]
    /// Entries that the run itself has written.
    var written: Set<Key> = []
    var leftOut: [(key: Key, reason: String)] = []
  }

  /// Reasons that are told.
  private static let mostReasons = 50

  let planId: String
  private let state: Mutex<State>

  init(_ plan: PlanFile) {
    planId = plan.id
    var found = State()
    for entry in plan.entries { found.versions[Key(soup: entry.soup, entryId: entry.entryId)] = entry.version }
    state = Mutex(found)
  }

  /// A limit to one entry, for a plan.
  init(only entryId: Int64, version: Int64, in soup: String) {
    planId = ""
    var found = State()
    found.versions[Key(soup: soup, entryId: entryId)] = version
    state = Mutex(found)
  }

  /// Leaves out the entries that are no longer as the plan saw them. Call in the transaction that takes the lease.
  func compare(in snapshot: StoreSnapshot) throws {
    for (key, version) in state.withLock({ $0.versions }).sorted(by: {
      ($0.key.soup, $0.key.entryId) < ($1.key.soup, $1.key.entryId)
    }) {
      let row = try snapshot.soupExists(key.soup) ? snapshot.entry(key.entryId, in: key.soup) : nil
      guard let row else {
        leaveOut(key, "it is no longer in the soup")
        continue
      }
      let isDirty = try row.object().hasFlag(LocalField.local)
      if !isDirty {
        leaveOut(key, "it was sent or discarded since")
      } else if row.version != version {
        leaveOut(key, Self.edited)
      }
    }
  }

  private static let edited = "it was edited since"

  private func leaveOut(_ key: Key, _ reason: String) {
    state.withLock { state in
      guard state.versions.removeValue(forKey: key) != nil else { return }
      state.leftOut.append((key, reason))
    }
  }

  /// Whether the run may send an entry.
  func allows(_ entryId: Int64, in soup: String) -> Bool {
    state.withLock { $0.versions[Key(soup: soup, entryId: entryId)] != nil }
  }

  /// Whether the run may send an entry in this version; if it was edited, it is left out.
  func allows(_ entryId: Int64, version: Int64, in soup: String) -> Bool {
    let key = Key(soup: soup, entryId: entryId)
    let isCurrent = state.withLock { $0.written.contains(key) || $0.versions[key] == version }
    if !isCurrent { leaveOut(key, Self.edited) }
    return isCurrent
  }

  /// Notes that the run has written an entry, which has another version now.
  func noteWritten(_ entryId: Int64, in soup: String) {
    state.withLock { _ = $0.written.insert(Key(soup: soup, entryId: entryId)) }
  }

  /// Leaves out an entry that was edited while the run was going on.
  func noteEdited(_ entryId: Int64, in soup: String) { leaveOut(Key(soup: soup, entryId: entryId), Self.edited) }

  var count: Int { state.withLock { $0.leftOut.count } }

  /// Adds what was left out to the state of the run.
  func note(in state: inout SyncState) {
    state.leftOut = count
    state.warnings += sentences
  }

  /// Why entries were left out, in sentences for users.
  var sentences: [String] {
    Self.told(state.withLock { $0.leftOut }.map { ($0.key.soup, $0.key.entryId, $0.reason) })
  }

  /// Says why entries were left out, of the first 50.
  static func told(_ leftOut: [(soup: String, entryId: Int64, reason: String)]) -> [String] {
    let told = leftOut.prefix(mostReasons).map { "\($0.soup) \($0.entryId) was left out: \($0.reason)" }
    return told + (leftOut.count > told.count ? ["\(leftOut.count - told.count) more were left out"] : [])
  }

  /// The error of a plan that is applied as a whole or not at all.
  static func stale(_ sentences: [String]) -> SyncError {
    SyncError(.planStale, "nothing was sent: \(sentences.joined(separator: "; "))")
  }
}

extension DirtyBatch {
  /// Returns the batch without the entries that the run may not send.
  func limited(_ limit: PlanLimit, in soup: String) throws -> DirtyBatch {
    let kept = entryIds.indices.filter { limit.allows(entryIds[$0], version: versions[$0], in: soup) }
    guard kept.count < count else { return self }
    var entries = EntryBatch(text: [UInt8(ascii: "[")])
    for (n, i) in kept.enumerated() {
      if n > 0 { entries.text.append(UInt8(ascii: ",")) }
      entries.text += text(i)
      entries.ids.append(entryIds[i])
      entries.versions.append(versions[i])
    }
    entries.text.append(UInt8(ascii: "]"))
    return try DirtyBatch(entries, plan: plan)
  }
}

extension ParentChildrenGroup {
  /// Whether the run may send all dirty members.
  func isAllowed(_ limit: PlanLimit) -> Bool {
    members.filter(isDirty).allSatisfy { member in
      let (batch, i) = batch(member)
      return limit.allows(batch.entryIds[i], version: batch.versions[i], in: side(member).soup)
    }
  }

  /// Whether the plan has a member.
  func isPlanned(_ limit: PlanLimit) -> Bool {
    members.contains { member in
      let (batch, i) = batch(member)
      return limit.allows(batch.entryIds[i], in: side(member).soup)
    }
  }
}
