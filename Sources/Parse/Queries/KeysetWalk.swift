import JSON

/// Pages through a class by keyset, so that no row is lost while other clients write: each page
/// begins after the last row of the one before, by modification and id or by id alone. Numbered
/// pages would skip rows after one that moves.
struct KeysetWalk: Sendable, Equatable {
  enum Order: Sendable {
    /// Rows that change during the walk come again at its end.
    case modification
    /// To find out which objects exist.
    case id
  }

  /// The last row of a page.
  struct Position: Sendable, Equatable {
    /// As received; nil in a walk by id.
    let updatedAt: String?
    let objectId: String
  }

  private let query: ParseQuery
  private let order: Order
  /// The conditions of every page, without its lower bound.
  private let conditions: [ParseCondition]

  /// - Parameters:
  ///   - query: Its class, condition, keys and include are used; its order, limit and skip are not.
  ///   - since: Rows modified at this time or later, in milliseconds since 1970 UTC.
  ///   - until: Rows modified at this time or earlier. With this bound the walk ends even while
  ///     other clients keep writing.
  init(_ query: ParseQuery, by order: Order, since: Int64? = nil, until: Int64? = nil, pageSize: Int) {
    self.order = order
    var query = query
    query.order = order == .modification ? ["updatedAt", "objectId"] : ["objectId"]
    query.limit = pageSize
    query.skip = 0
    self.query = query
    let bounds: [ParseCondition?] = [
      since.map { ParseCondition.atLeast("updatedAt", ParseCondition.date($0)) },
      until.map { ParseCondition.atMost("updatedAt", ParseCondition.date($0)) },
    ]
    conditions = [query.condition] + bounds.compactMap { $0 }
  }

  /// - Parameter position: The last row received; nil for the first page.
  func page(after position: Position?) -> ParseQuery {
    var page = query
    page.condition = .all(conditions + [position.map(after) ?? .always])
    return page
  }

  /// Distinguishes rows with the same time stamp by their ids, which the server compares itself.
  private func after(_ position: Position) -> ParseCondition {
    let laterId = ParseCondition.greater("objectId", than: .string(position.objectId))
    guard order == .modification, let updatedAt = position.updatedAt else { return laterId }
    let stamp: JSONValue = ["__type": "Date", "iso": .string(updatedAt)]
    var tied = ParseCondition.equal("updatedAt", stamp).json
    for (key, value) in laterId.json { tied[key] = value }
    return .any([.greater("updatedAt", than: stamp), ParseCondition(tied)])
  }

  /// Returns where the next page begins; nil at the end of the walk. Only an empty page is the end,
  /// because all pages are short if the server silently lowers the limit or filters.
  ///
  /// - Throws: ``ParseProblem`` for a row without the columns that order the walk.
  func position(after rows: [JSONObject]) throws(ParseProblem) -> Position? {
    guard let last = rows.last else { return nil }
    guard let id = last["objectId"]?.stringValue else { throw lacking("objectId") }
    guard order == .modification else { return Position(updatedAt: nil, objectId: id) }
    guard let updatedAt = last["updatedAt"]?.stringValue else { throw lacking("updatedAt") }
    return Position(updatedAt: updatedAt, objectId: id)
  }

  private func lacking(_ column: String) -> ParseProblem {
    ParseProblem(description: "a row of class \(query.className) has no '\(column)', so the walk cannot continue after it")
  }
}
