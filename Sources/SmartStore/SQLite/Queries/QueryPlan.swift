import Database
import JSON

/// The SQL that all queries of one shape over a soup share; their keys are bound.
///
/// Rows are ordered by a path and then by entry id, so every row has a unique position. This allows
/// keyset pagination: a page can start after a known row instead of counting from the first one.
/// Belongs to one connection.
final class QueryPlan {
  let soup: Soup
  /// Any query of this shape; its keys do not matter.
  private let spec: QuerySpec
  unowned private let connection: Connection
  /// The SQL of the columns of a page.
  private let columns: String
  let columnCount: Int32
  /// The SQL expression that rows are ordered by before their ids; nil if all rows have the same
  /// value.
  let order: String?
  let isDescending: Bool
  /// Whether an index returns the rows in this order. Otherwise the ids are sorted, and the texts
  /// are fetched afterwards.
  let isInOrder: Bool
  /// Whether the keys are bounds on the sort order.
  let hasBounds: Bool
  /// The condition besides the bounds.
  private let condition: String?
  private let boundsCount: Int
  private var statements: [Int: Statement] = [:]
  /// The size of the last page, which is reserved for the next one.
  var pageBytes = 0

  /// - Parameters:
  ///   - match: The condition of a `match` query, in SQL.
  ///   - boundsCount: The number of index ranges that the keys of a `like` query select.
  init(_ spec: QuerySpec, _ soup: Soup, _ connection: Connection, match: String?, boundsCount: Int) {
    self.spec = spec
    self.soup = soup
    self.connection = connection
    self.boundsCount = boundsCount
    let paths = spec.selectPaths ?? [SoupField.soup]
    columns = paths.map(soup.expression).joined(separator: ", ")
    columnCount = Int32(clamping: paths.count)
    let path = QueryPlan.orderPath(spec, soup)
    let isById = path == nil || path == SoupField.entryId || (spec.kind == .exact && path == spec.indexPath)
    order = isById ? nil : path.map(soup.expression)
    isDescending = spec.orderPath != nil && spec.order == .descending
    hasBounds = !isById && path == spec.indexPath && (spec.kind == .range || spec.kind == .like)
    condition = match ?? QueryPlan.condition(spec, soup, isBounded: hasBounds, boundsCount)
    let isFiltered = spec.kind != .range || spec.beginKey != nil || spec.endKey != nil
    if isById {
      isInOrder = !isFiltered || QueryPlan.findsInIdOrder(spec, soup)
    } else {
      isInOrder = soup.hasBuiltIndex(path) && (hasBounds || !isFiltered)
    }
  }

  /// Returns the path that orders the rows. A query without an order of its own follows the index
  /// that it uses.
  private static func orderPath(_ spec: QuerySpec, _ soup: Soup) -> String? {
    if let path = spec.orderPath { return path }
    return (spec.kind == .range || spec.kind == .like) && soup.hasBuiltIndex(spec.indexPath) ? spec.indexPath : nil
  }

  private static func findsInIdOrder(_ spec: QuerySpec, _ soup: Soup) -> Bool {
    spec.kind == .exact || (spec.kind != .match && !soup.hasBuiltIndex(spec.indexPath))
  }

  private static func condition(_ spec: QuerySpec, _ soup: Soup, isBounded: Bool, _ boundsCount: Int) -> String? {
    guard let field = spec.indexPath.map(soup.expression) else { return nil }
    switch spec.kind {
    case .exact: return "\(field) = ?"
    case .like where !isBounded && boundsCount > 0:
      let range = "SELECT id FROM \(soup.table) WHERE \(field) LIKE ? AND \(field) >= ? AND \(field) < ?"
      return "id IN (\(Array(repeating: range, count: boundsCount).joined(separator: " UNION ALL ")))"
    case .like: return "\(field) LIKE ?"
    case .range where !isBounded:
      let bounds = [spec.beginKey.map { _ in "\(field) >= ?" }, spec.endKey.map { _ in "\(field) <= ?" }].compactMap { $0 }
      return bounds.isEmpty ? nil : bounds.joined(separator: " AND ")
    case .range, .match, .smart: return nil
    }
  }

  /// Returns whether the plan fits another query. Texts are equal if their bytes are.
  func serves(_ other: QuerySpec, soup name: String, boundsCount: Int) -> Bool {
    func isSame(_ a: String?, _ b: String?) -> Bool {
      guard let a, let b else { return a == nil && b == nil }
      return a.hasSameBytes(as: b)
    }
    guard spec.kind == other.kind, spec.order == other.order, self.boundsCount == boundsCount, isSame(soup.name, name),
      isSame(spec.indexPath, other.indexPath), isSame(spec.orderPath, other.orderPath),
      (spec.beginKey == nil) == (other.beginKey == nil), (spec.endKey == nil) == (other.endKey == nil)
    else { return false }
    guard let paths = spec.selectPaths, let others = other.selectPaths else {
      return spec.selectPaths == nil && other.selectPaths == nil
    }
    return paths.count == others.count && zip(paths, others).allSatisfy { isSame($0, $1) }
  }

  // MARK: Statements

  enum Selection: Int { case page, ids, count }

  /// Returns the statement that reads the rows of a key range. Its parameters are, in order, the
  /// values of the condition, the values of the range, the limit and the offset.
  func statement(_ selection: Selection, _ range: KeyRange, ascending: Bool) throws -> Statement {
    let shape = range.alternatives.reduce(selection.rawValue << 1 | (ascending ? 1 : 0)) {
      $0 << KeyRange.Conditions.bits | $1.rawValue
    }
    if let known = statements[shape] {
      known.reset()
      return known
    }
    let statement = try connection.prepare(sql(selection, range, ascending: ascending))
    statements[shape] = statement
    return statement
  }

  private func sql(_ selection: Selection, _ range: KeyRange, ascending: Bool) -> String {
    var filters = condition.map { [$0] } ?? []
    let alternatives = range.alternatives.map { $0.sql(order ?? "id") }
    if alternatives.count > 1 {
      filters.append("(\(alternatives.joined(separator: " OR ")))")
    } else if let only = alternatives.first, !only.isEmpty {
      filters.append(only)
    }
    let rows = "FROM \(soup.table)" + (filters.isEmpty ? "" : " WHERE \(filters.joined(separator: " AND "))")
    let direction = ascending ? "ASC" : "DESC"
    // If all rows have the same value, leave it out: SQLite optimizes this for columns, but not for
    // expressions.
    let isConstant = range.alternatives.count == 1 && !range.alternatives[0].isDisjoint(with: [.equal, .isNull])
    let ordering = [isConstant ? nil : order, "id"].compactMap { $0 }.map { "\($0) \(direction)" }.joined(separator: ", ")
    switch selection {
    case .page: return "SELECT \(columns), id \(rows) ORDER BY \(ordering) LIMIT ? OFFSET ?"
    case .ids: return "SELECT id \(rows) ORDER BY \(ordering) LIMIT ? OFFSET ?"
    case .count: return "SELECT count(*) \(rows)"
    }
  }

  /// Returns a statement for the row of one entry, with the columns of a page.
  func row(_ id: Int64) throws -> Statement { try single(-1, "SELECT \(columns) FROM \(soup.table) WHERE id = ?", id) }

  /// Returns the sort key of an entry; nil if it no longer exists.
  func key(_ id: Int64) throws -> RowKey? {
    guard let order else { return RowKey(value: .null, id: id) }
    let statement = try single(-2, "SELECT \(order) FROM \(soup.table) WHERE id = ?", id)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return RowKey(value: statement.value(0), id: id)
  }

  private func single(_ key: Int, _ sql: @autoclosure () -> String, _ id: Int64) throws -> Statement {
    let statement = try statements[key] ?? connection.prepare(sql())
    statements[key] = statement
    statement.reset()
    statement.bind(1, id)
    return statement
  }
}

extension Soup {
  /// Returns whether a complete index over a path exists.
  func hasBuiltIndex(_ path: String?) -> Bool {
    guard let path, bulkLoad == nil else { return false }
    return specs.contains { $0.path.hasSameBytes(as: path) }
  }
}
