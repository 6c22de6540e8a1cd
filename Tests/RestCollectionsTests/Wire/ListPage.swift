import JSON
import TestSupport

@testable import RestCollections

/// One page of a ``CollectionServer``, computed from the request and the current rows.
struct ListPage {
  private let request: RecordedRequest
  private let state: CollectionServer.State
  /// All matching rows in the requested order.
  private let rows: [JSONObject]
  private let size: Int
  private let start: Int

  init(_ request: RecordedRequest, _ state: CollectionServer.State) {
    self.request = request
    self.state = state
    let rows = ListPage.matching(request, state)
    self.rows = rows
    let asked = ListPage.value("per_page", request).flatMap { Int($0) } ?? state.size
    let size = min(state.ignoresSize ? state.size : asked, state.largestSize)
    self.size = size
    func behind(_ id: String?) -> Int {
      guard let id = id.flatMap({ Int64($0) }) else { return 0 }
      return rows.firstIndex { ($0["id"]?.integerValue ?? 0) > id } ?? rows.count
    }
    let page = ListPage.value("page", request).flatMap { Int($0) } ?? 1
    start =
      switch state.style {
      case .link, .bodyUrl, .page, .headerURL, .headerNumber: (page - 1) * size
      case .offset: ListPage.value("offset", request).flatMap { Int($0) } ?? 0
      case .keyset: behind(ListPage.value("after", request))
      // An opaque token, with characters that must be encoded in a query.
      case .cursor, .linkTokens: behind(ListPage.value("cursor", request).map { String($0.dropFirst(2).dropLast(2)) })
      case .none: 0
      }
  }

  func answer(isEmpty: Bool) -> ScriptedAnswer {
    let end = min(rows.count, start + size, state.cap)
    let items = start < end ? Array(rows[start..<end]) : [], hasMore = end < min(rows.count, state.cap)
    let page = size > 0 ? start / size + 1 : 1, last = max(1, (rows.count + size - 1) / max(1, size))
    let next = hasMore ? items.last.map { url(page: page + 1, behind: $0) } : nil
    let elements = JSONValue.array(isEmpty ? [] : items.map { .object(state.wire.shown($0)) })
    var headers: [(name: String, value: String)] = state.headers
    switch state.style {
    case .link, .linkTokens:
      if let next {
        headers.append((state.linkName, "<\(state.nextURL(next))>; rel=\"next\""))
        if state.style == .link { headers.append((state.linkName, "<\(pageURL(last))>; rel=\"last\"")) }
      }
    case .headerURL: if let next { headers.append(("Next-Page", state.nextURL(next))) }
    case .headerNumber: if hasMore { headers.append(("X-Next", String(page + 1))) }
    case .none: break
    default: return envelope(elements, next: next.map(state.nextURL), hasMore: hasMore, last: last, token: token(items), headers)
    }
    return .json(elements.text, headers: headers)
  }

  private func envelope(
    _ items: JSONValue, next: String?, hasMore: Bool, last: Int, token: String?, _ headers: [(name: String, value: String)]
  ) -> ScriptedAnswer {
    var body: JSONObject = ["items": items, "has_more": .bool(hasMore)]
    if state.sendsTotal { body["total"] = .integer(Int64(rows.count)) }
    switch state.style {
    case .bodyUrl: body["next"] = next.map { .string($0) } ?? .null
    case .cursor: body["next_cursor"] = hasMore ? token.map { .string($0) } ?? .null : .null
    case .page: body["pages"] = .integer(Int64(last))
    default: break
    }
    return .json(JSONValue.object(body).text, headers: headers)
  }

  private func token(_ items: [JSONObject]) -> String? { items.last.flatMap { $0["id"]?.plain }.map { "t:\($0)/=" } }

  private func url(page: Int, behind last: JSONObject) -> String {
    guard state.style == .linkTokens else { return pageURL(page) }
    return URLQuery.setting("cursor", to: token([last]) ?? "", in: request.target)
  }

  private func pageURL(_ page: Int) -> String { URLQuery.setting("page", to: String(page), in: request.target) }

  // MARK: Rows

  private static func matching(_ request: RecordedRequest, _ state: CollectionServer.State) -> [JSONObject] {
    var rows = state.rows
    func date(_ row: JSONObject) -> String { row["updated_at"]?.stringValue ?? "" }
    if let given = value("since", request) {
      let since = Int(given).map(Repository.date) ?? given
      rows.removeAll { date($0) < since }
    }
    if let ref = value("ref", request) { rows.removeAll { $0["ref"]?.plain != ref } }
    switch value("sort", request) {
    case "updated": rows = sorted(rows, descending: value("direction", request) == "desc", by: date)
    default: break
    }
    return rows
  }

  /// Sorts by date; rows with the same date stay in the order of creation.
  private static func sorted(_ rows: [JSONObject], descending: Bool, by date: (JSONObject) -> String) -> [JSONObject] {
    let sorted = rows.enumerated().sorted { (date($0.element), $0.offset) < (date($1.element), $1.offset) }.map(\.element)
    return descending ? sorted.reversed() : sorted
  }

  /// Reads a parameter from the query, the body of a POST, or a header.
  private static func value(_ name: String, _ request: RecordedRequest) -> String? {
    if let value = URLQuery.value(of: name, in: request.target) { return value }
    if let value = request.header(name) { return value }
    guard let body = try? JSONValue(parsing: request.body), let value = body[name] else { return nil }
    return value.plain
  }
}

extension JSONValue {
  /// The contents of a text; the JSON of any other value.
  var plain: String { stringValue ?? text }
}
