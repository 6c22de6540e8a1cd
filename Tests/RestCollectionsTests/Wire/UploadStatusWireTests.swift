import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests every status of a write from a server, proxy or gateway, with every kind of body: the run
/// ends, the local change stays until the server has it, and once the server works again,
/// everything is there exactly once.
struct UploadStatusWireTests {
  private enum Body: CaseIterable {
    case html, json, text, empty

    func answer(_ status: Int) -> ScriptedAnswer {
      switch self {
      case .html: .text("<html><body>Error</body></html>", status: status, type: "text/html")
      case .json: .json(#"{"message":"refused by the server"}"#, status: status)
      case .text: .text("refused by the server", status: status)
      case .empty: .status(status)
      }
    }

    /// HTML comes from an intermediary.
    var isTheServers: Bool { self != .html }
  }

  private enum Write: String, CaseIterable { case create = "POST", update = "PATCH", delete = "DELETE" }

  /// The result for the row.
  private enum End: Equatable {
    /// The run continues; the row has an error and is dirty.
    case flagged
    /// The run ends; the row is unchanged.
    case stopped
    /// The record is gone from the server.
    case removed
    /// The record is gone, but changed locally: a conflict.
    case conflict
  }

  /// The expected results, from the reference of collections, sections 10.4.3 to 10.4.6.
  private static func end(of write: Write, _ status: Int, _ body: Body) -> End {
    switch status {
    case 400, 402, 406, 413, 415, 422, 423, 451: return .flagged
    // A duplicate if the record is new; otherwise a refusal, once a read has shown that nothing has
    // changed on the server.
    case 409: return .flagged
    case 404, 410:
      guard body.isTheServers else { return .stopped }
      return write == .delete ? .removed : write == .update ? .conflict : .flagged
    default: return .stopped
    }
  }

  private static let statuses = [
    400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 412, 413, 415, 422, 423, 425, 428, 429, 451, 500, 501, 502, 503, 504,
    507,
    520,
  ]

  /// An intermediary's page with each status, and one of the bodies that are the server's own: these
  /// differ in the message alone. The seed of the random tests chooses; all with `TUREEN_CASES=all`.
  private static func bodies(_ status: Int) -> [Body] {
    let own: [Body] = [.json, .text, .empty]
    return [.html] + (TestCases.all ? own : [own[Int((RandomSeed.value &+ UInt64(status)) % UInt64(own.count))]])
  }

  @Test(arguments: statuses) func refusal_withEachBody_keepsTheChangeAndDoublesNothing(status: Int) async throws {
    for body in Self.bodies(status) {
      for write in Write.allCases { try await refuse(write, status, body) }
    }
  }

  private func refuse(_ write: Write, _ status: Int, _ body: Body) async throws {
    let said: Comment = "\(write) \(status) \(body), \(RandomSeed.again(Self.self, [:]))"
    try await CollectionBench.with(rows: 2) { bench async throws in
      let up: JSONObject = [
        "precondition": "none",
        "create": ["url": "/items", "fields": ["name"], "idempotencyHeader": "Idempotency-Key"],
      ]
      try await bench.down(CollectionBench.upTarget(up))
      switch write {
      case .create: try bench.make("local_1", ["name": "mine"])
      case .update: try bench.edit(1, ["name": "mine"])
      case .delete: try bench.delete(1)
      }
      bench.server.with { state in
        state.onRecord = { request, _ in request.method == write.rawValue ? body.answer(status) : nil }
      }
      let state = try await bench.up(up)
      let id = write == .create ? "local_1" : "1", row = try bench.record(id)
      switch Self.end(of: write, status, body) {
      case .flagged:
        #expect(state.status == .done && state.counts.failed == 1 && row?["__local__"] == true, said)
        #expect(try bench.lastError(row)["status"] == .integer(Int64(status)) || status == 423, said)
        #expect(try bench.lastError(row)["message"]?.stringValue?.isEmpty == false, said)
      case .stopped:
        #expect([.failed, .stopped].contains(state.status) && row?["__local__"] == true, said)
        #expect(row?["__last_error__"] == nil && !state.error.isEmpty, said)
      case .removed: #expect(state.counts.succeeded == 1 && row == nil, said)
      case .conflict:
        #expect(
          state.status == .done && state.counts.conflicting == 1 && row?["__local__"] == true,
          "\(said) \(state.counts) \(row?["__last_error__"]?.text ?? "")")
      }
      #expect(bench.server.with { $0.writes } == 0, said)
      try await recover(bench, write, up, said)
    }
  }

  /// Makes the server work again, and edits rows that were finally refused.
  private func recover(_ bench: CollectionBench, _ write: Write, _ up: JSONObject, _ said: Comment) async throws {
    bench.server.with { $0.onRecord = nil }
    if let row = try bench.entries().first(where: { $0["__local__"] == true }) {
      try bench.store.upsert(
        JSONValue.array([.object(row.replacing(with: ["name": "mine too"]))]).text, into: CollectionBench.soup)
    }
    bench.clock.advance(7200)
    let state = try await bench.up(up, mode: "OVERWRITE", name: "later")
    #expect(state.status == .done, "\(said): \(state.error)")
    if state.counts.inDoubt > 0 { try await bench.upAgain("later") }
    // A create that may have arrived is repeated as it was sent at first; the edit follows as an update.
    if write == .create, try bench.entries().contains(where: { $0["__local__"] == true }) {
      #expect(bench.server.with { $0.rows.contains { $0["name"] == "mine" } }, said)
      #expect(try await bench.upAgain("later").counts.succeeded == 1, said)
    }
    #expect(try bench.entries().allSatisfy { $0["__local__"] == false }, said)
    let names = bench.server.with { $0.rows.compactMap { $0["name"]?.plain }.sorted() }
    switch write {
    case .create: #expect(names == ["mine too", "r1", "r2"], said)
    case .update: #expect(names == ["mine too", "r2"], said)
    case .delete: #expect(names == ["r2"] || names == ["r1", "r2"], said)
    }
  }

  // MARK: Success statuses with unusual bodies

  /// A portal's page or text with status 200 does not confirm the change.
  @Test(arguments: ["text/html", "text/plain"]) func success_withAPageInPlaceOfTheRecord_failsAndKeepsTheRow(type: String)
    async throws
  {
    for write in ["POST", "PATCH"] {
      try await CollectionBench.with(rows: 1) { bench async throws in
        try await bench.down(CollectionBench.upTarget())
        if write == "POST" { try bench.make("local_1", ["name": "new"]) } else { try bench.edit(1, ["name": "mine"]) }
        bench.server.with { state in
          state.onRecord = { request, _ in request.method == write ? .text("<html>Sign in</html>", type: type) : nil }
        }
        let state = try await bench.up(["precondition": "none"])
        #expect(state.status == .failed && state.error.contains("cannot be used"), "\(state.error)")
        #expect(try bench.record(write == "POST" ? "local_1" : "1")?["__local__"] == true)
      }
    }
  }

  @Test func delete_answeredWithAPage_failsAndKeepsTheRow() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.delete(1)
      bench.server.with { state in
        state.onRecord = { request, _ in request.method == "DELETE" ? .text("<html>Sign in</html>", type: "text/html") : nil }
      }
      let state = try await bench.up()
      #expect(state.status == .failed && state.error.contains("cannot be used"), "\(state.error)")
      #expect(try bench.entry(1)?["__locally_deleted__"] == true)
    }
  }

  /// A 202 without the record means that it may be created: the next run looks for it instead of
  /// sending it again.
  @Test func create_202_isLookedForInTheNextRun() async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.afterWriting("POST") { _ in ScriptedAnswer(status: 202, headers: [("Location", "/jobs/77")]) }
      }
      try bench.make("local_1", ["name": "new"])
      let up: JSONObject = [
        "create": ["url": "/items", "fields": ["name"], "lookup": ["url": "/items", "params": ["name": "{name}"]]]
      ]
      let first = try await bench.up(up)
      #expect(first.status == .done && first.counts.succeeded == 0 && first.counts.inDoubt == 1, "\(first.error) \(first.counts)")
      #expect(try bench.record("local_1")?["__local__"] == true)
      bench.clock.advance(3600)
      let second = try await bench.upAgain()
      #expect(second.status == .done && second.counts.inDoubt == 0, "\(second.error)")
      #expect(bench.server.requests.count { $0.method == "POST" } == 1)
      #expect(try bench.record("1000")?["__local__"] == false)
      #expect(try bench.record("77") == nil)
    }
  }

  /// The record exists at once; only its effects come later.
  @Test(arguments: ["body", "Location"]) func create_202WithTheRecord_isDone(place: String) async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.afterWriting("POST") { state in
          place == "body"
            ? .json(JSONValue.object(state.rows[0]).text, status: 202)
            : ScriptedAnswer(status: 202, headers: [("Location", "/items/1000")])
        }
      }
      try bench.make("local_1", ["name": "new"])
      let state = try await bench.up()
      #expect(state.counts.succeeded == 1 && state.counts.inDoubt == 0, "\(state.error) \(state.counts)")
      #expect(try bench.record("1000")?["__local__"] == false)
    }
  }

  /// The response to an update contains a different record, which is not the row's.
  @Test(arguments: ["99", "null", #""""#, "true", "{}"]) func update_answerWithAnotherId_neverComesIntoTheRow(id: String)
    async throws
  {
    for hasRead in [true, false] {
      try await CollectionBench.with(rows: 2) { bench async throws in
        let up: JSONObject = ["precondition": "none", "read": hasRead ? ["url": "/items/{id}"] : nil]
        try await bench.down(CollectionBench.upTarget(up))
        bench.server.with { $0.afterWriting("PATCH") { _ in .json(#"{"id":\#(id),"name":"foreign","secret":1}"#) } }
        try bench.edit(1, ["name": "mine"])
        let state = try await bench.up(up)
        #expect(state.status == .done && state.counts.succeeded == 1, "\(state.error)")
        let row = try #require(try bench.entry(1))
        #expect(row["name"] == "mine" && row["secret"] == nil && row["__local__"] == false, "\(row)")
        #expect(try bench.ids() == ["1", "2"])
      }
    }
  }

  /// The server returns a different record than requested.
  @Test func read_anotherRecord_flagsTheRow() async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "mine"])
      bench.server.with { state in
        state.onRecord = { request, state in
          request.method == "GET" ? .json(JSONValue.object(state.rows[1]).text) : nil
        }
      }
      let state = try await bench.up()
      #expect(state.status == .done && state.counts.succeeded == 0, "\(state.counts)")
      #expect(bench.server.row("1")?["name"] == "r1")
      #expect(try bench.entry(1)?["name"] == "mine" && bench.entry(1)?["__local__"] == true)
    }
  }

  /// The server gives a new record the id of an existing row: in the end there is one row with the
  /// id, with the edits of both.
  @Test(arguments: [false, true]) func create_answeredWithAnIdThatARowHas_endsAsOneRow(isEdited: Bool) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      if isEdited { try bench.edit(1, ["description": "edited here"]) }
      bench.server.with { state in
        state.onRecord = { request, state in
          guard request.method == "POST" else { return nil }
          // The server matches the existing record by its unique name.
          state.change(1, ["name": "new", "updated_at": "2024-01-01T00:00:00Z"])
          return .json(JSONValue.object(state.rows[0]).text)
        }
      }
      try bench.make("local_1", ["name": "new"])
      _ = try await bench.up()
      _ = try await bench.upAgain()
      try await bench.down(CollectionBench.upTarget(), ["mergeMode": "LEAVE_IF_CHANGED"], name: "after")
      let entries = try bench.entries()
      #expect(entries.allSatisfy { $0.id == "1" })
      #expect(entries.count == 1 || isEdited, "\(entries)")
      if isEdited {
        let isKept = entries.contains { $0["description"] == "edited here" }
        #expect(isKept && entries.count == 1, "\(entries)")
      }
    }
  }

  /// Without a way to read the record, the conflict must be resolved by the user.
  @Test func update_409WithoutARead_isAConflict() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      let up: JSONObject = ["precondition": "none", "read": nil]
      try await bench.down(CollectionBench.upTarget(up))
      try bench.edit(1, ["name": "mine"])
      bench.server.with { state in
        state.onRecord = { request, _ in request.method == "PATCH" ? .json(#"{"message":"locked"}"#, status: 409) : nil }
      }
      #expect(try await bench.up(up).counts.conflicting == 1)
      #expect(try bench.manager.conflicts(inSoup: CollectionBench.soup).first?.kind == .unknown)
      #expect(try bench.entry(1)?["__local__"] == true)
    }
  }

  /// A path in a field list that the row lacks: it is omitted, or sent as null if configured.
  @Test func fields_pathThatIsNotThere_isLeftOut() async throws {
    try await CollectionBench.with { bench async throws in
      try bench.make("local_1", ["name": "new"])
      let create: JSONObject = ["url": "/items", "fields": ["title": "name", "deep": "a.b[*].c", "author": "owner.id"]]
      #expect(try await bench.up(["create": .object(create)]).counts.succeeded == 1)
      #expect(bench.server.recordRequests.contains(#"POST /items {"title":"new"}"#), "\(bench.server.recordRequests)")
    }
  }

  /// A template needs a value that the row lacks: only this row is flagged, the others are sent.
  @Test func template_valueThatTheRowLacks_flagsThatRowAlone() async throws {
    try await CollectionBench.with(rows: 3) { bench async throws in
      let up: JSONObject = [
        "precondition": "none", "read": nil,
        "update": ["url": "/items/{id}", "fields": ["name"], "headers": ["X-Slug": "{slug}"]],
      ]
      try await bench.down(CollectionBench.upTarget(up))
      for id in 1...3 { try bench.edit(id, id == 2 ? ["name": "mine"] : ["name": "mine", "slug": "s"]) }
      let state = try await bench.up(up)
      #expect(state.status == .done && state.counts.succeeded == 2 && state.counts.failed == 1, "\(state.error) \(state.counts)")
      #expect(try bench.lastError(bench.entry(2))["message"]?.stringValue?.contains("slug") == true)
    }
  }

  /// The same in the URL of the read: the run continues with the others.
  @Test func readTemplate_valueThatTheRowLacks_flagsThatRowAlone() async throws {
    try await CollectionBench.with(rows: 3) { bench async throws in
      let up: JSONObject = ["read": ["url": "/items/{id}", "params": ["s": "{slug}"]]]
      try await bench.down(CollectionBench.upTarget(up))
      for id in 1...3 { try bench.edit(id, id == 2 ? ["name": "mine"] : ["name": "mine", "slug": "s"]) }
      let state = try await bench.up(up)
      #expect(state.status == .done && state.counts.succeeded == 2 && state.counts.failed == 1, "\(state.error) \(state.counts)")
      #expect(try bench.lastError(bench.entry(2))["message"]?.stringValue?.contains("slug") == true)
    }
  }

  /// A server accepts a record and loses it: the row is clean, and is removed as a ghost like any
  /// other.
  @Test func create_lostByTheServerLater_isAGhost() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      let members: JSONObject = ["ghosts": ["mode": "fullList"]]
      try await bench.down(CollectionBench.upTarget([:], members))
      bench.server.with { state in
        state.onRecord = { request, state in
          guard request.method == "POST" else { return nil }
          let answer = CollectionServer.write(request, &state)
          state.rows.removeLast()
          return answer
        }
      }
      try bench.make("local_1", ["name": "new"])
      let state = try await bench.up([:], members)
      #expect(state.counts.succeeded == 1, "\(state.error)")
      let row = try #require(try bench.record("1000"))
      #expect(row["name"] == "new" && row["__local__"] == false)
      // An edit of it is a conflict and does not create a second record.
      try bench.store.upsert(
        JSONValue.array([.object(row.replacing(with: ["name": "edited", "__local__": true, "__locally_updated__": true]))]).text,
        into: CollectionBench.soup)
      let again = try await bench.upAgain()
      #expect(again.counts.conflicting == 1 && bench.server.ids == ["1"], "\(again.counts)")
      #expect(try bench.manager.conflicts(inSoup: CollectionBench.soup).first?.kind == .deletedThere)
    }
  }

  // MARK: Clocks, tokens, origins

  /// The server's clock is years off in either direction, and so is ours: only changes on the
  /// server since then matter.
  @Test(arguments: ["1999-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]) func dates_ofAWrongClock_conflictOnlyWhereSomethingChanged(
    date: String
  ) async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      bench.server.with { state in for id in 1...2 { state.change(id, ["updated_at": .string(date)]) } }
      try await bench.down(CollectionBench.upTarget())
      for id in 1...2 { try bench.edit(id, ["name": .string("mine \(id)")]) }
      // A change with an older date is also a change.
      bench.server.with { $0.change(2, ["name": "theirs", "updated_at": "1998-01-01T00:00:00Z"]) }
      bench.clock.advance(-900_000_000)
      let state = try await bench.up()
      #expect(state.counts.succeeded == 1 && state.counts.conflicting == 1, "\(state.error) \(state.counts)")
      #expect(bench.server.row("1")?["name"] == "mine 1" && bench.server.row("2")?["name"] == "theirs")
    }
  }

  /// The token expires during the uploads: it is renewed once, and each write arrives once.
  @Test(arguments: [1, 4]) func token_endsInTheMiddle_isRenewedOnceAndEachWriteArrivesOnce(atOnce: Int) async throws {
    let tokens = try ScriptedServer { _ in .status(500) }
    tokens.enqueue(
      .json(#"{"access_token":"t1","token_type":"Bearer"}"#), .json(#"{"access_token":"t2","token_type":"Bearer"}"#))
    defer { tokens.stop() }
    let connection: JSONObject = [
      "maxParallel": ["writes": .integer(Int64(atOnce))],
      "auth": [
        "type": "clientCredentials", "tokenURL": .string(tokens.url + "/token"), "clientId": "c", "clientSecret": "s",
      ],
    ]
    try await CollectionBench.with(rows: 12, connection) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      for id in 1...12 { try bench.edit(id, ["name": .string("mine \(id)")]) }
      bench.server.with { state in
        state.onRecord = { request, state in
          let isOld = request.header("Authorization") == "Bearer t1"
          return isOld && state.writes >= 5 ? .json(#"{"message":"expired"}"#, status: 401) : nil
        }
      }
      let state = try await bench.up()
      #expect(state.status == .done && state.counts.succeeded == 12, "\(state.error) \(state.counts)")
      #expect(bench.server.with { $0.writes } == 12 && tokens.requests.count == 2, "\(tokens.requests.count)")
    }
  }

  /// Writes go to another origin with its credentials and none of the list's.
  @Test func up_connectionElsewhere_getsTheWritesAndItsOwnCredentialsOnly() async throws {
    let writes = try ScriptedServer { request in
      request.method == "GET" ? .status(404) : .json(#"{"id":1,"name":"mine","updated_at":"2024-01-01T00:00:00Z"}"#)
    }
    defer { writes.stop() }
    func auth(_ token: String) -> JSONObject { ["type": "bearer", "token": .string(token)] }
    try await CollectionBench.with(
      rows: 1, ["auth": .object(auth("reader"))],
      others: ["writer": ["baseURL": .string(writes.url), "auth": .object(auth("writer"))]]
    ) { bench async throws in
      let up: JSONObject = ["connection": "writer", "precondition": "none", "read": nil]
      try await bench.down(CollectionBench.upTarget(up))
      try bench.edit(1, ["name": "mine"])
      let state = try await bench.up(up)
      #expect(state.counts.succeeded == 1, "\(state.error)")
      #expect(writes.requests.map { "\($0.method) \($0.target)" } == ["PATCH /items/1"])
      #expect(writes.requests.allSatisfy { $0.header("Authorization") == "Bearer writer" })
      #expect(!bench.server.requests.contains { $0.method != "GET" || $0.header("Authorization") != "Bearer reader" })
      #expect(try bench.entry(1)?["updated_at"] == "2024-01-01T00:00:00Z")
    }
  }

  @Test func up_connectionUnknown_isRefusedNamingItsPlace() async throws {
    try await CollectionBench.with { bench async throws in
      let error = try await refusal { try await bench.up(["connection": "writre"]) }
      #expect(error.message.contains("'writre'") && error.message.contains("up"), "\(error.message)")
    }
  }

  @Test func ifUnmodifiedSince_sendsTheDateOfTheRow_412IsAConflict() async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      let up: JSONObject = ["precondition": "ifUnmodifiedSince", "read": nil]
      try await bench.down(CollectionBench.upTarget(up))
      for id in 1...2 { try bench.edit(id, ["name": "mine"]) }
      bench.server.with { state in
        state.onRecord = { request, _ in
          guard request.method == "PATCH" else { return nil }
          return request.path == "/items/2" ? .json(#"{"message":"changed"}"#, status: 412) : nil
        }
      }
      let state = try await bench.up(up)
      #expect(state.counts.succeeded == 1 && state.counts.conflicting == 1, "\(state.error) \(state.counts)")
      let sent = bench.server.requests.first { $0.method == "PATCH" }?.header("If-Unmodified-Since")
      #expect(sent == "Mon, 13 Nov 2023 22:14:20 GMT", "\(sent ?? "none")")
      #expect(bench.server.row("2")?["name"] == "r2")
    }
  }

  // MARK: Functions of the script

  @Test func luaFunctions_giveValuesAndIds_failureFlagsTheRow() async throws {
    try await CollectionBench.with(transforms: Slugs()) { bench async throws in
      try bench.make("local_1", ["name": "New Thing"])
      try bench.make("local_2", ["name": "bad"])
      let create: JSONObject = [
        "method": "PUT", "url": "/items/{id}", "fields": ["name": "name", "slug": "lua:items.slug"], "newId": "lua:items.slug",
      ]
      let state = try await bench.up(["create": .object(create)])
      #expect(state.status == .done && state.counts.succeeded == 1 && state.counts.failed == 1, "\(state.error) \(state.counts)")
      #expect(bench.server.ids == ["new-thing"] && bench.server.row("new-thing")?["slug"] == "new-thing")
      #expect(try bench.record("new-thing")?["__local__"] == false)
      #expect(try bench.lastError(bench.record("local_2"))["message"]?.stringValue?.contains("no slug for bad") == true)
    }
  }
}

/// Makes URL slugs from names.
private struct Slugs: CustomTargetRunner {
  func run(_ call: CustomTargetCall) async throws -> [UInt8] {
    let made = (call.arguments["records"]?.arrayValue ?? []).map { record -> JSONValue in
      let name = record["name"]?.stringValue ?? ""
      if name == "bad" { return ["error": "no slug for bad"] }
      return ["record": .string(name.lowercased().split(separator: " ").joined(separator: "-"))]
    }
    return Array(JSONObject([("records", .array(made))]).text.utf8)
  }
}
