import JSON
import RestClient

/// A sync up whose uploads are sent by a module of a script, or by the program that hosts the
/// engine.
///
/// `{"type": "custom", "luaImpl": "module.name"}`. If the implementation lacks a function, the
/// host's service does that part with one request per record. If a function returns or raises an
/// error, its record fails; a create whose result is unusable is in doubt and is not repeated.
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

  var traits: UploadTraits {
    UploadTraits {
      // If the module creates records itself, it must avoid creating them twice: the engine may not be able to query that
      // server.
      $0.looksForLostCreates = !functions.contains(.createOnServer)
      $0.answersForItself = functions.contains(.updateOnServer)
      // A module that sends by itself is the only one to know its server.
      $0.comparesFields = functions.isDisjoint(
        with: [.isNewerThanServer, .fetchLastModifiedDates, .updateOnServer, .deleteOnServer])
      // Dates are requested for many records at once; a comparison function is called for each record right before it is sent.
      guard !functions.contains(.isNewerThanServer) else { return }
      $0.comparedAhead = $0.comparesFields ? UploadSettings.comparedAhead : CustomSyncUpTarget.datesAhead
    }
  }

  /// Few enough that the dates are still valid when the last record is sent.
  private static let datesAhead = 25

  func prepared(in context: UploadContext) async throws -> any SyncUpTarget {
    if let recorder = context.intent.recorder {
      // Its functions are not asked for, so that a plan calls nothing of a script.
      recorder.noteOpaqueRequests()
      return self
    }
    let answer = try await caller.object(.functions, [:], context.control, context.configuration)
    var target = self
    target.functions = Set((answer["functions"]?.arrayValue ?? []).compactMap { $0.stringValue.flatMap(Function.init) })
    return target
  }

  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] { uploads.map { UploadGroup(uploads: [$0]) } }

  // MARK: Sending

  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult] {
    guard context.intent.recorder == nil else { throw UploadNotSent(RequestPlanned()) }
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
    let entry = batch.entry(upload.index)
    if function == .createOnServer, let known = doubt(of: entry) { return known }
    var arguments: JSONObject = ["record": .object(entry)]
    if function != .deleteOnServer {
      let body = batch.body(upload.index, upload.action == .update ? .update : .create)
      arguments["fields"] = (try? JSONValue(parsing: body)) ?? [:]
    }
    do {
      let answer = try await caller.object(function, arguments, context.control, context.configuration)
      return function == .createOnServer ? created(answer) : written(function, answer)
    } catch let error as CustomFunctionRaised {
      return .failure("CUSTOM_TARGET", error.message)
    }
  }

  private func date(in answer: JSONObject) -> Int64? { answer["date"]?.stringValue.flatMap { TimeStamp.milliseconds($0) } }

  private func refused(_ function: Function, _ answer: JSONObject) -> UploadResult {
    .failure(
      "CUSTOM_TARGET",
      answer["reason"]?.stringValue ?? "\(function.rawValue) of '\(caller.implementation)' refused the record")
  }

  private func created(_ answer: JSONObject) -> UploadResult {
    let given = answer["id"] ?? .null
    if given.isNull || given.stringValue?.isEmpty ?? false { return refused(.createOnServer, answer) }
    guard let id = given.stringValue ?? given.integerValue.map(String.init) else {
      let kind = answer["idKind"]?.stringValue ?? given.kindName
      return inDoubt("createOnServer of '\(caller.implementation)' must return an id, or nil and a reason, got \(kind)")
    }
    var done = UploadResult(isSuccess: true, id: id)
    done.stamp = date(in: answer)
    return done
  }

  private func written(_ function: Function, _ answer: JSONObject) -> UploadResult {
    guard let status = answer["status"]?.integerValue.map({ Int(clamping: $0) }) else {
      return .failure("CUSTOM_TARGET", "\(function.rawValue) of '\(caller.implementation)' must return a status")
    }
    guard (200..<300).contains(status) else {
      return UploadResult(isSuccess: false, error: refused(function, answer).error, status: status)
    }
    var done = UploadResult(isSuccess: true)
    done.stamp = date(in: answer)
    return done
  }

  // MARK: Doubts

  private static let doubtCode = "IN_DOUBT"

  /// Returns the result of a create that was called without a usable result. The record may exist,
  /// and only the module could look for it.
  private func inDoubt(_ reason: String) -> UploadResult {
    let message =
      "\(reason); the record may have been created, so it is not sent again: give the entry the record's id, "
      + "remove the entry, or clear its __last_error__ to send it again"
    var result = UploadResult.failure(Self.doubtCode, message)
    result.isInDoubt = true
    return result
  }

  /// Returns the result for an entry whose create is in doubt: with the id that a script has set, it
  /// is created.
  private func doubt(of entry: JSONObject) -> UploadResult? {
    guard let text = entry[LocalField.lastError]?.stringValue, let error = try? JSONValue(parsing: Array(text.utf8)),
      error["statusCode"]?.stringValue == Self.doubtCode
    else { return nil }
    if let id = fields.id(of: entry), !id.isEmpty, !id.hasPrefix(LocalField.localIdPrefix) {
      return UploadResult(isSuccess: true, id: id)
    }
    var result = UploadResult(isSuccess: false, error: error)
    result.isInDoubt = true
    return result
  }

  // MARK: Comparing

  func remoteRecords(
    type: String, _ indices: [Int], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [RemoteRecord] {
    guard context.intent.recorder == nil else { throw UploadNotSent(RequestPlanned()) }
    do {
      if functions.contains(.isNewerThanServer) {
        return try await each(indices, unknown: .unknown, context) { [try await verdict(batch.entry($0[0]), context)] }
      }
      if functions.contains(.fetchLastModifiedDates) {
        return try await together(indices, unknown: .unknown, context) { try await dates($0.map(batch.entry), context) }
      }
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
    guard context.intent.recorder == nil else { throw UploadNotSent(RequestPlanned()) }
    guard functions.contains(.fetchFromServer) else {
      guard functions.isDisjoint(with: [.updateOnServer, .deleteOnServer]) else { return indices.map { _ in .unknown } }
      return try await service.versions(
        type: type, ids: indices.map { batch.serverId($0) ?? "" }, fields: fields, through: context.client)
    }
    return try await together(indices, unknown: .unknown, context) { indices in
      try await fetched(indices.map(batch.entry), fields, context)
    }
  }

  private func fetched(_ entries: [JSONObject], _ fields: [String], _ context: UploadContext) async throws -> [ServerVersion] {
    let answer = try await caller.object(
      .fetchFromServer,
      ["records": .array(entries.map { .object($0) }), "fields": .array(fields.map { .string($0) })],
      context.control, context.configuration)
    guard let records = answer["records"]?.arrayValue, records.count == entries.count else {
      throw caller.failure(.fetchFromServer, "must return one record for each of \(entries.count) records")
    }
    return records.map { record in
      if record == false { return .deleted }
      return record.objectValue.map { .record($0) } ?? .unknown
    }
  }

  /// Asks about all records at once and, if the function raises an error, about each one.
  private func together<T>(
    _ indices: [Int], unknown: T, _ context: UploadContext, _ ask: ([Int]) async throws -> [T]
  ) async throws -> [T] {
    guard indices.count > 1 else { return try await each(indices, unknown: unknown, context, ask) }
    do { return try await ask(indices) } catch is CustomFunctionRaised {
      return try await each(indices, unknown: unknown, context, ask)
    }
  }

  private func each<T>(
    _ indices: [Int], unknown: T, _ context: UploadContext, _ ask: ([Int]) async throws -> [T]
  ) async throws -> [T] {
    var found: [T] = []
    for i in indices {
      do { found += try await ask([i]) } catch let error as CustomFunctionRaised {
        context.configuration.logger.warning("\(error.message)")
        found.append(unknown)
      }
    }
    return found
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
