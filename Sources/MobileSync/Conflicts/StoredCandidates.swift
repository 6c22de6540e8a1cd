import JSON
import SmartStore

/// The stored side of conflict candidates, read with five calls for each soup.
struct StoredCandidates {
  struct Stored {
    var entry: StoredEntry?
    var base: JSONObject?
    var own: OwnValues?
    var conflict: ConflictRecord?
  }

  /// The soups' names are compared byte by byte.
  private var soups: [(name: String, stored: [Int64: Stored])] = []

  init(_ candidates: [ConflictCandidate], in snapshot: StoreSnapshot) throws {
    for candidate in candidates where !soups.contains(where: { $0.name.hasSameBytes(as: candidate.soup) }) {
      let ids = candidates.filter { $0.soup.hasSameBytes(as: candidate.soup) }.map(\.entryId)
      soups.append((candidate.soup, try StoredCandidates.read(Set(ids).sorted(), candidate.soup, snapshot)))
    }
  }

  private static func read(_ ids: [Int64], _ soup: String, _ snapshot: StoreSnapshot) throws -> [Int64: Stored] {
    var found: [Int64: Stored] = [:]
    for entry in try snapshot.storedEntries(ids, in: soup) { found[entry.id, default: Stored()].entry = entry }
    for (id, base) in try snapshot.baseObjects(of: ids, in: soup) { found[id, default: Stored()].base = base }
    for (id, own) in try snapshot.ownValues(of: ids, in: soup) { found[id, default: Stored()].own = own }
    for conflict in try snapshot.conflicts(of: ids, in: soup) {
      found[conflict.entryId, default: Stored()].conflict = conflict
    }
    return found
  }

  /// Returns what was read of a candidate. A second candidate for the same entry is read again,
  /// because the first may have changed it.
  mutating func next(_ candidate: ConflictCandidate, in snapshot: StoreSnapshot) throws -> Stored {
    if let i = soups.firstIndex(where: { $0.name.hasSameBytes(as: candidate.soup) }),
      let stored = soups[i].stored.removeValue(forKey: candidate.entryId)
    {
      return stored
    }
    return try StoredCandidates.read([candidate.entryId], candidate.soup, snapshot)[candidate.entryId] ?? Stored()
  }
}
