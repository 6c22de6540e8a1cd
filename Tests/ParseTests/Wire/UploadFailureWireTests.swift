import JSON
import SandboxParse
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Tests records that the server refuses.
struct UploadFailureWireTests {
  private static let lists: JSONObject = ["createFieldlist": ["n"], "updateFieldlist": ["n"]]

  private func item(_ error: String) -> Fault {
    .answer(status: 200, body: #"[{"error":\#(error)},{"success":{"updatedAt":"2030-01-01T00:00:00.000Z"}}]"#)
  }

  /// Edits two records, the first of which will be refused.
  private func edited(_ bench: ParseBench) async throws -> [String] {
    let ids = try await bench.create("Book", count: 2) { ["n": .integer(Int64($0))] }
    try await bench.down()
    for id in ids { try bench.edit(id, ["n": 10]) }
    return ids
  }

  /// Row 24, for writes. Only the record at fault is flagged; the other one is uploaded.
  @Test(arguments: [
    (102, "flagged"), (105, "flagged"), (107, "flagged"), (108, "flagged"), (111, "flagged"), (116, "flagged"), (119, "open"),
    (121, "flagged"), (122, "flagged"), (123, "flagged"), (125, "flagged"), (130, "flagged"), (135, "flagged"), (136, "flagged"),
    (137, "flagged"), (141, "flagged"), (142, "flagged"), (153, "flagged"), (200, "flagged"), (202, "flagged"), (205, "flagged"),
    (252, "flagged"), (4_711, "flagged"), (103, "open"), (104, "open"), (140, "open"), (155, "open"), (206, "open"),
    (209, "open"),
  ])
  func code_ofAnItem_leadsToItsAction(code: Int, action: String) async throws {
    try await ParseBench.with { bench async throws in
      let ids = try await edited(bench)
      try bench.server.faults.add(item(#"{"code":\#(code),"error":"no"}"#), path: "/parse/batch", times: 1)
      let state = try await bench.up("Book", Self.lists, mode: "OVERWRITE")
      #expect(state.status == .done && state.counts.succeeded == 1 && state.counts.failed == 1)
      let error = try bench.lastError(bench.entry(ids[0]))
      #expect(error["code"] == .integer(Int64(code)) && error["error"] == "no")
      #expect(try bench.entry(ids[0])?["__local__"] == true && bench.entry(ids[1])?["__local__"] == false)
      bench.forgetRequests()
      try await bench.again("up")
      #expect(bench.requests.isEmpty == (action == "flagged"))
      #expect(try bench.entry(ids[0])?["__local__"] == .bool(action == "flagged"))
    }
  }

  /// The server answers 101 whether an object is missing or the user may not delete it.
  @Test func delete_forWhichRightsAreMissing_isNotDone() async throws {
    try await ParseBench.with { bench async throws in
      let protected = try await bench.create("Book", ["n": 1, "ACL": ["*": ["read": true]]])
      let free = try await bench.create("Book", ["n": 2]), gone = try await bench.create("Book", ["n": 3])
      try await bench.down()
      try await bench.call(.DELETE, "/classes/Book/\(gone)", [:])
      for id in [protected, free, gone] { try bench.delete(id) }
      let state = try await bench.up("Book", Self.lists, mode: "OVERWRITE")
      #expect(state.counts.succeeded == 2 && state.counts.failed == 1)
      let row = try #require(try bench.entry(protected))
      #expect(row["__locally_deleted__"] == true && row["n"] == 1)
      let error = try bench.lastError(row)
      #expect(error["code"] == 101)
      #expect(error["error"] == "the object is not deleted: it is readable, but may not be deleted (Object not found.)")
      #expect(try bench.entries().count == 1)
    }
  }

  /// An object that the user cannot read may be gone: nothing shows the difference.
  @Test func delete_ofAHiddenObject_isDone() async throws {
    try await ParseBench.with { bench async throws in
      let hidden = try await bench.create("Book", ["n": 1])
      try await bench.down()
      try bench.delete(hidden)
      try bench.server.faults.add(
        .answer(status: 404, body: #"{"code":101,"error":"Object not found."}"#), path: "/parse/classes/Book/\(hidden)",
        method: "DELETE", times: 1)
      try bench.server.faults.add(
        .answer(status: 400, body: #"{"code":119,"error":"Permission denied"}"#), path: "/parse/classes/Book", method: "GET",
        times: 1)
      try bench.server.faults.add(
        .answer(status: 404, body: #"{"code":101,"error":"Object not found."}"#), path: "/parse/classes/Book/\(hidden)",
        method: "GET", times: 1)
      let state = try await bench.up("Book", Self.lists, mode: "OVERWRITE")
      #expect(state.counts.succeeded == 1 && state.counts.failed == 0)
      #expect(try bench.entries().isEmpty)
    }
  }

  /// Without a look nothing is known, so the row stays for the next run.
  @Test func delete_whoseLookFails_staysOpen() async throws {
    try await ParseBench.with { bench async throws in
      let id = try await bench.create("Book", ["n": 1, "ACL": ["*": ["read": true]]])
      try await bench.down()
      try bench.delete(id)
      try bench.server.faults.add(
        .answer(status: 401, body: "{}"), path: "/parse/classes/Book", method: "GET", times: 1)
      let state = try await bench.up("Book", Self.lists, mode: "OVERWRITE")
      #expect(state.status == .failed && state.counts.succeeded == 0)
      #expect(try bench.entry(id)?["__locally_deleted__"] == true)
    }
  }

  /// Rows 24 and 47: an error without a code counts as code 1.
  @Test(arguments: [#"{"error":"exception"}"#, #"{"code":1,"error":"exception"}"#, #"{"code":2,"error":"exception"}"#])
  func passingError_ofAnItem_isSentAgain(error: String) async throws {
    try await ParseBench.with { bench async throws in
      let ids = try await edited(bench)
      try bench.server.faults.add(item(error), path: "/parse/batch", times: 1)
      let state = try await bench.up("Book", Self.lists, mode: "OVERWRITE")
      #expect(state.status == .done && state.counts.succeeded == 2)
      #expect(try await bench.object("Book", ids[0])["n"] == 10)
      #expect(!bench.slept.seconds.isEmpty)
    }
  }

  /// Row 47.
  @Test func itemErrorWithoutCode_thatStays_flagsThatRowAlone() async throws {
    try await ParseBench.with { bench async throws in
      let ids = try await edited(bench)
      try bench.server.faults.add(item(#"{"error":"exception"}"#), path: "/parse/batch", times: 1)
      try bench.server.faults.add(Fault("internalError"), path: "/parse/classes/Book/\(ids[0])", method: "PUT")
      let state = try await bench.up("Book", Self.lists, mode: "OVERWRITE")
      #expect(state.status == .done && state.counts.succeeded == 1 && state.counts.failed == 1)
      #expect(try bench.entry(ids[0])?["__local__"] == true)
      #expect(try bench.lastError(bench.entry(ids[0]))["error"] == "Internal server error.")
      #expect(try bench.entry(ids[1])?["__local__"] == false)
    }
  }

  @Test func limit_ofRequests_endsTheRun_andKeepsWhatIsDone() async throws {
    try await ParseBench.with { bench async throws in
      let ids = try await bench.create("Book", count: 3) { ["n": .integer(Int64($0))] }
      try await bench.down()
      for id in ids { try bench.edit(id, ["n": 10]) }
      try bench.server.faults.add(item(#"{"code":155,"error":"limit"}"#), path: "/parse/batch", times: 1)
      let state = try await bench.up("Book", Self.lists.replacing(with: ["maxBatchSize": 2]), mode: "OVERWRITE")
      #expect(state.status == .failed && state.failure?.code == "quotaExhausted")
      #expect(try bench.entries().count { $0["__local__"] == true } == 2)
      #expect(try await bench.again("up").status == .done)
    }
  }

  @Test func everyRecordForbidden_endsTheRun() async throws {
    try await ParseBench.with { bench async throws in
      let ids = try await bench.create("Book", count: 3) { ["n": .integer(Int64($0))] }
      try await bench.down()
      for id in ids { try bench.edit(id, ["n": 10]) }
      let refused = #"{"error":{"code":119,"error":"no"}}"#
      try bench.server.faults.add(.answer(status: 200, body: "[\(refused),\(refused)]"), path: "/parse/batch")
      let state = try await bench.up("Book", Self.lists.replacing(with: ["maxBatchSize": 2]), mode: "OVERWRITE")
      #expect(state.status == .failed && state.failure?.message.contains("class 'Book' is not writable") == true)
      #expect(try bench.entries().allSatisfy { $0["__local__"] == true })
    }
  }

  @Test func batchTooLarge_isHalved() async throws {
    try await ParseBench.with { bench async throws in
      for n in 0..<8 { try bench.make(["objectId": .string("local_\(n)"), "n": .integer(Int64(n))]) }
      try bench.server.faults.add(
        .answer(status: 400, body: #"{"code":107,"error":"batch exceeds the limit"}"#), path: "/parse/batch", times: 1)
      bench.forgetRequests()
      let state = try await bench.up("Book", Self.lists)
      #expect(state.status == .done && state.counts.succeeded == 8)
      #expect(bench.requests.count == 3)
      #expect(try await bench.objects("Book").count == 8)
    }
  }

  /// Row 25.
  @Test func sessionEnded_keepsEdits_andGoesOnAfterALogin() async throws {
    try await ParseBench.with(["sessionToken": ["env": "TOKEN"]]) { bench async throws in
      let user = try await bench.call(.POST, "/users", ["username": "a", "password": "p"])
      bench.secrets["TOKEN"] = "r:00000000000000000000000000000000"
      for n in 0..<3 { try bench.make(["objectId": .string("local_\(n)"), "n": .integer(Int64(n))]) }
      let state = try await bench.up("Book", Self.lists)
      #expect(state.status == .failed && state.failure?.code == "notAuthenticated")
      #expect(try bench.entries().allSatisfy { $0["__local__"] == true && $0["__last_error__"] == nil })
      bench.secrets["TOKEN"] = user["sessionToken"]?.stringValue
      #expect(try await bench.again("up").counts.succeeded == 3)
      #expect(try await bench.objects("Book").count == 3)
    }
  }
}
