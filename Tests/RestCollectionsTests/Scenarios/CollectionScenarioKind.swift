import JSON
import TestSupport
import Testing

@testable import RestCollections

/// The properties of a server in the random scenarios, and how it is synced.
struct CollectionScenarioKind: Sendable, CustomTestStringConvertible {
  /// How a create is recognized if its response is lost.
  enum Once: String, CaseIterable { case nothing, key, ownId, lookup, prepare }
  /// What keeps uploads from overwriting changes by others.
  enum Guard: String, CaseIterable { case look, tag, revision }
  /// How later sync downs request changes.
  enum Incremental: String, CaseIterable { case full, etag, since }

  let once: Once
  let guarding: Guard
  let incremental: Incremental
  /// Writes in flight.
  let atOnce: Int
  /// Whether deleted records remain as tombstones.
  let marksDeleted: Bool
  /// The format of rows and responses.
  let wire: RowWire
  /// Whether updates are a PUT of the whole record instead of a PATCH.
  let putsAll: Bool
  /// Whether the server trims texts, rounds numbers and has false for a null.
  let normalizes: Bool
  /// The status that refuses a key which comes with another body; nil for a server that answers as it did at first.
  let keyRefusal: Int?

  var testDescription: String {
    let marks =
      (marksDeleted ? ", deleted by a mark" : "") + (wire.isNested ? ", nested" : "") + (putsAll ? ", put whole" : "")
      + (normalizes ? ", normalises" : "") + (keyRefusal.map { ", \($0) for a key with another body" } ?? "")
    return "\(once) \(guarding) \(incremental) \(atOnce) at once, dates \(wire.dates), answers \(wire.answers)\(marks)"
  }

  /// Every way to recognize a create with every guard; the other properties rotate.
  static let all: [CollectionScenarioKind] = Once.allCases.enumerated().flatMap { i, once in
    Guard.allCases.enumerated().map { j, guarding in
      let n = i * 3 + j, incremental = Incremental.allCases[(i + j) % 3]
      var wire = RowWire()
      wire.isNested = n % 2 == 1
      wire.answers = RowWire.Answers.allCases[(n / 2 + i) % 3]
      // Without dates, nothing can be requested by date.
      wire.dates = [.iso8601, .epoch, incremental == .since ? .iso8601 : .none][(n + i) % 3]
      return CollectionScenarioKind(
        once: once, guarding: guarding, incremental: incremental, atOnce: (i + j) % 2 == 0 ? 1 : 3, marksDeleted: n % 4 == 3,
        wire: wire, putsAll: n % 5 == 2 || n % 7 == 6, normalizes: (i + j) % 3 == 1,
        keyRefusal: once == .key ? [nil, 422, 400][j] : nil)
    }
  }

  // MARK: The target

  var connection: JSONObject { ["maxParallel": ["reads": 4, "writes": .integer(Int64(atOnce))]] }

  /// The path of a member that only the server sets.
  func path(_ name: String) -> String { wire.isNested ? "sys.\(name)" : name }

  /// The target for both directions.
  var target: JSONObject {
    var target: JSONObject = [
      "idField": .string(path("id")), "ghosts": ["mode": "fullList", "confirm": "read"], "up": .object(up),
      "incremental": ["mode": .string(incremental == .since ? "param" : incremental.rawValue)],
    ]
    if wire.dates != .none {
      target["modificationDateField"] = .string(path("updated_at"))
      target["dateFormat"] = .string(wire.dates.rawValue)
    }
    if incremental == .since { target["incremental"] = ["mode": "param", "params": ["since": "{since}"]] }
    if marksDeleted { target["deletedPath"] = "trashed" }
    return CollectionBench.target(target)
  }

  private var up: JSONObject {
    let one: JSONValue = .string("/items/{\(path("id"))}")
    let values: [JSONValue] = ["name", "description"] + (normalizes ? ["amount", "flag"] : [])
    let fields: JSONValue = .array(once == .lookup ? values + ["ref"] : values)
    let answer: JSONValue = .string(wire.answers == .record ? "item" : wire.answers == .id ? "id" : "none")
    var create: JSONObject = ["url": "/items", "fields": fields, "answer": answer]
    if wire.answers == .id { create["idPath"] = "ref" }
    switch once {
    case .nothing: break
    case .key: create["idempotencyHeader"] = "Idempotency-Key"
    case .ownId:
      create["newId"] = "uuid"
    case .lookup:
      create["uniqueField"] = "ref"
      create["lookup"] = ["url": "/items", "params": ["ref": "{ref}"]]
    case .prepare:
      create["prepare"] = ["url": "/tokens", "idPath": "id"]
    }
    if once == .ownId || once == .prepare {
      create["url"] = one
      create["method"] = "PUT"
      create["headers"] = ["If-None-Match": "*"]
    }
    var update: JSONObject = ["url": one, "fields": .array(values), "answer": answer]
    if putsAll {
      update["method"] = "PUT"
      update["fields"] = "*"
    }
    var up: JSONObject = [
      "read": ["url": one], "create": .object(create), "update": .object(update),
      "delete": marksDeleted ? ["method": "PATCH", "url": one, "body": ["trashed": true]] : ["url": one],
      "precondition": guarding == .look ? "check" : "ifMatch", "maxRecreate": 1000,
    ]
    if guarding == .revision { up["tag"] = ["path": .string(path("rev")), "template": "v{tag}", "header": "X-Revision"] }
    return up
  }

  // MARK: Entries

  /// Returns an entry with its id at the top level, as the scenario expects it.
  func flat(_ entry: JSONObject) -> JSONObject {
    guard wire.isNested else { return entry }
    return entry.replacing(with: ["id": entry["sys"]?["id"] ?? .null])
  }

  /// Returns an entry as stored in the soup.
  func deep(_ entry: JSONObject) -> JSONObject {
    guard wire.isNested else { return entry }
    var deep = entry.filtered { $0.key != "id" }, sys = entry["sys"]?.objectValue ?? [:]
    sys["id"] = entry["id"]
    deep["sys"] = .object(sys)
    return deep
  }

  // MARK: The server

  /// Configures the server's special behaviour.
  func prepare(_ state: inout CollectionServer.State) {
    let kind = self
    state.takesWrites = true
    state.wire = wire
    state.recordTags = guarding != .revision
    state.hasRevisions = guarding == .revision
    state.hasTags = incremental == .etag
    state.writesASecond = 2
    state.size = 4
    if normalizes { state.normalize = Self.normalized }
    state.onRecord = { request, state in kind.answer(request, &state) }
  }

  /// What the server makes of the members of a written row.
  private static func normalized(_ row: JSONObject) -> JSONObject {
    var row = row
    if let text = row["description"]?.stringValue {
      row["description"] = .string(text.split(separator: " ").joined(separator: " "))
    }
    if let amount = row["amount"]?.doubleValue { row["amount"] = .number((amount * 100).rounded() / 100) }
    if row["flag"]?.isNull ?? true { row["flag"] = false }
    return row
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
    if let known = state.answersByKey[key] {
      guard let keyRefusal, state.bodiesByKey[key] != request.text else { return known }
      return .json(#"{"message":"the key was used with another body"}"#, status: keyRefusal)
    }
    let answer = CollectionServer.write(request, &state)
    (state.answersByKey[key], state.bodiesByKey[key]) = (answer, request.text)
    return answer
  }
}
