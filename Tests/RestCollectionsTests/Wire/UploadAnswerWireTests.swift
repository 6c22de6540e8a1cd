import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests unusual responses to writes: the row takes over its own data and nothing else.
struct UploadAnswerWireTests {
  private static func update(_ members: JSONObject) -> JSONObject {
    ["update": .object((["url": "/items/{id}", "fields": ["name"]] as JSONObject).replacing(with: members))]
  }

  /// The id is in a header of a response without a body.
  @Test func create_idInAHeaderOfAnEmptyAnswer_isTheRows() async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.afterWriting("POST") { _ in ScriptedAnswer(status: 201, headers: [("X-Record", "1000")]) }
      }
      try bench.make("local_1", ["name": "new"])
      let state = try await bench.up(["create": ["url": "/items", "fields": ["name"], "idPath": "header:X-Record"]])
      #expect(state.counts.succeeded == 1, "\(state.error)")
      #expect(try bench.record("1000")?["updated_at"] != nil)
    }
  }

  /// Members of another record do not belong to this row.
  @Test(arguments: [false, true]) func partialAnswer_ofAnotherRecord_neverComesIntoTheRow(hasRead: Bool) async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      let up = Self.update(["answer": "partial"]).replacing(with: hasRead ? [:] : ["read": nil])
      try await bench.down(CollectionBench.upTarget(up))
      bench.server.with { $0.afterWriting("PATCH") { _ in .json(#"{"id":2,"name":"foreign","secret":1}"#) } }
      try bench.edit(1, ["name": "mine"])
      let state = try await bench.up(up)
      #expect(state.counts.succeeded == 1, "\(state.error)")
      #expect(try bench.ids() == ["1", "2"])
      let row = try #require(try bench.record("1"))
      #expect(row["name"] == "mine" && row["secret"] == nil && row["__local__"] == false, "\(row)")
    }
  }

  /// The response is text instead of the record, as the target expects.
  @Test(arguments: ["none", "id"]) func plainText_whereNoRecordIsAnswered_isTaken(answer: String) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      let up = Self.update(["answer": .string(answer)])
      try await bench.down(CollectionBench.upTarget(up))
      bench.server.with { $0.afterWriting("PATCH") { _ in .text("OK") } }
      try bench.edit(1, ["name": "mine"])
      let state = try await bench.up(up)
      #expect(state.status == .done && state.counts.succeeded == 1, "\(state.error)")
      let row = try #require(try bench.entry(1))
      #expect(row["name"] == "mine" && row["__local__"] == false && row["updated_at"] == bench.server.row("1")?["updated_at"])
    }
  }

  /// A portal's page is not a response of the server, whatever the target expects.
  @Test func page_whereNoRecordIsAnswered_failsAndKeepsTheRow() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      let up = Self.update(["answer": "none"])
      try await bench.down(CollectionBench.upTarget(up))
      bench.server.with { state in
        state.onRecord = { request, _ in request.method == "PATCH" ? .text("<html>Sign in</html>", type: "text/html") : nil }
      }
      try bench.edit(1, ["name": "mine"])
      #expect(try await bench.up(up).status == .failed)
      #expect(try bench.entry(1)?["__local__"] == true)
    }
  }

  /// A list with the record, and an empty list, which means that the record is gone.
  @Test func list_withTheRecord_isTheRecord_emptyIsGone() async throws {
    for isEmpty in [false, true] {
      try await CollectionBench.with(rows: 2) { bench async throws in
        try await bench.down(CollectionBench.upTarget())
        bench.server.with { state in
          if isEmpty {
            state.onRecord = { request, _ in request.method == "GET" ? nil : .json("[]") }
          } else {
            state.afterWriting("PATCH") { .json(JSONValue.array([.object($0.rows[0])]).text) }
          }
        }
        try bench.edit(1, ["name": "mine"])
        if isEmpty { try bench.delete(2) }
        let state = try await bench.up(["precondition": "none"])
        #expect(state.status == .done, "\(state.error)")
        if isEmpty {
          #expect(state.counts.conflicting == 1 && state.counts.succeeded == 1, "\(state.counts)")
          #expect(try bench.manager.conflicts(inSoup: CollectionBench.soup).first?.kind == .deletedThere)
          #expect(try bench.ids() == ["1"])
        } else {
          #expect(try bench.entry(1)?["updated_at"] == bench.server.row("1")?["updated_at"])
          #expect(try bench.entry(1)?["__local__"] == false)
        }
      }
    }
  }

  /// The change is accepted but executed later: until then, the server's version must not replace
  /// the row.
  @Test func update_202_keepsTheLocalValues() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "mine"])
      bench.server.with { state in
        state.onRecord = { request, _ in
          request.method == "PATCH" ? .json(#"{"job":"77","state":"queued"}"#, status: 202) : nil
        }
      }
      let state = try await bench.up()
      #expect(state.status == .done && state.counts.succeeded == 1, "\(state.error)")
      let row = try #require(try bench.entry(1))
      #expect(row["name"] == "mine" && row["__local__"] == false && row["job"] == nil, "\(row)")
      // Once the change is executed, a sync down finds only what was sent.
      bench.server.with { $0.change(1, ["name": "mine", "updated_at": "2023-11-15T00:00:00Z"]) }
      try await bench.down(CollectionBench.upTarget(), ["mergeMode": "LEAVE_IF_CHANGED"], name: "after")
      #expect(try bench.entry(1)?["updated_at"] == "2023-11-15T00:00:00Z")
    }
  }

  @Test func locked_423_isSaidWithItsStatusAndSentAgainLater() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "mine"])
      bench.server.with { state in
        state.onRecord = { request, _ in
          request.method == "PATCH" ? .json(#"{"message":"ada edits it","code":"locked"}"#, status: 423) : nil
        }
      }
      #expect(try await bench.up().counts.failed == 1)
      let error = try bench.lastError(bench.entry(1))
      #expect(
        error["status"] == 423 && error["code"] == "locked" && error["message"]?.stringValue?.contains("ada edits it") == true)
      bench.server.with { $0.onRecord = nil }
      #expect(try await bench.upAgain().counts.succeeded == 1)
    }
  }

  /// The response to a PUT is lost: the connection retries it, and the server's tag is then our own
  /// new one.
  @Test(arguments: ["LEAVE_IF_CHANGED", "MERGE", "OVERWRITE"])
  func put_withATagAndALostAnswer_isNoConflict(mode: String) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      let up: JSONObject = ["precondition": "ifMatch", "update": ["method": "PUT", "url": "/items/{id}", "fields": "*"]]
      bench.server.with { state in
        state.recordTags = true
        state.onRecord = { request, state in
          guard request.method == "PUT", state.writes == 0 else { return nil }
          _ = CollectionServer.write(request, &state)
          return .closed
        }
      }
      try await bench.down(CollectionBench.upTarget(up))
      try bench.edit(1, ["name": "mine"])
      let state = try await bench.up(up, mode: mode)
      #expect(
        state.status == .done && state.counts.succeeded == 1 && state.counts.conflicting == 0, "\(state.error) \(state.counts)")
      #expect(bench.server.row("1")?["name"] == "mine" && bench.server.row("1")?["full_name"] == "acme/r1")
      #expect(try bench.entry(1)?["__local__"] == false)
      #expect(try bench.manager.conflicts(inSoup: CollectionBench.soup).isEmpty)
    }
  }
}
