import JSON
import SandboxParse
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Tests uploads of fields that scripts changed by operations offline.
struct OperationUploadWireTests {
  private static let lists: JSONObject = ["createFieldlist": ["n", "m"], "updateFieldlist": ["n", "m"]]

  /// Creates a record with n = 2 and adds 3 offline; another client has added 40.
  private func counted(_ bench: ParseBench, others: Int64 = 40) async throws -> String {
    let id = try await bench.create("Book", ["n": 2, "m": 1])
    _ = try await bench.create("Book", ["n": 0, "m": 1])
    try await bench.down()
    let increment: JSONValue = ["n": ["__op": "Increment", "amount": .integer(others)]]
    if others != 0 { try await bench.call(.PUT, "/classes/Book/\(id)", increment) }
    try add(3, to: id, bench)
    return id
  }

  /// Changes the entry as `tureen.parse` does.
  private func add(_ amount: Int64, to id: String, _ bench: ParseBench) throws {
    let value = JSONValue.integer((try bench.entry(id)?["n"]?.integerValue ?? 0) + amount)
    try bench.edit(id, ["n": value, "__operations__": ["n": ["op": "Increment", "value": value]]])
  }

  @Test func increment_isSentAsOne_andTheEntryGetsTheSum() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await counted(bench)
      bench.forgetRequests()
      let state = try await bench.up("Book", Self.lists, mode: "OVERWRITE")
      #expect(state.counts.succeeded == 1)
      #expect(bench.requests.last { $0.method == "PUT" }?.body == #"{"n":{"__op":"Increment","amount":3}}"#)
      #expect(try await bench.object("Book", id)["n"] == 45)
      let entry = try #require(try bench.entry(id))
      #expect(entry["n"] == 45 && entry["__local__"] == false && entry["__operations__"] == nil)
    }
  }

  /// The value in the entry decides: a field that was set in another way is sent as a value.
  @Test func fieldThatWasSetSince_isSentAsAValue() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await counted(bench)
      try bench.edit(id, ["n": 100])
      try await bench.up("Book", Self.lists, mode: "OVERWRITE")
      #expect(try await bench.object("Book", id)["n"] == 100)
    }
  }

  /// An increment that is made while the first one is in flight is sent once, and so is the first one.
  @Test func incrementInFlight_isCountedFromWhatWasSent() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await counted(bench), other = try #require(try bench.ids().subtracting([id]).first)
      try bench.edit(other, ["m": 2])
      // Both are sent before the answers are written. The second one is sent again after a wait.
      try bench.server.faults.add(Fault("internalError"), path: "/parse/classes/Book/\(other)", method: "PUT", times: 1)
      bench.slept.onNext { try? add(7, to: id, bench) }
      let state = try await bench.up("Book", Self.lists.replacing(with: ["maxBatchSize": 1]), mode: "OVERWRITE")
      #expect(state.counts.succeeded == 2)
      #expect(try bench.entry(id)?["__local__"] == true)
      #expect(try await bench.object("Book", id)["n"] == 45)
      try await bench.again("up")
      #expect(try await bench.object("Book", id)["n"] == 52)
      #expect(try bench.entry(id)?["n"] == 52 && bench.entry(id)?["__local__"] == false)
    }
  }

  /// The server refuses with an error of its own, and has or has not executed the request.
  @Test(arguments: [true, false]) func refusedByMistake_isAppliedOnce(executed: Bool) async throws {
    try await ParseBench.with { bench async throws in
      let id = try await counted(bench, others: 0)
      bench.clock.advance(by: 60)
      try bench.server.faults.add(Fault("internalError", ["executed": .bool(executed)]), method: "PUT", times: 1)
      let state = try await bench.up("Book", Self.lists, mode: "OVERWRITE")
      #expect(state.counts.succeeded == 1)
      #expect(try await bench.object("Book", id)["n"] == 5)
      #expect(try bench.entry(id)?["__local__"] == false)
    }
  }

  /// The connection is cut after the request.
  @Test func lostAnswer_isLookedUp() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await counted(bench, others: 0)
      bench.clock.advance(by: 60)
      try bench.server.faults.add(.dropBeforeResponse(), method: "PUT", times: 1)
      _ = try await bench.up("Book", Self.lists, mode: "OVERWRITE")
      try await bench.again("up")
      #expect(try await bench.object("Book", id)["n"] == 5)
      #expect(try bench.entry(id)?["__local__"] == false)
    }
  }

  /// Another client has changed the object as well, so nothing shows whether the operation was applied: it is not sent twice.
  @Test func lostAnswer_thatCannotBeLookedUp_isFlaggedAndNotRepeated() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await counted(bench)
      try bench.server.faults.add(.dropBeforeResponse(), method: "PUT", times: 1)
      _ = try await bench.up("Book", Self.lists, mode: "OVERWRITE")
      #expect(try bench.lastError(bench.entry(id))["error"]?.stringValue?.contains("may have been applied") == true)
      try await bench.again("up")
      #expect(try await bench.object("Book", id)["n"] == 45)
      #expect(try bench.entry(id)?["__local__"] == true)
    }
  }

  /// What the operations cannot express goes as a value.
  @Test(arguments: [
    (#"{"op":"Add","value":[1,3]}"#, "[1,2]", "[1,3]", "[1,3]"),
    (#"{"op":"Add","value":[1,2,3]}"#, "[1,2]", "[1,2,3]", #"{"__op":"Add","objects":[3]}"#),
    (#"{"op":"AddUnique","value":[1,2,3]}"#, "[1,2]", "[1,2,3]", #"{"__op":"AddUnique","objects":[3]}"#),
    (#"{"op":"Remove","value":[2]}"#, "[1,2,1]", "[2]", #"{"__op":"Remove","objects":[1]}"#),
    (#"{"op":"Remove","value":[2,4]}"#, "[1,2]", "[2,4]", "[2,4]"),
    (#"{"op":"Increment","value":5}"#, "2.5", "5", #"{"__op":"Increment","amount":2.5}"#),
    (#"{"op":"Increment","value":5}"#, #""a""#, "5", "5"),
    (#"{"op":"Increment","value":4}"#, "2", "5", "5"),
    (#"{"op":"Set"}"#, "2", "5", "5"),
    (#"{"op":"Multiply","value":5}"#, "2", "5", "5"),
    ("7", "2", "5", "5"),
  ])
  func update_ofAnOperatedField_isTheShortestTruth(operation: String, base: String, now: String, sent: String) throws {
    let encoder = try RecordEncoder(className: "Book", createFields: ["n"], updateFields: ["n"])
    let entry: JSONObject = ["n": try json(now), "__operations__": ["n": try json(operation)]]
    let write = try encoder.update(entry, from: ["n": try json(base)])
    #expect(write?.body == ["n": try json(sent)])
  }

  @Test func update_ofPartsOfAColumn_sendsTheParts() throws {
    let encoder = try RecordEncoder(className: "Book", createFields: ["o"], updateFields: ["o"])
    let operations: JSONValue = ["o.n": ["op": "Increment", "value": 5]]
    let write = try encoder.update(["o": ["n": 5, "x": 1], "__operations__": operations], from: ["o": ["n": 2, "x": 1]])
    #expect(write?.body == ["o.n": ["__op": "Increment", "amount": 3]])
    let other = try encoder.update(["o": ["n": 5, "x": 7], "__operations__": operations], from: ["o": ["n": 2, "x": 1]])
    #expect(other?.body == ["o": ["n": 5, "x": 7]])
    #expect(try encoder.update(["o": ["n": 5], "__operations__": operations], from: nil)?.body == ["o": ["n": 5]])
  }

  private func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }
}
