import JSON
import RestClient
import SmartStore

/// Compares entries with the server's records right before they are sent.
///
/// If the base of an entry is known, the fields decide: a newer date with the same values comes
/// from our own upload or is harmless, and other values with the same date were written in the same
/// second. Otherwise only the dates are compared.
struct UploadCheck {
  let target: any SyncUpTarget
  let context: UploadContext
  let store: Store
  let soup: String
  let refused: RefusedFields

  struct Findings {
    /// Entries whose type the server does not know, by position in the batch.
    var refused: [Int: UploadResult] = [:]
    /// Entries that were changed on the server, with the server's version if already known.
    var changed: [Int: ServerVersion?] = [:]
    /// See ``UploadContext/datesSeen``.
    var dates: IdMap<Int64> = [:]
    /// See ``UploadContext/changesSeen``.
    var local: [Int64: LocalChanges] = [:]
    /// The server's records, by entry id, if their fields could be read.
    var seen: [Int64: JSONObject] = [:]
  }

  /// - Throws: `RestError` if the server does not answer.
  func examine(_ batch: DirtyBatch) async throws -> Findings {
    let asked = (0..<batch.count).filter { !batch.flags($0).isCreated && batch.serverId($0) != nil }
    var findings = Findings()
    let known = target.traits.comparesFields ? try await versions(asked, batch).filter { $0.value != .unknown } : [:]
    let bases = try await bases(known.keys, batch), own = try await own(batch)
    let guesses = try await guesses(known.keys.sorted(), batch)
    for (i, version) in known {
      if let date = date(of: version), let id = batch.serverId(i) {
        findings.dates[id] = context.intent.isQuiet ? max(date, own.stamps[batch.entryIds[i]] ?? date) : date
      }
      let entry = batch.entry(i)
      let mayUpload = UploadComparison.mayUpload(
        entry, batch.flags(i), base: bases[i], server: version, batch.plan.fields, context.mergeMode,
        ownStamp: own.stamps[batch.entryIds[i]], own: own.values[batch.entryIds[i]])
      if !mayUpload, !guesses.contains(i) { findings.changed[i] = .some(version) }
      findings.seen[batch.entryIds[i]] = version.record
      findings.local[batch.entryIds[i]] = localChanges(
        entry, bases[i], version, own.values[batch.entryIds[i]], i, batch)
    }
    try await compareDates(asked.filter { known[$0] == nil }, batch, own.stamps, &findings)
    return findings
  }

  /// Returns the records of which a plan knows nothing but the entry, without asking the server.
  private func guesses(_ indices: [Int], _ batch: DirtyBatch) async throws -> Set<Int> {
    guard context.intent.isQuiet, !indices.isEmpty else { return [] }
    let known = try await AssumedVersions(store: store, soup: soup, batch: batch).known(indices)
    return Set(indices.filter { !known.isFounded(batch.entryIds[$0]) })
  }

  /// Compares the dates of records whose fields cannot be queried.
  private func compareDates(
    _ asked: [Int], _ batch: DirtyBatch, _ own: [Int64: Int64], _ findings: inout Findings
  ) async throws {
    guard !asked.isEmpty else { return }
    for (i, found) in try await RemoteLookup.find(asked, of: batch, target, in: context) {
      switch found {
      case .refused(let result): findings.refused[i] = result
      case .record(let remote):
        // Without a date in the entry, only the fields could tell.
        let stamp = LeaveIfChanged.later(batch.stamp(i), own[batch.entryIds[i]])
        let isUndated = context.mergeMode == .merge && stamp == nil && remote != .unchanged
        if isUndated || !LeaveIfChanged.mayUpload(batch.flags(i), localStamp: stamp, remote: remote) {
          findings.changed[i] = .some(nil)
        }
      }
    }
  }

  /// Returns nil if the changes are unknown, or if no field of the list was changed: then the whole
  /// list is sent.
  private func localChanges(
    _ entry: JSONObject, _ base: JSONObject?, _ server: ServerVersion, _ own: OwnValues?, _ i: Int, _ batch: DirtyBatch
  ) -> LocalChanges? {
    guard let base = RecordMerge.base(base, fitting: entry, target.fields) else { return nil }
    let changed = RecordMerge(
      base: base, local: entry, server: server.record ?? [:], fields: target.fields, own: own
    ).localChanges
    let sent = IdSet((batch.plan.update ?? []).map { String($0.prefix { $0 != "." }) }).intersection(changed)
    return sent.isEmpty ? nil : LocalChanges(version: batch.versions[i], fields: sent)
  }

  func versions(_ indices: [Int], _ batch: DirtyBatch) async throws -> [Int: ServerVersion] {
    let target = target, context = context, assumed = AssumedVersions(store: store, soup: soup, batch: batch)
    return try await ServerVersions(
      batch: batch, soup: soup, store: store, service: context.service, type: batch.type, refused: refused,
      fetch: { type, indices, fields in
        context.intent.recorder?.begin(.look, records: indices.count)
        do {
          return try await target.remoteVersions(type: type, indices, fields: fields, of: batch, in: context)
        } catch  where error.isPlanned {
          return try await assumed.versions(indices, fields)
        }
      }
    ).find(indices)
  }

  func date(of version: ServerVersion) -> Int64? { version.record.flatMap(target.fields.stamp) }

  private func own(_ batch: DirtyBatch) async throws -> (stamps: [Int64: Int64], values: [Int64: OwnValues]) {
    let ids = batch.entryIds, soup = soup
    return try await store.read { try $0.ownUploads(of: ids, in: soup) }
  }

  private func bases(_ indices: some Sequence<Int>, _ batch: DirtyBatch) async throws -> [Int: JSONObject] {
    let ids = indices.map { ($0, batch.entryIds[$0]) }, soup = soup
    return try await store.read { snapshot in
      let bases = try snapshot.baseObjects(of: ids.map(\.1), in: soup)
      return ids.reduce(into: [:]) { $0[$1.0] = bases[$1.1] }
    }
  }
}
