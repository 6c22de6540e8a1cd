import JSON
import Synchronization
import TestSupport

@testable import RestCollections

/// A collection behind HTTP as a test scripts it: rows, a style of paging, tags, and what happens between two pages.
///
/// `GET /items` is the list, a POST too; `GET /items/<id>` is one record. Whatever a test changes counts from the next request on.
final class CollectionServer: Sendable {
  /// How the list says where it goes on.
  enum Style: String, CaseIterable, Sendable {
    case link, linkTokens, bodyUrl, cursor, page, offset, keyset, headerURL, headerNumber, none
  }

  /// What a fault makes of one request.
  enum Meddling: Sendable {
    /// It never arrives.
    case instead(ScriptedAnswer)
    /// It is carried out, and answered in another way.
    case after(ScriptedAnswer)
    /// It is carried out, and its answer is cut after so many bytes.
    case cut(bytes: Int)
  }

  /// Everything that a test may change.
  struct State: Sendable {
    var style = Style.link
    /// In the order of creation; `id` is a number, `updated_at` a text that sorts by time.
    var rows: [JSONObject] = []
    /// Items of a page, when the request says nothing.
    var size = 30
    /// Larger pages are cut without a word.
    var largestSize = 100
    var ignoresSize = false
    /// No list has more.
    var cap = Int.max
    var hasTags = false
    var sendsTotal = true
    /// The next URL as the server writes it; given its path with the query.
    var nextURL: @Sendable (String) -> String = { $0 }
    var linkName = "Link"
    /// Beside the others, of every list.
    var headers: [(name: String, value: String)] = []
    /// Done before the list request of that number is answered, counted from 1.
    var before: [Int: @Sendable (inout State) -> Void] = [:]
    /// In place of the answer to the list request of that number.
    var answers: [Int: ScriptedAnswer] = [:]
    /// List requests whose page has no items, although the list goes on.
    var emptyPages: Set<Int> = []
    /// Changes the answers of the list.
    var change: (@Sendable (inout ScriptedAnswer, RecordedRequest) -> Void)?
    /// Answers of single records, by id.
    var records: [String: ScriptedAnswer] = [:]
    /// Records can be written; see ``CollectionServer/write(_:_:)``.
    var takesWrites = false
    /// In place of the answer to a request about one record, or to a create; nil for the server's own.
    var onRecord: (@Sendable (RecordedRequest, inout State) -> ScriptedAnswer?)?
    /// What happens to a request on its way, asked before all else.
    var meddle: (@Sendable (RecordedRequest, inout State) -> Meddling?)?
    /// Writes whose number this divides share the second of the one before.
    var writesASecond = 1
    /// Each write gives its row another `rev`.
    var hasRevisions = false
    /// What rows look like to clients.
    var wire = RowWire()
    /// Answers to creates by their idempotency keys.
    var answersByKey: [String: ScriptedAnswer] = [:]
    /// Answers with one record have an `ETag`, which conditions are compared with.
    var recordTags = false
    var tagsAreWeak = false
    /// Writes without a condition are refused.
    var demandsTag = false
    /// The id of the next record that a POST creates.
    var nextId: Int64 = 1000
    /// Writes so far: each one's date is a second later.
    var writes = 0
    /// No write is answered before so many of its method have come.
    var holdsWritesUntil = 0
    /// Writes that are not answered yet, now and at most so far.
    fileprivate(set) var writesAtOnce = (now: 0, most: 0)
    /// List requests so far.
    var lists = 0
    /// Requests that a test is done with.
    fileprivate var skipped = 0

    /// Changes a row that is there.
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

  /// Breaks the circle between the server and its handler.
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

  /// The ids of all rows there are, as a soup has them.
  var ids: [String] { with { $0.rows.compactMap { $0["id"]?.plain }.sorted() } }

  var requests: [RecordedRequest] { server.requests }
  /// Of the list, since ``forgetRequests()``.
  var lists: [RecordedRequest] { server.requests.dropFirst(with { $0.skipped }).filter { $0.path == "/items" } }

  /// Numbers of list requests begin at 1 again.
  func forgetRequests() {
    let count = server.requests.count
    with {
      $0.skipped = count
      $0.lists = 0
      ($0.before, $0.answers, $0.emptyPages) = ([:], [:], [])
    }
  }

  /// Requests about single records and creates, as `METHOD /path body`.
  var recordRequests: [String] {
    requests.dropFirst(with { $0.skipped }).filter { $0.path != "/items" || $0.method != "GET" }
      .map { $0.text.isEmpty ? "\($0.method) \($0.target)" : "\($0.method) \($0.target) \($0.text)" }
  }

  func row(_ id: String) -> JSONObject? { with { state in state.rows.first { $0["id"]?.plain == id } } }

  func received(_ count: Int) async { await server.received(count) }

  // MARK: Answers

  /// Lets a write wait for the others that are to come with it.
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
    // As servers do it: no Link.
    return ScriptedAnswer(status: 304, headers: [("ETag", tag)])
  }
}
