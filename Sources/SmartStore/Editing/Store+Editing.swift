import JSON

extension StoreTransaction {
  /// See ``Store/patch(_:in:externalIdPath:)``.
  package func patch(_ patches: [EntryPatch], in soup: String, externalIdPath path: String) throws -> [EditedEntry?] {
    try finishBulkLoad(soup: soup)
    var edits = EntryEdits(soup: soup), places: [Int?] = []
    try edits.read(patches.compactMap(\.knownEntryId), in: self)
    let asked = patches.compactMap { if case .externalId(let id) = $0.place { id } else { nil } }
    var found = try edits.find(asked, at: path, in: self)[...], created: IdMap<Int> = [:], renamed: [Int] = []
    for var patch in patches {
      var place: Int?, name: String?
      switch patch.place {
      case .entryId(let id): place = edits.position(of: id)
      case .externalId(let id):
        name = String(decoding: id.serialized(), as: UTF8.self)
        place = found.popFirst().flatMap { $0 } ?? created[name ?? ""] ?? edits.takeLateCopy(&patch, path)
      }
      if let place {
        try edits.rows[place].apply(patch)
        if patch.confirmed?[path] != nil { renamed.append(place) }
      } else if case .externalId(let id) = patch.place, var entry = patch.create {
        if entry[path] == nil, !path.contains(".") { entry[path] = id }
        created[name ?? ""] = edits.rows.count
        place = edits.rows.count
        edits.rows.append(EditedRow(creating: entry))
      } else if !patch.ifExists {
        throw StoreError(.noSuchEntry, "No entry with \(patch.place.description(path)) in soup \(soup)")
      }
      places.append(place)
    }
    let duplicates = try duplicates(of: renamed.map { edits.rows[$0] }, soup, path)
    for (id, other) in duplicates { try absorb(other, into: id, in: soup) }
    let written = try edits.write(in: self)
    return places.map { $0.map { written[$0] } }
  }

  /// Returns the entries that a sync brought for records whose ids are confirmed only now.
  private func duplicates(of rows: [EditedRow], _ soup: String, _ path: String) throws -> [(id: Int64, other: Int64)] {
    let named = rows.compactMap { row in
      row.id.flatMap { id in row.entry[path]?.stringValue.map { (id: id, name: $0) } }
    }
    guard !named.isEmpty else { return [] }
    let found = try entryIds(in: soup, where: path, equalsEach: named.map { .text($0.name) })
    return zip(named, found).flatMap { one, ids in ids.filter { $0 != one.id }.map { (one.id, $0) } }
  }
}

extension EntryPatch {
  /// The id of the entry, also of a copy that is found by its external id.
  fileprivate var knownEntryId: Int64? {
    if case .entryId(let id) = place { return id }
    return create?[SoupField.entryId]?.integerValue
  }
}

extension EntryEdits {
  /// Finds the entry of a copy that was read before an upload replaced its local id, and keeps what the
  /// upload wrote: see ``SuspectCopy``.
  fileprivate func takeLateCopy(_ patch: inout EntryPatch, _ path: String) -> Int? {
    guard case .externalId(.string(let id)) = patch.place, id.hasPrefix(SoupField.localIdPrefix),
      let place = patch.knownEntryId.flatMap({ position(of: $0) }),
      let known = rows[place].entry[path]?.stringValue, !known.hasPrefix(SoupField.localIdPrefix)
    else { return nil }
    patch.set[path] = nil
    if patch.flags?[SoupField.locallyCreated] == true {
      patch.flags?[SoupField.locallyCreated] = false
      if patch.flags?[SoupField.locallyDeleted] != true { patch.flags?[SoupField.locallyUpdated] = true }
    }
    return place
  }
}

extension EntryPatch.Place {
  fileprivate func description(_ path: String) -> String {
    switch self {
    case .entryId(let id): "\(SoupField.entryId) \(id)"
    case .externalId: "the given \(path)"
    }
  }
}

extension Store {
  /// Edits entries of a soup, all or none in one transaction. Each patch is applied to its entry as it
  /// is stored then; what the patch does not name stays unchanged.
  ///
  /// - Parameters:
  ///   - patches: The edits, in the order in which they are made.
  ///   - soup: The name of the soup.
  ///   - path: The indexed path by which patches with an external id find their entries.
  /// - Returns: For each patch its entry; nil if there is none and the patch allows that.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.noSuchEntry`, `.entryChanged`, `.invalidEntry`, `.pathNotIndexed`,
  ///   `.ambiguousExternalId`. Nothing is written then.
  public func patch(
    _ patches: [EntryPatch], in soup: String, externalIdPath path: String = "Id"
  ) throws -> [EditedEntry?] {
    try writeBlocking(.synced) { try $0.patch(patches, in: soup, externalIdPath: path) }
  }
}
