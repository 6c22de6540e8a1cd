import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests several writes in flight, as many as the connection allows.
struct ParallelUploadWireTests {
  private static let eight: JSONObject = ["maxParallel": ["writes": 8]]

  /// Creates, updates and deletes, eight of each. The server answers none until eight have arrived.
  @Test func writes_ofEachKind_travelTogether() async throws {
    try await CollectionBench.with(rows: 16, Self.eight) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      for id in 1...8 { try bench.delete(id) }
      for id in 9...16 { try bench.edit(id, ["name": .string("mine \(id)")]) }
      for n in 1...8 { try bench.make("local_\(n)", ["name": .string("new \(n)")]) }
      bench.server.with { $0.holdsWritesUntil = 8 }
      let state = try await bench.up()
      #expect(state.status == .done && state.counts.succeeded == 24, "\(state.error) \(state.counts)")
      #expect(bench.server.with { $0.writesAtOnce.most } <= 8)
      // One kind of write finishes before the next starts.
      let kinds = bench.server.requests.map(\.method).filter { $0 != "GET" }
      #expect(kinds == ["POST", "PATCH", "DELETE"].flatMap { Array(repeating: $0, count: 8) })
      #expect(try bench.ids() == bench.server.ids)
      #expect(try bench.values("name").sorted() == bench.server.with { $0.rows.map { $0["name"]?.plain ?? "" } }.sorted())
      #expect(try bench.entries().allSatisfy { $0["__local__"] == false })
    }
  }

  @Test func writes_withoutASetting_goOneAtATime() async throws {
    try await CollectionBench.with(rows: 5) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      for id in 1...5 { try bench.edit(id, ["name": .string("mine \(id)")]) }
      #expect(try await bench.up().counts.succeeded == 5)
      #expect(bench.server.with { $0.writesAtOnce.most } == 1)
    }
  }

  /// Reads for comparison are in flight together as well.
  @Test func looks_beforeTheWrites_areAsManyAsTheWrites() async throws {
    try await CollectionBench.with(rows: 20, Self.eight) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      for id in 1...20 { try bench.edit(id, ["name": .string("mine \(id)")]) }
      bench.server.with { state in
        for id in [3, 11] { state.change(id, ["name": "theirs", "updated_at": "2030-01-01T00:00:00Z"]) }
      }
      let state = try await bench.up()
      #expect(state.counts.succeeded == 18 && state.counts.conflicting == 2, "\(state.error) \(state.counts)")
      #expect(try bench.manager.conflicts(inSoup: CollectionBench.soup).count == 2)
      #expect(bench.server.row("3")?["name"] == "theirs" && bench.server.row("4")?["name"] == "mine 4")
    }
  }

  /// One write is refused, one gets no response: the others are finished, and only the create
  /// without a response is doubtful.
  @Test func connectionLost_betweenAnswers_keepsThoseThatCame() async throws {
    try await CollectionBench.with(Self.eight) { bench async throws in
      for n in 1...20 { try bench.make("local_\(n)", ["name": .string("new \(n)")]) }
      bench.server.with { state in
        state.holdsWritesUntil = 8
        state.onRecord = { request, state in
          guard request.method == "POST" else { return nil }
          if request.text.contains("new 2\"") { return .json(#"{"message":"no"}"#, status: 422) }
          guard request.text.contains("new 5\"") else { return nil }
          _ = CollectionServer.write(request, &state)
          return .closed
        }
      }
      let state = try await bench.up()
      #expect(state.status == .failed && state.counts.succeeded == 6 && state.counts.failed == 1, "\(state.counts)")
      #expect(bench.server.requests.count { $0.method == "POST" } == 8, "nothing is sent after a failure")
      bench.clock.advance(3600)
      let again = try await bench.upAgain()
      #expect(
        again.status == .done && again.counts.inDoubt == 1 && again.counts.succeeded == 12, "\(again.error) \(again.counts)")
      #expect(bench.server.ids.count == 19)
      let doubtful = try bench.entries().filter { $0["__last_error__"]?.stringValue?.contains("IN_DOUBT") ?? false }
      #expect(doubtful.map { $0["name"] } == ["new 5"])
    }
  }

  /// The process ends with eight creates in flight; the next process creates none of them twice.
  @Test func processEnds_withCreatesOnTheirWay_nothingIsMadeTwice() async throws {
    try await CollectionBench.with(Self.eight) { bench async throws in
      for n in 1...12 { try bench.make("local_\(n)", ["name": .string("new \(n)")]) }
      bench.server.with { state in
        state.holdsWritesUntil = 8
        state.onRecord = { request, state in
          guard request.method == "PUT", state.writes < 8 else { return nil }
          _ = CollectionServer.write(request, &state)
          return .closed
        }
      }
      let create: JSONObject = [
        "create": ["method": "PUT", "url": "/items/{id}", "fields": ["name"], "newId": "uuid", "headers": ["If-None-Match": "*"]]
      ]
      #expect(try await bench.up(create).status == .failed)
      #expect(bench.server.ids.count == 8)
      try await bench.reopen()
      let state = try await bench.upAgain()
      #expect(state.status == .done && state.counts.inDoubt == 0, "\(state.error) \(state.counts)")
      #expect(bench.server.ids.count == 12)
      #expect(try bench.ids() == bench.server.ids)
      #expect(try bench.entries().allSatisfy { $0["__local__"] == false })
    }
  }

  /// A tree in one soup: a parent is created before its children.
  @Test func rowsThatNameOthersOfTheirSoup_goOneAfterTheOther() async throws {
    try await CollectionBench.with(Self.eight) { bench async throws in
      try bench.make("local_1", ["name": "root"])
      for n in 2...6 { try bench.make("local_\(n)", ["name": .string("n \(n)"), "parent": .string("local_\(n - 1)")]) }
      let state = try await bench.up([
        "create": ["url": "/items", "fields": ["name", "parent"]], "dependsOn": ["parent": .string(CollectionBench.soup)],
      ])
      #expect(state.status == .done && state.counts.succeeded == 6, "\(state.error) \(state.counts)")
      #expect(bench.server.with { $0.rows.map { $0["parent"]?.plain ?? "" } } == ["", "1000", "1001", "1002", "1003", "1004"])
      #expect(bench.server.with { $0.writesAtOnce.most } == 1)
    }
  }

  /// Parents need not be stored before their children.
  @Test func rowBeforeTheOneItNames_isSentBehindIt() async throws {
    try await CollectionBench.with(Self.eight) { bench async throws in
      try bench.make("local_3", ["name": "leaf", "parent": "local_2"])
      try bench.make("local_2", ["name": "branch", "parent": "local_1"])
      try bench.make("local_1", ["name": "root"])
      let state = try await bench.up([
        "create": ["url": "/items", "fields": ["name", "parent"]], "dependsOn": ["parent": .string(CollectionBench.soup)],
      ])
      #expect(state.status == .done && state.counts.succeeded == 3, "\(state.error) \(state.counts)")
      #expect(bench.server.with { $0.rows.map { $0["name"]?.plain ?? "" } } == ["root", "branch", "leaf"])
    }
  }

  /// Two entries have the same id: their changes arrive in the order in which they were made.
  @Test func twoRowsOfOneId_goOneAfterTheOther() async throws {
    try await CollectionBench.with(rows: 8, Self.eight) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      for n in 1...4 {
        let entry: JSONObject = [
          "id": "1", "name": .string("edit \(n)"), "__local__": true, "__locally_updated__": true, "__locally_created__": false,
          "__locally_deleted__": false,
        ]
        try bench.store.upsert(JSONValue.array([.object(entry)]).text, into: CollectionBench.soup)
      }
      for id in 2...5 { try bench.edit(id, ["name": .string("mine \(id)")]) }
      let state = try await bench.up(["precondition": "none"], mode: "OVERWRITE")
      #expect(state.status == .done, "\(state.error)")
      let sent = bench.server.requests.filter { $0.method == "PATCH" && $0.path == "/items/1" }.map(\.text)
      #expect(sent == (1...4).map { #"{"name":"edit \#($0)"}"# }, "\(sent)")
    }
  }

  /// The pause separates the starts of writes.
  @Test func pause_isKeptAlsoBetweenWritesThatTravelTogether() async throws {
    try await CollectionBench.with(rows: 6, ["maxParallel": ["writes": 3], "pauseMs": 250]) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      for id in 1...6 { try bench.edit(id, ["name": .string("mine \(id)")]) }
      let before = bench.clock.milliseconds
      #expect(try await bench.up(["precondition": "none"], mode: "OVERWRITE").counts.succeeded == 6)
      #expect(bench.clock.milliseconds - before >= 5 * 250)
    }
  }

  /// Records that the server no longer has are created again up to the limit, however many are in
  /// flight.
  @Test func recreate_moreThanTheLimit_stops() async throws {
    try await CollectionBench.with(rows: 30, Self.eight) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      for id in 1...30 { try bench.edit(id, ["name": .string("mine \(id)")]) }
      bench.server.with { $0.remove(1...30) }
      let state = try await bench.up(mode: "OVERWRITE")
      #expect(state.status == .failed && state.error.contains("maxRecreate"), "\(state.error)")
      #expect(bench.server.ids.count <= 10)
      #expect(try bench.entries().count == 30)
    }
  }
}
