import JSON
import RestClient
import SmartStore

/// Compares entries with what the server has, right before they are sent.
///
/// Where the store knows what an entry was made from, the fields decide: a newer date over the same values is that of an upload
/// from here, or harmless; other values under the same date were written in the same second. Otherwise dates are all there is.
struct UploadCheck {
  let target: any SyncUpTarget
  let context: UploadContext
  let store: Store
  let soup: String
  /// The fields of an update.
  let sendable: [String]
  let refused: RefusedFields

  struct Findings {
    /// The server does not know the type of these; by position in the batch.
    var refused: [Int: UploadResult] = [:]
    /// Changed on the server; with what it has, where that is known already.
    var changed: [Int: ServerVersion?] = [:]
    /// See ``UploadContext/datesSeen``.
    var dates: [String: Int64] = [:]
    /// See ``UploadContext/changesSeen``.
    var local: [Int64: LocalChanges] = [:]
    /// What the server has, by entry id, where its fields could be read.
    var seen: [Int64: JSONObject] = [:]
  }

  /// - Throws: `RestError` when the server does not answer.
  func examine(_ batch: DirtyBatch) async throws -> Findings {
    let asked = (0..<batch.count).filter { !batch.flags($0).isCreated && batch.serverId($0) != nil }
    var findings = Findings()
    let known = target.comparesFields ? try await versions(asked, batch).filter { $0.value != .unknown } : [:]
    let bases = try await bases(known.keys, batch), own = try await ownStamps(batch)
    for (i, version) in known {
      if let date = date(of: version), let id = batch.serverId(i) { findings.dates[id] = date }
      let entry = batch.entry(i)
      let mayUpload = UploadComparison.mayUpload(
        entry, batch.flags(i), base: bases[i], server: version, batch.plan.fields, context.mergeMode,
        ownStamp: own[batch.entryIds[i]])
      if !mayUpload { findings.changed[i] = .some(version) }
      findings.seen[batch.entryIds[i]] = version.record
      findings.local[batch.entryIds[i]] = localChanges(entry, bases[i], batch.versions[i])
    }
    try await compareDates(asked.filter { known[$0] == nil }, batch, own, &findings)
    return findings
  }

  /// Of records whose fields cannot be asked for.
  private func compareDates(
    _ asked: [Int], _ batch: DirtyBatch, _ own: [Int64: Int64], _ findings: inout Findings
  ) async throws {
    guard !asked.isEmpty else { return }
    for (i, found) in try await RemoteLookup.find(asked, of: batch, target, in: context) {
      switch found {
      case .refused(let result): findings.refused[i] = result
      case .record(let remote):
        // Without a date of its own only the fields could tell.
        let stamp = LeaveIfChanged.later(batch.stamp(i), own[batch.entryIds[i]])
        let isUndated = context.mergeMode == .merge && stamp == nil && remote != .unchanged
        if isUndated || !LeaveIfChanged.mayUpload(batch.flags(i), localStamp: stamp, remote: remote) {
          findings.changed[i] = .some(nil)
        }
      }
    }
  }

  /// nil when it is not known, or when nothing on the list was changed: then the whole list is sent.
  private func localChanges(_ entry: JSONObject, _ base: JSONObject?, _ version: Int64) -> LocalChanges? {
    guard let base = RecordMerge.base(base, fitting: entry, target.fields) else { return nil }
    let changed = RecordMerge(base: base, local: entry, server: [:], fields: target.fields).localChanges
    let sent = Set(sendable.map { String($0.prefix { $0 != "." }) }).intersection(changed)
    return sent.isEmpty ? nil : LocalChanges(version: version, fields: sent)
  }

  func versions(_ indices: [Int], _ batch: DirtyBatch) async throws -> [Int: ServerVersion] {
    let target = target, context = context
    return try await ServerVersions(
      batch: batch, soup: soup, store: store, service: context.service, type: batch.type, refused: refused,
      fetch: { type, indices, fields in
        try await target.remoteVersions(type: type, indices, fields: fields, of: batch, in: context)
      }
    ).find(indices)
  }

  func date(of version: ServerVersion) -> Int64? { version.record.flatMap(target.fields.stamp) }

  private func ownStamps(_ batch: DirtyBatch) async throws -> [Int64: Int64] {
    let ids = batch.entryIds, soup = soup
    return try await store.read { try $0.ownStamps(of: ids, in: soup) }
  }

  private func bases(_ indices: some Sequence<Int>, _ batch: DirtyBatch) async throws -> [Int: JSONObject] {
    let ids = indices.map { ($0, batch.entryIds[$0]) }, soup = soup
    return try await store.read { snapshot in
      var bases: [Int: JSONObject] = [:]
      for (i, id) in ids {
        bases[i] = try snapshot.base(of: id, in: soup).flatMap { try JSONValue(parsing: $0).objectValue }
      }
      return bases
    }
  }
}
