import JSON
import RestClient

/// One query of a class. Only the parameters below are ever sent: the server refuses any other.
public struct ParseQuery: Sendable, Equatable {
  /// Such as `Book`, or `_User`.
  public let className: String
  /// What its objects have in common.
  public var condition = ParseCondition.always
  /// Columns, `-` before those that descend.
  public var order: [String] = []
  /// nil: every column.
  public var keys: [String]?
  /// Pointer columns whose objects come along.
  public var include: [String] = []
  /// nil: as many as the server likes, 100 by default.
  public var limit: Int?
  /// Rows to pass over. Rows that others change meanwhile move: pages by number may lose some.
  public var skip = 0
  /// Asks for the number of all matches beside the page.
  public var counts = false

  /// - Throws: ``ParseProblem`` for a class name that cannot be: the server would answer with an empty list.
  public init(_ className: String, _ condition: ParseCondition = .always) throws(ParseProblem) {
    try ParseNames.checkClass(className)
    self.className = className
    self.condition = condition
  }

  /// The first match alone, with nothing but its id.
  var firstId: ParseQuery {
    var query = self
    query.limit = 1
    query.keys = ["objectId"]
    return query
  }

  /// Lists are comma lists, which servers of every age take.
  private var texts: [(name: String, value: String)] {
    var parameters: [(name: String, value: String)] = []
    if !order.isEmpty { parameters.append(("order", order.joined(separator: ","))) }
    if let keys { parameters.append(("keys", keys.joined(separator: ","))) }
    if !include.isEmpty { parameters.append(("include", include.joined(separator: ","))) }
    return parameters
  }

  private var numbers: [(name: String, value: Int)] {
    [("limit", limit), ("skip", skip > 0 ? skip : nil), ("count", counts ? 1 : nil)].compactMap { name, value in
      value.map { (name, $0) }
    }
  }

  /// A GET, or a POST that says it is one when the URL would be too long. Both may be repeated.
  /// - Parameter server: Where it goes, whose address counts for the length.
  func request(on server: ServerAddress) -> RestRequest {
    let path = ParseNames.path(of: className)
    var query = texts + numbers.map { ($0.name, String($0.value)) }
    if !condition.json.isEmpty { query.insert(("where", condition.json.text), at: 0) }
    let length = server.url.utf8.count + path.utf8.count + 1 + PercentEncoding.form(query).utf8.count
    guard length > Tuning.queryURLBytes else { return RestRequest(.GET, path, query: query) }
    return RestRequest(.POST, path, body: body.serialized(), isRepeatable: true)
  }

  /// As the POST has it.
  private var body: JSONObject {
    var body: JSONObject = ["_method": "GET"]
    if !condition.json.isEmpty { body["where"] = .object(condition.json) }
    for (name, value) in texts { body[name] = .string(value) }
    for (name, value) in numbers { body[name] = .integer(Int64(value)) }
    return body
  }
}
