import JSON
import MobileSync
import RestClient
import SmartStore

/// Downloads one record: a page layout of a type.
///
/// - Note: Source: Mobile SDK, `LayoutSyncDownTarget`. The id is `type-formFactor-layoutType-mode-recordTypeId`, with `null` for
///   missing parts.
struct LayoutSyncDownTarget: SyncDownTarget {
  let json: JSONObject
  let fields: TargetFields
  private let type: String
  /// Form factor, layout type, mode and record type id.
  private let parts: [String?]

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    let reader = TargetReader(json: json, label: "layout target")
    fields = try TargetFields(json)
    type = try reader.string("sobjectType")
    var parts: [String?] = []
    for key in ["formFactor", "layoutType", "mode", "recordTypeId"] { parts.append(try reader.optionalString(key)) }
    self.parts = parts
    self.json = fields.written(to: json)
  }

  /// The id under which the record is stored.
  var recordId: String { ([type] + parts.map { $0 ?? "null" }).joined(separator: "-") }

  var hasGhosts: Bool { false }

  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage? {
    let request = context.client.requests.layout(
      type: type, formFactor: parts[0], layoutType: parts[1], mode: parts[2], recordTypeId: parts[3])
    return try await SingleRecord.page(request, id: recordId, fields: fields, in: context)
  }

  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [IdSet] { [[]] }
}

/// Downloads one record: the description of a type.
///
/// - Note: Source: Mobile SDK, `MetadataSyncDownTarget`. The id is the type.
struct MetadataSyncDownTarget: SyncDownTarget {
  let json: JSONObject
  let fields: TargetFields
  private let type: String

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    fields = try TargetFields(json)
    type = try TargetReader(json: json, label: "metadata target").string("sobjectType")
    self.json = fields.written(to: json)
  }

  var hasGhosts: Bool { false }

  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage? {
    try await SingleRecord.page(context.client.requests.describe(type: type), id: type, fields: fields, in: context)
  }

  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [IdSet] { [[]] }
}

/// Turns a response that is a single JSON object into a page with one record.
private enum SingleRecord {
  static func page(
    _ request: RestRequest, id: String, fields: TargetFields, in context: FetchContext
  ) async throws -> SyncDownPage {
    let answer = try await context.send(request)
    let record: [UInt8]
    do {
      record = try answer.response.body.withUnsafeBytes {
        try EntryText.rewrite($0, dropping: [fields.id], adding: [fields.id: .string(id)])
      }
    } catch {
      throw answer.response.invalidBody("expected a JSON object")
    }
    let page = try context.plan.scan(array: [UInt8(ascii: "[")] + record + [UInt8(ascii: "]")], of: answer.response)
    return SyncDownPage(parts: [page], totalSize: 1, serverTime: answer.serverTime)
  }
}
