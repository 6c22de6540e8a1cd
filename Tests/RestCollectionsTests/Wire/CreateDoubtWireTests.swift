import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests doubtful creates and the server's responses about them: only an explicit answer decides.
struct CreateDoubtWireTests {
  private static let lookup: JSONObject = [
    "create": [
      "url": "/items", "fields": ["name"], "lookup": ["url": "/search", "params": ["q": "{name}"], "itemsPath": "items"],
    ]
  ]

  /// The server creates the first record and cuts the connection; a search returns the result of
  /// `search`.
  private static func lose(_ bench: CollectionBench, _ search: @escaping @Sendable (CollectionServer.State) -> ScriptedAnswer) {
    bench.server.with { state in
      state.takesWrites = true
      state.onRecord = { request, state in
        if request.path == "/search" { return search(state) }
        guard ["POST", "PUT"].contains(request.method), state.writes == 0 else { return nil }
        _ = CollectionServer.write(request, &state)
        return .closed
      }
    }
  }

  private static func found(_ rows: [JSONObject]) -> ScriptedAnswer {
    .json(JSONValue.object(["items": .array(rows.map { .object($0) })]).text)
  }

  /// A portal's page, text, another list, or records without ids do not prove that the record is
  /// missing.
  @Test(arguments: [
    ScriptedAnswer.text("<html>Sign in</html>", type: "text/html"), .text("busy"), .json("{"), .json(#"{"hits":[]}"#),
    .json(#"{"items":7}"#), .json(#"{"items":[{"name":"new"}]}"#), .json("17"),
  ])
  func lookup_answerThatIsNoList_makesNothingTwice(answer: ScriptedAnswer) async throws {
    try await CollectionBench.with { bench async throws in
      Self.lose(bench) { _ in answer }
      try bench.make("local_1", ["name": "new"])
      #expect(try await bench.up(Self.lookup).status == .failed)
      bench.clock.advance(3600)
      let state = try await bench.upAgain()
      #expect(bench.server.ids == ["1000"], "\(state.status) \(state.error)")
      #expect(state.status == .failed && state.error.contains("lookup"), "\(state.error)")
      #expect(try bench.record("local_1")?["__locally_created__"] == true)
      // Once the server responds correctly, the record is found.
      bench.server.with { state in
        state.onRecord = { request, state in request.path == "/search" ? Self.found(state.rows) : nil }
      }
      #expect(try await bench.upAgain().status == .done)
      #expect(try bench.ids() == ["1000"] && bench.server.ids == ["1000"])
    }
  }

  /// No items, no page, or no content prove that the record is missing.
  @Test(arguments: [
    ScriptedAnswer.json(#"{"items":[]}"#), .json(#"{"items":null}"#), .json("{}", status: 404), .status(204), .status(404),
  ])
  func lookup_emptyList_sendsTheCreateAgain(answer: ScriptedAnswer) async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { request, state in
          if request.path == "/search" { return answer }
          guard request.method == "POST", state.writes == 0 else { return nil }
          state.writes += 1
          return .closed
        }
      }
      try bench.make("local_1", ["name": "new"])
      #expect(try await bench.up(Self.lookup).status == .failed)
      bench.clock.advance(3600)
      let state = try await bench.upAgain()
      #expect(state.status == .done && bench.server.ids == ["1000"], "\(state.error) \(state.counts)")
      #expect(try bench.record("1000")?["__local__"] == false)
    }
  }

  /// The field used to find the record is sent even if the target does not list it.
  @Test(arguments: [false, true]) func uniqueField_notListed_isSentAllTheSame(isMapped: Bool) async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { request, state in
          if request.path == "/search" {
            let wanted = URLQuery.value(of: "ref", in: request.target)
            return .json(JSONValue.array(state.rows.filter { $0["ref"]?.stringValue == wanted }.map { .object($0) }).text)
          }
          guard request.method == "POST", state.writes == 0 else { return nil }
          _ = CollectionServer.write(request, &state)
          return .closed
        }
      }
      try bench.make("local_1", ["name": "new"])
      let create: JSONObject = [
        "url": "/items", "fields": isMapped ? ["name": "name", "ref": "ref"] : ["name"], "uniqueField": "ref",
        "lookup": ["url": "/search", "params": ["ref": "{ref}"]],
      ]
      #expect(try await bench.up(["create": .object(create)]).status == .failed)
      bench.clock.advance(3600)
      let state = try await bench.upAgain()
      #expect(state.status == .done && bench.server.ids == ["1000"], "\(state.error)")
      #expect(bench.server.row("1000")?["ref"]?.stringValue?.count == 36)
      try await bench.down(CollectionBench.upTarget(["create": .object(create)]))
      #expect(try bench.record("1000")?["ref"] == bench.server.row("1000")?["ref"])
    }
  }

  /// The record was created without a response, and the user has deleted the row: the record is
  /// deleted as well.
  @Test(arguments: ["uuid", "lookup"]) func createdAndDeletedHere_inDoubt_goesThereToo(once: String) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      Self.lose(bench) { Self.found($0.rows.filter { $0["name"] == "new" }) }
      try bench.make("local_1", ["name": "new"])
      let own: JSONObject = ["create": ["method": "PUT", "url": "/items/{id}", "fields": ["name"], "newId": "uuid"]]
      let up = once == "uuid" ? own : Self.lookup
      #expect(try await bench.up(up).status == .failed)
      #expect(bench.server.ids.count == 2)
      let row = try #require(try bench.entries().first { $0["name"] == "new" })
      try bench.store.upsert(
        JSONValue.array([.object(row.replacing(with: ["__local__": true, "__locally_deleted__": true]))]).text,
        into: CollectionBench.soup)
      bench.clock.advance(3600)
      let state = try await bench.upAgain()
      #expect(state.status == .done, "\(state.error)")
      #expect(bench.server.ids == ["1"], "\(bench.server.recordRequests)")
      #expect(try bench.entries().isEmpty)
    }
  }

  /// A refused create has used up its key: the next one, of an edited row, gets a new one.
  @Test(arguments: ["key", "prepare"]) func refusedCreate_edited_isIdentifiedAnew(once: String) async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.onRecord = { request, state in
          if request.path == "/tokens" {
            state.nextId += 1
            return .json(#"{"link":"/once/\#(state.nextId)"}"#, status: 201)
          }
          guard request.method == "POST" else { return nil }
          if request.text.contains(#""name":"""#) { return .json(#"{"message":"name is empty"}"#, status: 422) }
          return state.create(["name": "better"], id: 77)
        }
      }
      try bench.make("local_1", ["name": ""])
      var create: JSONObject = ["url": "/items", "fields": ["name"]]
      if once == "key" {
        create["idempotencyHeader"] = "Idempotency-Key"
      } else {
        create["prepare"] = ["url": "/tokens", "urlPath": "link"]
      }
      #expect(try await bench.up(["create": .object(create)]).counts.failed == 1)
      let row = try #require(try bench.record("local_1"))
      try bench.store.upsert(
        JSONValue.array([.object(row.replacing(with: ["name": "better"]))]).text, into: CollectionBench.soup)
      #expect(try await bench.upAgain().counts.succeeded == 1)
      let sent = bench.server.requests.filter { $0.method == "POST" && $0.path != "/tokens" }
      let marks = sent.map { once == "key" ? $0.header("Idempotency-Key") ?? "" : $0.path }
      #expect(marks.count == 2 && Set(marks).count == 2, "\(marks)")
    }
  }

  /// The record is compared with the fields that were sent, not with the whole object around them.
  @Test func ownId_nestedFields_areComparedAsTheyWereSent() async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { request, state in
          guard request.method == "PUT", state.writes == 0 else {
            return request.method == "PUT" ? .json(#"{"message":"exists"}"#, status: 412) : nil
          }
          _ = state.create(["name": "new", "owner": ["id": 7, "login": "ada"]], id: "new")
          return .closed
        }
      }
      try bench.make("local_1", ["name": "new", "owner": ["id": 7]])
      let create: JSONObject = [
        "method": "PUT", "url": "/items/{id}", "fields": ["name": "name", "owner_id": "owner.id"], "newId": "name",
        "headers": ["If-None-Match": "*"],
      ]
      #expect(try await bench.up(["create": .object(create)]).status == .failed)
      bench.clock.advance(3600)
      let state = try await bench.upAgain()
      #expect(state.status == .done && state.counts.inDoubt == 0, "\(state.error) \(state.counts)")
      #expect(try bench.record("new")?["__local__"] == false && bench.server.ids == ["new"])
    }
  }

  // MARK: A sync down before the next sync up

  private static let ownIds: JSONObject = [
    "create": ["method": "PUT", "url": "/items/{id}", "fields": ["name", "description"], "newId": "uuid"]
  ]

  /// The record is known by its key or by what the lookup finds, also if the server has changed its texts: it does not become
  /// an entry beside the one that it was made from.
  @Test(arguments: ["uuid", "lookup", "uniqueField"], [false, true])
  func downBeforeTheNextUp_hasOneEntry(once: String, isEditedSince: Bool) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      Self.lose(bench) { Self.found($0.rows.filter { $0["name"] == "new" }) }
      bench.server.with { state in
        state.normalize = { $0.replacing(with: ["description": isEditedSince ? "as it was sent" : "in the server's words"]) }
      }
      try await bench.down(CollectionBench.upTarget(), ["mergeMode": "LEAVE_IF_CHANGED"])
      try bench.make("local_1", ["name": "new", "description": " as it was sent "])
      var up = once == "uuid" ? Self.ownIds : Self.lookup
      if once == "uniqueField" {
        up = ["create": .object(up["create"]?.objectValue?.replacing(with: ["uniqueField": "ref"]) ?? [:])]
      }
      #expect(try await bench.up(up).status == .failed)
      if isEditedSince {
        let entry = try #require(try bench.entries().first { $0["name"] == "new" })
        try bench.store.upsert(
          JSONValue.array([.object(entry.replacing(with: ["name": "newer"]))]).text, into: CollectionBench.soup)
      }
      bench.clock.advance(3600)
      #expect(try await bench.again().status == .done)
      let entries = try bench.entries()
      #expect(entries.count == 2 && entries.allSatisfy { !$0.id.hasPrefix("local_") }, "\(entries)")
      #expect(entries.contains { $0["name"] == (isEditedSince ? "newer" : "new") && $0["__local__"] == .bool(isEditedSince) })
      #expect(try await bench.upAgain().status == .done)
      #expect(
        bench.server.ids.count == 2 && bench.server.with { $0.rows.contains { $0["name"] == (isEditedSince ? "newer" : "new") } })
    }
  }

  /// The server of the uploads does not answer: the sync down goes on, and the next sync up finds the record.
  @Test func downBeforeTheNextUp_lookupFails_isLeftToTheUp() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      Self.lose(bench) { _ in .json("{}", status: 403) }
      try await bench.down(CollectionBench.upTarget())
      try bench.make("local_1", ["name": "new"])
      #expect(try await bench.up(Self.lookup).status == .failed)
      bench.clock.advance(3600)
      #expect(try await bench.again().status == .done)
      bench.server.with { state in
        state.onRecord = { request, state in
          request.path == "/search" ? Self.found(state.rows.filter { $0["name"] == "new" }) : nil
        }
      }
      #expect(try await bench.upAgain().status == .done)
      #expect(try bench.ids().count == 2 && bench.server.ids.count == 2, "\(bench.server.recordRequests)")
    }
  }

  /// The record arrived under its own id and was deleted there since: it is not made again, and leaves with the next sync down.
  @Test(arguments: ["read", "write", "mark"])
  func ownId_deletedThereSince_isNotMadeAgain(what: String) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      Self.lose(bench) { _ in .status(404) }
      var members: JSONObject = ["ghosts": ["mode": "fullList", "maxRatio": 1]]
      if what == "mark" { members["deletedPath"] = "trashed" }
      let up = what == "write" ? Self.ownIds.replacing(with: ["read": nil, "precondition": "none"]) : Self.ownIds
      try await bench.down(CollectionBench.upTarget(up, members))
      try bench.make("local_1", ["name": "new"])
      #expect(try await bench.up(up, members).status == .failed)
      bench.server.with { state in
        if what == "mark" { state.rows[1]["trashed"] = true } else { state.rows.remove(at: 1) }
        state.onRecord = { request, state in
          guard what != "mark", request.path.count > 20 else { return nil }
          return what == "read" || request.method == "PUT" ? .json(#"{"message":"gone"}"#, status: 410) : nil
        }
      }
      bench.clock.advance(3600)
      let state = try await bench.upAgain()
      #expect(state.status == .done && state.counts.failed == 0 && state.counts.inDoubt == 0, "\(state.error) \(state.counts)")
      #expect(try bench.entries().allSatisfy { $0["__local__"] != true })
      #expect(what == "write" || !bench.server.recordRequests.contains { $0.hasPrefix("PUT") }, "\(bench.server.recordRequests)")
      #expect(try await bench.again().status == .done)
      _ = try await bench.cleanGhosts(force: true)
      #expect(try bench.ids() == ["1"])
    }
  }
}
