import JSON
import MobileSync
import RecordScan
import RestClient
import Support

/// Completes items that a list returns only partially, with one request per item or from the soup.
struct ItemCompleter: Sendable {
  let target: RestTarget
  let context: FetchContext
  let client: CollectionClient
  /// The listed items whose details the soup already has.
  let marks: DetailMarks

  /// The items of a page that are to be stored.
  struct Completed: Sendable {
    /// A JSON array of the items.
    var records: [UInt8] = []
    /// Items whose details the server refused, one sentence each. Their rows stay as they are.
    var flagged: [String] = []
    /// Marks of the items whose details arrived.
    var marks: [DetailMarks.Mark] = []
  }

  /// - Parameters:
  ///   - text: A JSON array of the page's items.
  ///   - page: Items that are unchanged, gone or flagged are removed from it.
  func complete(_ text: [UInt8], _ page: inout CollectionPage) async throws -> Completed {
    var items: [JSONObject] = []
    for value in try JSONValue(parsing: text).arrayValue ?? [] {
      guard let item = value.objectValue else { continue }
      items.append(item)
    }
    let known = try await context.receivedRecords(page.items.map(\.id))
    let new = target.detail == nil ? [] : try DetailMarks.marks(of: page.items.map(\.id), in: text)
    let listed = items
    if target.isPartial {
      items = zip(items, page.items).map { item, place in
        known[place.id].map { $0.replacing(with: item) } ?? item
      }
    }
    guard let detail = target.detail else {
      return Completed(records: JSONValue.array(items.map { .object($0) }).serialized())
    }
    let asked = items.indices.filter { i in
      let row = known[page.items[i].id]
      return !(row != nil && marks.contains(new[i])) && !isKnown(listed[i], row)
    }
    let details = try await asked.map { items[$0] }.concurrentMap(atMost: detail.parallel) { try await self.detail(detail, $0) }
    var left: [CollectionPage.PageItem] = [], complete: [JSONValue] = [], completed = Completed()
    for (i, found) in zip(asked, details) {
      switch found {
      case .item(let members):
        left.append(page.items[i])
        complete.append(.object(items[i].replacing(with: members)))
        completed.marks.append(new[i])
      case .gone: break
      case .refused(let reason): completed.flagged.append("page \(page.number), \(page.items[i].id): \(reason)")
      }
    }
    page.items = left
    completed.records = JSONValue.array(complete).serialized()
    return completed
  }

  /// Whether the stored row already has all of the item's values.
  private func isKnown(_ item: JSONObject, _ row: JSONObject?) -> Bool {
    guard let row else { return false }
    return item.allSatisfy { row[$0.key] == $0.value }
  }

  private enum Detail: Sendable {
    case item(JSONObject)
    /// The item no longer exists.
    case gone
    /// The server refuses this item, for a reason to append to its id.
    case refused(String)
  }

  /// - Throws: `RestError` if other items would fail as well.
  private func detail(_ detail: RestTarget.Detail, _ item: JSONObject) async throws -> Detail {
    let values = TemplateValues(vars: target.vars, record: JSONValue.object(item).serialized())
    let url: String
    do throws(URITemplate.Problem) {
      url = try TargetURL.expand(detail.url, values, base: client.connection.settings.baseURL)
    } catch {
      throw SyncError(.invalidTarget, "rest target: 'detail.url' \(error.description)")
    }
    let response: ConnectionResponse
    do {
      response = try await client.send(RestRequest(.GET, url), expecting: [404, 410])
    } catch let error as RestError where error.code == .httpStatus && ItemCompleter.isAboutTheItem(error.status ?? 0) {
      let status = error.status ?? 0, answer = PageAnswer(url: url, status: status, headers: error.headers)
      let decides = answer.decides(bodyIsEmpty: error.body?.isEmpty ?? true)
      guard status == 404 || status == 410 else { return .refused("its detail was refused with \(status)") }
      guard decides else { throw error }
      return .gone
    }
    return try members(in: response, detail)
  }

  private func members(in response: ConnectionResponse, _ detail: RestTarget.Detail) throws -> Detail {
    guard response.status != 202 else { return .refused("its detail is not ready yet (202)") }
    guard PageAnswer(response).isJSON, let json = try? response.response.json() else {
      return .refused("the response with its detail is not JSON")
    }
    guard let found = (detail.itemPath ?? ValuePath.root).value(in: json)?.objectValue else {
      return .refused("'detail.itemPath' does not lead to an object")
    }
    return .item(try RecordShape.members(of: found, target))
  }

  /// Whether a refusal is about one item: not about the session, the rate of requests or the server.
  private static func isAboutTheItem(_ status: Int) -> Bool {
    (400..<500).contains(status) && ![401, 407, 408, 420, 425, 429].contains(status)
  }
}

/// Remembers how items were listed when their details were fetched. A row cannot tell: its detail
/// may have other values under the same names.
struct DetailMarks: Sendable {
  /// The name and the content of one mark, as they are stored with the sync.
  struct Mark: Sendable, Equatable {
    let name: String
    let value: String
  }

  private static let prefix = "\(PageNotes.ownPrefix)detail "
  private var values: IdMap<String> = [:]

  /// - Parameter stored: All data that is stored with the sync, by name.
  init(_ stored: IdMap<String>) { values = stored.filter { $0.key.hasPrefix(DetailMarks.prefix) } }

  func contains(_ mark: Mark) -> Bool { values[mark.name] == mark.value }

  mutating func insert(_ marks: [Mark]) {
    for mark in marks { values[mark.name] = mark.value }
  }

  /// Returns the marks of the items in a JSON array.
  static func marks(of ids: [String], in text: [UInt8]) throws -> [Mark] {
    try text.withUnsafeBytes { bytes in
      var hashes: [UInt64] = []
      try ScannedValue(kind: .array, start: 0, count: bytes.count).forEachElement(in: bytes) { (item) throws(ScanError) in
        hashes.append(StableHash.of(item.slice(in: bytes)))
        return true
      }
      return zip(ids, hashes).map { Mark(name: prefix + $0, value: String($1, radix: 16)) }
    }
  }
}
