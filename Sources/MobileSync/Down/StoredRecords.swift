import JSON
import SmartStore
import Support

/// The entries of records of a page, read with two calls of the store.
struct StoredRecords {
  /// By position on the page. Records without an entry are missing, and those with several.
  private(set) var entries: [Int: StoredEntry] = [:]

  /// - Parameter known: Ids of entries by record id that need no look-up.
  init(
    _ positions: [Int], on page: ScannedPage, soup: String, idPath: String, known: IdMap<Int64> = [:],
    in snapshot: StoreSnapshot
  ) throws {
    var ids: [Int: Int64] = [:], asked: [(position: Int, id: String)] = []
    for position in positions {
      guard let id = page.id(record: position) else { continue }
      if let entryId = known[id] { ids[position] = entryId } else { asked.append((position, id)) }
    }
    if !asked.isEmpty {
      let found = try snapshot.entryIds(in: soup, where: idPath, equalsEach: asked.map { .text($0.id) })
      for (one, entryIds) in zip(asked, found) where entryIds.count == 1 { ids[one.position] = entryIds[0] }
    }
    guard !ids.isEmpty else { return }
    let stored = try snapshot.storedEntries(Set(ids.values).sorted(), in: soup)
    let byId = Dictionary(uniqueKeysWithValues: stored.map { ($0.id, $0) })
    entries = ids.compactMapValues { byId[$0] }
  }
}

extension StoreSnapshot {
  /// Returns the bases of entries as objects, by entry id; see ``StoreSnapshot/bases(of:in:)``.
  func baseObjects(of ids: [Int64], in soup: String) throws -> [Int64: JSONObject] {
    ids.isEmpty ? [:] : try bases(of: ids, in: soup).compactMapValues { try JSONValue(parsing: $0).objectValue }
  }
}
