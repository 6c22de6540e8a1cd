import JSON
import RestClient
import Synchronization
import TestSupport

/// A collection whose server keeps every text and every number as it was sent. Its ids are of any kind.
final class AwkwardCollection: AwkwardService {
  /// How records are sent, guarded and answered.
  struct Kind: Sendable {
    var putsAll = false
    var usesTags = false
    var answersRecords = true
    var isPaged = true
  }

  private struct Row: Sendable {
    var id: PlainJSON
    var members: PlainJSON
    var version: Int
    var escapes: PlainJSON.Escapes
  }

  private struct State: Sendable {
    var rows: [Row] = []
    var ids: [PlainJSON] = []
    var writes = 0
    var escapes: [PlainJSON.Escapes] = [.few]
  }

  let idField = "id"
  let fields = ["name", "text", "caf\u{e9}", "cafe\u{301}", "number", "any", "list"]
  let keepsValues = true
  private let kind: Kind
  private let state: Mutex<State>
  private let server: ScriptedServer

  init(_ kind: Kind) throws {
    self.kind = kind
    let box = Box()
    state = Mutex(State())
    server = try ScriptedServer { request in box.service.withLock { $0 }?.answer(request) ?? .status(500) }
    box.service.withLock { $0 = self }
  }

  private final class Box: Sendable { let service = Mutex<AwkwardCollection?>(nil) }

  func stop() async { server.stop() }

  var connections: [ConnectionSettings] {
    let origin = ConnectionSettings.Origin(folder: "/", allowsPlainSecrets: true)
    let json: JSONObject = ["baseURL": .string(server.url), "timeoutS": 600]
    return [try? ConnectionSettings(name: "api", json: .object(json), from: origin)].compactMap(\.self)
  }

  /// A whole record that overwrites also undoes what others changed; that is not what is tried here.
  var modes: [String] { kind.putsAll ? ["MERGE", "LEAVE_IF_CHANGED"] : ["MERGE", "LEAVE_IF_CHANGED", "OVERWRITE"] }

  // MARK: Targets

  var downTarget: JSONObject { list.replacing(with: ["up": ["read": ["url": "/items/{id}"]]]) }

  private var list: JSONObject {
    [
      "type": "rest", "connection": "api", "url": "/items", "idField": "id", "modificationDateField": "updated_at",
      "paging": ["style": kind.isPaged ? "link" : "none"], "ghosts": ["mode": "fullList", "confirm": "read"],
      "incremental": ["mode": "full"],
    ]
  }

  var upTarget: JSONObject {
    let listed = JSONValue.array(fields.map { .string($0) })
    var update: JSONObject = ["url": "/items/{id}", "fields": listed, "answer": kind.answersRecords ? "item" : "none"]
    if kind.putsAll {
      update["method"] = "PUT"
      update["fields"] = "*"
    }
    let up: JSONObject = [
      "read": ["url": "/items/{id}"], "create": ["url": "/items", "fields": listed, "answer": "item"], "update": .object(update),
      "delete": ["url": "/items/{id}"], "precondition": kind.usesTags ? "ifMatch" : "check",
    ]
    return list.replacing(with: ["up": .object(up)])
  }

  // MARK: Other clients

  func begin(_ source: inout AwkwardSource) async throws {
    // Forms of one id come close to each other, so that they share a page.
    let start = Int.random(in: 0..<AwkwardValues.ids.count, using: &source.random)
    let ids = (AwkwardValues.ids[start...] + AwkwardValues.ids[..<start]).map { text -> PlainJSON in
      text.utf8.allSatisfy { (0x30...0x39).contains($0) } && text.utf8.count < 17 && text.utf8.first != 0x30
        ? .number(text) : .text(text)
    }
    let escapes = (0..<7).map { _ in source.escapes() }
    state.withLock { $0 = State(ids: ids, escapes: escapes) }
  }

  func records() async throws -> [PlainJSON] { state.withLock { $0.rows.map(Self.shown) } }

  func create(_ members: [(name: String, value: PlainJSON)]) async throws {
    state.withLock { _ = Self.add(.object(members.map { (Array($0.name.utf16), $0.value) }), &$0) }
  }

  func change(_ record: PlainJSON, _ name: String, _ value: PlainJSON) async throws {
    state.withLock { state in
      guard let place = Self.place(record["id"]?.plain ?? "", state) else { return }
      state.rows[place].members[name] = value
      Self.stamp(place, &state)
    }
  }

  func delete(_ record: PlainJSON) async throws {
    state.withLock { state in
      if let place = Self.place(record["id"]?.plain ?? "", state) { state.rows.remove(at: place) }
    }
  }

  func value(_ field: String, _ source: inout AwkwardSource) -> PlainJSON {
    switch field {
    case "name", "text", "caf\u{e9}", "cafe\u{301}": source.text()
    case "number": source.number()
    case "list": source.list()
    default: source.value()
    }
  }

  // MARK: The server

  private static func place(_ id: String, _ state: State) -> Int? { state.rows.firstIndex { $0.id.plain == id } }

  private static func stamp(_ place: Int, _ state: inout State) {
    state.writes += 1
    state.rows[place].version = state.writes
    state.rows[place].escapes = state.escapes[state.writes % state.escapes.count]
  }

  private static func add(_ members: PlainJSON, _ state: inout State) -> Row {
    let used = state.rows.map(\.id.plain)
    let id = state.ids.first { one in !used.contains(one.plain) } ?? .text("n\(state.writes)")
    // A deleted record's id is not used again.
    state.ids.removeAll { $0.plain == id.plain }
    var kept = members
    for name in ["id", "updated_at"] { kept[name] = nil }
    state.rows.append(Row(id: id, members: kept, version: 0, escapes: .few))
    stamp(state.rows.count - 1, &state)
    return state.rows[state.rows.count - 1]
  }

  private static func shown(_ row: Row) -> PlainJSON {
    let minutes = row.version / 60 % 60, digits = { (n: Int) in n < 10 ? "0\(n)" : "\(n)" }
    let date = "2024-01-01T\(digits(row.version / 3600)):\(digits(minutes)):\(digits(row.version % 60))Z"
    return .object([(Array("id".utf16), row.id)] + row.members.members + [(Array("updated_at".utf16), .text(date))])
  }

  private static func wire(_ row: Row) -> String { shown(row).wire(row.escapes) }

  private func answer(_ request: RecordedRequest) -> ScriptedAnswer {
    state.withLock { state in
      guard request.path != "/items" else { return list(request, &state) }
      guard let id = Self.decoded(request.path.dropFirst("/items/".count)), let place = Self.place(id, state) else {
        return .json(#"{"message":"not found"}"#, status: 404)
      }
      let tag = "\"\(state.rows[place].version)\""
      if request.method != "GET", let given = request.header("If-Match"), given != tag {
        return .json(#"{"message":"changed"}"#, status: 412)
      }
      switch request.method {
      case "DELETE":
        state.rows.remove(at: place)
        return .status(204)
      case "PATCH", "PUT":
        guard let body = try? PlainJSON(parsing: request.body) else { return .status(400) }
        var members = request.method == "PUT" ? PlainJSON.object([]) : state.rows[place].members
        for (key, value) in body.members { members[String(decoding: key, as: UTF16.self)] = value }
        for name in ["id", "updated_at"] { members[name] = nil }
        state.rows[place].members = members
        Self.stamp(place, &state)
        let headers = [("ETag", "\"\(state.rows[place].version)\"")]
        return kind.answersRecords
          ? .json(Self.wire(state.rows[place]), headers: kind.usesTags ? headers : [])
          : .status(204, headers: kind.usesTags ? headers : [])
      default: return .json(Self.wire(state.rows[place]), headers: kind.usesTags ? [("ETag", tag)] : [])
      }
    }
  }

  private func list(_ request: RecordedRequest, _ state: inout State) -> ScriptedAnswer {
    guard request.method == "POST" else {
      let size = kind.isPaged ? 3 : 1000, page = request.query.isEmpty ? 1 : Int(request.query.dropFirst("page=".count)) ?? 1
      let rows = state.rows.dropFirst((page - 1) * size)
      let headers = rows.count > size ? [("Link", "</items?page=\(page + 1)>; rel=\"next\"")] : []
      return .json("[\(rows.prefix(size).map(Self.wire).joined(separator: ","))]", headers: headers)
    }
    guard let body = try? PlainJSON(parsing: request.body) else { return .status(400) }
    let row = Self.add(body, &state)
    return .json(Self.wire(row), status: 201, headers: kind.usesTags ? [("ETag", "\"\(row.version)\"")] : [])
  }

  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = [], rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
