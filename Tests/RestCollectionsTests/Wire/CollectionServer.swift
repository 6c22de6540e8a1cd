import JSON
import Synchronization
import TestSupport

@testable import RestCollections

/// A scripted collection behind HTTP: rows, a paging style, tags, and events between two pages.
///
/// `GET /items` and a POST return the list; `GET /items/<id>` returns one record. Changes by a test
/// apply from the next request on.
final class CollectionServer: Sendable {
  /// How the list refers to its next page.
  enum Style: String, CaseIterable, Sendable {
    case link, linkTokens, bodyUrl, cursor, page, offset, keyset, headerURL, headerNumber, none
  }

  /// The effect of a fault on one request.
  enum Meddling: Sendable {
    /// The request never arrives.
    case instead(ScriptedAnswer)
    /// The request is executed, but answered differently.
    case after(ScriptedAnswer)
    /// The request is executed, but its response is cut after a number of bytes.
    case cut(bytes: Int)
  }

  /// Everything that a test may change.
  struct State: Sendable {
    var style = Style.link
    /// In the order of creation; `id` is a number, `updated_at` a text that sorts by time.
    var rows: [JSONObject] = []
    /// The page size without a parameter.
    var size = 30
    /// Larger pages are truncated silently.
    var largestSize = 100
    var ignoresSize = false
    /// The maximum length of a list.
    var cap = Int.max
    var hasTags = false
    var sendsTotal = true
    /// Makes the next URL from its path and query.
    var nextURL: @Sendable (String) -> String = { $0 }
    var linkName = "Link"
    /// Additional headers of every list.
    var headers: [(name: String, value: String)] = []
    /// Actions before the response to the list request of a number, from 1.
    var before: [Int: @Sendable (inout State) -> Void] = [:]
    /// Replaces the response to the list request of a number.
    var answers: [Int: ScriptedAnswer] = [:]
    /// List requests with an empty page, although the list continues.
    var emptyPages: Set<Int> = []
    /// Changes the responses of the list.
    var change: (@Sendable (inout ScriptedAnswer, RecordedRequest) -> Void)?
    /// Responses for single records, by id.
    var records: [String: ScriptedAnswer] = [:]
    /// Whether records can be written; see ``CollectionServer/write(_:_:)``.
    var takesWrites = false
    /// Replaces the response to a request for one record or to a create; nil for the server's own.
    var onRecord: (@Sendable (RecordedRequest, inout State) -> ScriptedAnswer?)?
    /// A fault for a request, evaluated before everything else.
    var meddle: (@Sendable (RecordedRequest, inout State) -> Meddling?)?
    /// A write whose number is a multiple of this starts a new second; the others share the second
    /// of the one before.
    var writesASecond = 1
    /// Whether each write changes the row's `rev`.
    var hasRevisions = false
    /// The format of rows on the wire.
    var wire = RowWire()
    /// Responses to creates, by idempotency key.
    var answersByKey: [String: ScriptedAnswer] = [:]
    /// Bodies of creates, by idempotency key.
    var bodiesByKey: [String: String] = [:]
    /// What the server makes of a row that a client writes.
    var normalize: @Sendable (JSONObject) -> JSONObject = { $0 }
    /// Whether responses with one record have an `ETag`, which is compared with conditions.
    var recordTags = false
    var tagsAreWeak = false
    /// Whether writes without a condition are refused.
    var demandsTag = false
    /// The id of the next record that a POST creates.
    var nextId: Int64 = 1000
    /// Writes so far; the date of each is a second later.
    var writes = 0
    /// No write is answered until this many of its method have arrived.
    var holdsWritesUntil = 0
    /// Unanswered writes: the current number and the maximum so far.
    fileprivate(set) var writesAtOnce = (now: 0, most: 0)
    /// List requests so far.
    var lists = 0
    /// Requests that the test no longer looks at.
    fileprivate var skipped = 0

    /// Changes an existing row.
    mutating func change(_ id: Int, _ members: JSONObject) {
      guard let i = rows.firstIndex(where: { $0["id"] == .integer(Int64(id)) }) else { return }
      for (key, value) in members { rows[i][key] = value }
    }

    mutating func remove(_ ids: some Sequence<Int>) {
      let gone = Set(ids.map { Int64($0) })
      rows.removeAll { $0["id"]?.integerValue.map(gone.contains) ?? false }
    }
  }

  private let state: Mutex<State>
  private let server: ScriptedServer
  private let box: Box

  /// Breaks the reference cycle between the server and its handler.
  private final class Box: Sendable { let state = Mutex<CollectionServer?>(nil) }

  var url: String { server.url }

  init(rows: [JSONObject] = []) throws {
    let box = Box()
    self.box = box
    server = try ScriptedServer { request in
      let server = box.state.withLock { $0 }
      server?.hold(request)
      return server?.answer(request) ?? .status(500)
    }
    var state = State()
    state.rows = rows
    self.state = Mutex(state)
    box.state.withLock { $0 = self }
  }

  func stop() {
    server.stop()
    box.state.withLock { $0 = nil }
  }

  @discardableResult
  func with<R: Sendable>(_ body: (inout State) throws -> R) rethrows -> R { try state.withLock { try body(&$0) } }

  /// The ids of all rows, as stored in a soup.
  var ids: [String] { with { $0.rows.compactMap { $0["id"]?.plain }.sorted() } }

  var requests: [RecordedRequest] { server.requests }
  /// The list requests since ``forgetRequests()``.
  var lists: [RecordedRequest] { server.requests.dropFirst(with { $0.skipped }).filter { $0.path == "/items" } }

  /// Restarts the numbering of list requests at 1.
  func forgetRequests() {
    let count = server.requests.count
    with {
      $0.skipped = count
      $0.lists = 0
      ($0.before, $0.answers, $0.emptyPages) = ([:], [:], [])
    }
  }

  /// The requests for single records and the creates, as `METHOD /path body`.
  var recordRequests: [String] {
    requests.dropFirst(with { $0.skipped }).filter { $0.path != "/items" || $0.method != "GET" }
      .map { $0.text.isEmpty ? "\($0.method) \($0.target)" : "\($0.method) \($0.target) \($0.text)" }
  }

  func row(_ id: String) -> JSONObject? { with { state in state.rows.first { $0["id"]?.plain == id } } }

  func received(_ count: Int) async { await server.received(count) }

  // MARK: Answers

  /// Makes a write wait for the others that will arrive with it.
  private func hold(_ request: RecordedRequest) {
    guard request.method != "GET" else { return }
    let count = with { state in
      state.writesAtOnce.now += 1
      state.writesAtOnce.most = max(state.writesAtOnce.most, state.writesAtOnce.now)
      return state.holdsWritesUntil
    }
    if count > 0 { server.blockUntilReceived(count) { $0.method == request.method } }
  }

  private func answer(_ request: RecordedRequest) -> ScriptedAnswer {
    with { state in
      defer { if request.method != "GET" { state.writesAtOnce.now -= 1 } }
      let meddling = state.meddle?(request, &state)
      if case .instead(let answer)? = meddling { return answer }
      var answer = CollectionServer.own(request, &state)
      switch meddling {
      case .after(let other): answer = other
      case .cut(let bytes): answer.delivery = .closeAfter(bytes: bytes)
      case .instead, nil: break
      }
      return answer
    }
  }

  private static func own(_ request: RecordedRequest, _ state: inout State) -> ScriptedAnswer {
    let isWrite = state.takesWrites && (request.method != "GET" || request.path.hasPrefix("/items/"))
    if isWrite || request.path != "/items", let answer = state.onRecord?(request, &state) { return answer }
    if isWrite, request.method != "GET" { return CollectionServer.write(request, &state) }
    guard request.path.hasPrefix("/items/") else { return CollectionServer.list(request, &state) }
    let id = String(request.path.dropFirst("/items/".count))
    if let answer = state.records[id] { return answer }
    guard let row = state.rows.first(where: { $0["id"]?.plain == id }) else {
      return .json(#"{"message":"not found"}"#, status: 404)
    }
    return .json(JSONValue.object(state.wire.shown(row)).text, headers: state.tagHeaders(row))
  }

  private static func list(_ request: RecordedRequest, _ state: inout State) -> ScriptedAnswer {
    state.lists += 1
    let number = state.lists
    if let change = state.before[number] { change(&state) }
    if let answer = state.answers[number] { return answer }
    var answer = ListPage(request, state).answer(isEmpty: state.emptyPages.contains(number))
    state.change?(&answer, request)
    guard state.hasTags else { return answer }
    let tag = "\"\(String(StableHash.of(answer.body), radix: 16))\""
    answer.headers.append(("ETag", tag))
    guard request.header("If-None-Match") == tag else { return answer }
    // Like real servers, without a Link.
    return ScriptedAnswer(status: 304, headers: [("ETag", tag)])
  }
}
