import JSON
import SmartStore

/// Separates records that are already stored unchanged from new or modified ones. Only those count in `totalSize`.
struct UnchangedRecordFilter: Sendable {
  /// Positions on a page.
  struct Found: Sendable {
    /// Brought earlier by this sync and not changed since; left alone, even if edited locally
    /// meanwhile.
    var unchanged: Set<Int> = []
    /// Echoes: records that were uploaded from here and come back with the values sent. They are
    /// stored, because the server adds computed values and because the sync down becomes their
    /// owner, but they do not count as changes.
    var echoes: Set<Int> = []

    var count: Int { unchanged.count + echoes.count }
  }

  let store: Store
  let soup: String
  let syncId: Int64
  let fields: TargetFields
  /// On the first run, all records are fetched and counted.
  let isFirstRun: Bool
  /// Whether every record is compared with its entry, because stamps are not reliable.
  let comparesTexts: Bool
  private var echoes: IdMap<Int64> = [:]

  init(store: Store, soup: String, syncId: Int64, fields: TargetFields, isFirstRun: Bool, comparesTexts: Bool) {
    self.store = store
    self.soup = soup
    self.syncId = syncId
    self.fields = fields
    self.isFirstRun = isFirstRun
    self.comparesTexts = comparesTexts
  }

  /// Looks up the uploads since the last run. Call once, before the first page.
  mutating func prepare() async throws {
    guard !isFirstRun else { return }
    let soup = soup, idPath = fields.id
    echoes = try await store.read { try $0.echoes(in: soup, idPath: idPath) }
  }

  func find(in page: ScannedPage, _ progress: SyncDownProgress) async throws -> Found {
    guard !isFirstRun else { return Found() }
    if comparesTexts { return try await comparing(page) }
    var candidates: [Candidate] = []
    let known = PageStamps.Limit(progress.maxTimeStamp), looksAtAll = !echoes.isEmpty
    page.forEachRawText(extra: 0) { i, stamp in
      // Skip parsing the stamps of records that need no look-up.
      guard let stamp, looksAtAll || known.mayReach(stamp), let time = TimeStamp.milliseconds(stamp),
        looksAtAll || progress.mayBeKnown(stamp: time)
      else { return }
      candidates.append(Candidate(position: i, stamp: time))
    }
    guard !candidates.isEmpty else { return Found() }
    let asked = candidates, overlay = LocalField.overlay(syncId: syncId), soup = soup, idPath = fields.id
    return try await store.read { snapshot in
      var found = Found()
      // Nearly all records are stored unchanged; a comparison of bytes finds that without parsing.
      let known = asked.filter { progress.mayBeKnown(stamp: $0.stamp) }.map(\.position)
      let areStored = try snapshot.areStored(known, on: page, in: soup, by: idPath, overlay: overlay)
      for (position, isStored) in zip(known, areStored) where isStored { found.unchanged.insert(position) }
      let rest = asked.filter { !found.unchanged.contains($0.position) }
      try sort(rest, on: page, progress, in: snapshot, into: &found)
      return found
    }
  }

  /// Compares all records. An entry with local changes counts as unchanged if the server still has
  /// its base.
  private func comparing(_ page: ScannedPage) async throws -> Found {
    let overlay = LocalField.overlay(syncId: syncId), soup = soup, idPath = fields.id, filter = self
    return try await store.read { snapshot in
      var found = Found()
      let areStored = try snapshot.areStored(Array(0..<page.count), on: page, in: soup, by: idPath, overlay: overlay)
      found.unchanged = Set(areStored.indices.filter { areStored[$0] })
      found.unchanged.formUnion(try filter.bases(areStored.indices.filter { !areStored[$0] }, on: page, in: snapshot))
      return found
    }
  }

  /// Returns the positions of records that equal the bases of their entries.
  private func bases(_ positions: [Int], on page: ScannedPage, in snapshot: StoreSnapshot) throws -> [Int] {
    let stored = try StoredRecords(positions, on: page, soup: soup, idPath: fields.id, in: snapshot)
    let dirty = try stored.entries.filter { try $0.value.object().hasFlag(LocalField.local) }
    let bases = try snapshot.baseObjects(of: dirty.values.map(\.id), in: soup)
    return try dirty.compactMap { position, stored in
      let entry = try stored.object()
      guard let base = RecordMerge.base(bases[stored.id], fitting: entry, fields) else { return nil }
      let merge = RecordMerge(base: base, local: entry, server: try page.object(record: position), fields: fields)
      return merge.remoteChanges.isEmpty ? position : nil
    }
  }

  // MARK: Single records

  private struct Candidate: Sendable {
    let position: Int
    let stamp: Int64
  }

  private func sort(
    _ candidates: [Candidate], on page: ScannedPage, _ progress: SyncDownProgress, in snapshot: StoreSnapshot,
    into found: inout Found
  ) throws {
    let asked = candidates.filter { candidate in
      progress.mayBeKnown(stamp: candidate.stamp) || page.id(record: candidate.position).map { echoes[$0] != nil } ?? false
    }
    let stored = try StoredRecords(
      asked.map(\.position), on: page, soup: soup, idPath: fields.id, known: echoes, in: snapshot)
    for candidate in asked {
      guard let entry = try stored.entries[candidate.position]?.object() else { continue }
      try sort(candidate, on: page, over: entry, into: &found)
    }
  }

  private func sort(
    _ candidate: Candidate, on page: ScannedPage, over entry: JSONObject, into found: inout Found
  ) throws {
    let echo = page.id(record: candidate.position).flatMap { echoes[$0] }
    let stored = fields.stamp(of: entry)
    let isStored = stored == candidate.stamp && entry[LocalField.syncId]?.integerValue == syncId
    if isStored, entry.hasFlag(LocalField.local) {
      found.unchanged.insert(candidate.position)
      return
    }
    let record = try page.object(record: candidate.position)
    guard isStored || echo != nil, addsNothing(record, to: entry) else { return }
    // Stamps may have a resolution of seconds, so an equal stamp does not prove that the record is
    // the same. After an upload the server may write a value in another way, and the entry follows.
    if isStored, hasTexts(of: record, entry) {
      found.unchanged.insert(candidate.position)
    } else {
      found.echoes.insert(candidate.position)
    }
  }

  /// Returns whether every member that both have is written in the same way.
  private func hasTexts(of record: JSONObject, _ entry: JSONObject) -> Bool {
    record.allSatisfy { key, value in
      guard !RecordMerge.isBookkeeping(key, fields), let mine = entry[key] else { return true }
      return mine.serialized() == value.serialized()
    }
  }

  /// Returns whether every member that both have is equal. The modification date belongs to the
  /// upload, and `attributes` says where the record lives. Members that the entry never had, such
  /// as the rest of a record created here, do not count.
  private func addsNothing(_ record: JSONObject, to entry: JSONObject) -> Bool {
    record.allSatisfy { key, value in
      guard key != fields.modificationDate, !RecordMerge.serverOwn(fields).contains(key), let mine = entry[key] else {
        return true
      }
      return LostCreateMatcher.same(mine, value)
    }
  }
}
