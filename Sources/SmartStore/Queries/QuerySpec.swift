import JSON

/// A query over entries: a filter on one path of a soup, or smart SQL.
public struct QuerySpec: Sendable, Equatable {
  public enum Kind: String, CaseIterable, Sendable { case exact, range, like, match, smart }
  public enum Order: String, CaseIterable, Sendable { case ascending, descending }

  public var kind: Kind
  public var indexPath: String?
  /// The value that an exact query looks for; without one it finds nothing. For a match query, the
  /// full-text expression.
  public var matchKey: JSONValue?
  public var likeKey: String?
  public var beginKey: JSONValue?
  public var endKey: JSONValue?
  public var smartSql: String?
  /// Values for the `?` of smart SQL: strings, numbers, booleans, null.
  public var arguments: [JSONValue] = []
  public var orderPath: String?
  public var order = Order.ascending
  /// Rows per page, at least 1.
  public var pageSize = Tuning.defaultPageSize
  /// The paths to return as rows; nil returns whole entries.
  public var selectPaths: [String]?

  public init(kind: Kind) { self.kind = kind }

  public static func smart(_ sql: String, arguments: [JSONValue] = [], pageSize: Int = 10) -> QuerySpec {
    var spec = QuerySpec(kind: .smart)
    spec.smartSql = sql
    spec.arguments = arguments
    spec.pageSize = pageSize
    return spec
  }

  /// Quotes a user's words for a `match` query: all of them must occur, and none is read as an
  /// operator.
  public static func quoteMatch(_ words: String) -> String { MatchKey.quote(words) }

  /// The keys of a query spec. The Lua side reads `lazy` itself.
  package static let keys = KnownKeys([
    "queryType", "indexPath", "matchKey", "likeKey", "beginKey", "endKey", "smartSql", "args", "orderPath", "order", "pageSize",
    "selectPaths", "lazy",
  ])

  /// Parses the JSON form that scripts send.
  /// - Throws: ``StoreError`` `.invalidQuerySpec`, naming the field.
  public init(_ json: JSONObject) throws(StoreError) {
    if let unknown = Self.keys.unknown(in: json) { throw QuerySpec.invalid(unknown.key, unknown.complaint) }
    kind = try QuerySpec.word(json["queryType"], "queryType", Kind.self, default: nil)
    order = try QuerySpec.word(json["order"], "order", Order.self, default: .ascending)
    indexPath = try QuerySpec.string(json, "indexPath")
    orderPath = try QuerySpec.string(json, "orderPath")
    likeKey = try QuerySpec.string(json, "likeKey")
    smartSql = try QuerySpec.string(json, "smartSql")
    matchKey = try QuerySpec.scalar(json, "matchKey")
    beginKey = try QuerySpec.scalar(json, "beginKey")
    endKey = try QuerySpec.scalar(json, "endKey")
    if let size = json["pageSize"], !size.isNull {
      guard let rows = size.integerValue, (1...Int64(Int32.max)).contains(rows) else {
        throw QuerySpec.invalid("pageSize", "must be a positive whole number")
      }
      pageSize = Int(rows)
    }
    selectPaths = try QuerySpec.paths(json["selectPaths"])
    if let given = json["args"], !given.isNull {
      guard let values = given.arrayValue else { throw QuerySpec.invalid("args", "must be an array, got \(given.kindName)") }
      arguments = values
    }
    try validate()
  }

  /// The number of the first row of a page, counted from 0: `Int.max` for a page that no result has.
  package func firstRow(ofPage index: Int) -> Int {
    let (row, isTooFar) = max(0, index).multipliedReportingOverflow(by: pageSize)
    return isTooFar ? .max : row
  }

  /// Throws unless the query can run. Specs created in Swift need this check, too.
  package func validate() throws(StoreError) {
    guard (1...Int(Int32.max)).contains(pageSize) else {
      throw QuerySpec.invalid("pageSize", "must be a positive whole number")
    }
    if selectPaths?.isEmpty == true { throw QuerySpec.invalid("selectPaths", "must be an array with at least one path") }
    switch kind {
    case .smart:
      guard smartSql != nil else { throw QuerySpec.invalid("smartSql", "is missing") }
    case .exact:
      guard indexPath != nil else { throw QuerySpec.invalid("indexPath", "is missing") }
    case .like:
      guard indexPath != nil else { throw QuerySpec.invalid("indexPath", "is missing") }
      guard likeKey != nil else { throw QuerySpec.invalid("likeKey", "is missing") }
    case .match:
      guard let matchText else { throw QuerySpec.invalid("matchKey", "is missing") }
      guard matchText.utf8.contains(where: { $0 > UInt8(ascii: " ") }) else { throw QuerySpec.invalid("matchKey", "is empty") }
      guard !matchText.utf8.contains(0) else { throw QuerySpec.invalid("matchKey", "contains a zero byte") }
    case .range:
      guard indexPath != nil || (beginKey == nil && endKey == nil) else {
        throw QuerySpec.invalid("indexPath", "is missing")
      }
    }
    if kind != .smart, !arguments.isEmpty {
      throw QuerySpec.invalid("args", "can only be provided for smart queries")
    }
    for (i, argument) in arguments.enumerated() where argument.objectValue != nil || argument.arrayValue != nil {
      throw QuerySpec.invalid("args", "value \(i + 1) is \(argument.kindName); it must be a string, number, boolean or null")
    }
  }

  // MARK: Fields

  private static func invalid(_ field: String, _ what: String) -> StoreError {
    StoreError(.invalidQuerySpec, "query spec: '\(field)' \(what)")
  }

  private static func word<T: RawRepresentable & CaseIterable>(
    _ json: JSONValue?, _ field: String, _ type: T.Type, default fallback: T?
  ) throws(StoreError) -> T where T.RawValue == String {
    let names = T.allCases.map(\.rawValue), known = names.joined(separator: ", ")
    guard let json, !json.isNull else {
      if let fallback { return fallback }
      throw invalid(field, "is missing; one of \(known)")
    }
    guard let text = json.stringValue, let value = T(rawValue: text) else {
      let nearest = json.stringValue.flatMap { NearestName.find($0, among: names) }
      throw invalid(field, "must be one of \(known)" + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
    }
    return value
  }

  private static func string(_ json: JSONObject, _ field: String) throws(StoreError) -> String? {
    guard let value = json[field], !value.isNull else { return nil }
    guard let text = value.stringValue else { throw invalid(field, "must be a string, got \(value.kindName)") }
    return text
  }

  private static func scalar(_ json: JSONObject, _ field: String) throws(StoreError) -> JSONValue? {
    guard let value = json[field], !value.isNull else { return nil }
    guard value.objectValue == nil, value.arrayValue == nil else {
      throw invalid(field, "must be a string, number or boolean, got \(value.kindName)")
    }
    return value
  }

  private static func paths(_ json: JSONValue?) throws(StoreError) -> [String]? {
    guard let json, !json.isNull else { return nil }
    guard let elements = json.arrayValue, !elements.isEmpty else {
      throw invalid("selectPaths", "must be an array with at least one path")
    }
    var paths: [String] = []
    for element in elements {
      guard let path = element.stringValue else { throw invalid("selectPaths", "must contain only strings") }
      paths.append(path)
    }
    return paths
  }
}
