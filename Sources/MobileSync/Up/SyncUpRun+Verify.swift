import JSON
import RestClient
import SmartStore

/// Checks the outcome of updates that the server applied without a condition: others may have
/// written between the comparison and the update, or right after it. Reading the records again
/// shows such changes, and the time stamps that the updates gave the records.
extension SyncUpRun {
  /// Returns the entries of a batch that were compared before and whose updates were unconditional.
  func unconditionalUpdates(_ upload: BatchUpload) -> [Int64] {
    guard state.options.mergeMode != .overwrite else { return [] }
    let batch = upload.batch, context = context(), updated = upload.updatedEntries
    return batch.entryIds.indices.filter { i in
      let id = batch.entryIds[i]
      guard updated.contains(id), compared.seen[id] != nil else { return false }
      return !target.traits.updatesWithCondition || context.date(of: i, in: batch) == nil
    }.map { batch.entryIds[$0] }
  }

  /// Checks updates that have been written back. If others changed a record, its entry takes the
  /// server's values; an entry that was touched since is left for the comparison of its next
  /// upload. Otherwise the record's time stamp belongs to our update. It is stored next to the
  /// entry, so that a copy that a script has read still matches the entry's base.
  ///
  /// - Parameter versions: The versions of the rows when they were written back.
  func verifyUpdates(_ upload: BatchUpload, _ versions: [Int64: Int64]) async throws {
    guard !versions.isEmpty else { return }
    let batch = upload.batch, soup = soup, fields = target.fields, number = soupNumber
    let indices = batch.entryIds.indices.filter { versions[batch.entryIds[$0]] != nil }
    var looks: [AfterUpdate] = []
    do {
      for type in IdSet(indices.map(batch.type)).sorted() {
        looks += try await look(indices.filter { batch.type($0) == type }, type, batch)
      }
    } catch let error as RestError where error.code != .cancelled && error.code != .shutDown {
      // The updates are applied and written back; the next sync down brings the changes of others.
      return environment.configuration.logger.notice(
        "cannot read records after their update: \(error.message)",
        metadata: ["sync": "\(state.name ?? String(state.id))"])
    }
    let found = looks
    try await record.save(.pulled) { transaction, state in
      guard try transaction.soupNumber(of: soup) == number else { return }
      for look in found {
        guard let row = try transaction.entry(look.entryId, in: soup), row.version == versions[look.entryId] else { continue }
        guard look.hasForeignChanges(fields) else {
          if let stamp = look.stamp(fields) { try transaction.noteOwnStamp(stamp, of: look.entryId, in: soup) }
          continue
        }
        let entry = try row.object()
        guard !entry.hasFlag(LocalField.local) else { continue }
        _ = try transaction.patch(look.entryId, in: soup, setting: look.members(of: entry, fields))
        try transaction.expectEchoes([look.entryId], in: soup)
        state.counts.merged += 1
      }
    }
  }

  func look(_ indices: [Int], _ type: String, _ batch: DirtyBatch) async throws -> [AfterUpdate] {
    let date = target.fields.modificationDate, context = context()
    let asked = IdSet(indices.flatMap { compared.seen[batch.entryIds[$0]]?.keys ?? [] })
      .filter { $0 == date || !RecordMerge.isBookkeeping($0, target.fields) }
    let versions = try await target.remoteVersions(
      type: type, indices, fields: asked.union([date]).sorted(), of: batch, in: context)
    return zip(indices, versions).compactMap { i, version in
      let id = batch.entryIds[i]
      guard let after = version.record, let before = compared.seen[id] else { return nil }
      let all = IdSet((batch.plan.update ?? []).map { String($0.prefix { $0 != "." }) })
      let sent = context.fields(of: i, in: batch) ?? all, entry = batch.entry(i)
      return AfterUpdate(
        entryId: id, before: before, sent: JSONObject(sent.compactMap { key in entry[key].map { (key, $0) } }), after: after)
    }
  }
}

/// A record before and after an update. No store, network or clock.
struct AfterUpdate: Sendable {
  let entryId: Int64
  /// The server's record in the earlier comparison.
  let before: JSONObject
  let sent: JSONObject
  let after: JSONObject

  /// Returns whether the record has a value that was neither there before nor sent.
  func hasForeignChanges(_ fields: TargetFields) -> Bool {
    after.contains { key, value in
      guard !RecordMerge.isBookkeeping(key, fields), let expected = sent[key] ?? before[key] else { return false }
      return !RecordMerge.isKept(expected, as: value)
    }
  }

  /// Returns the record's time stamp in ms; nil without a valid date.
  func stamp(_ fields: TargetFields) -> Int64? { fields.stamp(of: after) }

  /// Returns the members to set in the entry: the server's time stamp, and the values that differ.
  func members(of entry: JSONObject, _ fields: TargetFields) -> JSONObject {
    JSONObject(
      after.filter { key, value in
        if key == fields.modificationDate { return true }
        guard !RecordMerge.isBookkeeping(key, fields) else { return false }
        return entry[key].map { !RecordMerge.same($0, value) } ?? true
      }.map { ($0.key, $0.value) })
  }
}
