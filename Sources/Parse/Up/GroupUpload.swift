import JSON
import MobileSync
import RestClient
import SmartStore

/// Uploads the entries of one group and returns their results.
struct GroupUpload: Sendable {
  let target: ParseSyncUpTarget
  let exchange: ParseExchange
  let context: UploadContext
  let batch: DirtyBatch

  var memory: UploadMemory { target.memory }
  var className: String { target.target.className }
  var now: Int64 { context.configuration.now() }

  /// The result of a row that is not sent.
  struct KnownResult: Error { let result: UploadResult }

  enum Plan {
    case row(RowUpload)
    case done(UploadResult)
  }

  func send(_ group: UploadGroup) async throws -> [UploadResult] {
    let plans: [Plan]
    do {
      plans = try await self.plans(group)
    } catch {
      throw UploadNotSent(error)
    }
    let rows = plans.compactMap { plan -> RowUpload? in if case .row(let row) = plan, row.request != nil { row } else { nil } }
    let outcomes = await outcomes(of: rows)
    stopIfAllAreForbidden(outcomes)
    let kept = await keptObjects(rows, outcomes)
    var answered = zip(rows, outcomes).makeIterator(), results: [UploadResult?] = []
    var end = outcomes.lazy.compactMap(\.end).first
    for (plan, upload) in zip(plans, group.uploads) {
      var result: UploadResult?
      switch plan {
      case .done(let known): result = known
      case .row(let row) where row.request == nil: result = row.succeeded([:])
      case .row:
        guard let (row, outcome) = answered.next() else { continue }
        do { result = try await self.result(row, outcome, kept) } catch { end = end ?? error }
      }
      if let result { note(result, batch.entry(upload.index), upload.action) }
      results.append(result)
    }
    if let end { throw UploadCutShort(end, results: results) }
    return results.compactMap { $0 }
  }

  private func outcomes(of rows: [RowUpload]) async -> [BatchSender.Outcome] {
    let requests = rows.compactMap(\.request)
    guard let row = rows.first, requests.count == 1, requests[0].changesPassword, context.intent.recorder == nil else {
      return await sender(rows).send(requests)
    }
    let change = PasswordChange(
      exchange: exchange, memory: memory, request: requests[0], userId: batch.serverId(row.upload.index) ?? "",
      username: row.entry["username"]?.stringValue)
    return [await change.send()]
  }

  private func sender(_ rows: [RowUpload]) -> BatchSender {
    BatchSender(exchange: exchange, memory: memory, isTransaction: target.rules.isTransaction) { i in
      try await find(rows[i])
    }
  }

  /// Looks for the result of a write whose response is lost or inconclusive.
  private func find(_ row: RowUpload) async throws -> BatchSender.Finding {
    guard let request = row.request, request.verb == .update else {
      return try await CreateSearch(target: target, exchange: exchange).find(row)
    }
    return try await OperationCheck(exchange: exchange, className: className).finding(
      request.body ?? [:], of: batch.serverId(row.upload.index) ?? "", before: row.base?["updatedAt"], expected: row.resolved)
  }

  /// Remembers the result of a create for entries that refer to it.
  private func note(_ result: UploadResult, _ entry: JSONObject, _ action: UploadAction) {
    guard action == .create, let local = entry["objectId"]?.stringValue, local.hasPrefix(LocalField.localIdPrefix) else { return }
    if let id = result.id, result.isSuccess { memory.note(id, for: local) } else { memory.noteFailure(of: local) }
  }

  /// Ends the run if every record was refused for missing permissions, since the others would be,
  /// too.
  private func stopIfAllAreForbidden(_ outcomes: [BatchSender.Outcome]) {
    let isForbidden = outcomes.map { outcome in
      if case .refused(let refusal) = outcome { refusal.code == ServerCode.operationForbidden.rawValue } else { false }
    }
    guard outcomes.count > 1, isForbidden.allSatisfy({ $0 }), case .refused(let refusal)? = outcomes.first else { return }
    memory.end(
      RestError(
        code: .httpStatus, message: "class '\(className)' is not writable: \(refusal.message)", status: refusal.status))
  }

  // MARK: Results

  /// The ids of objects that the server says do not exist when asked to delete them, and that are still readable.
  private typealias KeptObjects = Result<IdSet, any Error>

  private func keptObjects(_ rows: [RowUpload], _ outcomes: [BatchSender.Outcome]) async -> KeptObjects {
    let ids = zip(rows, outcomes).compactMap { row, outcome -> String? in
      guard case .refused(let refusal) = outcome, row.request?.kind == .delete, refusal.action(for: .delete) == .done else {
        return nil
      }
      return batch.serverId(row.upload.index)
    }
    do {
      return .success(try await exchange.readable(ids, in: className))
    } catch {
      return .failure(error)
    }
  }

  /// - Returns: nil for a write that was not executed, or that may be sent again.
  private func result(_ row: RowUpload, _ outcome: BatchSender.Outcome, _ kept: KeptObjects) async throws -> UploadResult? {
    switch outcome {
    case .done(let answer): return row.succeeded(answer)
    case .refused(let refusal): return try await result(row, refusal, kept)
    case .unknown(let refusal) where row.request?.verb == .update: return try undecided(row, refusal.message)
    case .unknown(let refusal): return try pending(row, refusal)
    case .lost(let error, true) where row.sendsOperations:
      switch try? await find(row) {
      case .made(let object)?: return row.succeeded(object)
      case .notMade?: return nil
      case .unclear?, nil: return try undecided(row, "\(error)")
      }
    case .lost(let error, true) where row.request?.verb == .create:
      return try pending(row, ServerRefusal(status: nil, code: nil, message: "\(error)"))
    case .lost, .notSent: return nil
    }
  }

  /// An operation that may have been applied is not sent again until the entry is edited.
  private func undecided(_ row: RowUpload, _ reason: String) throws -> UploadResult {
    try row.failed(
      "\(reason); the operations may have been applied nevertheless: compare the object with this entry, then edit the entry",
      at: now, isLasting: true)
  }

  private func pending(_ row: RowUpload, _ refusal: ServerRefusal) throws -> UploadResult {
    var pending = try row.failed(refusal, at: now, isLasting: false)
    pending.isPending = true
    return pending
  }

  private func result(_ row: RowUpload, _ refusal: ServerRefusal, _ kept: KeptObjects) async throws -> UploadResult {
    let kind = row.request?.kind ?? .update
    switch refusal.action(for: row.adopted == nil ? kind : .create) {
    case .done:
      guard try kept.get().contains(batch.serverId(row.upload.index) ?? "") else { return row.succeeded([:]) }
      return try row.failed(refusal.ofKeptObject, at: now, isLasting: false)
    case .readBack: return try row.failed(refusal, at: now, isLasting: false, says: .recordMayBeGone)
    case .duplicate:
      return try await adopted(row, refusal) ?? row.failed(refusal, at: now, isLasting: true)
    case .flag, .flagFile, .flagAndDropField, .noPermission:
      return try row.failed(refusal, at: now, isLasting: refusal.code != ServerCode.operationForbidden.rawValue)
    case .retry, .verify: return try row.failed(refusal, at: now, isLasting: false)
    case .pause:
      memory.end(RestError(code: .quotaExhausted, message: "the server's request limit is used up: \(refusal.message)"))
    case .signIn:
      // If a user record lacks its own session, only that record is affected.
      if refusal.code == ServerCode.invalidSessionToken.rawValue {
        memory.end(RestError(code: .notAuthenticated, message: "the session has expired: \(refusal.message)"))
      }
    case .stop, .checkKeys:
      memory.end(RestError(code: .httpStatus, message: refusal.message, status: refusal.status))
    }
    return try row.failed(refusal, at: now, isLasting: false)
  }

  /// Adopts an existing object after a unique index on the server found the duplicate.
  private func adopted(_ given: RowUpload, _ refusal: ServerRefusal) async throws -> UploadResult? {
    guard given.upload.action == .create, target.rules.onDuplicate == .adopt, given.adopted == nil,
      let id = try await UniqueCheck(target: target, exchange: exchange).find(given.resolved), let body = given.request?.body
    else { return nil }
    var row = given
    row.adopted = id
    row.request = try adoption(id, body)
    guard let request = row.request else { return row.succeeded([:]) }
    let outcome = await sender([row]).send([request])[0]
    if let end = outcome.end { throw end }
    guard case .done(let answer) = outcome else { return nil }
    return row.succeeded(answer)
  }
}

extension JSONObject {
  func hasFlag(_ key: String) -> Bool { self[key] == true || self[key] == 1 }
}
