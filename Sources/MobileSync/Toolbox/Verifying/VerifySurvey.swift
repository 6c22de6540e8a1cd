import JSON
import RestClient
import SmartStore

extension VerifyRun {
  /// An entry of the sync that the server did not send.
  struct Candidate: Sendable {
    let row: RecordRow
    /// Whether the sync brought it; otherwise no sync did.
    let isOwn: Bool
  }

  /// What the entries of a mapping show.
  private struct Rows {
    var own = 0
    var candidates: [Candidate] = []
    /// More of them than are asked for.
    var more = 0
  }

  /// Looks at all entries, asks for those that the server did not send, and puts the result together.
  func survey(_ walk: VerifyWalk, _ suspects: [VerifyWalk.Suspects]) async throws -> VerifyResult {
    var result = VerifyResult(state, level), digest = SoupDigest(expecting: level == .count ? 0 : walk.seenCount.reduce(0, +)),
      rows: [Rows] = []
    result.compared = walk.compared
    let others = try await otherSyncs()
    for i in 0..<min(walk.mappings, mappings.count) {
      result.server += walk.seenCount[i] + walk.suspects[i].missing
      rows.append(try await look(i, walk, others, &result, &digest))
    }
    if level != .count { result.digest = try digest.finish() }
    let soups = mappings.map(\.soup), state = state
    let startsOver = try await store.read { try state.startsOver(ifEmptied: soups, in: $0) }
    let fates = try await fates(of: rows.map(\.candidates))
    for (i, found) in rows.enumerated() {
      let rules = FindingRules(
        state: state, mapping: mappings[i], target: target, isEmptied: found.own == 0 && walk.suspects[i].missing > 0,
        startsOver: startsOver,
        look: StoreLook(store, targets: targets, now: configuration.now))
      for (candidate, fate) in zip(found.candidates, fates[i]) { add(candidate, fate, suspects[i], rules, &result) }
      result.count(.extra, found.more)
      for copy in walk.copies[i] { result.add(extra: rules.copy(copy.entryId, copy.recordId)) }
      for suspect in suspects[i].first.values.sorted(by: { $0.recordId < $1.recordId }) { result.add(rules.finding(suspect)) }
      for suspect in suspects[i].more { result.count(rules.finding(suspect).reason) }
      for id in suspects[i].moving.sorted() where suspects[i].first[id] == nil {
        let entryId = walk.suspects[i].first[id]?.entryId
        result.add(rules.moving(id, entryId))
      }
    }
    return result
  }

  /// Returns the syncs down that may own entries besides this one.
  private func otherSyncs() async throws -> Set<Int64> {
    let id = state.id
    return try await store.read { snapshot in
      let downs = try snapshot.entryIds(in: SyncsSoup.name, where: "type", equals: .text(SyncType.syncDown.rawValue))
      return Set(downs).subtracting([id])
    }
  }

  private func look(
    _ i: Int, _ walk: VerifyWalk, _ others: Set<Int64>, _ result: inout VerifyResult, _ digest: inout SoupDigest
  ) async throws -> Rows {
    let mapping = mappings[i]
    var found = Rows()
    try await forEachRow(of: mapping) { rows in
      var counted: [RecordRow] = []
      for row in rows {
        let isSeen = walk.seen[i].contains(row.entryId), isOwn = row.owner == state.id
        if isOwn { found.own += 1 }
        if !isSeen, let owner = row.owner, others.contains(owner) { continue }
        let isOnServer = row.recordId.map { !$0.hasPrefix(LocalField.localIdPrefix) } ?? false
        // Without a record it is another program's entry, or one that was never sent.
        guard isSeen || isOwn || row.isDirty || isOnServer else { continue }
        if isSeen || isOwn || row.isDirty { result.local += 1 }
        if row.isDirty { result.count(.dirty) }
        if isSeen || isOwn { counted.append(row) }
        guard !isSeen, isOnServer, isOwn || !row.isDirty, target.hasGhosts else { continue }
        if found.candidates.count < Self.mostSuspects {
          found.candidates.append(Candidate(row: row, isOwn: isOwn))
        } else if isOwn {
          found.more += 1
        }
      }
      try await add(counted, i, to: &digest)
    }
    return found
  }

  // MARK: The digest

  /// Adds what the soup has of the server: entries with local changes as they came from there.
  private func add(_ rows: [RecordRow], _ i: Int, to digest: inout SoupDigest) async throws {
    let fields = mappings[i].fields, soup = mappings[i].soup
    switch level {
    case .count: return
    case .ids:
      for row in rows {
        guard let id = row.recordId, !id.hasPrefix(LocalField.localIdPrefix) else { continue }
        try digest.add(mapping: i, id: id, stamp: row.stamp, fields)
      }
    case .content:
      let dirty = rows.filter(\.isDirty).map(\.entryId)
      let (stored, bases) = try await store.read { snapshot in
        (try snapshot.storedEntries(rows.map(\.entryId), in: soup), try snapshot.baseObjects(of: dirty, in: soup))
      }
      let edited = Set(dirty)
      for entry in stored {
        if edited.contains(entry.id) {
          if let base = bases[entry.id] { try digest.add(mapping: i, base, fields) }
        } else {
          try digest.add(mapping: i, entry.object(), fields)
        }
      }
    }
  }

  // MARK: Entries that the server did not send

  private func fates(of candidates: [[Candidate]]) async throws -> [[Whereabouts]] {
    guard candidates.contains(where: { !$0.isEmpty }) else { return candidates.map { _ in [] } }
    var lacking: [[LackingRecord]] = []
    for i in mappings.indices { lacking.append(i < candidates.count ? try await records(of: candidates[i], i) : []) }
    let context = try await context(), target = target, asked = lacking
    return try await control.value(of: Task { try await target.whereabouts(of: asked, in: context) })
  }

  /// Returns the records of candidates; with their types, as far as they are asked for one by one.
  private func records(of candidates: [Candidate], _ i: Int) async throws -> [LackingRecord] {
    let soup = mappings[i].soup, first = candidates.prefix(VerifyResult.listed).map(\.row.entryId)
    let types = try await store.read { snapshot in
      try Dictionary(
        snapshot.storedEntries(first, in: soup).map { entry in
          (entry.id, try Projection.value(entry.object(), LocalField.type)?.stringValue ?? "")
        }, uniquingKeysWith: { first, _ in first })
    }
    return candidates.map { LackingRecord(id: $0.row.recordId ?? "", type: types[$0.row.entryId] ?? "") }
  }

  private func add(
    _ candidate: Candidate, _ fate: Whereabouts, _ suspects: VerifyWalk.Suspects, _ rules: FindingRules,
    _ result: inout VerifyResult
  ) {
    let id = candidate.row.recordId ?? "", canonical = service.canonicalId(id)
    if !canonical.hasSameBytes(as: id), suspects.first[canonical] != nil || candidate.isOwn {
      return result.add(extra: rules.otherForm(candidate.row, canonical))
    }
    switch fate {
    case .sent: break
    case .deleted: result.add(extra: rules.deleted(candidate))
    case .outside, .unknown: if candidate.isOwn { result.add(extra: rules.notSent(candidate, isThere: fate == .outside)) }
    }
  }
}

extension VerifyResult {
  mutating func add(extra finding: VerifyFinding) {
    count(.extra)
    if extra.count < Self.listed {
      extra.append(finding)
    } else if let entry = finding.ownedEntry {
      unlistedExtra.append((finding.soupName, entry))
    }
  }

  /// Adds a record that the soup lacks, or that differs.
  mutating func add(_ finding: VerifyFinding) {
    count(finding.reason)
    if finding.entryId == nil {
      if missing.count < Self.listed { missing.append(finding) }
    } else if different.count < Self.listed {
      different.append(finding)
    }
  }
}
