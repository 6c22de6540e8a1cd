import JSON
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import RestClient
@testable import RestCollections

/// Tests creates whose responses are lost: the server has one record, and the row has its id.
struct CreateOnceWireTests {
  /// The server creates the first record and cuts the connection.
  private static func loseFirst(_ bench: CollectionBench) {
    bench.server.with { state in
      state.takesWrites = true
      state.onRecord = { request, state in
        guard ["POST", "PUT"].contains(request.method), state.writes == 0 else { return nil }
        _ = CollectionServer.write(request, &state)
        return .closed
      }
    }
  }

  @Test func lostAnswer_withoutKeys_staysInDoubtAndIsNotSentAgain() async throws {
    try await CollectionBench.with { bench async throws in
      Self.loseFirst(bench)
      try bench.make("local_1", ["name": "new"])
      #expect(try await bench.up().status == .failed)
      bench.clock.advance(3600)
      let state = try await bench.upAgain()
      #expect(state.status == .done && state.counts.inDoubt == 1, "\(state.error)")
      #expect(bench.server.with { $0.rows.count } == 1)
      #expect(try bench.record("local_1")?["__last_error__"]?.stringValue?.contains("IN_DOUBT") == true)
    }
  }

  @Test func lostAnswer_idempotencyKey_isTheSameForEachRepeat() async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { request, state in
          guard request.method == "POST" else { return nil }
          guard let row = state.rows.first(where: { $0["key"]?.stringValue == request.header("Idempotency-Key") }) else {
            _ = CollectionServer.write(request, &state)
            state.rows[state.rows.count - 1]["key"] = request.header("Idempotency-Key").map { .string($0) }
            return .json("{}", status: 500)
          }
          return .json(JSONValue.object(row).text, status: 201)
        }
      }
      try bench.make("local_1", ["name": "new"])
      let create: JSONObject = ["create": ["url": "/items", "fields": ["name"], "idempotencyHeader": "Idempotency-Key"]]
      // The connection retries with the same key.
      let state = try await bench.up(create)
      #expect(state.status == .done && state.counts.succeeded == 1, "\(state.error)")
      #expect(bench.server.with { $0.rows.count } == 1)
      #expect(Set(bench.server.requests.filter { $0.method == "POST" }.compactMap { $0.header("Idempotency-Key") }).count == 1)
      #expect(try bench.record("1000")?["__local__"] == false)
    }
  }

  /// The first attempt creates the record and loses the response; a proxy refuses the retry, which
  /// says nothing about the first attempt.
  @Test(arguments: [
    ScriptedAnswer.text("<html>no such page</html>", status: 404, type: "text/html"),
    .json(#"{"message":"not here"}"#, status: 403), .status(405), .json(#"{"message":"in work"}"#, status: 409),
  ])
  func lostAnswer_repeatIsRefused_nextRunSendsTheSameKey(refusal: ScriptedAnswer) async throws {
    try await CollectionBench.with { bench async throws in
      let tries = Mutex(0)
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { request, state in
          guard request.method == "POST", let key = request.header("Idempotency-Key") else { return nil }
          let number = tries.withLock { count in
            count += 1
            return count
          }
          if number == 2 { return refusal }
          if let known = state.answersByKey[key] { return known }
          state.answersByKey[key] = CollectionServer.write(request, &state)
          return number == 1 ? .closed : state.answersByKey[key]
        }
      }
      try bench.make("local_1", ["name": "new"])
      let create: JSONObject = ["create": ["url": "/items", "fields": ["name"], "idempotencyHeader": "Idempotency-Key"]]
      try await bench.up(create)
      #expect(tries.withLock { $0 } == 2)
      #expect(try bench.record("local_1")?["__local__"] == true)
      let state = try await bench.upAgain()
      #expect(state.status == .done && state.counts.succeeded == 1, "\(state.error)")
      #expect(bench.server.with { $0.rows.count } == 1)
      #expect(try bench.record("1000")?["__local__"] == false)
    }
  }

  /// How many answers are lost in one run: those of all attempts of the connection.
  private static let lost = ConnectionRetry.attempts

  /// Makes the server answer by key: a repeat gets the first answer, and with another body what
  /// `refusal` says. No answer of the first run arrives.
  private static func answerByKey(_ bench: CollectionBench, otherBody refusal: ScriptedAnswer?) {
    let bodies = Mutex<[String: [UInt8]]>([:]), count = Mutex(0)
    bench.server.with { state in
      state.takesWrites = true
      state.onRecord = { request, state in
        guard request.method == "POST", let key = request.header("Idempotency-Key") else { return nil }
        let number = count.withLock { count in
          count += 1
          return count
        }
        let first = bodies.withLock { bodies in
          if bodies[key] == nil { bodies[key] = request.body }
          return bodies[key]
        }
        if first != request.body, let refusal { return refusal }
        if state.answersByKey[key] == nil { state.answersByKey[key] = CollectionServer.write(request, &state) }
        return number <= Self.lost ? .closed : state.answersByKey[key]
      }
    }
  }

  private static let keyed: JSONObject = [
    "create": ["url": "/items", "fields": ["name"], "idempotencyHeader": "Idempotency-Key"]
  ]

  /// A repeat sends what was sent at first, and the edit since follows as an update.
  @Test(arguments: [nil, 422, 400] as [Int?], ["LEAVE_IF_CHANGED", "MERGE", "OVERWRITE"])
  func lostAnswer_editedBeforeTheRepeat_editFollows(refusal: Int?, mode: String) async throws {
    try await CollectionBench.with { bench async throws in
      Self.answerByKey(bench, otherBody: refusal.map { .json(#"{"message":"another body"}"#, status: $0) })
      try bench.make("local_1", ["name": "first"])
      #expect(try await bench.up(Self.keyed, mode: mode).status == .failed)
      var entry = try #require(try bench.record("local_1"))
      entry["name"] = "second"
      try bench.store.upsert(JSONValue.array([.object(entry)]).text, into: CollectionBench.soup)
      for _ in 0..<2 { #expect(try await bench.upAgain().counts.failed == 0) }
      #expect(bench.server.with { $0.rows.map { $0["name"]?.stringValue } } == ["second"])
      let found = try bench.entries()
      #expect(found.count == 1 && found[0]["name"] == "second" && found[0]["__local__"] == false)
    }
  }

  /// The server refused the create itself, and the answer was lost: the corrected entry is sent with
  /// the same key.
  @Test func lostAnswer_contentWasRefused_correctedEntryIsCreated() async throws {
    try await CollectionBench.with { bench async throws in
      let tries = Mutex(0)
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { request, state in
          guard request.method == "POST" else { return nil }
          let isLost = tries.withLock { count in
            count += 1
            return count <= Self.lost
          }
          if isLost { return .closed }
          let name = (try? JSONValue(parsing: request.body))?["name"]?.stringValue
          return name == "good" ? CollectionServer.write(request, &state) : .json(#"{"message":"bad name"}"#, status: 422)
        }
      }
      try bench.make("local_1", ["name": "bad"])
      #expect(try await bench.up(Self.keyed).status == .failed)
      var entry = try #require(try bench.record("local_1"))
      entry["name"] = "good"
      try bench.store.upsert(JSONValue.array([.object(entry)]).text, into: CollectionBench.soup)
      var keys: Set<String> = []
      for _ in 0..<3 {
        _ = try await bench.upAgain()
        keys.formUnion(bench.server.requests.compactMap { $0.header("Idempotency-Key") })
      }
      #expect(bench.server.with { $0.rows.map { $0["name"]?.stringValue } } == ["good"])
      #expect(try bench.entries().map { $0["__local__"] } == [false] && keys.count == 1)
    }
  }

  /// The process is killed between the create and its response; another process continues with the
  /// same key.
  @Test func idempotencyKey_outlivesTheProcess() async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { request, state in
          guard request.method == "POST" else { return nil }
          state.nextId += 1
          return state.nextId <= 1005 ? .closed : nil
        }
      }
      try bench.make("local_1", ["name": "new"])
      let create: JSONObject = ["create": ["url": "/items", "fields": ["name"], "idempotencyHeader": "Idempotency-Key"]]
      #expect(try await bench.up(create).status == .failed)
      let first = bench.server.requests.compactMap { $0.header("Idempotency-Key") }
      try await bench.reopen()
      let state = try await bench.upAgain()
      #expect(state.status == .done && state.counts.succeeded == 1, "\(state.error)")
      let all = bench.server.requests.compactMap { $0.header("Idempotency-Key") }
      #expect(Set(all).count == 1 && all.count > first.count && !first.isEmpty)
    }
  }

  @Test(arguments: ["uuid", "name"]) func lostAnswer_ownId_isFoundUnderIt(newId: String) async throws {
    try await CollectionBench.with { bench async throws in
      Self.loseFirst(bench)
      try bench.make("local_1", ["name": "new"])
      let create: JSONObject = [
        "create": [
          "method": "PUT", "url": "/items/{id}", "fields": ["name"], "newId": .string(newId), "headers": ["If-None-Match": "*"],
        ]
      ]
      #expect(try await bench.up(create).status == .failed)
      let state = try await bench.upAgain()
      #expect(state.status == .done, "\(state.error)")
      let ids = bench.server.ids
      #expect(ids.count == 1 && bench.server.requests.count { $0.method == "PUT" } == 1)
      #expect(try bench.ids() == ids)
      #expect(try bench.entries().first?["__local__"] == false)
      #expect(newId != "name" || ids == ["new"])
    }
  }

  /// The id is taken by another client's record.
  @Test func ownId_alreadyTaken_flagsTheRow() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try bench.make("local_1", ["name": "1"])
      let create: JSONObject = [
        "create": ["method": "PUT", "url": "/items/{id}", "fields": ["name"], "newId": "name", "headers": ["If-None-Match": "*"]]
      ]
      let state = try await bench.up(create)
      #expect(state.status == .done && state.counts.failed == 1, "\(state.error)")
      #expect(try bench.lastError(bench.record("local_1"))["status"] == 412)
      #expect(bench.server.row("1")?["name"] == "r1")
    }
  }

  /// The results of a search: nothing at first, because the index lags; the record; two possible
  /// records.
  @Test(arguments: [0, 1, 2]) func lostAnswer_lookup_decides(found: Int) async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { request, state in
          if request.path == "/search" {
            state.nextId += 100
            let isLate = state.nextId < 1200
            let rows = isLate ? [] : state.rows.filter { $0["name"]?.stringValue == URLQuery.value(of: "q", in: request.target) }
            return .json(JSONValue.object(["items": .array(rows.map { .object($0) })]).text)
          }
          guard request.method == "POST", state.writes == 0 else { return nil }
          if found > 0 { _ = CollectionServer.write(request, &state) }
          if found > 1 { _ = CollectionServer.write(request, &state) }
          state.writes += 1
          return .closed
        }
      }
      try bench.make("local_1", ["name": "new"])
      let create: JSONObject = [
        "create": [
          "url": "/items", "fields": ["name"],
          "lookup": ["url": "/search", "params": ["q": "{name}"], "itemsPath": "items", "waitMs": 3000],
        ]
      ]
      #expect(try await bench.up(create).status == .failed)
      bench.clock.advance(60)
      let state = try await bench.upAgain()
      #expect(state.status == .done, "\(state.error)")
      #expect(bench.server.with { $0.rows.count } == max(1, found))
      #expect(bench.clock.slept.contains(3), "it looked twice")
      if found == 2 {
        #expect(state.counts.inDoubt == 1)
        #expect(try bench.record("local_1")?["__last_error__"] != nil)
      } else {
        #expect(try bench.ids() == bench.server.ids)
      }
    }
  }

  /// The list of a look-up is where the target's lists are, if it names no other place; a list alone and one record are found,
  /// too.
  @Test(arguments: [("$", "$"), ("data.items", "data.items"), ("data.items", "$"), ("data.items", "one")])
  func uniqueField_isFilledAndFoundByIt(itemsPath: String, answer: String) async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { request, state in
          if request.path == "/search" {
            let wanted = URLQuery.value(of: "ref", in: request.target)
            let found = JSONValue.array(state.rows.filter { $0["ref"]?.stringValue == wanted }.map { .object($0) })
            let bodies: [String: JSONValue] = [
              "$": found, "data.items": ["data": ["items": found]], "one": found.arrayValue?.first ?? .null,
            ]
            return .json(bodies[answer]?.text ?? "")
          }
          guard request.method == "POST", state.writes == 0 else { return nil }
          _ = CollectionServer.write(request, &state)
          return .closed
        }
      }
      try bench.make("local_1", ["name": "new"])
      let create: JSONObject = [
        "create": [
          "url": "/items", "fields": ["name", "ref"], "uniqueField": "ref",
          "lookup": ["url": "/search", "params": ["ref": "{ref}"]],
        ]
      ]
      #expect(try await bench.up(create, ["itemsPath": .string(itemsPath)]).status == .failed)
      let again = try await bench.upAgain()
      #expect(again.status == .done, "\(again.error)")
      #expect(bench.server.with { $0.rows.count } == 1)
      #expect(bench.server.row("1000")?["ref"]?.stringValue?.count == 36)
      #expect(try bench.ids() == ["1000"])
    }
  }

  /// A one-time URL: the retry is refused, so the first attempt arrived, and the look-up finds it.
  @Test func lostAnswer_preparedAddress_isRepeatedThenLookedUp() async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { request, state in
          if request.path == "/tokens" {
            state.nextId += 1
            return .json(#"{"data":{"link":"/once/\#(state.nextId)"}}"#, status: 201)
          }
          if request.path == "/search" {
            return .json(JSONValue.array(state.rows.map { .object($0) }).text)
          }
          guard request.path.hasPrefix("/once/") else { return nil }
          guard state.writes == 0 else { return .json(#"{"error":{"status":400,"msg":"POE token is used"}}"#, status: 400) }
          _ = state.create(["name": "new"], id: 77)
          return .closed
        }
      }
      try bench.make("local_1", ["name": "new"])
      let create: JSONObject = [
        "create": [
          "url": "/items", "fields": ["name"], "prepare": ["url": "/tokens", "urlPath": "data.link"],
          "lookup": ["url": "/search", "params": ["q": "{name}"]],
        ]
      ]
      #expect(try await bench.up(create).status == .failed)
      let state = try await bench.upAgain()
      #expect(state.status == .done, "\(state.error)")
      #expect(bench.server.requests.count { $0.path == "/tokens" } == 1)
      #expect(Set(bench.server.requests.filter { $0.path.hasPrefix("/once/") }.map(\.path)).count == 1)
      #expect(try bench.ids() == ["77"] && bench.server.ids == ["77"])
    }
  }
}
