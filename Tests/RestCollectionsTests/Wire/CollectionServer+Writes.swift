import JSON
import TestSupport

@testable import RestCollections

extension CollectionServer {
  /// Executes creates, updates and deletes like a plain server.
  static func write(_ request: RecordedRequest, _ state: inout State) -> ScriptedAnswer {
    let body = state.wire.taken((try? JSONValue(parsing: request.body))?.objectValue ?? [:])
    let id = request.path.hasPrefix("/items/") ? URLQuery.decoded(request.path.dropFirst("/items/".count)) : nil
    guard let id else {
      guard request.method == "POST" else { return .status(405) }
      state.nextId += 1
      return state.create(body, id: .integer(state.nextId - 1))
    }
    let place = state.rows.firstIndex { $0["id"]?.plain == id }
    if request.method == "PUT", place == nil { return state.create(body, id: .string(id)) }
    guard let place else { return .json(#"{"message":"not found"}"#, status: 404) }
    if request.header("If-None-Match") == "*" { return .json(#"{"message":"exists"}"#, status: 412) }
    let tag = state.tag(state.rows[place])
    if let given = request.header("If-Match") {
      guard given == tag else { return .json(#"{"message":"changed"}"#, status: 412) }
    } else if state.demandsTag {
      return .json(#"{"message":"condition missing"}"#, status: 428)
    }
    if request.method == "DELETE" {
      state.rows.remove(at: place)
      return .status(204)
    }
    var row: JSONObject = request.method == "PUT" ? ["id": state.rows[place]["id"] ?? .null] : state.rows[place]
    for (key, value) in body where key != "id" { row[key] = value }
    row = state.normalize(row)
    state.stamp(&row)
    state.rows[place] = row
    return state.wire.answer(to: row, status: 200, headers: state.tagHeaders(row))
  }
}

extension CollectionServer.State {
  /// Sets the date of a written row.
  mutating func stamp(_ row: inout JSONObject) {
    writes += 1
    if hasRevisions { row["rev"] = .integer(Int64(writes)) }
    row["updated_at"] = .string(Repository.date(Repository.start + 3600 + writes / writesASecond))
  }

  mutating func create(_ body: JSONObject, id: JSONValue) -> ScriptedAnswer {
    var row = normalize(body)
    row["id"] = id
    stamp(&row)
    rows.append(row)
    return wire.answer(to: row, status: 201, headers: [("Location", "/items/\(id.plain)")] + tagHeaders(row))
  }

  func tag(_ row: JSONObject) -> String {
    (tagsAreWeak ? "W/" : "") + "\"\(String(StableHash.of(row.serialized()), radix: 16))\""
  }

  func tagHeaders(_ row: JSONObject) -> [(name: String, value: String)] { recordTags ? [("ETag", tag(row))] : [] }
}

extension CollectionServer.State {
  /// Executes requests with a method, but answers them without the record.
  mutating func afterWriting(_ method: String, _ answer: @escaping @Sendable (CollectionServer.State) -> ScriptedAnswer) {
    onRecord = { request, state in
      guard request.method == method else { return nil }
      _ = CollectionServer.write(request, &state)
      return answer(state)
    }
  }
}
