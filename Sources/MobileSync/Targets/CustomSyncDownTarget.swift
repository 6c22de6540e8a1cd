import JSON
import RecordScan
import SmartStore

/// A sync down whose records are fetched by a module of a script, or by the program that hosts the
/// engine.
///
/// `{"type": "custom", "luaImpl": "module.name"}`, with further keys for the implementation.
struct CustomSyncDownTarget: SyncDownTarget {
  let json: JSONObject
  let fields: TargetFields
  let isSortedByModification: Bool
  let caller: CustomTargetCaller

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject, defaults: TargetFields) throws(SyncError) {
    fields = try TargetFields(json, defaults: defaults)
    caller = try CustomTargetCaller(json, fields: fields)
    isSortedByModification = json["sortedByModification"]?.boolValue ?? false
    self.json = caller.target
  }

  var isIncremental: Bool { true }

  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage? {
    try await page(.startFetch, ["maxTimeStamp": .integer(since)], announced: nil, in: context)
  }

  private func page(
    _ function: CustomTargetCall.Function, _ arguments: JSONObject, announced: Int?, in context: FetchContext,
    after last: [UInt8]? = nil
  ) async throws -> SyncDownPage? {
    let text = try await caller.call(function, arguments, context.control, context.configuration)
    let keys = ["totalSize", "more", "records"], source = ByteArrayPage(text)
    let records: ScannedPage
    do {
      records = try context.plan.scan(source, recordsKey: "records", envelopeKeys: keys)
    } catch {
      throw caller.failure(function, "must return an array of records: \(error)")
    }
    guard records.hasRecords else { return nil }
    let total = records.envelope(0)?.boundedInteger.map { Int(clamping: $0) } ?? announced
    var page = SyncDownPage(parts: [records], totalSize: total ?? records.count)
    if let more = records.envelope(1), !more.isNull, more != .bool(false) {
      // The meaning of `more` is up to the module, but the same page twice is an error.
      guard more != arguments["more"] || text != last else {
        throw caller.failure(function, "gave the same page twice, with the same 'more': \(more.text)")
      }
      page.next = { try await self.page(.continueFetch, ["more": more], announced: total, in: context, after: text) }
    }
    return page
  }

  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [IdSet] {
    let text = try await caller.call(
      .remoteIds, ["localIds": .array(localIds[0].map { .string($0) })], context.control, context.configuration)
    guard let ids = (try? JSONValue(parsing: text))?["ids"]?.arrayValue else {
      throw caller.failure(.remoteIds, "must return an array of ids")
    }
    return [
      try IdSet(
        ids.map { id in
          guard let id = id.stringValue ?? id.integerValue.map({ String($0) }), !id.isEmpty else {
            throw caller.failure(.remoteIds, "must return ids that are strings or integers")
          }
          return id
        })
    ]
  }

  /// The module is the only one to know its server.
  func existence(
    of ids: [String], type: String, mapping: Int, in context: FetchContext
  ) async throws -> [RecordExistence] {
    do {
      let remote = try await remoteIds(among: [ids], in: context)[0]
      return ids.map { remote.contains($0) ? .present : .gone }
    } catch let error as SyncError where error.is(.customTarget) {
      context.configuration.logger.warning("\(error.message)")
      return ids.map { _ in .unknown }
    }
  }
}
