import JSON
import RestClient

/// Describes what the first response of a list shows, and suggests target keys that would fit it
/// better. A pure value: it uses no network.
package struct PageSurvey: Sendable {
  /// One line of the report.
  package struct Finding: Sendable, Equatable {
    /// Such as `items`.
    package let subject: String
    package let text: String
  }

  /// A key that the target lacks or sets to another value.
  package struct Advice: Sendable, Equatable {
    /// Dotted, such as `paging.nextPath`.
    package let key: String
    package let value: JSONValue
  }

  package private(set) var findings: [Finding] = []
  package private(set) var advice: [Advice] = []
  /// Sentences about what the response does not show.
  package private(set) var unknown: [String] = []
  /// Whether the target finds records in this response.
  package private(set) var isUsable = false
  /// The records found by the target.
  package private(set) var items: [JSONValue] = []
  /// The keys of `paging` that seem to lead to the next page; nil if nothing names one, or the target reads it already.
  private(set) var nextPageKeys: JSONObject?

  private let target: RestTarget
  private let answer: PageAnswer
  private let answers304: Bool?
  private let json: JSONValue
  private let around: MemberPaths

  /// - Parameters:
  ///   - base: The connection's base URL.
  ///   - allowedOrigins: The connection's `allowOrigins`.
  ///   - answers304: Whether the server answered 304 to the tag of the page; nil if it was not asked.
  init(
    _ target: RestTarget, _ answer: PageAnswer, body: UnsafeRawBufferPointer, base: String, allowedOrigins: [String],
    answers304: Bool? = nil
  ) {
    self.answers304 = answers304
    self.target = target
    self.answer = answer
    let text = ResponseBody.withoutByteOrderMark(body)
    json = (try? JSONValue(parsing: text)) ?? .null
    around = MemberPaths(json)
    let page: CollectionPage
    do throws(RestPageError) {
      page = try PageReader(target).read(body, of: answer, page: 1)
    } catch {
      find("items", error.description)
      if answer.isJSON { lookForItems() } else { unknown.append(PageSurvey.noJSON) }
      return
    }
    guard !page.isPending else {
      find("items", "the server is still computing the list (202): try again")
      return
    }
    let elements = target.items.itemsPath.value(in: json)?.arrayValue ?? []
    items = elements.compactMap { target.items.itemPath?.value(in: $0) ?? $0 }
    surveyItems(page, elements.count)
    surveyIds()
    surveyDates()
    surveyPaging(page, base: base, allowedOrigins)
    surveyTotal(page)
    surveyTags()
    isUsable = !page.items.isEmpty || !page.removed.isEmpty || page.itemCount == 0
  }

  private mutating func find(_ subject: String, _ text: String) { findings.append(Finding(subject: subject, text: text)) }

  private mutating func advise(_ key: String, _ value: JSONValue) {
    if !advice.contains(where: { $0.key == key }) { advice.append(Advice(key: key, value: value)) }
  }

  private static let noJSON =
    "The answer is not JSON. Does the URL lead to an API, does it need a header such as Accept, and are you signed in?"

  // MARK: Items

  private mutating func surveyItems(_ page: CollectionPage, _ count: Int) {
    let path = target.items.itemsPath.text
    guard count > 0 else {
      find("items", "none in '\(path)': the list is empty, or the items are somewhere else")
      return lookForItems()
    }
    let kept = page.items.count, left = count - kept
    find("items", "\(count) in '\(path)'" + (left > 0 ? ", of which \(kept) are stored" : ""))
    for item in page.flagged.prefix(3) { find("", "item \(item.position + 1) cannot be used: \(item.reason)") }
  }

  /// Finds the largest list of objects that the target does not read.
  private mutating func lookForItems() {
    let best = around.lists.max { $0.items.count < $1.items.count }
    guard let best, !best.items.isEmpty else {
      if json != .null { unknown.append("No list of objects was found in the answer.") }
      return
    }
    guard best.path != target.items.itemsPath.text else { return }
    find("", "there is a list of \(best.items.count) objects in '\(best.path)'")
    advise("itemsPath", .string(best.path))
    items = best.items
    surveyIds()
    surveyDates()
  }

  // MARK: Members of items

  private mutating func surveyIds() {
    guard !items.isEmpty else { return }
    let path = target.items.idField.text, found = items.compactMap { target.items.idField.value(in: $0)?.idText }
    if found.count == items.count {
      let different = IdSet(found).count
      return find(
        "ids", "'\(path)' in all items, " + (different == found.count ? "all different" : "only \(different) of them different"))
    }
    find("ids", "'\(path)' is in \(found.count) of \(items.count) items")
    let candidates = common { member in
      let all = items.compactMap { PageSurvey.value(member.path, in: $0)?.idText }
      return all.count == items.count && IdSet(all).count == all.count
    }
    let names = ["id", "uuid", "guid", "uid", "sysid", "objectid", "key", "number", "sha", "code", "slug", "name", "url"]
    let best = PageSurvey.first(of: candidates, names) ?? candidates.first { $0.name.hasSuffix("id") }
    guard let best else {
      return unknown.append("No member identifies the items: each record needs a unique id in 'idField'.")
    }
    advise("idField", .string(best.path))
  }

  private mutating func surveyDates() {
    guard !items.isEmpty else { return }
    let rules = target.items
    if let field = rules.dateField {
      let dates = items.compactMap { field.value(in: $0) }.compactMap { date($0, rules.dateFormat) }
      guard dates.count < items.count else {
        return find("dates", "'\(field.text)' in all items, as \(rules.dateFormat.text)")
      }
      find("dates", "'\(field.text)' is a date of the format \(rules.dateFormat.text) in \(dates.count) of \(items.count) items")
    }
    let names = [
      "updatedat", "modifiedat", "lastmodified", "modified", "updated", "lastmodifieddate", "lastupdated", "updatedon",
      "modifiedon", "modificationdate", "dateupdated", "datemodified", "lastmodifiedat", "changed", "changedat", "lastedited",
      "lasteditedtime", "mtime", "updatetime", "modifiedtime", "systemmodstamp",
    ]
    let candidates = common { member in
      names.contains(member.name) && items.allSatisfy { PageSurvey.value(member.path, in: $0).flatMap(format) != nil }
    }
    guard let best = PageSurvey.first(of: candidates, names), let found = format(best.value) else {
      if rules.dateField == nil {
        unknown.append(
          "No member looks like a modification date. Without 'modificationDateField' every run reads the whole list, and an "
            + "upload cannot tell whether a record has changed.")
      }
      return
    }
    find("", "'\(best.path)' is in all items, as \(found.text)")
    if best.path != rules.dateField?.text { advise("modificationDateField", .string(best.path)) }
    if found != rules.dateFormat { advise("dateFormat", .string(found.text)) }
    if target.incremental.mode == .full {
      unknown.append(
        "The response does not show how to filter the list by date. If the service documents a parameter for it, such as "
          + #"'since' or 'updated_after', name it: "incremental": {"mode": "param", "params": {"since": "{since}"}}."#)
    }
  }

  /// The newest modification date of the items, as a watermark; nil if the target reads none.
  var newestDate: Int64? {
    let rules = target.items
    guard let field = rules.dateField else { return nil }
    return items.compactMap { field.value(in: $0) }.compactMap { date($0, rules.dateFormat)?.position }.max()
  }

  /// Returns the members of the first item that pass a test.
  private func common(_ test: (MemberPaths.Member) -> Bool) -> [MemberPaths.Member] {
    items.first.map { MemberPaths($0, depth: 2).members.filter(test) } ?? []
  }

  private static func first(of candidates: [MemberPaths.Member], _ names: [String]) -> MemberPaths.Member? {
    names.lazy.compactMap { name in candidates.first { $0.name == name } }.first
  }

  private static func value(_ path: String, in item: JSONValue) -> JSONValue? { (try? ValuePath(path))?.value(in: item) }

  private func date(_ value: JSONValue, _ format: DateFormat) -> ServerDate? {
    let text = value.stringValue ?? (value.idText ?? "")
    return format.date(text.utf8, zone: target.items.zone)
  }

  /// Returns the format in which a value is a date. Seconds and milliseconds are distinguished by
  /// magnitude.
  private func format(_ value: JSONValue) -> DateFormat? {
    if let number = value.integerValue {
      switch number {
      case 100_000_000..<100_000_000_000: return .epoch
      case 100_000_000_000..<100_000_000_000_000: return .epochMs
      default: return nil
      }
    }
    return [DateFormat.iso8601, .rfc1123].first { date(value, $0) != nil }
  }

  // MARK: The list

  private mutating func surveyPaging(_ page: CollectionPage, base: String, _ allowedOrigins: [String]) {
    let style = target.paging.style
    var leadsOn = false
    if var walk = try? PageWalk(target, base: base, allowedOrigins: allowedOrigins, scope: .all) {
      switch walk.accept(page) {
      case .next(let request), .pause(let request), .again(let request), .restart(let request):
        leadsOn = true
        find("paging", "'\(style.rawValue)': the next page is \(request.method.rawValue) \(Redaction.url(request.url))")
      case .end:
        find("paging", style == .none ? "none: the whole list is one page" : "'\(style.rawValue)': the list ends with this page")
      case .fail(let error): find("paging", error.description)
      }
    }
    guard !leadsOn, let found = nextPage() else {
      if !leadsOn, page.itemCount >= 10, target.paging.style == .none, page.facts.total == nil {
        unknown.append(
          "The response does not show whether there are more pages. If the service documents parameters such as 'page' or "
            + #"'offset', name them: "paging": {"style": "page", "pageParam": "page"}."#)
      }
      return
    }
    find("", found.text)
    guard !found.isGuessed else {
      let keys = JSONValue.object(JSONObject(found.keys.map { ($0.0, .string($0.1)) })).text
      unknown.append(
        "The response does not show which parameter takes the token. If the service's documentation says so, name it, such as "
          + "\"paging\": \(keys).")
      return
    }
    nextPageKeys = JSONObject(found.keys.map { ($0.0, .string($0.1)) })
  }

  /// Advises the keys that lead to the next page, after that page was read with them.
  mutating func confirmNextPage(items count: Int) {
    find("", "that page was read: \(count) item\(count == 1 ? "" : "s")")
    for (key, value) in nextPageKeys ?? [:] { advise("paging.\(key)", value) }
  }

  /// Says why keys that seem to lead to the next page are not advised.
  mutating func refuseNextPage(_ why: String) {
    unknown.append("The next page could not be read in the way that the response names: \(why)")
  }

  /// Finds the link to the next page in the response.
  private func nextPage() -> (text: String, keys: [(String, String)], isGuessed: Bool)? {
    if LinkHeader(answer.values(of: "Link")).target(of: "next", responseURL: answer.url) != nil {
      return ("a Link header names the next page", [("style", "link")], false)
    }
    for header in answer.headers where header.name.lowercased().contains("next") {
      guard NextURLText.isURL(header.value) else { continue }
      return (
        "the header \(header.name) has the URL of the next page", [("style", "header"), ("nextHeader", header.name)], false
      )
    }
    for member in around.members where member.path.lowercased().contains("next") {
      guard let text = member.value.stringValue, !text.isEmpty else { continue }
      if NextURLText.isURL(text) {
        return ("'\(member.path)' has the URL of the next page", [("style", "bodyUrl"), ("nextPath", member.path)], false)
      }
      return (
        "'\(member.path)' looks like a token for the next page",
        [("style", "cursor"), ("cursorPath", member.path), ("cursorParam", NextURLText.parameter(member.name))], true
      )
    }
    return nil
  }

  private mutating func surveyTotal(_ page: CollectionPage) {
    if let path = target.items.totalPath {
      return find("total", page.facts.total.map { "\($0) in '\(path.text)'" } ?? "there is no number in '\(path.text)'")
    }
    let names = ["totalcount", "total", "totalresults", "totalsize", "totalelements", "totalitems", "count"]
    let candidates = around.members.filter { ($0.value.integerValue ?? -1) >= Int64(page.itemCount) }
    for name in ["X-Total-Count", "X-Total", "X-WP-Total", "Total", "Total-Records", "X-Pagination-Total-Count"] {
      guard let value = answer.header(name), Int64(value) != nil else { continue }
      find("total", "\(value) in the header \(name)")
      return advise("totalPath", .string("header:\(name)"))
    }
    guard page.itemCount > 0, let best = PageSurvey.first(of: candidates, names) else { return }
    find("total", "\(best.value.text) in '\(best.path)'")
    advise("totalPath", .string(best.path))
  }

  private mutating func surveyTags() {
    let tag = answer.header("ETag"), modified = answer.header("Last-Modified")
    switch (tag, modified) {
    case (let tag?, _): find("tags", "the page has \(tag.hasPrefix("W/") ? "a weak" : "an") ETag")
    case (nil, .some): find("tags", "the page has a Last-Modified")
    case (nil, nil): find("tags", "the page has neither ETag nor Last-Modified")
    }
    if answers304 == false {
      find("", "asked again with it, the server sends the whole page: it does not compare")
    } else if answers304 == true, target.incremental.mode == .full {
      advise("incremental.mode", "etag")
    }
    let inItem = common { ["etag", "odataetag", "rev", "version", "lockversion"].contains($0.name) && $0.value.idText != nil }
    guard let found = inItem.first else { return }
    find("", "items have '\(found.path)', which may be a tag")
    // A server that sends tags in headers wants those.
    guard tag == nil, let up = target.up, up.tag.path.text == "header:ETag" else { return }
    unknown.append(
      "The response does not show whether an upload may send '\(found.path)' back as a tag. If the service's documentation says "
        + "so, name it: \"tag\": {\"path\": \"\(found.path)\"} under 'up'.")
  }
}

/// Distinguishes next URLs from tokens.
private enum NextURLText {
  static func isURL(_ text: String) -> Bool {
    ["http://", "https://", "/", "?"].contains { text.hasPrefix($0) }
  }

  /// Returns the parameter that usually goes with such a member.
  static func parameter(_ member: String) -> String {
    switch member {
    case "nextpagetoken": "pageToken"
    case "nextcontinuationtoken": "continuation-token"
    case "nexttoken": "nextToken"
    default: "cursor"
    }
  }
}
