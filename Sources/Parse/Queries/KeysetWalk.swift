import JSON

/// Pages through a class so that no row is lost while others write: each page begins behind the last row of the one before, by
/// modification and id or by id alone. Pages by number would skip the rows behind one that moves.
struct KeysetWalk: Sendable, Equatable {
  enum Order: Sendable {
    /// Rows that change during the walk come again, at its end.
    case modification
    /// For a look at which objects there are.
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
  /// What every page asks for, without where it begins.
  private let conditions: [ParseCondition]

  /// - Parameters:
  ///   - query: Class, condition, keys and include; its order, limit and skip are not used.
  ///   - since: Rows modified then or later, milliseconds since 1970 UTC.
  ///   - until: Rows modified then or before: a walk with a bound ends although others go on writing.
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

  /// - Parameter position: Of the last row received; nil for the first page.
  func page(after position: Position?) -> ParseQuery {
    var page = query
    page.condition = .all(conditions + [position.map(behind) ?? .always])
    return page
  }

  /// Rows with the same stamp are told apart by their ids, which the server compares itself.
  private func behind(_ position: Position) -> ParseCondition {
    let laterId = ParseCondition.greater("objectId", than: .string(position.objectId))
    guard order == .modification, let updatedAt = position.updatedAt else { return laterId }
    let stamp: JSONValue = ["__type": "Date", "iso": .string(updatedAt)]
    var tied = ParseCondition.equal("updatedAt", stamp).json
    for (key, value) in laterId.json { tied[key] = value }
    return .any([.greater("updatedAt", than: stamp), ParseCondition(tied)])
  }

  /// Where the page behind these rows begins; nil when the walk is over. Only an empty page ends it: a server that lowers the
  /// limit in silence, or filters, makes every page short.
  /// - Throws: ``ParseProblem`` for a row without the columns that order the walk.
  func position(behind rows: [JSONObject]) throws(ParseProblem) -> Position? {
    guard let last = rows.last else { return nil }
    guard let id = last["objectId"]?.stringValue else { throw lacking("objectId") }
    guard order == .modification else { return Position(updatedAt: nil, objectId: id) }
    guard let updatedAt = last["updatedAt"]?.stringValue else { throw lacking("updatedAt") }
    return Position(updatedAt: updatedAt, objectId: id)
  }

  private func lacking(_ column: String) -> ParseProblem {
    ParseProblem(description: "a row of class \(query.className) came without '\(column)': the walk cannot go on behind it")
  }
}
