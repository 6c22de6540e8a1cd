import JSON
import TestSupport
import Testing

@testable import RestCollections

/// What a server of the random scenarios is like, and how it is synced.
struct CollectionScenarioKind: Sendable, CustomTestStringConvertible {
  /// How a create is recognised whose answer was lost.
  enum Once: String, CaseIterable { case nothing, key, ownId, lookup, prepare }
  /// What keeps uploads from going over what others wrote.
  enum Guard: String, CaseIterable { case look, tag, revision }
  /// What a further run down asks for.
  enum Incremental: String, CaseIterable { case full, etag, since }

  let once: Once
  let guarding: Guard
  let incremental: Incremental
  /// Writes on their way at once.
  let atOnce: Int
  /// Records are deleted by a mark.
  let marksDeleted: Bool

  var testDescription: String {
    "\(once) \(guarding) \(incremental) \(atOnce) at once\(marksDeleted ? ", deleted by a mark" : "")"
  }

  /// Each way to recognise a create with each guard; the rest taken in turn.
  static let all: [CollectionScenarioKind] = Once.allCases.enumerated().flatMap { i, once in
    Guard.allCases.enumerated().map { j, guarding in
      CollectionScenarioKind(
        once: once, guarding: guarding, incremental: Incremental.allCases[(i + j) % 3], atOnce: (i + j) % 2 == 0 ? 1 : 3,
        marksDeleted: (i * 3 + j) % 4 == 3)
    }
  }

  // MARK: The target

  var connection: JSONObject { ["maxParallel": ["reads": 4, "writes": .integer(Int64(atOnce))]] }

  /// For both directions.
  var target: JSONObject {
    var target: JSONObject = [
      "modificationDateField": "updated_at", "ghosts": ["mode": "fullList", "confirm": "read"], "up": .object(up),
      "incremental": ["mode": .string(incremental == .since ? "param" : incremental.rawValue)],
    ]
    if incremental == .since { target["incremental"] = ["mode": "param", "params": ["since": "{since}"]] }
    if marksDeleted { target["deletedPath"] = "trashed" }
    return CollectionBench.target(target)
  }

  private var up: JSONObject {
    let fields: JSONValue = once == .lookup ? ["name", "description", "ref"] : ["name", "description"]
    var create: JSONObject = ["url": "/items", "fields": fields]
    switch once {
    case .nothing: break
    case .key: create["idempotencyHeader"] = "Idempotency-Key"
    case .ownId:
      for (key, value) in ["method": "PUT", "url": "/items/{id}", "newId": "uuid", "headers": ["If-None-Match": "*"]]
        as JSONObject
      {
        create[key] = value
      }
    case .lookup:
      create["uniqueField"] = "ref"
      create["lookup"] = ["url": "/items", "params": ["ref": "{ref}"]]
    case .prepare:
      create["prepare"] = ["url": "/tokens", "idPath": "id"]
      create["url"] = "/items/{id}"
      create["method"] = "PUT"
      create["headers"] = ["If-None-Match": "*"]
    }
    var up: JSONObject = [
      "read": ["url": "/items/{id}"], "create": .object(create),
      "update": ["url": "/items/{id}", "fields": ["name", "description"]],
      "delete": marksDeleted
        ? ["method": "PATCH", "url": "/items/{id}", "body": ["trashed": true]] : ["url": "/items/{id}"],
      "precondition": guarding == .look ? "check" : "ifMatch", "maxRecreate": 1000,
    ]
    if guarding == .revision { up["tag"] = ["path": "rev", "template": "v{tag}", "header": "X-Revision"] }
    return up
  }

  // MARK: The server

  /// What this server does beside what a plain one does.
  func prepare(_ state: inout CollectionServer.State) {
    let kind = self
    state.takesWrites = true
    state.recordTags = guarding != .revision
    state.hasRevisions = guarding == .revision
    state.hasTags = incremental == .etag
    state.writesASecond = 2
    state.size = 4
    state.onRecord = { request, state in kind.answer(request, &state) }
  }

  private func answer(_ request: RecordedRequest, _ state: inout CollectionServer.State) -> ScriptedAnswer? {
    if request.path == "/tokens" {
      state.nextId += 1
      return .json(#"{"id":"once-\#(state.nextId)"}"#, status: 201)
    }
    let id = request.path.hasPrefix("/items/") ? String(request.path.dropFirst("/items/".count)) : nil
    let place = state.rows.firstIndex { $0["id"]?.plain == id }
    if let place, state.rows[place]["trashed"] == true, request.method != "GET" { return .json("{}", status: 410) }
    if guarding == .revision, let place, let given = request.header("X-Revision"),
      given != "v\(state.rows[place]["rev"]?.plain ?? "")"
    {
      return .json(#"{"message":"another revision"}"#, status: 412)
    }
    guard once == .key, request.method == "POST", let key = request.header("Idempotency-Key") else { return nil }
    if let known = state.answersByKey[key] { return known }
    let answer = CollectionServer.write(request, &state)
    state.answersByKey[key] = answer
    return answer
  }
}
