import JSON
import MobileSync
import RestClient

extension RecordUpload {
  /// Sends a create such that a lost response can be distinguished from a lost request.
  func create() async throws -> UploadResult {
    guard let operation = up.create else { return readOnly("create") }
    if let refusal = row.key?.refusal {
      // Nothing was sent with this key, so the next run makes another one.
      var result = UploadResult(isSuccess: false, error: refusal, says: [])
      result.endsKey = true
      return result
    }
    let body = try await BodyWriter(exchange: exchange, operation: operation, row: row).body(), once = operation.once
    let url = try row.key?.url ?? exchange.url(operation.url, operation.params, row)
    var request = try request(operation, body, url: url, isRepeatable: once?.idempotencyHeader != nil)
    if let name = once?.idempotencyHeader, let token = row.key?.token { request.headers.append((name, token)) }
    switch try await exchange.send(request, operation.headers, row) {
    case .answered(let response): return try await succeeded(response, operation, body, "create")
    case .refused(let error): return try await refused(error, once, body)
    }
  }

  private func refused(_ error: RestError, _ once: CreateOnce?, _ body: UploadBody) async throws -> UploadResult {
    guard row.key?.isRepeated ?? false || error.followsLostAttempt, let status = error.status else { return failed(error) }
    if status == 409, error.followsLostAttempt, once?.idempotencyHeader != nil {
      // The earlier attempt is still being processed. The next run sends the same key again.
      var pending = UploadResult(isSuccess: false)
      pending.isPending = true
      return pending
    }
    if status == 409 || status == 412, let id = row.key?.id, let read = up.read,
      case .found(let found) = try await exchange.read(read, row),
      once?.givesOwnIds ?? false || up.create?.isSent(row.record, body.sent, in: found.members) ?? false
    {
      memory.note(tag: found.tag, of: id)
      var result = UploadResult(isSuccess: true, id: id)
      result.record = found.members
      return result
    }
    // Another client has deleted the record of the earlier attempt.
    if status == 410, once?.givesOwnIds ?? false, let id = row.key?.id { return UploadResult(isSuccess: true, id: id) }
    // A prepared URL is only accepted once, so the first attempt either arrived or was refused.
    guard once?.prepare != nil, [400, 404, 409, 410].contains(status) else { return failed(error) }
    guard let lookup = once?.lookup else {
      return failed(
        "an earlier create got no response, and the target has no 'lookup' to find its record: \(error.message)")
    }
    let ids = try await CreateFinder(exchange: exchange, row: row).ids(lookup)
    switch ids.count {
    case 0:
      var result = failed("the create was refused, and the next run prepares another one: \(error.message)")
      result.endsKey = true
      return result
    case 1: return try await completed(UploadResult(isSuccess: true, id: ids[0]), ids[0], body)
    default: return failed("'lookup' finds \(ids.count) possible records", code: "IN_DOUBT")
    }
  }
}

extension UploadOperation {
  /// Whether a record contains everything that was sent of an entry.
  func isSent(_ entry: JSONObject, _ sent: JSONObject, in record: JSONObject) -> Bool {
    guard case .fields(let fields)? = content else {
      return sent.allSatisfy { key, value in value == record[key] || value.isNull && record[key] == nil }
    }
    return fields.allSatisfy { field in
      guard case .path(let path) = field.source, let value = path.value(in: .object(entry)), !value.isNull else { return true }
      return path.value(in: .object(record)) == value
    }
  }
}

/// Finds the record of an earlier create.
struct CreateFinder: Sendable {
  let exchange: RecordExchange
  let row: UploadRow

  /// A record of the list, with its members as a sync down stores them.
  struct Found: Sendable {
    let id: String
    let members: JSONObject
  }

  func ids(_ lookup: CreateOnce.Lookup) async throws -> [String] { try await records(lookup).map(\.id) }

  /// Returns the records found. Searches twice, because a server's search index may lag.
  func records(_ lookup: CreateOnce.Lookup) async throws -> [Found] {
    let first = try await look(lookup)
    guard first.isEmpty else { return first }
    try await exchange.connection.wait(seconds: Double(lookup.waitMs) / 1000)
    return try await look(lookup)
  }

  /// - Throws: `RestError` if the response is not a list of records, because the record may then
  ///   still exist.
  private func look(_ lookup: CreateOnce.Lookup) async throws -> [Found] {
    let request = RestRequest(.GET, try exchange.url(lookup.url, lookup.params, row))
    switch try await exchange.send(request, [], row, expecting: [404, 410]) {
    case .refused(let error):
      if error.status == 404 || error.status == 410 { return [] }
      throw error
    case .answered(let response):
      guard response.body.count > 0 else { return [] }
      guard PageAnswer(response).isJSON, let json = try? response.body.json() else {
        throw response.response.invalidBody("'lookup' expects JSON")
      }
      return try items(json, lookup, response).map { try found($0, response) }
    }
  }

  /// A single record in place of the list counts as a list of one. Without a path of its own, the list is where the target's is,
  /// or all of the response.
  private func items(_ json: JSONValue, _ lookup: CreateOnce.Lookup, _ response: ConnectionResponse) throws -> [JSONValue] {
    let path = lookup.itemsPath ?? exchange.target.items.itemsPath
    var found = path.value(in: json)
    if found == nil, lookup.itemsPath == nil { found = json }
    switch found {
    case .array(let items)?: return items
    case .object(let item)?: return [.object(item)]
    case .null?: return []
    default:
      let kind = found?.kindName ?? "nothing"
      throw response.response.invalidBody("'lookup.itemsPath' (\(path.text)) leads to \(kind), not to a list")
    }
  }

  private func found(_ item: JSONValue, _ response: ConnectionResponse) throws -> Found {
    let items = exchange.target.items, inner = items.itemPath?.value(in: item) ?? item
    guard let id = (items.idField.value(in: inner) ?? items.idField.value(in: item))?.idText else {
      throw response.response.invalidBody("'lookup' finds a record without '\(items.idField.text)'; check 'lookup.itemsPath'")
    }
    return Found(id: id, members: try RecordShape.members(of: inner.objectValue ?? [:], exchange.target))
  }
}

extension RestSyncUpTarget {
  func createKeys(
    _ indices: [Int], of batch: DirtyBatch, known: [Int64: JSONObject], in context: UploadContext
  ) async throws -> [Int64: JSONObject] {
    guard let once = up.create?.once else { return [:] }
    let exchange = RecordExchange(target, up, try connection(), context)
    var keys: [Int64: JSONObject] = [:]
    for i in indices {
      let entryId = batch.entryIds[i]
      if let before = known[entryId], CreateKey(before).refusal == nil {
        var key = CreateKey(before)
        key.set("repeated", true)
        keys[entryId] = key.json
      } else {
        keys[entryId] = try await newKey(once, batch.entry(i), exchange)
      }
    }
    return keys
  }

  private func newKey(_ once: CreateOnce, _ entry: JSONObject, _ exchange: RecordExchange) async throws -> JSONObject {
    var key = CreateKey([:])
    if once.idempotencyHeader != nil { key.set("token", .string(CreateKey.uuid())) }
    let row = UploadRow(entry, base: nil, key: nil, isCreate: true, target)
    if let path = once.uniqueField {
      let own = path.value(in: .object(row.record))?.idText
      key.set("unique", .string(own ?? CreateKey.uuid()))
    }
    do {
      switch once.newId {
      case .uuid: key.set("id", .string(CreateKey.uuid()))
      case .path(let path): key.set("id", path.value(in: .object(row.record))?.idText.map { .string($0) })
      case .function(let name): key.set("id", try await exchange.call(name, row.record)?.idText.map { .string($0) })
      case nil: break
      }
      if once.newId != nil, key.id == nil { throw RecordExchange.MissingValue(message: "'newId' has no value") }
      if let prepare = once.prepare {
        do { try await prepareCreate(prepare, row, exchange, &key) } catch  where error.isPlanned {
          plan(prepare, exchange, &key)
        }
      }
    } catch let error as RecordExchange.MissingValue {
      let at = exchange.context.configuration.now()
      key.set("refusal", .object(RefusalDetails.failure(error.message, at: at)))
    }
    return key.json
  }

  /// Sets what the create takes from the answer to a request that was only noted.
  private func plan(_ prepare: CreateOnce.Prepare, _ exchange: RecordExchange, _ key: inout CreateKey) {
    let request = exchange.context.intent.recorder?.lastNumber ?? 0
    if prepare.urlPath != nil { key.set("url", .string("«URL of request \(request)»")) }
    if prepare.idPath != nil { key.set("id", .string(PlanRecorder.placeholder(request))) }
  }

  private func prepareCreate(
    _ prepare: CreateOnce.Prepare, _ row: UploadRow, _ exchange: RecordExchange, _ key: inout CreateKey
  ) async throws {
    let before = exchange.context.intent.recorder?.begin(.send, records: 0)
    defer { if let before { exchange.context.intent.recorder?.resume(before) } }
    let request = RestRequest(
      HTTPMethod(rawValue: prepare.method.rawValue) ?? .POST, try exchange.url(prepare.url, [], row), body: Array("{}".utf8),
      isRepeatable: true)
    switch try await exchange.send(request, [], row) {
    case .refused(let error):
      throw RecordExchange.MissingValue(message: "the request before the create was refused: \(error.message)")
    case .answered(let response):
      let answer = PageAnswer(response), json = (try? response.body.json()) ?? .null
      if let path = prepare.urlPath {
        guard let url = path.value(in: json, of: answer)?.stringValue else {
          throw RecordExchange.MissingValue(message: "the response to 'prepare' has no '\(path.text)'")
        }
        key.set("url", .string(URLReference.resolve(URLReference.repaired(url), against: response.url)))
      }
      if let path = prepare.idPath {
        guard let id = path.value(in: json, of: answer)?.idText else {
          throw RecordExchange.MissingValue(message: "the response to 'prepare' has no '\(path.text)'")
        }
        key.set("id", .string(id))
      }
    }
  }

  func find(_ lost: LostKeyedCreate, in context: UploadContext) async throws -> LostKeyedCreate.Finding {
    guard let once = up.create?.once else { return .inDoubt }
    let exchange = RecordExchange(target, up, try connection(), context)
    let row = UploadRow(lost.entry.replacing(with: lost.sent), base: nil, key: lost.key, isCreate: true, target)
    if let id = row.key?.id, let read = up.read {
      switch try await exchange.read(read, row) {
      case .found(let found):
        // Another client may have changed the record since.
        let isOurs = once.givesOwnIds || up.create?.isSent(row.record, lost.sent, in: found.members) ?? false
        memory.note(tag: found.tag, of: id)
        return isOurs ? try await finding(found.members, id, isCertain: once.givesOwnIds, row, exchange) : .inDoubt
      // It arrived, and another client has deleted the record since; the next sync down finds that.
      case .gone(isDeleted: true) where once.givesOwnIds: return .found(id: id, isCertain: true, record: [:])
      case .gone: return .sendAgain(isSafe: true)
      case .refused: return .inDoubt
      }
    }
    // The server recognizes a repeated create.
    if once.idempotencyHeader != nil || once.prepare != nil || row.key?.id != nil { return .sendAgain(isSafe: true) }
    guard let lookup = once.lookup else { return .inDoubt }
    let found = try await CreateFinder(exchange: exchange, row: row).records(lookup)
    switch found.count {
    case 0: return .sendAgain(isSafe: false)
    case 1: return try await finding(found[0].members, found[0].id, isCertain: row.key?.unique != nil, row, exchange)
    default: return .inDoubt
    }
  }

  /// - Parameter members: The record that was read, as a sync down stores it.
  private func finding(
    _ members: JSONObject, _ id: String, isCertain: Bool, _ row: UploadRow, _ exchange: RecordExchange
  ) async throws -> LostKeyedCreate.Finding {
    var record = members
    do { record = try await exchange.computed(members) } catch let error as RecordExchange.MissingValue {
      warn(error, exchange)
    }
    row.identify(&record, id, target.items.idField)
    return .found(id: id, isCertain: isCertain, record: record)
  }

  /// The record was found, so a failing transform function only causes a warning.
  private func warn(_ error: RecordExchange.MissingValue, _ exchange: RecordExchange) {
    exchange.context.configuration.logger.warning(
      "a record was found and is stored without the members that the target's 'transform' computes: \(error)",
      metadata: ["connection": "\(exchange.connection.name)"])
  }
}
