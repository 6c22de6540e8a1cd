import JSON
import MobileSync
import RestClient

/// Uploads one record and returns the result.
struct RecordUpload: Sendable {
  let exchange: RecordExchange
  let memory: UploadMemory
  let row: UploadRow

  var up: UploadRules { exchange.up }
  var context: UploadContext { exchange.context }
  var now: Int64 { context.configuration.now() }

  /// Retries of a write whose tag keeps changing.
  private static let repeats = 3

  func send(_ action: UploadAction) async throws -> UploadResult {
    if let refused = refusedBefore { return UploadResult(isSuccess: false, error: refused, says: []) }
    do {
      switch action {
      case .update: return try await write(up.update, "update")
      case .delete: return try await write(up.delete, "delete")
      default: return try await create()
      }
    } catch let error as RecordExchange.MissingValue {
      return failed(error.message)
    }
  }

  /// The server's earlier refusal of the same content.
  private var refusedBefore: JSONValue? {
    guard let text = row.entry[LocalField.lastError]?.stringValue,
      let error = try? JSONValue(parsing: Array(text.utf8)), error["content"]?.stringValue == row.contentHash
    else { return nil }
    return error
  }

  // MARK: Results

  func failed(_ message: String, code: String? = nil) -> UploadResult {
    UploadResult(isSuccess: false, error: .object(RefusalDetails.failure(message, code: code, at: now)), says: [])
  }

  func failed(_ error: RestError, says: UploadResult.Says = []) -> UploadResult {
    let details = RefusalDetails.json(
      error, exchange.connection.settings.errors, at: now, content: says.isEmpty ? row.contentHash : nil)
    var result = UploadResult(isSuccess: false, error: details, status: error.status, says: says)
    result.followsLostAttempt = error.followsLostAttempt
    return result
  }

  func readOnly(_ name: String) -> UploadResult {
    failed("the target is read-only for this operation: it has no '\(name)' in 'up'", code: "READ_ONLY")
  }

  // MARK: Updates and deletes

  private func write(_ operation: UploadOperation?, _ name: String) async throws -> UploadResult {
    guard let operation else { return readOnly(name) }
    guard let id = row.serverId else { return failed("the entry is not new but has no server id") }
    let isOverwriting = context.mergeMode == .overwrite
    // The record was already read in this run and is gone: there is nothing to delete.
    if name == "delete", memory.isGone(id) { return UploadResult(isSuccess: true) }
    if !isOverwriting, let reason = memory.whyUnreadable(id) { return failed(reason) }
    var tries = 0
    while true {
      guard let conditions = try await conditions(id, mayRead: isOverwriting || tries > 0) else {
        return UploadResult(isSuccess: false, says: .recordHasChanged)
      }
      let writer = BodyWriter(
        exchange: exchange, operation: operation, row: row, added: isOverwriting ? [:] : memory.added(to: id))
      let body = try await writer.body(tag: conditions.tag)
      guard body.hasChanges else { return UploadResult(isSuccess: true) }
      let request = try request(operation, body, url: try exchange.url(operation.url, operation.params, row))
      switch try await exchange.send(
        request, operation.headers, row, conditions: conditions.headers, expecting: [404, 410],
        mayLackCondition: isOverwriting && up.precondition == .check && up.hasRead)
      {
      case .answered(let response): return try await succeeded(response, operation, body, name)
      case .refused(let error):
        switch error.status {
        case 404, 410: return try gone(error, name)
        case 409, 412, 428:
          tries += 1
          if let result = try await refused(error, conditions, id, mayRepeat: tries <= RecordUpload.repeats) { return result }
        default: return failed(error)
        }
      }
    }
  }

  /// Handles the refusal of a write because of the record's version.
  ///
  /// - Returns: nil to repeat the write with the current tag.
  private func refused(
    _ error: RestError, _ conditions: Conditions, _ id: String, mayRepeat: Bool
  ) async throws -> UploadResult? {
    let wasRefused = memory.noteConflict(id, conditions.text)
    guard context.mergeMode == .overwrite else {
      if error.status == 409, wasRefused != nil { return failed(error) }
      // The record was read and compared in between, and has the tag that was refused.
      if error.status != 409, wasRefused == conditions.text, !conditions.text.isEmpty { return conditionFailed(conditions) }
      return failed(error, says: .recordHasChanged)
    }
    guard mayRepeat, up.hasRead else { return failed(error) }
    memory.forget(id)
    guard try await refreshTag(id) else { return failed(error) }
    guard error.status != 409 else { return nil }
    let tag = memory.tag(of: id).flatMap(up.tag.condition)
    if conditions.headers.isEmpty, tag == nil { throw exchange.conditionRequired(error) }
    return tag != nil && tag == conditions.headers.first?.value ? conditionFailed(conditions) : nil
  }

  /// A failed condition of a record that has not changed says that the condition is wrong.
  private func conditionFailed(_ conditions: Conditions) -> UploadResult {
    failed(
      "the server refused '\(conditions.text)' although the record has not changed since it was read: "
        + "check 'up.tag' (without it the ETag is sent) and 'precondition'", code: "CONDITION_REFUSED")
  }

  private struct Conditions {
    var headers: [TextPair] = []
    var tag: String?

    var text: String { headers.map { "\($0.name): \($0.value)" }.joined(separator: ", ") }
  }

  /// - Returns: nil if the engine must first read the tag and compare the record.
  private func conditions(_ id: String, mayRead: Bool) async throws -> Conditions? {
    var found = Conditions()
    switch up.precondition {
    case .none: return found
    case .ifUnmodifiedSince:
      if let date = context.datesSeen[id] ?? exchange.target.items.recordDate(of: row.entry) {
        found.headers.append(TextPair(name: "If-Unmodified-Since", value: TimeStamp.httpDate(date)))
      }
      return found
    case .check, .ifMatch:
      var tag = memory.tag(of: id) ?? up.tag.path.value(in: .object(row.entry))?.idText
      if tag == nil, up.precondition == .ifMatch, up.hasRead {
        // A record already read in this run has no tag. Otherwise the engine must read and compare
        // the record first, then send it again.
        guard mayRead || memory.wasSeen(id) else { return nil }
        if !memory.wasSeen(id) { _ = try await refreshTag(id) }
        tag = memory.tag(of: id)
      } else if tag == nil, context.mergeMode == .overwrite, up.hasRead, !memory.wasSeen(id), memory.mayHaveTags {
        // Nothing was compared. The first record shows whether the server has tags.
        let isRead = try await refreshTag(id)
        tag = memory.tag(of: id)
        if isRead { memory.note(hasTags: tag.flatMap(up.tag.condition) != nil) }
      }
      found.tag = tag
      if let text = tag.flatMap(up.tag.condition) { found.headers.append(TextPair(name: up.tag.header, value: text)) }
      return found
    }
  }

  /// Reads the record's current tag.
  ///
  /// - Returns: False if the record cannot be read.
  private func refreshTag(_ id: String) async throws -> Bool {
    if let recorder = context.intent.recorder {
      recorder.note(unknown: "reads of the tags that writes need")
      return false
    }
    guard let read = up.read, case .found(let found) = try await exchange.read(read, row) else { return false }
    memory.note(tag: found.tag, of: id)
    return true
  }

  private func gone(_ error: RestError, _ name: String) throws -> UploadResult {
    guard name == "update", context.mergeMode == .overwrite else { return failed(error, says: .recordMayBeGone) }
    guard up.create != nil else { return failed(error) }
    guard memory.countRecreated() <= up.maxRecreate else {
      throw RecordExchange.misconfigured(
        "more than \(up.maxRecreate) updates were answered \(error.status ?? 404), so their records would be created "
          + "again; check 'up.update.url', or raise 'maxRecreate'")
    }
    return failed(error, says: .recordMayBeGone)
  }

  // MARK: Requests and answers

  func request(_ operation: UploadOperation, _ body: UploadBody, url: String, isRepeatable: Bool? = nil) throws -> RestRequest {
    RestRequest(
      HTTPMethod(rawValue: operation.method.rawValue) ?? .POST, url, body: body.bytes, contentType: operation.contentType,
      isRepeatable: isRepeatable)
  }

  func succeeded(
    _ response: ConnectionResponse, _ operation: UploadOperation, _ body: UploadBody, _ name: String
  ) async throws -> UploadResult {
    if name == "delete" {
      // A portal's HTML page says nothing about the record.
      guard PageAnswer(response).decides(bodyIsEmpty: response.body.count == 0) else {
        throw response.response.invalidBody("expected JSON, plain text or no body")
      }
      return UploadResult(isSuccess: true, status: response.status)
    }
    let answer = try RecordAnswer(response, to: operation, row, exchange)
    if let warning = answer.warning { warn(warning) }
    if answer.isGone {
      return try gone(RestError(code: .httpStatus, message: "the server did not find the record", status: 404), name)
    }
    guard let id = answer.id else {
      guard name == "create" else { return UploadResult(isSuccess: true) }
      if response.status == 202 {
        var pending = UploadResult(isSuccess: false)
        pending.isPending = true
        return pending
      }
      throw response.response.invalidBody("the answer to the create has no id; set 'idPath' or 'itemPath'")
    }
    // A response without a tag does not mean that the record has none.
    if let tag = answer.tag { memory.note(tag: tag, of: id) } else { memory.forget(id) }
    var result = UploadResult(isSuccess: true, id: id)
    // Accepted, but executed later: until then, the server still shows the old record.
    if name == "update", response.status == 202 { return sentMembers(body.sent, in: result, id) }
    if var members = answer.members {
      if operation.answer == .partial { members = body.sent.replacing(with: members) } else { members = await computed(members) }
      result.record = members
      return result
    }
    return try await completed(result, id, body)
  }

  /// Reads the record after a write whose response did not contain it.
  func completed(_ given: UploadResult, _ id: String, _ body: UploadBody) async throws -> UploadResult {
    var result = given
    if let read = up.read {
      var entry = row.entry
      entry.set(.string(id), at: exchange.target.items.idField.memberNames ?? [])
      let known = UploadRow(entry, base: row.base, key: nil, exchange.target)
      do {
        if case .found(let found) = try await exchange.read(read, known) {
          memory.note(tag: found.tag, of: id)
          var members = await computed(found.members)
          // A record that is read may lack its id, which is then taken from the request.
          row.identify(&members, id, exchange.target.items.idField)
          result.record = members
          return result
        }
      } catch let error as RestError where error.code != .cancelled && error.code != .shutDown {
        warn("the record '\(id)' was written but could not be read afterwards: \(error.message)")
      }
    }
    return sentMembers(body.sent, in: result, id)
  }

  /// Returns the record to store in the soup. The write has succeeded, so a failing transform
  /// function only causes a warning; its members follow with the next sync down.
  private func computed(_ members: JSONObject) async -> JSONObject {
    do {
      return try await exchange.computed(members)
    } catch {
      warn("a record was written but is stored without the members that the target's 'transform' computes: \(error)")
      return members
    }
  }

  /// Returns the sent members as the record, since nothing else is known. Its date and tag have
  /// changed on the server.
  private func sentMembers(_ sent: JSONObject, in given: UploadResult, _ id: String) -> UploadResult {
    var result = given, record = sent
    row.identify(&record, id, exchange.target.items.idField)
    for path in [exchange.target.items.dateField, up.tag.path].compactMap({ $0 }) where path == up.tag.path || !path.isIn(sent) {
      guard let keys = path.memberNames, let first = keys.first else { continue }
      record.remove(at: keys)
      // A nested member was removed along with its object.
      if keys.count == 1 { result.outdated.append(first) }
    }
    result.record = record
    return result
  }

  private func warn(_ message: String) {
    context.configuration.logger.warning("\(message)", metadata: ["connection": "\(exchange.connection.name)"])
  }
}
