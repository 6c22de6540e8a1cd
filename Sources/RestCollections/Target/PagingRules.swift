/// How a server divides a list into pages.
struct PagingRules: Sendable, Equatable {
  let style: Style
  /// The relation of the link to the next page.
  let relation: String
  /// The location of the next URL.
  let nextPath: ValuePath?
  let cursorPath: ValuePath?
  let cursorParam: String?
  let nextHeader: String?
  /// For the style `header`, nil if the header contains a URL.
  let pageParam: String?
  let offsetParam: String?
  let afterParam: String?
  /// A path in the item.
  let afterField: ValuePath?
  let firstPage: Int
  let totalPagesPath: ValuePath?
  let size: Size?
  /// Where parameters are sent.
  let place: Place
  let hasMorePath: ValuePath?
  let endPath: ValuePath?
  /// Whether a page without items ends the walk.
  let endsEmpty: Bool
  /// Statuses that mean "past the end" on any page but the first.
  let endStatuses: [Int]
  /// Parameters to copy from the first request if the next URL lacks them.
  let keepParams: [String]
  /// Whether the scheme, host and port of next URLs are replaced by the connection's.
  let usesConnectionOrigin: Bool
  /// The maximum number of items that the server returns of one list.
  let maxItems: Int?
  /// Whether rows move between pages; nil infers this from the style and the next URLs.
  let shifts: Bool?
  /// For the style `offset`, the number of items by which pages overlap.
  let overlap: Int

  enum Style: String, CaseIterable, Sendable {
    case none, link, bodyUrl, cursor, page, offset, keyset, header

    /// The keys used only by this style.
    var keys: [String] {
      switch self {
      case .none: []
      case .link: ["rel"]
      case .bodyUrl: ["nextPath"]
      case .cursor: ["cursorPath", "cursorParam"]
      case .page: ["pageParam", "firstPage", "totalPagesPath"]
      case .offset: ["offsetParam", "overlap"]
      case .keyset: ["afterParam", "afterField"]
      case .header: ["nextHeader", "pageParam"]
      }
    }

    /// Whether an empty page ends the list. With the other styles, servers that filter after paging
    /// send empty pages in between.
    var endsEmpty: Bool { [.none, .page, .offset, .keyset].contains(self) }
  }

  /// The page size to request.
  struct Size: Sendable, Equatable {
    let name: String
    let value: Int
  }

  enum Place: String, CaseIterable, Sendable { case query, body, header }
  private enum Origin: String, CaseIterable { case strict, connection }

  private static let common = [
    "style", "sizeParam", "pageSize", "in", "hasMorePath", "endPath", "endEmpty", "endStatus", "keepParams", "nextOrigin",
    "maxItems", "shifts",
  ]

  /// - Parameter target: Reads the whole target.
  init(_ target: TargetReader, idField: ValuePath) throws(RestTargetError) {
    let all = PagingRules.common + Style.allCases.flatMap(\.keys)
    let reader = try target.insideOrEmpty("paging", known: all)
    style = try reader.choice("style") ?? .none
    let style = self.style
    try reader.refuse(
      Style.allCases.flatMap(\.keys).filter { !style.keys.contains($0) }, with: "the style '\(style.rawValue)'")
    func needed<T>(_ key: String, by wanted: Style, _ value: T?) throws(RestTargetError) -> T? {
      style == wanted ? try reader.required(key, value, because: "the style '\(style.rawValue)' needs it") : value
    }
    relation = try reader.nonEmptyText("rel") ?? "next"
    nextPath = try needed("nextPath", by: .bodyUrl, reader.path("nextPath", taking: .header))
    cursorPath = try needed("cursorPath", by: .cursor, reader.path("cursorPath", taking: .header))
    cursorParam = try needed("cursorParam", by: .cursor, reader.nonEmptyText("cursorParam"))
    nextHeader = try needed("nextHeader", by: .header, reader.nonEmptyText("nextHeader"))
    if let name = nextHeader, !HeaderField.isToken(name) { throw reader.error("nextHeader", "is not a valid header name") }
    pageParam = try needed("pageParam", by: .page, reader.nonEmptyText("pageParam"))
    offsetParam = try needed("offsetParam", by: .offset, reader.nonEmptyText("offsetParam"))
    afterParam = try needed("afterParam", by: .keyset, reader.nonEmptyText("afterParam"))
    afterField = try reader.path("afterField") ?? (style == .keyset ? idField : nil)
    firstPage = Int(try reader.integer("firstPage", atLeast: 0, atMost: 1) ?? 1)
    totalPagesPath = try reader.path("totalPagesPath", taking: .header)
    size = try PagingRules.size(reader)
    place = try PagingRules.place(reader, style)
    hasMorePath = try reader.path("hasMorePath", taking: .header)
    endPath = try reader.path("endPath", taking: .header)
    endsEmpty = try reader.flag("endEmpty") ?? style.endsEmpty
    endStatuses = try reader.statuses("endStatus") ?? (style == .page || style == .offset ? [404] : [])
    keepParams = try reader.texts("keepParams") ?? []
    usesConnectionOrigin = try reader.choice("nextOrigin", of: Origin.self) == .connection
    maxItems = try reader.count("maxItems", atLeast: 1)
    shifts = try reader.flag("shifts")
    overlap = try reader.count("overlap") ?? 0
  }

  private static func size(_ reader: TargetReader) throws(RestTargetError) -> Size? {
    switch (try reader.nonEmptyText("sizeParam"), try reader.count("pageSize", atLeast: 1)) {
    case (nil, nil): return nil
    case (let name?, let value?): return Size(name: name, value: value)
    case (nil, _): throw reader.error("sizeParam", "is missing; 'pageSize' needs it")
    case (_, nil): throw reader.error("pageSize", "is missing; 'sizeParam' needs it")
    }
  }

  private static func place(_ reader: TargetReader, _ style: Style) throws(RestTargetError) -> Place {
    let place = try reader.choice("in", of: Place.self) ?? .query
    if place != .query, style == .link || style == .bodyUrl || style == .none, !reader.has("sizeParam") {
      throw reader.error("in", "has no meaning with the style '\(style.rawValue)', which has no parameter")
    }
    return place
  }

  /// Whether only the page itself can say where the next one is.
  var styleNeedsContinuation: Bool { [.link, .bodyUrl, .cursor, .header, .keyset].contains(style) }

  /// Whether the next request is a URL from the server instead of a parameter.
  var isURLBased: Bool { style == .link || style == .bodyUrl || (style == .header && pageParam == nil) }
}
