/// Counts how often soups were cleared or removed, so that a sync can tell that its records are gone.
extension StoreSnapshot {
  /// Returns how often soups were cleared or removed, by name; without those that never were.
  package func timesEmptied(_ soups: [String]) throws -> IdMap<String> {
    try syncPages(of: SoupsEmptied.owner).filter { soups.contains($0.key) }
  }
}

extension StoreTransaction {
  /// Call when all entries of a soup are removed.
  package func noteEmptied(_ soup: String) throws {
    let count = try timesEmptied([soup])[soup].flatMap { Int64($0) } ?? 0
    try keepSyncPage(soup, Array(String(count &+ 1).utf8), of: SoupsEmptied.owner)
  }
}

private enum SoupsEmptied {
  /// Stands in for the id of a sync; those begin at 1.
  static let owner: Int64 = 0
}
