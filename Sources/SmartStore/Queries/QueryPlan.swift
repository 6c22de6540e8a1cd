import Database
import JSON

/// How queries of one shape over a soup are read: the SQL they have in common, whatever keys they look for.
///
/// Rows come in the order of a path and, where that says nothing, of their entry ids. So every row has a place of its own, and
/// a page can begin behind a row that is known instead of counting up to it. Belongs to one connection.
final class QueryPlan {
  let soup: Soup
  /// Any query of the shape; keys differ.
  private let spec: QuerySpec
  unowned private let connection: Connection
  /// What a page's row holds.
  private let columns: String
  let columnCount: Int32
  /// What rows are ordered by before their ids; nil when that is the same for all of them.
  let order: String?
  let isDescending: Bool
  /// An index walks the rows in this order. Otherwise they are sorted: their ids alone, the texts are fetched afterwards.
  let isInOrder: Bool
  /// The keys are bounds on what orders the rows.
  let hasBounds: Bool
  /// What rows meet beside their bounds.
  private let condition: String?
  private let ranges: Int
  private var statements: [Int: Statement] = [:]
  /// What the last page came to: the next one is given that much room at once.
  var pageBytes = 0

  /// - Parameters:
  ///   - match: The condition of a `match` query, in SQL.
  ///   - ranges: How many ranges of the index its keys mean: more than one, for a `like` query.
  init(_ spec: QuerySpec, _ soup: Soup, _ connection: Connection, match: String?, ranges: Int) {
    self.spec = spec
    self.soup = soup
    self.connection = connection
    self.ranges = ranges
    let paths = spec.selectPaths ?? [SoupField.soup]
    columns = paths.map(soup.expression).joined(separator: ", ")
    columnCount = Int32(clamping: paths.count)
    let path = QueryPlan.orderPath(spec, soup)
    let isById = path == nil || path == SoupField.entryId || (spec.kind == .exact && path == spec.indexPath)
    order = isById ? nil : path.map(soup.expression)
    isDescending = spec.orderPath != nil && spec.order == .descending
    hasBounds = !isById && path == spec.indexPath && (spec.kind == .range || spec.kind == .like)
    condition = match ?? QueryPlan.condition(spec, soup, isBounded: hasBounds, ranges)
    let isFiltered = spec.kind != .range || spec.beginKey != nil || spec.endKey != nil
    if isById {
      isInOrder = !isFiltered || QueryPlan.findsInIdOrder(spec, soup)
    } else {
      isInOrder = soup.hasBuiltIndex(path) && (hasBounds || !isFiltered)
    }
  }

  /// Without an order of its own a query comes in that of the index it walks.
  private static func orderPath(_ spec: QuerySpec, _ soup: Soup) -> String? {
    if let path = spec.orderPath { return path }
    return (spec.kind == .range || spec.kind == .like) && soup.hasBuiltIndex(spec.indexPath) ? spec.indexPath : nil
  }

  private static func findsInIdOrder(_ spec: QuerySpec, _ soup: Soup) -> Bool {
    spec.kind == .exact || (spec.kind != .match && !soup.hasBuiltIndex(spec.indexPath))
  }

  private static func condition(_ spec: QuerySpec, _ soup: Soup, isBounded: Bool, _ ranges: Int) -> String? {
    guard let field = spec.indexPath.map(soup.expression) else { return nil }
    switch spec.kind {
    case .exact: return "\(field) = ?"
    case .like where !isBounded && ranges > 0:
      let range = "SELECT id FROM \(soup.table) WHERE \(field) LIKE ? AND \(field) >= ? AND \(field) < ?"
      return "id IN (\(Array(repeating: range, count: ranges).joined(separator: " UNION ALL ")))"
    case .like: return "\(field) LIKE ?"
    case .range where !isBounded:
      let bounds = [spec.beginKey.map { _ in "\(field) >= ?" }, spec.endKey.map { _ in "\(field) <= ?" }].compactMap { $0 }
      return bounds.isEmpty ? nil : bounds.joined(separator: " AND ")
    case .range, .match, .smart: return nil
    }
  }

  /// Whether the plan is made for queries like this one. Texts are the same when their bytes are.
  func serves(_ other: QuerySpec, soup name: String, ranges: Int) -> Bool {
    func isSame(_ a: String?, _ b: String?) -> Bool {
      guard let a, let b else { return a == nil && b == nil }
      return a.hasSameBytes(as: b)
    }
    guard spec.kind == other.kind, spec.order == other.order, self.ranges == ranges, isSame(soup.name, name),
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

  /// The statement that reads a run of rows: its parameters are the values of the condition, of the run, the limit, the offset.
  func statement(_ selection: Selection, _ run: RowRun, growing: Bool) throws -> Statement {
    let shape = run.alternatives.reduce(selection.rawValue << 1 | (growing ? 1 : 0)) {
      $0 << RowRun.Conditions.bits | $1.rawValue
    }
    if let known = statements[shape] {
      known.reset()
      return known
    }
    let statement = try connection.prepare(sql(selection, run, growing: growing))
    statements[shape] = statement
    return statement
  }

  private func sql(_ selection: Selection, _ run: RowRun, growing: Bool) -> String {
    var filters = condition.map { [$0] } ?? []
    let alternatives = run.alternatives.map { $0.sql(order ?? "id") }
    if alternatives.count > 1 {
      filters.append("(\(alternatives.joined(separator: " OR ")))")
    } else if let only = alternatives.first, !only.isEmpty {
      filters.append(only)
    }
    let rows = "FROM \(soup.table)" + (filters.isEmpty ? "" : " WHERE \(filters.joined(separator: " AND "))")
    let direction = growing ? "ASC" : "DESC"
    // Where all rows have the same value it is left out: SQLite sees that of columns, not of expressions.
    let isConstant = run.alternatives.count == 1 && !run.alternatives[0].isDisjoint(with: [.equal, .isNull])
    let ordering = [isConstant ? nil : order, "id"].compactMap { $0 }.map { "\($0) \(direction)" }.joined(separator: ", ")
    switch selection {
    case .page: return "SELECT \(columns), id \(rows) ORDER BY \(ordering) LIMIT ? OFFSET ?"
    case .ids: return "SELECT id \(rows) ORDER BY \(ordering) LIMIT ? OFFSET ?"
    case .count: return "SELECT count(*) \(rows)"
    }
  }

  /// The row of one entry, as a page has it.
  func row(_ id: Int64) throws -> Statement { try single(-1, "SELECT \(columns) FROM \(soup.table) WHERE id = ?", id) }

  /// The place of an entry in the order; nil when it is gone.
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
  /// Whether an index over a path is there to be walked.
  func hasBuiltIndex(_ path: String?) -> Bool {
    guard let path, loading == nil else { return false }
    return specs.contains { $0.path.hasSameBytes(as: path) }
  }
}
