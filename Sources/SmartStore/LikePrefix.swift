import Database

/// The ranges of an index that a LIKE pattern's fixed beginning can lie in.
///
/// LIKE takes ASCII letters of either case for the same, an index does not: "Ab%" is looked for under AB, Ab, aB and ab.
/// SQLite itself uses an index for LIKE only when that has the same idea of letters, which would be one index more to write.
struct LikePrefix {
  /// Beginnings in ascending order of their bytes, none the beginning of another.
  let beginnings: [[UInt8]]

  /// Letters that count: two ranges each. What follows them is left to LIKE.
  private static let letters = 3

  /// - Returns: nil when the pattern has no fixed beginning.
  init?(pattern: String) {
    var found: [[UInt8]] = [[]], letters = 0
    for byte in pattern.utf8 {
      guard (0x20...0x7d).contains(byte), byte != 0x25, byte != 0x5f else { break }
      let upper = byte & ~0x20
      guard (0x41...0x5a).contains(upper) else {
        found = found.map { $0 + [byte] }
        continue
      }
      guard letters < LikePrefix.letters else { break }
      letters += 1
      found = found.flatMap { [$0 + [upper], $0 + [upper | 0x20]] }
    }
    guard !found[0].isEmpty else { return nil }
    beginnings = found
  }

  /// A condition on a TEXT column for each beginning, with two placeholders.
  static func condition(_ column: String) -> String { "\(column) >= ? AND \(column) < ?" }

  /// The values of the placeholders, a pair for each beginning: it, and the first text behind all that begin with it.
  var bounds: [[SQLValue]] {
    beginnings.map { low in
      var high = low
      high[high.count - 1] += 1  // at most 0x7e: still ASCII
      return [.text(String(decoding: low, as: UTF8.self)), .text(String(decoding: high, as: UTF8.self))]
    }
  }
}

extension StoreSnapshot {
  /// A LIKE query's statement that walks an index: its SQL and the values to bind.
  struct IndexedLike {
    let sql: String
    let values: [SQLValue]

    fileprivate init(_ column: String, _ key: String, _ prefix: LikePrefix, _ arm: String) {
      // The ranges do not meet, so nothing comes twice.
      sql = Array(repeating: "\(arm) WHERE \(column) LIKE ? AND \(LikePrefix.condition(column))", count: prefix.bounds.count)
        .joined(separator: " UNION ALL ")
      values = prefix.bounds.flatMap { [.text(key)] + $0 }
    }
  }

  /// A page of whole entries in the order of the path that is searched, read off the index until the page is full.
  /// - Returns: nil when the query is none of that kind.
  func indexedLikePage(_ spec: QuerySpec, soup name: String, limit: Int, offset: Int) throws -> IndexedLike? {
    guard spec.selectPaths == nil, spec.orderPath == spec.indexPath,
      let (soup, column, key, prefix) = try likePrefix(spec, soup: name)
    else { return nil }
    let arms = IndexedLike(column, key, prefix, "SELECT soup, \(column) AS key FROM \(soup.table)")
    let order = spec.order == .ascending ? "ASC" : "DESC"
    return IndexedLike(
      sql: "SELECT soup FROM (\(arms.sql) ORDER BY key \(order) LIMIT \(limit) OFFSET \(offset))", values: arms.values)
  }

  /// The count of a LIKE query, from the index alone.
  func indexedLikeCount(_ spec: QuerySpec, soup name: String) throws -> IndexedLike? {
    guard let (soup, column, key, prefix) = try likePrefix(spec, soup: name) else { return nil }
    let arms = IndexedLike(column, key, prefix, "SELECT \(column) FROM \(soup.table)")
    return IndexedLike(sql: "SELECT count(*) FROM (\(arms.sql))", values: arms.values)
  }

  /// Only for string indexes, whose column holds nothing but text, and only when they are built.
  private func likePrefix(
    _ spec: QuerySpec, soup name: String
  ) throws -> (soup: Soup, column: String, key: String, prefix: LikePrefix)? {
    guard spec.kind == .like, let path = spec.indexPath, let key = spec.likeKey,
      let prefix = LikePrefix(pattern: key), case let soup = try soup(name), soup.loading == nil,
      let i = soup.specs.firstIndex(where: { $0.path == path }), soup.specs[i].type == .string, let column = soup.column(i)
    else { return nil }
    return (soup, column, key, prefix)
  }
}

extension StoreSnapshot.IndexedLike {
  fileprivate init(sql: String, values: [SQLValue]) {
    self.sql = sql
    self.values = values
  }
}
