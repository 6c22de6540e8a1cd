import JSON
import SmartStore

/// Compares pages of a server with a soup, within one snapshot each.
struct PageComparison: Sendable {
  /// A record that differs, or that the soup lacks.
  struct Suspect: Sendable {
    /// On its page.
    let position: Int
    let recordId: String
    /// A hash of the record's text, to notice that it was changed while it was compared.
    let hash: Int
    /// The modification date on the server in the unit of the target's dates; nil without a valid one.
    let stamp: Int64?
    /// nil if the soup lacks the record.
    var entryId: Int64?
    var localStamp: Int64?
    var isDirty = false
    /// The fields that differ; none if only the dates do.
    var fields: [String] = []
    /// Those of them that the server does not send.
    var absent = 0
  }

  /// What a page shows.
  struct Found: Sendable {
    var suspects: [Suspect] = []
    /// The entries of the records. Of several entries with one record, the first one is compared.
    var firsts: [Int64] = []
    var copies: [(entryId: Int64, recordId: String)] = []
    /// Whether more was compared than whether there are entries.
    var isCompared = false
  }

  let state: SyncState
  let mapping: SoupMapping
  let level: VerifyLevel
  let isWhole: Bool

  private var fields: TargetFields { mapping.fields }

  /// - Parameter wanted: Only these records are compared; nil for all.
  func compare(_ page: ScannedPage, only wanted: IdSet? = nil, in snapshot: StoreSnapshot) throws -> Found {
    let asked = (0..<page.count).compactMap { i in page.id(record: i).map { (position: i, id: $0) } }
      .filter { wanted?.contains($0.id) ?? true }
    guard !asked.isEmpty else { return Found() }
    let entries = try snapshot.entryIds(in: mapping.soup, where: fields.id, equalsEach: asked.map { .text($0.id) })
    var found = Found(), both: [(position: Int, id: String, entry: Int64)] = []
    for (one, ids) in zip(asked, entries) {
      guard let first = ids.first else {
        found.suspects.append(suspect(one.position, one.id, on: page))
        continue
      }
      found.firsts.append(first)
      found.copies += ids.dropFirst().map { ($0, one.id) }
      both.append((one.position, one.id, first))
    }
    guard level != .count, !both.isEmpty else { return found }
    found.isCompared = true
    let rows = try snapshot.recordRows(
      .entries(both.map(\.entry)), in: mapping.soup, idPath: fields.id, stampPath: fields.modificationDate)
    let byId = Dictionary(rows.map { ($0.entryId, $0) }, uniquingKeysWith: { first, _ in first })
    let pairs = both.compactMap { one in byId[one.entry].map { Pair(position: one.position, id: one.id, row: $0) } }
    found.suspects += try level == .ids ? comparingDates(pairs, page, snapshot) : comparingContents(pairs, page, snapshot)
    return found
  }

  private struct Pair {
    let position: Int
    let id: String
    let row: RecordRow
  }

  private func suspect(_ position: Int, _ id: String, on page: ScannedPage) -> Suspect {
    let stamp = page.stamp(record: position).flatMap(fields.dates.stamp)
    return Suspect(position: position, recordId: id, hash: page.hash(record: position), stamp: stamp)
  }

  private func suspect(_ pair: Pair, on page: ScannedPage) -> Suspect {
    var suspect = suspect(pair.position, pair.id, on: page)
    suspect.entryId = pair.row.entryId
    suspect.localStamp = pair.row.stamp.flatMap(fields.dates.stamp)
    suspect.isDirty = pair.row.isDirty
    return suspect
  }

  // MARK: Dates

  private func comparingDates(_ pairs: [Pair], _ page: ScannedPage, _ snapshot: StoreSnapshot) throws -> [Suspect] {
    let differing = pairs.filter { !areSame(page.stamp(record: $0.position), $0.row.stamp) }
    guard !differing.isEmpty else { return [] }
    let context = try Context(differing, mapping.soup, snapshot)
    return differing.compactMap { pair in
      let suspect = suspect(pair, on: page)
      // The server gave the record this date with our own upload, or did not say which.
      if let own = context.uploaded[pair.row.entryId], own.stamp == nil || own.stamp == suspect.stamp { return nil }
      return context.conflicts.contains(pair.row.entryId) ? nil : suspect
    }
  }

  /// Compares dates by the moment, or by the text if they are not valid. A missing one says nothing.
  private func areSame(_ a: String?, _ b: String?) -> Bool {
    guard let a, let b else { return true }
    if a.hasSameBytes(as: b) { return true }
    guard let a = fields.dates.stamp(a), let b = fields.dates.stamp(b) else { return false }
    return a == b
  }

  // MARK: Contents

  private func comparingContents(_ pairs: [Pair], _ page: ScannedPage, _ snapshot: StoreSnapshot) throws -> [Suspect] {
    // Nearly all are stored as they were sent; a comparison of bytes finds that without parsing.
    let clean = pairs.filter { !$0.row.isDirty }
    let areStored = try snapshot.areStored(
      clean.map(\.position), on: page, in: mapping.soup, by: fields.id, overlay: LocalField.overlay(syncId: state.id))
    let rest = zip(clean, areStored).filter { !$0.1 }.map(\.0) + pairs.filter(\.row.isDirty)
    guard !rest.isEmpty else { return [] }
    let context = try Context(rest, mapping.soup, snapshot)
    let stored = try snapshot.storedEntries(rest.map(\.row.entryId), in: mapping.soup)
    let byId = Dictionary(stored.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    return try rest.compactMap { pair in
      guard let entry = try byId[pair.row.entryId]?.object() else { return nil }
      return try differing(pair, entry, context, page)
    }
  }

  /// Returns the suspect if the record differs from the entry, or from the server's version that a dirty entry was made from.
  private func differing(
    _ pair: Pair, _ entry: JSONObject, _ context: Context, _ page: ScannedPage
  ) throws -> Suspect? {
    let record = try page.object(record: pair.position)
    let comparison = RecordComparison(fields: fields, isWhole: isWhole), id = pair.row.entryId
    if context.conflicts.contains(id) { return nil }
    let known: JSONObject
    if pair.row.isDirty {
      // Without a base it is not known what the server had.
      guard let base = RecordMerge.base(context.bases[id], fitting: entry, fields) else { return nil }
      known = base
    } else {
      known = entry
    }
    if context.uploaded[id] != nil, comparison.isEcho(record, of: known) { return nil }
    var suspect = suspect(pair, on: page)
    suspect.fields = comparison.differences(record, known)
    guard !suspect.fields.isEmpty || !areSame(page.stamp(record: pair.position), pair.row.stamp) else { return nil }
    suspect.absent = isWhole ? comparison.absent(record, known).count : 0
    return suspect
  }

  /// The facts about some entries besides their contents.
  private struct Context {
    let uploaded: [Int64: UploadedRecord]
    let conflicts: Set<Int64>
    let bases: [Int64: JSONObject]

    init(_ pairs: [Pair], _ soup: String, _ snapshot: StoreSnapshot) throws {
      let ids = pairs.map(\.row.entryId), dirty = pairs.filter(\.row.isDirty).map(\.row.entryId)
      uploaded = try snapshot.uploaded(of: ids, in: soup)
      conflicts = dirty.isEmpty ? [] : Set(try snapshot.conflicts(of: dirty, in: soup).map(\.entryId))
      bases = try snapshot.baseObjects(of: dirty, in: soup)
    }
  }
}

extension ScannedPage {
  /// The modification date of a record as text. The plan of a fetch has its path as the first additional field.
  fileprivate func stamp(record: Int) -> String? { value(record: record, extra: 0) }

  fileprivate func hash(record: Int) -> Int {
    withText(record: record) { text in
      var hasher = Hasher()
      hasher.combine(bytes: text)
      return hasher.finalize()
    }
  }
}
