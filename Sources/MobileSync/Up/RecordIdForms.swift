import JSON
import SmartStore

extension StoreTransaction {
  /// Rewrites the ids of other records, or of the records themselves, in dirty entries to the form in which the server writes
  /// them. This does not count as an edit. If a sync down has meanwhile stored a record under that form, both entries become
  /// one.
  /// - Parameters:
  ///   - path: The field with the id.
  ///   - fields: The fields of the entries if the id is their own; nil if it is another record's.
  ///   - canonical: Returns the server's form of an id.
  /// - Returns: The rewritten entries, each with the version that it had before.
  func writeServerIds(
    in soup: String, at path: String, own fields: TargetFields?, _ canonical: @escaping (String) -> String
  ) throws -> [(entryId: Int64, version: Int64)] {
    var rewritten: [(entryId: Int64, version: Int64)] = []
    let ids = try externalIds(in: soup, path: path, ownedBy: nil, dirty: true)
    for (old, new) in ids.lazy.map({ ($0, canonical($0)) }) where old != new {
      for id in try entryIds(in: soup, where: path, equals: .text(old)) {
        guard let row = try entry(id, in: soup), try row.object().hasFlag(LocalField.local) else { continue }
        let base = try base(of: id, in: soup).flatMap { try JSONValue(parsing: $0).objectValue }
        let (member, value) = Projection.member(.string(new), at: path, in: try row.object())
        _ = try patch(id, in: soup, setting: [member: value])
        rewritten.append((id, row.version))
        if var attempt = try unsettledUpload(of: id, in: soup), attempt.version == row.version,
          let version = try entry(id, in: soup)?.version
        {
          attempt.version = version
          try journal([attempt], in: soup)
        }
        if var base, Projection.value(base, path) == .string(old) {
          let (member, value) = Projection.member(.string(new), at: path, in: base)
          base[member] = value
          try setBase(of: id, in: soup, to: base.serialized())
        }
        if let fields { try absorbDuplicates(of: id, recordId: new, in: soup, fields, created: nil, updated: []) }
      }
    }
    return rewritten
  }
}

extension RunRecord {
  /// See ``StoreTransaction/writeServerIds(in:at:own:_:)``. Nothing is written if all ids have the server's form.
  func writeServerIds(in soup: String, at path: String, own fields: TargetFields?) async throws {
    let service = environment.service
    let isNeeded = try await environment.store.read { snapshot in
      try snapshot.externalIds(in: soup, path: path, ownedBy: nil, dirty: true).contains { service.canonicalId($0) != $0 }
    }
    guard isNeeded else { return }
    if let recorder = environment.intent.recorder { return recorder.note(unknown: "ids of 15 characters are sent with 18") }
    let rewritten = try await save(.pulled) { transaction, _ in
      try transaction.writeServerIds(in: soup, at: path, own: fields, service.canonicalId)
    }
    // The plan that is applied saw them in the earlier version.
    guard let limit = environment.limit else { return }
    for (id, version) in rewritten where limit.allows(id, version: version, in: soup) { limit.noteWritten(id, in: soup) }
  }
}
