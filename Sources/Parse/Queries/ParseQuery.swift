import JSON
import RestClient

/// A query of a class. Only the parameters below are ever sent, because the server rejects all
/// others.
public struct ParseQuery: Sendable, Equatable {
  /// Such as `Book` or `_User`.
  public let className: String
  /// The condition that the objects meet.
  public var condition = ParseCondition.always
  /// The columns to sort by; `-` before a name means descending.
  public var order: [String] = []
  /// The columns to return; nil for all.
  public var keys: [String]?
  /// The pointer columns whose objects to include.
  public var include: [String] = []
  /// nil uses the server's limit, 100 by default.
  public var limit: Int?
  /// The number of rows to skip. Numbered pages may lose rows that other clients change meanwhile.
  public var skip = 0
  /// Also requests the number of all matches.
  public var counts = false

  /// - Throws: ``ParseProblem`` for an invalid class name, for which the server would return an
  ///   empty list.
  public init(_ className: String, _ condition: ParseCondition = .always) throws(ParseProblem) {
    try ParseNames.checkClass(className)
    self.className = className
    self.condition = condition
  }

  /// Requests only the id of the first match.
  var firstId: ParseQuery {
    var query = self
    query.limit = 1
    query.keys = ["objectId"]
    return query
  }

  /// Lists are comma-separated, which all server versions accept.
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

  /// Makes a GET, or a POST that stands for a GET if the URL would be too long. Both are
  /// repeatable.
  ///
  /// - Parameter server: The server, whose URL counts towards the length.
  func request(on server: ServerAddress) -> RestRequest {
    let path = ParseNames.path(of: className)
    var query = texts + numbers.map { ($0.name, String($0.value)) }
    if !condition.json.isEmpty { query.insert(("where", condition.json.text), at: 0) }
    let length = server.url.utf8.count + path.utf8.count + 1 + PercentEncoding.form(query).utf8.count
    guard length > Tuning.queryURLBytes else { return RestRequest(.GET, path, query: query) }
    return RestRequest(.POST, path, body: body.serialized(), isRepeatable: true)
  }

  /// The body of the POST.
  private var body: JSONObject {
    var body: JSONObject = ["_method": "GET"]
    if !condition.json.isEmpty { body["where"] = .object(condition.json) }
    for (name, value) in texts { body[name] = .string(value) }
    for (name, value) in numbers { body[name] = .integer(Int64(value)) }
    return body
  }
}
