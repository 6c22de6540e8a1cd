import JSON
import RestClient

/// Saves objects that point to one another: those that are pointed to first, fifty at a time, as far as they do not wait.
struct DeepSave: Sendable {
  let client: ParseClient
  /// A column for an id that tells a create whose answer is lost from others.
  let clientKeyField: String?

  /// One object to be saved.
  struct Node: Sendable {
    let className: String
    /// Of the server, or one of ours.
    let id: String
    /// Values and operations.
    var body: JSONObject

    var isNew: Bool { ParsePointer(className: className, objectId: id).isLocal }
  }

  struct Saved: Sendable, Equatable {
    let id: String
    /// What the server says of it.
    var fields: JSONObject
    /// Ids that the server gave others of the same save, by ours.
    var ids: [String: String] = [:]
  }

  typealias Outcome = Result<Saved, ParseSaveError>

  /// What is known so far.
  private struct Progress {
    var outcomes: [Outcome?]
    /// Ids of the server, by ours.
    var ids: [String: String] = [:]
    /// Left out of a create: links, and pointers in a circle. It follows in an update.
    var later: [Int: JSONObject] = [:]
    /// A request as a whole failed: nothing further is sent.
    var end: RestError?
  }

  /// - Throws: `CancellationError`, ``ParseProblem``.
  func save(_ nodes: [Node]) async throws -> [Outcome] {
    var progress = Progress(outcomes: Array(repeating: nil, count: nodes.count))
    var open = Array(nodes.indices)
    while !open.isEmpty, progress.end == nil {
      let ready = open.filter { waiting(nodes[$0], progress).isEmpty }
      if ready.isEmpty {
        guard let first = open.first(where: { isCircle(nodes[$0], nodes, open, progress) }) else {
          for i in open { progress.outcomes[i] = .failure(refusal(nodes[i], progress)) }
          break
        }
        try await send([first], nodes, &progress)
        open.removeAll { $0 == first }
      } else {
        try await send(ready, nodes, &progress)
        open.removeAll(where: ready.contains)
      }
    }
    try await sendRest(nodes, &progress)
    return progress.outcomes.map { outcome in
      (outcome ?? .failure(ParseSaveError(progress.end))).map { saved in
        var saved = saved
        saved.ids = progress.ids
        return saved
      }
    }
  }

  // MARK: Order

  /// Ids of ours that an object names and that have no id of the server yet.
  private func waiting(_ node: Node, _ progress: Progress) -> [ParsePointer] {
    node.body.flatMap { key, value in isLater(value, node) ? [] : LocalPointers.all(in: value) }
      .filter { progress.ids[$0.objectId] == nil }
  }

  /// Links go behind a create: a failure behind the insert would look like a failed create.
  private func isLater(_ value: JSONValue, _ node: Node) -> Bool {
    node.isNew && ["AddRelation", "RemoveRelation", "Batch"].contains(value["__op"]?.stringValue ?? "")
  }

  /// Whether all that it waits for is still to be sent: then it goes first, and the pointers follow.
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

  private func send(_ indices: [Int], _ nodes: [Node], _ progress: inout Progress) async throws {
    var sent: [Int] = [], requests: [ObjectRequest] = []
    for i in indices {
      do throws(ParseProblem) {
        guard let request = try request(i, nodes[i], &progress) else {
          progress.outcomes[i] = .success(Saved(id: nodes[i].id, fields: [:]))
          continue
        }
        sent.append(i)
        requests.append(request)
      } catch {
        progress.outcomes[i] = .failure(ParseSaveError(code: nil, message: error.description))
      }
    }
    guard !requests.isEmpty else { return }
    let outcomes: [BatchSender.Outcome]
    do {
      outcomes = try await sender(requests).send(requests)
    } catch let error as RestError {
      progress.end = error
      for (i, request) in zip(sent, requests) { progress.outcomes[i] = try await found(request, nodes[i], error) }
      return
    }
    for (i, outcome) in zip(sent, outcomes) {
      progress.outcomes[i] = try await result(outcome, nodes[i])
      if case .success(let saved)? = progress.outcomes[i] { progress.ids[nodes[i].id] = saved.id }
    }
  }

  /// After a request without a usable answer.
  private func found(_ request: ObjectRequest, _ node: Node, _ error: RestError) async throws -> Outcome {
    guard request.verb == .create, error.mayHaveHappened else { return .failure(ParseSaveError(error)) }
    let finding: BatchSender.Finding = if let known = try? await look(request) { known } else { .unclear }
    switch finding {
    case .made(let object): return try await result(.done(object), node)
    case .notMade, .unclear: return .failure(ParseSaveError(error, isUnknown: true))
    }
  }

  /// nil when nothing has changed: an empty PUT would move `updatedAt`.
  private func request(_ i: Int, _ node: Node, _ progress: inout Progress) throws(ParseProblem) -> ObjectRequest? {
    var body = JSONObject(), later = JSONObject()
    for (field, value) in node.body {
      if ParseNames.serverFields.contains(field) { continue }
      if field != "ACL", node.className != "_User" || field != "authData" { try ParseNames.checkField(field, of: node.className) }
      let resolved = LocalPointers.resolved(value, progress.ids)
      if isLater(value, node) || !LocalPointers.all(in: resolved).isEmpty {
        later[field] = value
      } else if let operation = value["__op"]?.stringValue {
        // A new object has nothing to take away.
        if !node.isNew || operation != "Delete" { body[field] = resolved }
      } else if let value = try OutgoingValue(resolved).json {
        body[field] = value
      }
    }
    if !later.isEmpty { progress.later[i] = later }
    if node.isNew {
      if let field = clientKeyField, body[field] == nil { body[field] = .string(UUIDText.make()) }
      return try .create(node.className, body)
    }
    return body.isEmpty ? nil : try .update(node.className, node.id, body)
  }

  /// What had to wait for ids.
  private func sendRest(_ nodes: [Node], _ progress: inout Progress) async throws {
    for i in nodes.indices {
      guard let later = progress.later[i], case .success(var saved)? = progress.outcomes[i] else { continue }
      let body = LocalPointers.resolved(.object(later), progress.ids).objectValue ?? [:]
      if let missing = LocalPointers.all(in: .object(body)).first {
        progress.outcomes[i] = .failure(
          ParseSaveError(
            code: nil, message: "the object is saved, but not what points to \(missing.className)/\(missing.objectId)"))
        continue
      }
      guard progress.end == nil else {
        progress.outcomes[i] = .failure(ParseSaveError(progress.end))
        continue
      }
      let request = try ObjectRequest.update(nodes[i].className, saved.id, body), outcome: BatchSender.Outcome
      do {
        outcome = try await sender([request]).send([request])[0]
      } catch let error as RestError {
        progress.end = error
        progress.outcomes[i] = .failure(ParseSaveError(error, savedId: saved.id))
        continue
      }
      switch try await result(outcome, Node(className: nodes[i].className, id: saved.id, body: body)) {
      case .success(let more):
        for (key, value) in more.fields { saved.fields[key] = value }
        progress.outcomes[i] = .success(saved)
      case .failure(let error): progress.outcomes[i] = .failure(error)
      }
    }
  }

  private func sender(_ requests: [ObjectRequest]) -> BatchSender {
    BatchSender(exchange: client.exchange, memory: UploadMemory(), isTransaction: false) { try await look(requests[$0]) }
  }

  /// By its key, whether a create was carried out.
  private func look(_ request: ObjectRequest) async throws -> BatchSender.Finding {
    guard let field = clientKeyField, let key = request.body?[field], request.verb == .create,
      let className = ParseNames.className(ofPath: request.path)
    else { return .unclear }
    var query = try ParseQuery(className, .equal(field, key))
    query.limit = 1
    return try await client.exchange.objects(query).first.map { .made($0) } ?? .notMade
  }

  private func result(_ outcome: BatchSender.Outcome, _ node: Node) async throws -> Outcome {
    switch outcome {
    case .done(let answer):
      let written = WriteAnswer(answer)
      if let token = written.sessionToken {
        try await client.connection.keep(
          UserSession(token: token, userId: node.isNew ? answer["objectId"]?.stringValue : node.id))
      }
      var fields = written.merged(into: [:], sent: node.body)
      fields["objectId"] = nil
      return .success(Saved(id: answer["objectId"]?.stringValue ?? node.id, fields: fields))
    case .refused(let refusal): return .failure(ParseSaveError(code: refusal.code, message: refusal.message))
    case .unknown(let refusal):
      return .failure(
        ParseSaveError(
          code: refusal.code, message: "\(refusal.message); it may have been saved all the same: look before it is saved again",
          isUnknown: true))
    }
  }
}
