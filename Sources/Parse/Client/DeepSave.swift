import JSON
import RestClient

/// Saves objects that refer to one another: the referenced objects first, and independent objects
/// in batches of up to fifty.
struct DeepSave: Sendable {
  let client: ParseClient
  /// The column for an id that identifies a create whose response is lost.
  let clientKeyField: String?

  /// An object to save.
  struct Node: Sendable {
    let className: String
    /// The server's id or a local one.
    let id: String
    /// Values and operations.
    var body: JSONObject
    /// The expected fields after the save. They show whether a change took effect whose response is
    /// lost.
    var known = JSONObject()

    var isNew: Bool { ParsePointer(className: className, objectId: id).isLocal }
    var changesPassword: Bool { className == "_User" && !isNew && body["password"] != nil }
  }

  struct Saved: Sendable, Equatable {
    let id: String
    /// The fields sent.
    var sent: JSONObject
    /// The server's response.
    var answer: JSONObject
    /// Ids assigned in the same save, by local id.
    var ids: IdMap<String> = [:]
    /// Fields with uploaded files, including the files' URLs.
    var files = JSONObject()
  }

  typealias Outcome = Result<Saved, ParseSaveError>

  /// The state of a save.
  fileprivate struct Progress {
    var outcomes: [Outcome?]
    /// Assigned ids, by local id.
    var ids: IdMap<String> = [:]
    /// Relation changes and circular pointers that a create omits; an update sends them afterwards.
    var deferred: [Int: JSONObject] = [:]
    /// Fields with uploaded files, by object.
    var files: [Int: JSONObject] = [:]
    /// The failure of a whole request; nothing else is sent after it.
    var end: RestError?
  }

  func save(_ nodes: [Node]) async -> [Outcome] {
    var progress = Progress(outcomes: Array(repeating: nil, count: nodes.count))
    var open = nodes.indices.filter { !nodes[$0].changesPassword }
    while !open.isEmpty, progress.end == nil {
      let ready = open.filter { waiting(nodes[$0], progress).isEmpty }
      if ready.isEmpty {
        guard let first = open.first(where: { isCircle(nodes[$0], nodes, open, progress) }) else {
          for i in open { progress.outcomes[i] = .failure(refusal(nodes[i], progress)) }
          break
        }
        await send([first], nodes, &progress)
        open.removeAll { $0 == first }
      } else {
        await send(ready, nodes, &progress)
        open.removeAll(where: ready.contains)
      }
    }
    await sendDeferred(nodes, &progress)
    await changePasswords(nodes, &progress)
    return progress.outcomes.enumerated().map { i, outcome in
      switch outcome ?? .failure(ParseSaveError(progress.end)) {
      case .success(var saved):
        saved.ids = progress.ids
        saved.files = progress.files[i] ?? [:]
        return .success(saved)
      case .failure(var error):
        error.uploaded = progress.files[i] ?? [:]
        return .failure(error)
      }
    }
  }

  // MARK: Order

  /// Returns the pointers to objects that have only a local id so far.
  private func waiting(_ node: Node, _ progress: Progress) -> [ParsePointer] {
    node.body.flatMap { key, value in isDeferred(value, node) ? [] : LocalPointers.all(in: value) }
      .filter { progress.ids[$0.objectId] == nil }
  }

  /// Relation changes follow the create: an error in them, after the insert, would look like a
  /// failed create.
  private func isDeferred(_ value: JSONValue, _ node: Node) -> Bool {
    node.isNew && ["AddRelation", "RemoveRelation", "Batch"].contains(value["__op"]?.stringValue ?? "")
  }

  /// Whether an object only waits for objects that are still to be sent. It can then be created
  /// first, and its pointers follow.
  private func isCircle(_ node: Node, _ nodes: [Node], _ open: [Int], _ progress: Progress) -> Bool {
    node.isNew && waiting(node, progress).allSatisfy { pointer in open.contains { nodes[$0].id == pointer.objectId } }
  }

  private func refusal(_ node: Node, _ progress: Progress) -> ParseSaveError {
    let missing = waiting(node, progress).first
    return ParseSaveError(
      code: nil,
      message: "waiting for \(missing?.className ?? "?")/\(missing?.objectId ?? "?"), which was not saved; save it together with "
        + "this one, or before")
  }

  // MARK: Sending

  private func send(_ indices: [Int], _ nodes: [Node], _ progress: inout Progress) async {
    var sent: [Int] = [], requests: [ObjectRequest] = []
    for i in indices where progress.end == nil {
      do {
        let node = try await withFiles(i, nodes[i], &progress)
        guard let request = try request(i, node, &progress) else {
          progress.outcomes[i] = .success(Saved(id: node.id, sent: [:], answer: [:]))
          continue
        }
        sent.append(i)
        requests.append(request)
      } catch let problem as ParseProblem {
        progress.outcomes[i] = .failure(ParseSaveError(code: nil, message: problem.description))
      } catch {
        progress.fail(i, error)
      }
    }
    guard !requests.isEmpty, progress.end == nil else { return }
    let outcomes = await sender(requests, sent.map { nodes[$0] }).send(requests)
    for ((i, request), outcome) in zip(zip(sent, requests), outcomes) {
      progress.end = progress.end ?? outcome.end.map(Self.restError)
      progress.outcomes[i] = await result(outcome, request, nodes[i])
      if case .success(let saved)? = progress.outcomes[i] { progress.ids[nodes[i].id] = saved.id }
    }
  }

  /// Files are uploaded before the objects that refer to them.
  private func withFiles(_ i: Int, _ node: Node, _ progress: inout Progress) async throws -> Node {
    var node = node
    for (field, value) in node.body where PendingFile.isIn(value) {
      let stored = try await PendingFile.replaced(in: value) { try await client.stored($0) }
      node.body[field] = stored
      progress.files[i, default: [:]][field] = stored
    }
    return node
  }

  /// Returns nil if nothing has changed: an empty PUT would change `updatedAt`.
  private func request(_ i: Int, _ node: Node, _ progress: inout Progress) throws(ParseProblem) -> ObjectRequest? {
    var body = JSONObject(), later = JSONObject()
    for (field, value) in node.body {
      if ParseNames.serverFields.contains(field) { continue }
      try check(field, of: node.className)
      let resolved = LocalPointers.resolved(value, progress.ids)
      if isDeferred(value, node) || !LocalPointers.all(in: resolved).isEmpty {
        later[field] = value
      } else if let operation = value["__op"]?.stringValue {
        try FieldOperation.check(operation, on: field)
        // A new object has no values to delete.
        if !node.isNew || operation != "Delete" { body[field] = resolved }
      } else if let value = try OutgoingValue(resolved).json {
        body[field] = value
      }
    }
    if !later.isEmpty { progress.deferred[i] = later }
    if node.isNew {
      if let field = clientKeyField, body[field] == nil { body[field] = .string(UUIDText.make()) }
      return try .create(node.className, body)
    }
    return body.isEmpty ? nil : try .update(node.className, node.id, body)
  }

  /// Validates a column, or a path into an Object column.
  private func check(_ field: String, of className: String) throws(ParseProblem) {
    if field == "ACL" || className == "_User" && field == "authData" { return }
    let column = String(field.prefix { $0 != "." })
    try ParseNames.checkField(column, of: className)
    if column != field, !ParseNames.isPath(field) { try ParseNames.checkField(field, of: className) }
  }

  /// Sends the fields that had to wait for ids.
  private func sendDeferred(_ nodes: [Node], _ progress: inout Progress) async {
    for i in nodes.indices {
      guard let later = progress.deferred[i], case .success(var saved)? = progress.outcomes[i] else { continue }
      let body = LocalPointers.resolved(.object(later), progress.ids).objectValue ?? [:]
      if let missing = LocalPointers.all(in: .object(body)).first {
        progress.outcomes[i] = .failure(
          ParseSaveError(
            code: nil, message: "the object is saved, but without its pointers to \(missing.className)/\(missing.objectId)",
            savedId: saved.id))
        continue
      }
      guard progress.end == nil, let request = try? ObjectRequest.update(nodes[i].className, saved.id, body) else {
        progress.outcomes[i] = .failure(ParseSaveError(progress.end, savedId: saved.id))
        continue
      }
      let outcome = await sender([request], [nodes[i]]).send([request])[0]
      progress.end = outcome.end.map(Self.restError)
      switch await result(outcome, request, nodes[i]) {
      case .success(let more):
        for (key, value) in more.answer { saved.answer[key] = value }
        progress.outcomes[i] = .success(saved)
      case .failure(var error):
        error.savedId = saved.id
        progress.outcomes[i] = .failure(error)
      }
    }
  }

  /// Runs after everything else, because a new password ends the session that the other requests
  /// use.
  private func changePasswords(_ nodes: [Node], _ progress: inout Progress) async {
    for i in nodes.indices where nodes[i].changesPassword && progress.end == nil {
      do {
        let node = try await withFiles(i, nodes[i], &progress)
        guard waiting(node, progress).isEmpty else {
          progress.outcomes[i] = .failure(refusal(node, progress))
          continue
        }
        guard let request = try request(i, node, &progress) else { continue }
        let change = PasswordChange(
          exchange: client.exchange, memory: UploadMemory(), request: request, userId: node.id,
          username: node.known["username"]?.stringValue)
        let outcome = await change.send()
        progress.end = outcome.end.map(Self.restError)
        progress.outcomes[i] = await result(outcome, request, node)
      } catch let problem as ParseProblem {
        progress.outcomes[i] = .failure(ParseSaveError(code: nil, message: problem.description))
      } catch {
        progress.fail(i, error)
      }
    }
  }

  private func sender(_ requests: [ObjectRequest], _ nodes: [Node]) -> BatchSender {
    BatchSender(exchange: client.exchange, memory: UploadMemory(), isTransaction: false) {
      try await look(requests[$0], nodes[$0])
    }
  }

  /// Finds out whether a write that must not be repeated was executed.
  private func look(_ request: ObjectRequest, _ node: Node) async throws -> BatchSender.Finding {
    if request.verb == .update {
      var expected = JSONObject()
      for (name, value) in node.known { FieldPath(name).set(value, in: &expected) }
      return try await OperationCheck(exchange: client.exchange, className: node.className)
        .finding(request.body ?? [:], of: node.id, before: node.known["updatedAt"], expected: expected)
    }
    guard let field = clientKeyField, let key = request.body?[field], request.verb == .create,
      let className = ParseNames.className(ofPath: request.path)
    else { return .unclear }
    var query = try ParseQuery(className, .equal(field, key))
    query.limit = 1
    return try await client.exchange.objects(query).first.map { .made($0) } ?? .notMade
  }

  private func result(_ outcome: BatchSender.Outcome, _ request: ObjectRequest, _ node: Node) async -> Outcome {
    switch outcome {
    case .done(let answer):
      var known = answer
      known["objectId"] = nil
      return .success(Saved(id: answer["objectId"]?.stringValue ?? node.id, sent: request.body ?? [:], answer: known))
    case .refused(let refusal): return .failure(ParseSaveError(code: refusal.code, message: refusal.message))
    case .unknown(let refusal):
      return .failure(
        ParseSaveError(
          code: refusal.code, message: "\(refusal.message); it may have been saved nevertheless; check before you save it again",
          isUnknown: true))
    case .lost(let error, let mayHaveTakenEffect):
      let cause = Self.restError(error)
      guard mayHaveTakenEffect, !request.isRepeatable else { return .failure(ParseSaveError(cause)) }
      // The request was sent without getting a usable response.
      if case .made(let object)? = try? await look(request, node) { return await result(.done(object), request, node) }
      return .failure(ParseSaveError(cause, isUnknown: true))
    case .notSent(let error): return .failure(ParseSaveError(Self.restError(error)))
    }
  }

  private static func restError(_ error: any Error) -> RestError {
    if let error = error as? RestError { return error }
    return error is CancellationError ? .cancelled(outcome: .notSent) : RestError(code: .invalidBody, message: "\(error)")
  }
}

extension DeepSave.Progress {
  /// Records that a file of an object could not be stored.
  fileprivate mutating func fail(_ i: Int, _ error: any Error) {
    guard let error = error as? RestError else {
      end = end ?? RestError.cancelled(outcome: .notSent)
      return
    }
    if let refusal = ServerRefusal(error), refusal.flagsFile {
      outcomes[i] = .failure(ParseSaveError(code: refusal.code, message: refusal.message))
    } else {
      outcomes[i] = .failure(ParseSaveError(error))
      end = end ?? error
    }
  }
}
