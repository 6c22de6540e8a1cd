import JSON
import RestClient
import SmartStore

/// One search for ghosts: what a sync brought, less what the server would send now.
struct GhostRun: Sendable {
  let store: Store
  let client: any RestClient
  let targets: TargetRegistry
  let control: RunControl
  let configuration: SyncConfiguration
  let state: SyncState
  let target: any SyncDownTarget
  /// See ``FetchContext/isForced``.
  var isForced = false
  let onConflicts: @Sendable ([SyncConflict]) -> Void

  var places: [RecordPlace] { target.places(state.soupName) }
  var service: any SyncService { targets.service(of: .syncDown, state.target) }

  /// - Returns: How many entries were removed; those that go with a parent are not counted.
  func perform() async throws -> Int {
    guard target.hasGhosts else { return 0 }
    let removed = try await removeGhosts() + removeOrphans()
    if state.options.mergeMode == .merge { for place in places { try await noteDeletions(place) } }
    return removed
  }

  private func removeGhosts() async throws -> Int {
    let run = self, places = places
    let local = try await store.read { snapshot in try places.map { try run.cleanEntries(of: $0, snapshot) } }
    guard local.contains(where: { !$0.isEmpty }) else { return 0 }
    let context = try await context(of: state, places)
    if let gone = try await goneByFeed(local[0].map(\.recordId), in: context) {
      return try await remove(local[0].filter { gone.contains($0.recordId) }, from: places[0])
    }
    let remote = try await remoteIds(of: target, among: local.map { $0.map(\.recordId) }, in: context)
    var removed = 0
    for (i, place) in places.enumerated() {
      let ghosts = local[i].filter { !remote[i].contains($0.recordId) }
      let count = try await remove(ghosts, from: place)
      if place.isCounted { removed += count }
    }
    if target.deletions != nil, let began = context.firstAnswer.serverTime, local[0].count > configuration.ghostFeedEntries {
      let checked = configuration.bounded(began, newest: state.maxTimeStamp) - configuration.commitAllowanceMs
      try await remember(checked, unlessLost: remote[0])
    }
    return removed
  }

  // MARK: The record of deletions

  /// What the server's record of deletions says; nil when all ids have to be asked for.
  private func goneByFeed(_ ids: [String], in context: FetchContext) async throws -> Set<String>? {
    let since = state.ghostsCheckedUntil
    guard let feed = target.deletions, ids.count > configuration.ghostFeedEntries, since > 0,
      configuration.now() - since < configuration.ghostFeedMs
    else { return nil }
    return try await control.value(of: Task { try await feed.gone(among: ids, since: since, in: context) })
  }

  /// Notes that no entry of this sync was a ghost at a time. Not so when one with local changes is: it stayed, and would not be
  /// found in what is deleted later.
  private func remember(_ time: Int64, unlessLost remote: Set<String>) async throws {
    let id = state.id, place = places[0]
    try await store.write(.pulled) { transaction in
      guard var stored = try SyncsSoup.find(.id(id), in: transaction) else { return }
      let dirty = try transaction.externalIds(in: place.soup, path: place.fields.id, ownedBy: id, dirty: true)
      stored.ghostsCheckedUntil = dirty.allSatisfy(remote.contains) ? time : TimeStamp.never
      try SyncsSoup.save(stored, in: transaction)
    }
  }

  private func context(of state: SyncState, _ places: [RecordPlace]) async throws -> FetchContext {
    var context = try await FetchContext(
      client: client, store: store, control: control, configuration: configuration, places: places)
    context.take(state)
    context.isForced = isForced
    return context
  }

  private func remove(_ ghosts: [OwnedEntry], from place: RecordPlace) async throws -> Int {
    guard !ghosts.isEmpty else { return 0 }
    let heirs = try await heirs(of: ghosts, in: place), run = self
    var removed = 0
    for start in stride(from: 0, to: ghosts.count, by: GhostRun.removedAtOnce) {
      let ids = ghosts[start..<min(start + GhostRun.removedAtOnce, ghosts.count)].map(\.entryId)
      removed += try await store.write(.pulled) { transaction in
        // Looked at again: it may have been edited here, or brought by another sync, while the server was asked.
        let still = try run.cleanEntries(of: place, among: ids, transaction)
        for entry in still {
          guard let heir = heirs[entry.recordId] else { continue }
          _ = try transaction.patch(entry.entryId, in: place.soup, setting: [LocalField.syncId: .integer(heir)])
        }
        let gone = still.filter { heirs[$0.recordId] == nil }.map(\.entryId)
        try transaction.remove(gone, from: place.soup)
        return gone.count
      }
    }
    return removed
  }

  private func remoteIds(
    of target: any SyncDownTarget, among ids: [[String]], in context: FetchContext
  ) async throws -> [Set<String>] {
    try await control.value(of: Task { try await target.remoteIds(among: ids, in: context) })
  }

  // MARK: Other syncs

  /// A sync that brought some of the ghosts too.
  private struct Other: Sendable {
    let state: SyncState
    let target: any SyncDownTarget
    let places: [RecordPlace]
    /// Which of its places has the soup.
    let position: Int
    let shared: [String]
  }

  /// Other syncs that brought the same records and would still get them: by record id. Asks the server only about syncs
  /// that share a ghost with this one.
  private func heirs(of ghosts: [OwnedEntry], in place: RecordPlace) async throws -> [String: Int64] {
    let ids = Set(ghosts.map(\.recordId)), run = self
    let others = try await store.read { try run.others(sharing: ids, in: place, $0) }
    var heirs: [String: Int64] = [:]
    for other in others {
      var asked = other.places.map { _ in [String]() }
      asked[other.position] = other.shared
      var asking = try await context(of: other.state, other.places)
      // Nothing of the other sync is removed, whatever part of these records it lacks.
      asking.isForced = true
      let remote = try await remoteIds(of: other.target, among: asked, in: asking)[other.position]
      for id in other.shared where remote.contains(id) { heirs[id] = other.state.id }
    }
    return heirs
  }

  private func others(sharing ids: Set<String>, in place: RecordPlace, _ snapshot: StoreSnapshot) throws -> [Other] {
    let downs = try snapshot.entryIds(in: SyncsSoup.name, where: "type", equals: .text(SyncType.syncDown.rawValue))
    return try downs.filter { $0 != state.id }.compactMap { id in
      guard let state = try SyncsSoup.find(.id(id), in: snapshot), let target = try? targets.down(state.target),
        target.hasGhosts
      else { return nil }
      let places = target.places(state.soupName)
      guard let position = places.firstIndex(where: { $0.soup == place.soup }),
        try places.allSatisfy({ try snapshot.soupExists($0.soup) })
      else { return nil }
      let path = places[position].fields.id
      let owned = try snapshot.externalIds(in: place.soup, path: path, ownedBy: id, dirty: false)
      let shared = owned.filter(ids.contains)
      return shared.isEmpty ? nil : Other(state: state, target: target, places: places, position: position, shared: shared)
    }
  }

  // MARK: This sync's entries

  /// - Parameter candidates: Only these; nil for all.
  private func cleanEntries(
    of place: RecordPlace, among candidates: [Int64]? = nil, _ snapshot: StoreSnapshot
  ) throws -> [OwnedEntry] {
    let found = try snapshot.cleanEntries(
      in: place.soup, where: LocalField.syncId, equals: .integer(state.id), idPath: place.fields.id, among: candidates)
    let busy = try busyParents(of: place, snapshot)
    return busy.isEmpty ? found : found.filter { !busy.contains($0.recordId) }
  }

  /// Parents that have a child with local changes: they are not clean either.
  private func busyParents(of place: RecordPlace, _ snapshot: StoreSnapshot) throws -> Set<String> {
    guard place.isCounted, let child = places.first(where: { $0.parentIdField != nil }), let field = child.parentIdField else {
      return []
    }
    return Set(try snapshot.externalIds(in: child.soup, path: field, ownedBy: nil, dirty: true))
  }

  /// Entries whose records are looked up in one step.
  static let lookedUpAtOnce = 2000

  /// Ghosts removed in one transaction: other writers wait for no longer than some milliseconds.
  private static let removedAtOnce = 1000
}
