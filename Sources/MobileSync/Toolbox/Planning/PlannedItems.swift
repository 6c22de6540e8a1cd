import JSON
import SmartStore

/// Makes the items of a plan from a batch that would be sent.
struct PlannedItems {
  let run: SyncUpRun
  let upload: BatchUpload

  private var batch: DirtyBatch { upload.batch }
  private var target: any SyncUpTarget { run.target }

  /// What the store knows of the entries.
  struct Facts: Sendable {
    var rows: [Int64: StoredEntry] = [:]
    var bases: [Int64: JSONObject] = [:]
    var conflicts: [Int64: ConflictRecord] = [:]
    var uploads: [Int64: UploadRecord] = [:]

    init(_ ids: [Int64], in soup: String, _ snapshot: StoreSnapshot) throws {
      rows = Dictionary(try snapshot.storedEntries(ids, in: soup).map { ($0.id, $0) }) { first, _ in first }
      bases = try snapshot.baseObjects(of: ids, in: soup)
      conflicts = Dictionary(try snapshot.conflicts(of: ids, in: soup).map { ($0.entryId, $0) }) { first, _ in first }
      uploads = Dictionary(try snapshot.unsettledUploads(of: ids, in: soup).map { ($0.entryId, $0) }) { first, _ in first }
    }
  }

  /// Returns the items of a batch in the order of the entries' ids within it.
  /// - Parameter held: Entries that are not sent, with the reason.
  func all(_ held: [(id: Int64, verdict: UploadVerdict)]) async throws -> [PlannedItem] {
    let ids = batch.entryIds + held.map(\.id), soup = run.soup
    let facts = try await run.environment.store.read { try Facts(ids, in: soup, $0) }
    let answers = Dictionary(upload.answers.map { ($0.sent.entryId, $0) }) { first, _ in first }
    var items: [PlannedItem] = []
    for (i, id) in batch.entryIds.enumerated() {
      guard var item = try item(id, facts) else { continue }
      if let answer = answers[id] { PlannedVerdict.note(answer, in: &item) } else { try send(&item, i, facts) }
      items.append(item)
    }
    for (id, verdict) in held {
      guard var item = try item(id, facts) else { continue }
      try PlannedVerdict(sync: run.state, facts: facts).note(verdict, in: &item)
      items.append(item)
    }
    return items
  }

  private func item(_ id: Int64, _ facts: Facts) throws -> PlannedItem? {
    guard let row = facts.rows[id] else { return nil }
    let entry = try row.object()
    return PlannedItem.make(
      row, entry, in: run.soup, target.fields, externalId: run.plan.externalIdField, base: facts.bases[id],
      server: run.compared.seen[id].flatMap { run.environment.intent.isQuiet ? nil : $0 })
  }

  private func send(_ item: inout PlannedItem, _ i: Int, _ facts: Facts) throws {
    let recorder = run.environment.intent.recorder
    item.request = upload.requestNumbers[i].flatMap { $0 > 0 ? $0 : nil }
    let isMerged = recorder?.merged(item.entryId, in: run.soup) != nil
    item.expect = isMerged ? .merge : .send
    let names = sentNames(i, item.action)
    item.fields = item.fields.map { $0.marked(isSent: item.action != .delete && (names?.contains($0.name) ?? true)) }
    let entry = batch.entry(i)
    if let note = ErrorNote(entry), note.code != ErrorNote.nothingToSend {
      item.why.append(PlannedItem.Reason(.lastError, "refused last time: \(note.text)"))
    }
    let left = item.action == .update ? item.fields.filter { !$0.isSent && $0.side != .there }.map(\.name) : []
    if !left.isEmpty {
      item.why.append(PlannedItem.Reason(.fieldNotListed, "no field list sends \(left.joined(separator: ", "))"))
    }
    guard item.action != .delete else { return }
    for field in item.fields where field.isSent {
      guard let name = field.local?.stringValue, name.hasPrefix(LocalField.localIdPrefix), recorder?.assignedId(for: name) == nil
      else { continue }
      item.why.append(PlannedItem.Reason(.localReference, "\(field.name) names '\(name)', which the server does not know"))
    }
  }

  /// Returns the first-level members that an upload sends; nil for all.
  private func sentNames(_ i: Int, _ action: UploadAction) -> IdSet? {
    let list = (action == .update ? batch.plan.update : batch.plan.create) ?? []
    if action == .update, let changed = upload.sentFields(i) { return changed }
    if action == .update {
      guard let paths = target.sendable(batch.plan).paths else { return nil }
      return IdSet(paths.compactMap(\.first))
    }
    return list.isEmpty ? nil : IdSet(list.map { String($0.prefix { $0 != "." }) })
  }
}

extension PlannedItem {
  /// Makes an item with the fields that differ, before anything is known of what becomes of it.
  static func make(
    _ row: StoredEntry, _ entry: JSONObject, in soup: String, _ fields: TargetFields, externalId: String?, base: JSONObject?,
    server: JSONObject?
  ) -> PlannedItem {
    var flags = LocalFlags()
    flags.isLocal = entry.hasFlag(LocalField.local)
    flags.isCreated = entry.hasFlag(LocalField.created)
    flags.isUpdated = entry.hasFlag(LocalField.updated)
    flags.isDeleted = entry.hasFlag(LocalField.deleted)
    let external = externalId.flatMap { Projection.value(entry, $0) }
    let hasExternalId =
      external.map { value in
        value.stringValue.map { !$0.isEmpty && !$0.hasPrefix(LocalField.localIdPrefix) } ?? (value.doubleValue != nil)
      } ?? false
    var item = PlannedItem(soup, row.id, version: row.version, flags.action(hasExternalId: hasExternalId), .send)
    let id = fields.id(of: entry)
    item.recordId = id.flatMap { $0.isEmpty || $0.hasPrefix(LocalField.localIdPrefix) ? nil : $0 }
    item.title = RecordTitle.title(of: entry) ?? item.recordId
    item.fields = changes(item.action, entry, RecordMerge.base(base, fitting: entry, fields), server, fields)
    return item
  }

  private static func changes(
    _ action: UploadAction, _ entry: JSONObject, _ base: JSONObject?, _ server: JSONObject?, _ fields: TargetFields
  ) -> [Field] {
    func field(_ name: String, _ side: Field.Side) -> Field {
      Field(name: name, base: base?[name], local: entry[name], server: server?[name], side: side, isSent: false)
    }
    switch action {
    case .create, .upsert:
      return entry.filter { !$0.value.isNull && !RecordMerge.isBookkeeping($0.key, fields) }.map { field($0.key, .here) }
    case .update, .delete:
      let merge = RecordMerge(base: base, local: entry, server: server ?? [:], fields: fields)
      let removed = base.map { base in base.keys.filter { entry[$0] == nil && !RecordMerge.isBookkeeping($0, fields) } } ?? []
      let here = action == .delete || base == nil ? [] : merge.localChanges + removed
      let there = server == nil ? [] : merge.remoteChanges
      let mine = IdSet(here), theirs = IdSet(there)
      return here.map { field($0, theirs.contains($0) ? .both : .here) }
        + there.filter { !mine.contains($0) }.map { field($0, .there) }
    case .removeLocally, .nothing: return []
    }
  }
}

extension PlannedItem.Field {
  func marked(isSent: Bool) -> PlannedItem.Field {
    PlannedItem.Field(
      name: name, base: base, local: local, server: server, side: side, isSent: isSent && side != .there)
  }
}
