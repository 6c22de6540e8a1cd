import JSON
import MobileSync
import RestClient
import Support

/// Completes items that a list returns only partially, with one request per item or from the soup.
struct ItemCompleter: Sendable {
  let target: RestTarget
  let context: FetchContext
  let client: CollectionClient

  /// - Parameters:
  ///   - text: A JSON array of the page's items.
  ///   - page: Items that are unchanged or gone are removed from it.
  /// - Returns: A JSON array of the remaining items.
  func complete(_ text: [UInt8], _ page: inout CollectionPage) async throws -> [UInt8] {
    var items: [JSONObject] = []
    for value in try JSONValue(parsing: text).arrayValue ?? [] {
      guard let item = value.objectValue else { continue }
      items.append(item)
    }
    let known = try await context.receivedRecords(page.items.map(\.id))
    if target.isPartial {
      items = zip(items, page.items).map { item, place in
        known[place.id].map { $0.replacing(with: item) } ?? item
      }
    }
    guard let detail = target.detail else { return JSONValue.array(items.map { .object($0) }).serialized() }
    let asked = items.indices.filter { i in !isKnown(items[i], known[page.items[i].id]) }
    let details = try await asked.map { items[$0] }.concurrentMap(atMost: detail.parallel) {
      Detailed(item: try await self.detail(detail, $0))
    }
    var left: [CollectionPage.PageItem] = [], complete: [JSONValue] = []
    for (i, detailed) in zip(asked, details) {
      guard let found = detailed.item else { continue }
      left.append(page.items[i])
      complete.append(.object(items[i].replacing(with: found)))
    }
    page.items = left
    return JSONValue.array(complete).serialized()
  }

  /// Whether the stored row already has all of the item's values.
  private func isKnown(_ item: JSONObject, _ row: JSONObject?) -> Bool {
    guard let row else { return false }
    return item.allSatisfy { row[$0.key] == $0.value }
  }

  private struct Detailed: Sendable {
    /// nil if the item no longer exists.
    let item: JSONObject?
  }

  /// - Returns: nil if the item no longer exists.
  private func detail(_ detail: RestTarget.Detail, _ item: JSONObject) async throws -> JSONObject? {
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
    } catch let error as RestError where error.code == .httpStatus && (error.status == 404 || error.status == 410) {
      let answer = PageAnswer(url: url, status: error.status ?? 404, headers: error.headers)
      guard answer.decides(bodyIsEmpty: error.body?.isEmpty ?? true) else { throw error }
      return nil
    }
    let json = try response.response.json()
    guard let found = (detail.itemPath ?? ValuePath.root).value(in: json)?.objectValue else {
      throw response.response.invalidBody("'detail.itemPath' does not lead to an object")
    }
    return try RecordShape.members(of: found, target)
  }
}
