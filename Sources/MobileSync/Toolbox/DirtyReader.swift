import JSON
import SmartStore

/// Reads the dirty entries of a store within one snapshot, and says why each one is not on the server.
struct DirtyReader {
  /// What the store knows about an entry beside its text.
  private struct Known {
    var conflict: ConflictRecord?
    var upload: UploadRecord?
    /// Why a child cannot be sent with its parent.
    var family: DirtyEntry.Reason?
  }

  private let look: StoreLook
  private let snapshot: StoreSnapshot
  private let now: Int64
  let syncs: [SyncState]
  private let uploads: SoupUploads
  private let stories: UnsentStories?

  /// Entries that are in memory at once.
  private static let batch = 500

  init(_ look: StoreLook, _ snapshot: StoreSnapshot, _ stories: UnsentStories? = nil) throws {
    self.stories = stories
    self.look = look
    self.snapshot = snapshot
    now = look.now()
    syncs = try SyncsSoup.all(in: snapshot)
    uploads = SoupUploads(syncs, look.targets)
  }

  /// Returns the entries of a soup with local changes, by id.
  /// - Parameters:
  ///   - states: Only entries in these states; nil for all.
  ///   - candidates: Only these entries; nil for all.
  func entries(
    in soup: String, _ states: Set<DirtyEntry.State>?, among candidates: Set<Int64>? = nil
  ) throws -> [DirtyEntry] {
    var found: [DirtyEntry] = []
    try forEach(in: soup, among: candidates) { entry, object, base, own, known in
      guard states?.contains(entry.state) ?? true else { return }
      found.append(try described(entry, object, base, own, known))
    }
    return found
  }

  /// Returns an entry; nil if it has no local changes.
  func entry(_ id: Int64, in soup: String) throws -> DirtyEntry? {
    var found: DirtyEntry?
    try forEach(in: soup, among: [id]) { entry, object, base, own, known in
      found = try described(entry, object, base, own, known)
    }
    return found
  }

  /// Calls `body` with each entry and its state, without its fields and remedies.
  func forEachState(in soup: String, _ body: (DirtyEntry) -> Void) throws {
    try forEach(in: soup, withValues: false) { entry, _, _, _, _ in body(entry) }
  }

  private func forEach(
    in soup: String, among candidates: Set<Int64>? = nil, withValues: Bool = true,
    _ body: (DirtyEntry, JSONObject, JSONObject?, OwnValues?, Known) throws -> Void
  ) throws {
    let ids = try snapshot.dirtyEntryIds(in: soup).filter { candidates?.contains($0) ?? true }
    guard !ids.isEmpty else { return }
    let conflicts = Dictionary(try snapshot.conflicts(in: soup).map { ($0.entryId, $0) }) { first, _ in first }
    let attempts = Dictionary(try snapshot.unsettledUploads(in: soup).map { ($0.entryId, $0) }) { first, _ in first }
    let live = try self.live(Array(attempts.values))
    let fields = uploads.fields(of: soup)
    for start in stride(from: 0, to: ids.count, by: Self.batch) {
      let part = Array(ids[start..<min(ids.count, start + Self.batch)])
      let entries = try snapshot.storedEntries(part, in: soup).map { ($0.id, try $0.object()) }
      let bases = withValues ? try snapshot.baseObjects(of: part, in: soup) : [:]
      let inConflict = part.filter { conflicts[$0] != nil }
      let own = withValues && !inConflict.isEmpty ? try snapshot.ownValues(of: inConflict, in: soup) : [:]
      let families = try familyReasons(entries, soup)
      for (id, object) in entries {
        let known = Known(conflict: conflicts[id], upload: attempts[id], family: families[id])
        var entry = classified(id, object, soup, fields, known, isLive: live.contains(id))
        stories?.complete(&entry)
        try body(entry, object, bases[id], own[id], known)
      }
    }
  }

  /// Returns the entries whose uploads belong to runs that are still going on.
  private func live(_ attempts: [UploadRecord]) throws -> Set<Int64> {
    var leases: [Int64: Lease?] = [:]
    return Set(
      try attempts.filter { upload in
        let lease = try leases[upload.syncId] ?? snapshot.lease(SyncLeases.name(upload.syncId))
        leases[upload.syncId] = lease
        guard let lease, lease.fence == upload.fence || upload.fence == 0 else { return false }
        return SyncLeases.isHeld(lease, now: now)
      }.map(\.entryId))
  }

  // MARK: States

  private func classified(
    _ id: Int64, _ object: JSONObject, _ soup: String, _ fields: TargetFields, _ known: Known, isLive: Bool
  ) -> DirtyEntry {
    let action: DirtyEntry.Action =
      object.hasFlag(LocalField.deleted) ? .delete : object.hasFlag(LocalField.created) ? .create : .update
    var entry = DirtyEntry(
      soupName: soup, entryId: id, action: action, state: .waiting,
      writtenAt: object[SoupField.lastModified]?.integerValue)
    let recordId = fields.id(of: object)
    entry.recordId = recordId.flatMap { $0.isEmpty || $0.hasPrefix(LocalField.localIdPrefix) ? nil : $0 }
    let note = ErrorNote(object)
    entry.lastTry = note?.at
    entry.detectedAt = known.conflict?.detectedAt
    if isLive, let upload = known.upload {
      entry.state = .held
      entry.syncName = uploads.sync(upload.syncId)?.name
    } else if let upload = known.upload, Self.isInDoubt(upload) {
      entry.state = .inDoubt
      entry.until = upload.inDoubt ? nil : upload.resendAt ?? upload.sentAt
      entry.lastTry = upload.sentAt
    } else if known.conflict != nil {
      entry.state = .conflict
    } else if let note {
      entry.state =
        switch note.code {
        case ErrorNote.nothingToSend, ErrorNote.preconditionFailed: .skipped
        case ErrorNote.inDoubt where action == .create: .inDoubt
        case ErrorNote.resolver: .waiting
        default: .refused
        }
    } else if known.family != nil {
      entry.state = .skipped
    }
    return entry
  }

  /// Whether the server may have the record of a create that no run waits for.
  private static func isInDoubt(_ upload: UploadRecord) -> Bool { upload.isUnknownCreate || upload.inDoubt }

  // MARK: Families

  /// Returns why children are not sent with their parents, by entry id.
  private func familyReasons(_ entries: [(Int64, JSONObject)], _ soup: String) throws -> [Int64: DirtyEntry.Reason] {
    guard let sender = uploads.sender(of: soup), let info = sender.family,
      try snapshot.soupExists(info.parent.soup)
    else { return [:] }
    let parentIds = entries.map { Projection.value($0.1, info.parentIdField)?.stringValue ?? "" }
    let found = try snapshot.entryIds(
      in: info.parent.soup, where: info.parent.fields.id, equalsEach: parentIds.map { .text($0) })
    let parents = Dictionary(
      try snapshot.storedEntries(Set(found.compactMap(\.first)).sorted(), in: info.parent.soup).map { ($0.id, try $0.object()) }
    ) { first, _ in first }
    var reasons: [Int64: DirtyEntry.Reason] = [:]
    for (i, (id, _)) in entries.enumerated() {
      guard let parentId = found[i].first, let parent = parents[parentId] else {
        reasons[id] = DirtyEntry.Reason(
          "parentMissing", "its parent '\(parentIds[i])' is not in the soup '\(info.parent.soup)', so no family is sent")
        continue
      }
      let isNew = parent.hasFlag(LocalField.local) && parent.hasFlag(LocalField.created)
      guard isNew, let note = ErrorNote(parent) else { continue }
      reasons[id] = DirtyEntry.Reason(
        "parentNotSent", "its parent, entry \(parentId) of '\(info.parent.soup)', is not on the server: \(note.text)")
    }
    return reasons
  }

  // MARK: Details

  private func described(
    _ entry: DirtyEntry, _ object: JSONObject, _ stored: JSONObject?, _ own: OwnValues?, _ known: Known
  ) throws -> DirtyEntry {
    var entry = entry
    let sender = uploads.sender(of: entry.soupName), fields = uploads.fields(of: entry.soupName)
    entry.title = RecordTitle.title(of: object) ?? entry.recordId
    entry.changes = Self.changes(entry.action, object, RecordMerge.base(stored, fitting: object, fields), fields)
    entry.fields = entry.changes.map(\.field)
    entry.syncName = entry.syncName ?? sender?.sync.name
    let way = WayOut(look: look, sender: sender, note: ErrorNote(object), fields: fields)
    switch entry.state {
    case .waiting: way.ofWaiting(&entry)
    case .skipped: way.ofSkipped(&entry, family: known.family)
    case .held: try way.ofHeld(&entry, place: known.upload.map(place))
    case .refused: way.ofRefused(&entry)
    case .inDoubt: way.ofDoubt(&entry)
    case .conflict:
      guard let record = known.conflict else { break }
      let base = RecordMerge.base(stored, fitting: object, TargetFields(id: record.idField, modificationDate: record.dateField))
      let row = StoredEntry(id: entry.entryId, version: 0, text: object.serialized())
      let conflict = try SyncConflict(
        record, in: entry.soupName, base: base, entry: row, own: own, policy: uploads.sync(record.syncId)?.options.resolve)
      entry.syncName = uploads.sync(record.syncId)?.name ?? entry.syncName
      way.ofConflict(&entry, conflict)
    }
    return entry
  }

  /// Describes the process that is sending an entry.
  private func place(_ upload: UploadRecord) throws -> String {
    try snapshot.lease(SyncLeases.name(upload.syncId)).map { SyncLeases.place(of: $0.owner) } ?? "another process"
  }

  private static func changes(
    _ action: DirtyEntry.Action, _ object: JSONObject, _ base: JSONObject?, _ fields: TargetFields
  ) -> [DirtyEntry.Change] {
    switch action {
    case .delete: return []
    case .create:
      return object.filter { !$0.value.isNull && !RecordMerge.isBookkeeping($0.key, fields) }
        .map { DirtyEntry.Change(field: $0.key, base: nil, value: $0.value) }
    case .update:
      guard let base else { return [] }
      let names = RecordMerge(base: base, local: object, server: [:], fields: fields).localChanges
      let removed = base.keys.filter { object[$0] == nil && !RecordMerge.isBookkeeping($0, fields) }
      return (names + removed).map { DirtyEntry.Change(field: $0, base: base[$0], value: object[$0]) }
    }
  }
}

/// What people call a record. No store, network or clock.
package enum RecordTitle {
  package static func title(of entry: JSONObject) -> String? {
    func text(_ key: String) -> String? {
      entry[key]?.stringValue.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    }
    if let name = text("Name") { return name }
    let parts = [text("FirstName"), text("LastName")].compactMap { $0 }
    if !parts.isEmpty { return parts.joined(separator: " ") }
    return ["name", "title", "subject"].lazy.compactMap(text).first
  }
}
