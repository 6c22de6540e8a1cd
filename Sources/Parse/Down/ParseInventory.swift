import JSON
import MobileSync
import RestClient
import SmartStore

/// Reads the objects of a class for a comparison with the soups, in the order of their ids.
struct ParseInventory: Sendable {
  private let exchange: ParseExchange
  private let walk: KeysetWalk
  private let editor: PageEditor
  /// Whether the soups of links and of included objects are compared as well.
  private let isWhole: Bool

  /// - Returns: nil for an empty list of ids, and for more ids than one request takes.
  init?(
    _ target: ParseSyncDownTarget, _ exchange: ParseExchange, _ context: FetchContext, of ids: [String]?, _ level: VerifyLevel
  ) async throws {
    if let ids, ids.isEmpty || ids.count > Tuning.presenceIds { return nil }
    var query = target.query
    isWhole = level == .content
    if !isWhole {
      query.keys = ["objectId", "updatedAt"] + [target.target.deletedField].compactMap { $0 }
      query.include = []
    }
    if let ids { query.condition = .all([query.condition, .isIn("objectId", ids.map { .string($0) })]) }
    self.exchange = exchange
    walk = KeysetWalk(query, by: .id, pageSize: target.rules.pageSize)
    editor = try await PageEditor(target, exchange, context, since: TimeStamp.never)
  }

  /// Returns the number of objects that a query finds; nil if this user may not count them.
  static func count(_ query: ParseQuery, _ exchange: ParseExchange) async throws -> Int? {
    var counting = query
    (counting.counts, counting.limit, counting.include, counting.keys) = (true, 0, [], ["objectId"])
    do {
      return try await exchange.query(counting).response.json()["count"]?.integerValue.flatMap { Int(exactly: $0) }
    } catch let error as RestError where ServerRefusal(error)?.code == ServerCode.operationForbidden.rawValue {
      return nil
    }
  }

  /// Returns the page after an object; its next one begins after its last row.
  /// - Throws: ``SyncError`` `.unexpectedAnswer` if the server ignores where a page begins.
  func page(after last: String?) async throws -> SyncDownPage? {
    let position = last.map { KeysetWalk.Position(updatedAt: nil, objectId: $0) }
    let response = try await exchange.query(walk.page(after: position))
    let edited = try await isWhole ? editor.edited(response) : editor.listed(response)
    // Only an empty page is the end: a server may silently lower the limit.
    guard edited.count > 0 else { return nil }
    guard let end = edited.last?.objectId, end != last else {
      throw SyncError(
        .unexpectedAnswer, "a row has no 'objectId', or the server keeps sending the same rows, so the walk ends nowhere")
    }
    var page = SyncDownPage(parts: edited.parts, totalSize: -1)
    page.next = { try await self.page(after: end) }
    return page
  }
}
