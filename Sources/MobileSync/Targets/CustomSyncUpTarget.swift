import JSON
import RestClient

/// A sync up whose uploads are sent by a module of a script, or by the program that hosts the
/// engine.
///
/// `{"type": "custom", "luaImpl": "module.name"}`. If the implementation lacks a function, the
/// host's service does that part with one request per record. If a function returns an error, its
/// record fails; if it raises one, the run ends.
struct CustomSyncUpTarget: SyncUpTarget {
  typealias Function = CustomTargetCall.Function

  let settings: UploadSettings
  private let service: any SyncService
  private let caller: CustomTargetCaller
  /// The functions that the implementation has.
  private var functions: Set<Function> = []

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject, service: any SyncService) throws(SyncError) {
    self.service = service
    settings = try UploadSettings(json, type: "custom", defaults: service.defaultFields, largestBatch: 1)
    caller = CustomTargetCaller(
      implementation: try TargetReader(json: json, label: "custom target").string("luaImpl"), target: settings.json)
  }

  /// If the module creates records itself, it must avoid creating them twice: the engine may not be
  /// able to query that server.
  var looksForLostCreates: Bool { !functions.contains(.createOnServer) }

  /// A module that sends by itself is the only one to know its server.
  var comparesFields: Bool {
    functions.isDisjoint(with: [.isNewerThanServer, .fetchLastModifiedDates, .updateOnServer, .deleteOnServer])
  }

  /// Dates are requested for many records at once; a comparison function is called for each record
  /// right before it is sent.
  var comparedAhead: Int {
    if functions.contains(.isNewerThanServer) { return 0 }
    return comparesFields ? UploadSettings.comparedAhead : CustomSyncUpTarget.datesAhead
  }

  /// Few enough that the dates are still valid when the last record is sent.
  private static let datesAhead = 25

  var answersForItself: Bool { functions.contains(.updateOnServer) }

  func prepared(in context: UploadContext) async throws -> any SyncUpTarget {
    let answer = try await caller.object(.functions, [:], context.control, context.configuration)
    var target = self
    target.functions = Set((answer["functions"]?.arrayValue ?? []).compactMap { $0.stringValue.flatMap(Function.init) })
    return target
  }

  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] { uploads.map { UploadGroup(uploads: [$0]) } }

  // MARK: Sending

  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult] {
    var results: [UploadResult] = []
    for upload in group.uploads {
      let function = CustomSyncUpTarget.function(upload.action)
      if functions.contains(function) {
        results.append(try await call(function, upload, batch, context))
      } else {
        results.append(try await service.send(upload, of: batch, in: context))
      }
    }
    return results
  }

  private static func function(_ action: UploadAction) -> Function {
    switch action {
    case .update: .updateOnServer
    case .delete: .deleteOnServer
    default: .createOnServer
    }
  }

  private func call(
    _ function: Function, _ upload: PlannedUpload, _ batch: DirtyBatch, _ context: UploadContext
  ) async throws -> UploadResult {
    var arguments: JSONObject = ["record": .object(batch.entry(upload.index))]
    if function != .deleteOnServer {
      let body = batch.body(upload.index, upload.action == .update ? .update : .create)
      arguments["fields"] = (try? JSONValue(parsing: body)) ?? [:]
    }
    let answer = try await caller.object(function, arguments, context.control, context.configuration)
    let text = answer["reason"]?.stringValue ?? "\(function.rawValue) of '\(caller.implementation)' refused the record"
    let refused = UploadResult.failure("CUSTOM_TARGET", text)
    var done = UploadResult(isSuccess: true, id: answer["id"]?.stringValue)
    done.stamp = answer["date"]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
    if function == .createOnServer { return done.id?.isEmpty ?? true ? refused : done }
    guard let status = answer["status"]?.integerValue.map({ Int(clamping: $0) }) else {
      throw caller.failure(function, "must return a status")
    }
    return (200..<300).contains(status)
      ? done : UploadResult(isSuccess: false, error: refused.error, status: status)
  }

  // MARK: Comparing

  func remoteRecords(
    type: String, _ indices: [Int], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [RemoteRecord] {
    do {
      if functions.contains(.isNewerThanServer) {
        var found: [RemoteRecord] = []
        for i in indices { found.append(try await verdict(batch.entry(i), context)) }
        return found
      }
      if functions.contains(.fetchLastModifiedDates) { return try await dates(indices.map(batch.entry), context) }
    } catch let error as SyncError where error.code == SyncError.Code.customTarget.rawValue {
      // An unknown state keeps only that record from being sent.
      context.configuration.logger.warning("\(error.message)")
      return indices.map { _ in .unknown }
    }
    // If the module sends by itself, nothing else is known about its records.
    guard functions.isDisjoint(with: [.updateOnServer, .deleteOnServer]) else { return indices.map { _ in .unknown } }
    return try await context.remoteRecords(
      type: type, ids: indices.map { batch.serverId($0) ?? "" }, dateField: fields.modificationDate)
  }

  func remoteVersions(
    type: String, _ indices: [Int], fields: [String], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [ServerVersion] {
    guard functions.contains(.fetchFromServer) else {
      guard functions.isDisjoint(with: [.updateOnServer, .deleteOnServer]) else { return indices.map { _ in .unknown } }
      return try await service.versions(
        type: type, ids: indices.map { batch.serverId($0) ?? "" }, fields: fields, through: context.client)
    }
    let answer = try await caller.object(
      .fetchFromServer,
      ["records": .array(indices.map { .object(batch.entry($0)) }), "fields": .array(fields.map { .string($0) })],
      context.control, context.configuration)
    guard let records = answer["records"]?.arrayValue, records.count == indices.count else {
      throw caller.failure(.fetchFromServer, "must return one record for each of \(indices.count) records")
    }
    return records.map { record in
      if record == false { return .deleted }
      return record.objectValue.map { .record($0) } ?? .unknown
    }
  }

  private func verdict(_ record: JSONObject, _ context: UploadContext) async throws -> RemoteRecord {
    let answer = try await caller.object(
      .isNewerThanServer, ["record": .object(record)], context.control, context.configuration)
    guard let isNewer = answer["newer"]?.boolValue else { throw caller.failure(.isNewerThanServer, "must return a boolean") }
    return isNewer ? .unchanged : .changed
  }

  private func dates(_ records: [JSONObject], _ context: UploadContext) async throws -> [RemoteRecord] {
    let answer = try await caller.object(
      .fetchLastModifiedDates, ["records": .array(records.map { .object($0) })], context.control, context.configuration)
    guard let dates = answer["dates"]?.arrayValue, dates.count == records.count else {
      throw caller.failure(.fetchLastModifiedDates, "must return one date for each of \(records.count) records")
    }
    return dates.map { date in
      if date == false { return .deleted }
      return date.stringValue.flatMap { TimeStamp.milliseconds($0) }.map { .modified($0) } ?? .unknown
    }
  }
}
