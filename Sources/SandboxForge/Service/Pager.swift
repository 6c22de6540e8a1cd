import JSON
import SandboxServer

/// The position of a row in its list.
struct RowPosition: Comparable, Sendable {
  let key: SortKey
  let id: Int64

  static func < (a: RowPosition, b: RowPosition) -> Bool { a.key != b.key ? a.key < b.key : a.id < b.id }

  /// An opaque text for the position. A cursor continues after it even if earlier rows are added or
  /// removed.
  var cursor: String {
    let text = "\(key.number) \(id) \(key.text)"
    return "Y" + text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  init(key: SortKey, id: Int64) {
    self.key = key
    self.id = id
  }

  init?(cursor: String) {
    let digits = cursor.dropFirst().utf8.map { UInt8(String(UnicodeScalar($0)), radix: 16) }
    guard cursor.hasPrefix("Y"), digits.count % 2 == 0, !digits.contains(nil) else { return nil }
    let bytes = stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) }
    let parts = String(decoding: bytes, as: UTF8.self)
      .split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let number = Int64(parts[0]), let id = Int64(parts[1]) else { return nil }
    self.init(key: SortKey(number: number, text: String(parts[2])), id: id)
  }
}

/// Splits a list into pages and links them in `Link`.
struct Pager {
  typealias Query = [(name: String, value: String)]

  let call: ForgeCall
  /// The list's path with numeric ids instead of names, relative to the base address; nil if there
  /// is none.
  var idPath: String?
  var isAscending = true
  /// The member that holds the items; nil if the list is an array, unless the settings say
  /// otherwise.
  var wrapper: String?
  /// The number of rows that page numbers can reach; nil for no limit.
  var reach: Int?
  private var settings: ForgeSettings { call.settings }

  init(_ call: ForgeCall, idPath: String? = nil, isAscending: Bool = true, wrapper: String? = nil, reach: Int? = nil) {
    self.call = call
    self.idPath = idPath
    self.isAscending = isAscending
    self.wrapper = wrapper
    self.reach = reach
  }

  /// The page size. A `per_page` that is too large is reduced silently; an invalid one is ignored.
  var size: Int {
    guard !settings.ignoresPageSize, let wish = call.request.parameter("per_page").flatMap({ Int($0) }), wish > 0 else {
      return min(Tuning.pageItems, settings.largestPage)
    }
    return min(wish, settings.largestPage)
  }

  /// - Throws: ``ForgeError`` 422 for an invalid page or cursor.
  func reply<Row>(_ rows: [Row], position: (Row) -> RowPosition, item: (Row) -> JSONValue) throws -> ServerReply {
    let after = call.request.parameter("after"), before = call.request.parameter("before")
    let byCursor = after != nil || before != nil || settings.paging == .cursor && call.request.parameter("page") == nil
    let (range, links) =
      byCursor ? try cursorPage(rows, after, before, position) : try numberedPage(rows.count)
    return answer(rows[range].map(item), total: rows.count, links)
  }

  /// Pages through a list in id order, starting after the id `since`.
  func reply<Row>(since rows: [Row], id: (Row) -> Int64, item: (Row) -> JSONValue) throws -> ServerReply {
    let since = call.request.parameter("since").flatMap { Int64($0) } ?? 0
    let rest = rows.drop { id($0) <= since }
    let page = rest.prefix(size)
    var links: [(rel: String, query: Query)] = []
    if page.count < rest.count, let last = page.last { links.append(("next", query(["since": "\(id(last))"]))) }
    return answer(page.map(item), total: rows.count, links, hasTemplate: true)
  }

  // MARK: Pages

  private func numberedPage(_ count: Int) throws -> (Range<Int>, [(rel: String, query: Query)]) {
    let number = max(1, min(call.request.parameter("page").flatMap { Int($0) } ?? 1, 1_000_000))
    let start = (number - 1) * size
    if start > 0, start >= min(reach ?? .max, settings.listedRows) {
      throw ForgeError(
        status: 422,
        message: reach != nil
          ? "Only the first \(reach ?? 0) search results are available"
          : "In order to keep the API fast for everyone, pagination is limited for this resource.")
    }
    let rows = min(count, reach ?? .max), last = max(1, (rows + size - 1) / size)
    var links: [(rel: String, query: Query)] = []
    if number > 1 { links.append(("prev", query(["page": "\(number - 1)"]))) }
    if number < last { links.append(("next", query(["page": "\(number + 1)"]))) }
    if number < last { links.append(("last", query(["page": "\(last)"]))) }
    if number > 1 { links.append(("first", query(["page": "1"]))) }
    return (min(start, rows)..<min(start + size, rows), links)
  }

  private func cursorPage<Row>(
    _ rows: [Row], _ after: String?, _ before: String?, _ position: (Row) -> RowPosition
  ) throws -> (Range<Int>, [(rel: String, query: Query)]) {
    var range = 0..<min(size, rows.count)
    if let text = after ?? before {
      guard let mark = RowPosition(cursor: text) else { throw ForgeError(status: 422, message: "Invalid cursor") }
      // `at` is the first row at or after the cursor, `behind` the first row after it.
      let at = rows.firstIndex { isAscending ? position($0) >= mark : position($0) <= mark } ?? rows.count
      let behind = rows[at...].firstIndex { position($0) != mark } ?? rows.count
      range = after != nil ? behind..<min(behind + size, rows.count) : max(0, at - size)..<at
    }
    var links: [(rel: String, query: Query)] = []
    if range.upperBound < rows.count, let last = range.last {
      links.append(("next", query(["after": position(rows[last]).cursor])))
    }
    if range.lowerBound > 0, let first = range.first {
      links.append(("prev", query(["before": position(rows[first]).cursor])))
    }
    return (range, links)
  }

  // MARK: Answers

  private func answer(
    _ items: [JSONValue], total: Int, _ links: [(rel: String, query: Query)], hasTemplate: Bool = false
  ) -> ServerReply {
    let headers = linkHeaders(links, hasTemplate)
    if items.isEmpty, settings.emptyIs204, wrapper == nil { return ServerReply(status: 204, headers: headers, body: []) }
    guard let name = wrapper ?? settings.wrapper else { return .forge(200, .array(items), headers: headers) }
    var object: JSONObject = ["total_count": .integer(Int64(total))]
    if wrapper != nil { object["incomplete_results"] = false }
    object[name] = .array(items)
    return .forge(200, .object(object), headers: headers)
  }

  /// Returns this request's query with another page.
  private func query(_ changes: [String: String]) -> Query {
    let paging: Set = ["page", "after", "before"]
    let kept = call.request.query.filter { !paging.contains($0.name) && changes[$0.name] == nil }
    return kept + changes.map { ($0.key, $0.value) }
  }

  private func linkHeaders(_ links: [(rel: String, query: Query)], _ hasTemplate: Bool) -> [(name: String, value: String)] {
    guard settings.links != .none else { return [] }
    var values: [String] = links.compactMap { rel, query in
      guard settings.linksAllPages || rel == "next" else { return nil }
      let looped = settings.linkLoops && rel == "next" ? call.request.query : query
      return link(url(looped), rel)
    }
    // Like GitHub, this link is a URI template, not a URI.
    if hasTemplate, settings.linksAllPages, !values.isEmpty { values.append(link(path + "{?since}", "first")) }
    if settings.linkLines { return values.map { (settings.linkName, $0) } }
    return values.isEmpty ? [] : [(settings.linkName, values.joined(separator: ", "))]
  }

  private func link(_ url: String, _ rel: String) -> String {
    let extras = settings.linkExtras ? #"; title="a, b; rel=\"next\""; title*=UTF-8''na%C3%AFve"# : ""
    return "<\(url)>\(extras); rel=\(settings.linkQuotes ? "\"\(rel)\"" : rel)"
  }

  private func url(_ query: Query) -> String {
    let kept = query.filter { !settings.linkDrops.contains($0.name) }
    return path + "?" + URLCoding.form(kept) + settings.linkSuffix
  }

  private var path: String {
    let origin = settings.linkOrigin ?? call.request.origin
    switch settings.links {
    case .absolute, .none: return origin + call.request.path
    case .path: return call.request.path
    case .query: return ""
    case .ids: return origin + (idPath.map { call.request.mountPath + $0 } ?? call.request.path)
    }
  }
}
