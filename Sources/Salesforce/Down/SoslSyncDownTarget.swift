import JSON
import MobileSync
import RestClient

/// Downloads the records that a SOSL search finds, in a single request without pages. Every run downloads all of them.
///
/// - Note: Source: Mobile SDK, `SoslSyncDownTarget`.
struct SoslSyncDownTarget: SyncDownTarget {
  let json: JSONObject
  let fields: TargetFields
  private let query: String

  private static let recordsKey = "searchRecords"

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    fields = try TargetFields(json)
    query = try TargetReader(json: json, label: "sosl target").string("query")
    self.json = fields.written(to: json)
  }

  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage? {
    let answer = try await context.send(context.client.requests.search(sosl: query))
    let records = try context.plan.scan(answer.response, recordsKey: Self.recordsKey)
    return SyncDownPage(parts: [records], totalSize: records.count, serverTime: answer.serverTime)
  }

  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [IdSet] {
    let answer = try await context.send(context.client.requests.search(sosl: query))
    var ids = IdSet(), reader = IdPageReader(idPath: fields.id)
    _ = try reader.read(answer.response, recordsKey: Self.recordsKey, into: &ids)
    return [ids]
  }
}
