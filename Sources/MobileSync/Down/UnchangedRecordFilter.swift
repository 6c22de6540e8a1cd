import JSON
import SmartStore

/// Separates records that are already stored unchanged from new or modified ones. Only those count in `totalSize`.
struct UnchangedRecordFilter: Sendable {
  /// Positions on a page.
  struct Found: Sendable {
    /// Brought before by this sync and not changed since: left as they are, also when they were edited here meanwhile.
    var unchanged: Set<Int> = []
    /// Uploaded from here, and come back saying no more than what was sent. Stored, because the server adds what it
    /// computes, and because the sync takes charge of a record that was created here; but no news.
    var echoes: Set<Int> = []

    var count: Int { unchanged.count + echoes.count }
  }

  let store: Store
  let soup: String
  let syncId: Int64
  let fields: TargetFields
  /// The first run brings everything, and everything counts.
  let isFirstRun: Bool
  /// Every record is compared with its entry: stamps say nothing.
  let comparesTexts: Bool
  private var echoes: [String: Int64] = [:]

  init(store: Store, soup: String, syncId: Int64, fields: TargetFields, isFirstRun: Bool, comparesTexts: Bool) {
    self.store = store
    self.soup = soup
    self.syncId = syncId
    self.fields = fields
    self.isFirstRun = isFirstRun
    self.comparesTexts = comparesTexts
  }

  /// Looks up what was uploaded since the last run. Call once, before the first page.
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
      // No stamp is read of a record that need not be looked up.
      guard let stamp, looksAtAll || known.mayReach(stamp), let time = TimeStamp.milliseconds(stamp),
        looksAtAll || progress.mayBeKnown(stamp: time)
      else { return }
      candidates.append(Candidate(position: i, stamp: time))
    }
    guard !candidates.isEmpty else { return Found() }
    let asked = candidates, overlay = LocalField.overlay(syncId: syncId), soup = soup, idPath = fields.id
    return try await store.read { snapshot in
      var found = Found()
      let looker = try snapshot.storedTexts(in: soup, by: idPath, overlay: overlay, on: page)
      for candidate in asked {
        // Nearly all are stored as they came: their texts are compared, and nothing is made of them.
        if progress.mayBeKnown(stamp: candidate.stamp), try looker.isStored(record: candidate.position) {
          found.unchanged.insert(candidate.position)
        } else {
          try sort(candidate, on: page, progress, in: snapshot, into: &found)
        }
      }
      return found
    }
  }

  /// Entries with local changes are unchanged where the server still has what they were made from.
  private func comparing(_ page: ScannedPage) async throws -> Found {
    let overlay = LocalField.overlay(syncId: syncId), soup = soup, idPath = fields.id, filter = self
    return try await store.read { snapshot in
      var found = Found()
      let looker = try snapshot.storedTexts(in: soup, by: idPath, overlay: overlay, on: page)
      for i in 0..<page.count {
        if try looker.isStored(record: i) || filter.isBase(of: i, on: page, in: snapshot) { found.unchanged.insert(i) }
      }
      return found
    }
  }

  private func isBase(of position: Int, on page: ScannedPage, in snapshot: StoreSnapshot) throws -> Bool {
    guard let id = page.id(record: position) else { return false }
    let ids = try snapshot.entryIds(in: soup, where: fields.id, equals: .text(id))
    guard ids.count == 1, let entry = try snapshot.entry(ids[0], in: soup)?.object(), entry.hasFlag(LocalField.local),
      let stored = try snapshot.base(of: ids[0], in: soup).flatMap({ try JSONValue(parsing: $0).objectValue }),
      let base = RecordMerge.base(stored, fitting: entry, fields)
    else { return false }
    return RecordMerge(base: base, local: entry, server: try page.object(record: position), fields: fields).remoteChanges.isEmpty
  }

  // MARK: One record

  private struct Candidate: Sendable {
    let position: Int
    let stamp: Int64
  }

  private func sort(
    _ candidate: Candidate, on page: ScannedPage, _ progress: SyncDownProgress, in snapshot: StoreSnapshot,
    into found: inout Found
  ) throws {
    guard let id = page.id(record: candidate.position) else { return }
    let echo = echoes[id]
    guard echo != nil || progress.mayBeKnown(stamp: candidate.stamp) else { return }
    let ids = try echo.map { [$0] } ?? snapshot.entryIds(in: soup, where: fields.id, equals: .text(id))
    guard ids.count == 1, let entry = try snapshot.entry(ids[0], in: soup)?.object() else { return }
    let stored = fields.stamp(of: entry)
    let isStored = stored == candidate.stamp && entry[LocalField.syncId]?.integerValue == syncId
    if isStored, entry.hasFlag(LocalField.local) {
      found.unchanged.insert(candidate.position)
      return
    }
    guard isStored || echo != nil, saysNoMore(try page.object(record: candidate.position), than: entry) else {
      return
    }
    // Stamps are whole seconds: one that is the same does not say that the record is.
    if isStored { found.unchanged.insert(candidate.position) } else { found.echoes.insert(candidate.position) }
  }

  /// True when every member that both have is the same; the modification date is the upload's own, and `attributes` tells
  /// where the record lives. What the entry never had (the rest of a record created here) says nothing new.
  private func saysNoMore(_ record: JSONObject, than entry: JSONObject) -> Bool {
    record.allSatisfy { key, value in
      guard key != fields.modificationDate, !RecordMerge.serverOwn(fields).contains(key), let mine = entry[key] else {
        return true
      }
      return LostCreateMatcher.same(mine, value)
    }
  }
}
