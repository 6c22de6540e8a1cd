import JSON
import SmartStore

extension StoreTransaction {
  /// Updates all references to a record to its new id. This does not count as an edit of the
  /// referring entries.
  func redirect(_ references: SoupReference, from old: String, to new: String) throws {
    guard old != new else { return }
    let ids = try entryIds(in: references.soup, where: references.field, equals: .text(old))
    guard !ids.isEmpty else { return }
    for id in ids {
      guard let row = try entry(id, in: references.soup) else { continue }
      let before = row.version
      let (member, value) = Projection.member(.string(new), at: references.field, in: try row.object())
      _ = try patch(id, in: references.soup, setting: [member: value])
      guard var upload = try unsettledUpload(of: id, in: references.soup) else { continue }
      if upload.version == before, let version = try entry(id, in: references.soup)?.version { upload.version = version }
      // If it was sent with its parent, the server has already set the id.
      if let sent = SentCreate(upload), sent.parentId == old { upload.sent = sent.text(parentId: new) }
      try self.journal([upload], in: references.soup)
    }
  }

  /// Adopts the record of a create without an answer that was found; local edits made since are
  /// kept.
  /// - Parameter record: Members of the record; empty if unknown.
  /// - Returns: Whether nothing is left to send.
  @discardableResult
  func adopt(_ create: PendingCreate, id: String, record: JSONObject, in soup: String) throws -> Bool {
    let upload = create.upload
    let current = try entry(upload.entryId, in: soup)
    let before = try current.flatMap { create.lookup.fields.id(of: try $0.object()) }
    // Another client may have changed it since, so an edited entry is compared with what was sent.
    let record = current?.version == upload.version ? record : record.filtered { key, _ in create.sent[key] == nil }
    let sent = SentRecord(entryId: upload.entryId, version: upload.version, action: .create)
    try writeBack(
      UploadAnswer(sent: sent, outcome: .succeeded, result: .found(id, record)), in: soup,
      fields: create.lookup.fields, madeBy: upload.syncId, now: upload.sentAt,
      sentFields: create.fields.map { fields in { fields } })
    try endAttempts([upload.entryId], in: soup)
    if let references = create.lookup.references {
      for old in IdSet([before, create.localId].compactMap(\.self)) { try redirect(references, from: old, to: id) }
    }
    return try entry(upload.entryId, in: soup)?.object().hasFlag(LocalField.local) == false
  }

  /// Writes the result of an answer into its row.
  /// - Parameters:
  ///   - syncId: The sync up, if it creates records that a sync down will bring; nil otherwise.
  ///   - now: Ms since 1970 UTC.
  ///   - updated: Entries whose updates were sent with it.
  ///   - story: Returns what was sent, for the history; nil if that is not known.
  ///   - sentFields: Returns the fields that the server has after a successful answer; nil if
  ///     unknown.
  /// - Returns: The local id of a record that now has a server id; nil if no entry can refer to it.
  @discardableResult
  func writeBack(
    _ answer: UploadAnswer, in soup: String, fields: TargetFields, madeBy syncId: Int64?, now: Int64, updated: Set<Int64> = [],
    story: (() -> SentStory?)? = nil, sentFields: (() -> JSONObject)? = nil
  ) throws -> String? {
    let (sent, outcome, result) = (answer.sent, answer.outcome, answer.result)
    let entry = try entry(sent.entryId, in: soup), object = try entry?.object()
    let change = WriteBack.change(
      for: answer, current: object, isUnchanged: entry?.version == sent.version, idField: fields.id)
    switch change {
    case .none: break
    case .remove:
      try removeUploaded(sent.entryId, externalId: object.flatMap(fields.id(of:)), from: soup)
    case .patch(let members, let keys): _ = try patch(sent.entryId, in: soup, setting: members, removing: keys)
    }
    try note(answer, entry, object, change, in: soup, fields, story)
    let isDirtyStill = result.isPartial || !result.unsent.isEmpty
    if outcome == .succeeded, let sentFields, let entry, entry.version != sent.version || isDirtyStill {
      let known = sentFields().filtered { !result.unsent.contains($0.key) }
      let record = (result.record ?? [:]).filtered { !result.operated.contains($0.key) }
      try raiseBase(of: sent, in: soup, by: known, record, without: result.removed, result.id, fields)
    }
    guard outcome == .succeeded, sent.action == .create || sent.action == .upsert else { return nil }
    var named: String?
    if result.keepsLocalId, let id = result.id, let local = object.flatMap(fields.id(of:)),
      local.hasPrefix(LocalField.localIdPrefix)
    {
      try noteAssignedId(id, for: local, in: soup, now: now)
      named = local
    }
    if let syncId { try noteMaker(syncId, of: sent.entryId, in: soup) }
    if let id = result.id {
      let created = sent.action == .create ? sentFields?() ?? [:] : nil
      try absorbDuplicates(of: sent.entryId, recordId: id, in: soup, fields, created: created, updated: updated)
    }
    return named
  }

  /// Updates an entry that was edited during its upload: the server now has what was sent, and what its record has beside it
  /// is in the entry, too, where it was not edited. Otherwise it would count as an edit.
  private func raiseBase(
    of sent: SentRecord, in soup: String, by known: JSONObject, _ record: JSONObject, without removed: [String], _ id: String?,
    _ fields: TargetFields
  ) throws {
    guard [.create, .update, .upsert].contains(sent.action),
      let entry = try entry(sent.entryId, in: soup)?.object(), entry.hasFlag(LocalField.local)
    else { return }
    let old = try base(of: sent.entryId, in: soup).flatMap { try JSONValue(parsing: $0).objectValue }
    var next = RecordMerge.base(old, after: known)
    let adopted = RecordMerge.adopted(from: record, by: entry, base: next, fields)
    if !adopted.isEmpty { _ = try patch(sent.entryId, in: soup, setting: adopted) }
    // Keep the entry's date: a base with another date would belong to another copy.
    next = RecordMerge.base(next, after: record.filtered { $0.key != fields.modificationDate })
    for key in removed { next[key] = nil }
    if let id {
      let (key, value) = Projection.member(.string(id), at: fields.id, in: next)
      next[key] = value
    }
    try setBase(of: sent.entryId, in: soup, to: next.serialized())
  }
}
