import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestClient
@testable import RestCollections

/// Tests the protections of uploads: conditions, records that are gone, wrong URLs, refusals.
struct UploadGuardWireTests {
  // MARK: Tags

  @Test func tag_ofTheCheck_isSentWithTheWrite() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      bench.server.with { $0.recordTags = true }
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "mine"])
      let tag = bench.server.with { $0.tag($0.rows[0]) }
      #expect(try await bench.up().counts.succeeded == 1)
      let write = bench.server.requests.last { $0.method == "PATCH" }
      #expect(write?.header("If-Match") == tag)
    }
  }

  @Test(arguments: [false, true]) func tag_weak_isSentOnlyWhereAsked(sendsWeak: Bool) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      bench.server.with { state in
        state.recordTags = true
        state.tagsAreWeak = true
      }
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "mine"])
      let tag = bench.server.with { $0.tag($0.rows[0]) }
      #expect(try await bench.up(["weakTags": .bool(sendsWeak)]).counts.succeeded == 1)
      let write = bench.server.requests.last { $0.method == "PATCH" }
      #expect(write?.header("If-Match") == (sendsWeak ? tag : nil))
    }
  }

  /// The tag is in the item, arrives with the list, and is sent in its own form and header, without
  /// a read.
  @Test func tag_inTheItem_isSentByItsTemplateAndTakenFromTheAnswer() async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      let up: JSONObject = [
        "precondition": "ifMatch", "read": nil,
        "tag": ["path": "rev", "template": "v-{tag}", "header": "X-Version"],
      ]
      bench.server.with { state in
        for i in 0..<2 { state.rows[i]["rev"] = 7 }
        state.onRecord = { request, state in
          guard request.method == "PATCH" else { return nil }
          guard request.header("X-Version") == "v-\(state.rows[0]["rev"]?.plain ?? "")" else { return .json("{}", status: 412) }
          state.rows[0]["rev"] = 8
          return nil
        }
      }
      try await bench.down(CollectionBench.upTarget(up))
      try bench.edit(1, ["name": "mine"])
      #expect(try await bench.up(up).counts.succeeded == 1)
      #expect(bench.server.recordRequests.count == 1, "\(bench.server.recordRequests)")
      #expect(try bench.entry(1)?["rev"] == 8)
      // The record has changed since: a conflict without a way to read the server's version.
      try bench.edit(1, ["name": "again"])
      bench.server.with { $0.rows[0]["rev"] = 9 }
      #expect(try await bench.upAgain().counts.conflicting == 1)
      #expect(try bench.manager.conflicts(inSoup: CollectionBench.soup).first?.kind == .unknown)
    }
  }

  /// The target expects the tag in items, but this server sends none: the record is read and
  /// compared, and sent without a condition.
  @Test func tag_thatTheServerDoesNotGive_isNoConflict() async throws {
    for isChanged in [false, true] {
      try await CollectionBench.with(rows: 1) { bench async throws in
        let up: JSONObject = ["precondition": "ifMatch", "tag": ["path": "/@odata.etag"]]
        try await bench.down(CollectionBench.upTarget(up))
        try bench.edit(1, ["name": "mine"])
        if isChanged { bench.server.with { $0.change(1, ["name": "theirs", "updated_at": "2030-01-01T00:00:00Z"]) } }
        let state = try await bench.up(up)
        #expect(
          state.counts.succeeded == (isChanged ? 0 : 1) && state.counts.conflicting == (isChanged ? 1 : 0), "\(state.counts)")
        #expect(bench.server.row("1")?["name"] == (isChanged ? "theirs" : "mine"))
        #expect(bench.server.requests.contains { $0.method == "GET" && $0.path == "/items/1" })
      }
    }
  }

  @Test func overwrite_serverDemandsTags_endsWithTheLocalValue() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      let up: JSONObject = ["precondition": "ifMatch"]
      bench.server.with { state in
        state.recordTags = true
        state.demandsTag = true
        // Other clients write between the read and the write, twice.
        state.onRecord = { request, state in
          guard request.method == "PATCH", state.nextId < 1002 else { return nil }
          state.nextId += 1
          state.rows[0]["description"] = .integer(state.nextId)
          return nil
        }
      }
      try await bench.down(CollectionBench.upTarget(up))
      try bench.edit(1, ["name": "mine"])
      let state = try await bench.up(up, mode: "OVERWRITE")
      #expect(state.status == .done && state.counts.succeeded == 1, "\(state.error) \(state.counts)")
      #expect(bench.server.row("1")?["name"] == "mine")
      let writes = bench.server.requests.filter { $0.method == "PATCH" }
      #expect(writes.count == 3 && writes.allSatisfy { $0.header("If-Match") != nil })
    }
  }

  @Test(arguments: [412, 428]) func serverDemandsACondition_isAConfigurationError(status: Int) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "mine"])
      bench.server.with { state in
        state.onRecord = { request, _ in request.method == "PATCH" ? .json("{}", status: status) : nil }
      }
      let state = try await bench.up(["precondition": "none"])
      #expect(state.status == .failed && state.error.contains("ifMatch"), "\(state.error)")
      #expect(try bench.entry(1)?["__local__"] == true)
    }
  }

  // MARK: Records that are gone

  @Test func update_recordIsGone_conflictsOrIsRecreated() async throws {
    for mode in ["LEAVE_IF_CHANGED", "OVERWRITE"] {
      try await CollectionBench.with(rows: 1) { bench async throws in
        try await bench.down(CollectionBench.upTarget())
        try bench.edit(1, ["name": "mine"])
        bench.server.with { $0.remove([1]) }
        let state = try await bench.up(mode: mode)
        #expect(state.status == .done, "\(state.error)")
        if mode == "OVERWRITE" {
          #expect(try bench.record("1000")?["name"] == "mine" && bench.server.row("1000")?["name"] == "mine")
        } else {
          #expect(try bench.manager.conflicts(inSoup: CollectionBench.soup).first?.kind == .deletedThere)
          #expect(bench.server.ids == [])
        }
      }
    }
  }

  @Test func recreate_elevenGone_stopsAtTheEleventh() async throws {
    try await CollectionBench.with(rows: 12) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      for id in 1...12 { try bench.edit(id, ["name": "mine"]) }
      bench.server.with { $0.rows = [] }
      let state = try await bench.up(mode: "OVERWRITE")
      #expect(state.status == .failed && state.error.contains("maxRecreate"), "\(state.error)")
      let made = bench.server.requests.count { $0.method == "POST" }
      #expect(bench.server.requests.count { $0.method == "PATCH" } == 11 && made <= 10)
      #expect(try bench.entries().filter { $0["__local__"] == true }.count == 12 - made)
    }
  }

  @Test func html404_stopsTheRunAndChangesNothing() async throws {
    for mode in ["LEAVE_IF_CHANGED", "OVERWRITE"] {
      try await CollectionBench.with(rows: 2) { bench async throws in
        try await bench.down(CollectionBench.upTarget())
        try bench.edit(1, ["name": "mine"])
        try bench.delete(2)
        bench.server.with { state in
          state.onRecord = { _, _ in .text("<html>no such page</html>", status: 404, type: "text/html") }
        }
        let state = try await bench.up(mode: mode)
        #expect(state.status == .failed && state.error.contains("URL of the target is wrong"), "\(state.error)")
        #expect(!bench.server.requests.contains { $0.method == "POST" })
        #expect(try bench.entries().filter { $0["__local__"] == true }.count == 2)
      }
    }
  }

  // MARK: Refusals

  @Test(arguments: [401, 403]) func refusedCaller_stopsTheRun(status: Int) async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      for id in 1...2 { try bench.edit(id, ["name": "mine"]) }
      bench.server.with { state in
        state.onRecord = { request, _ in request.method == "PATCH" ? .json(#"{"message":"no"}"#, status: status) : nil }
      }
      let state = try await bench.up()
      #expect(state.status == .failed)
      #expect(bench.server.requests.count { $0.method == "PATCH" } == 1)
      #expect(try bench.entries().allSatisfy { $0["__last_error__"] == nil && $0["__local__"] == true })
    }
  }

  @Test func refusedRecord_isNotSentAgainUntilItIsEdited() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": ""])
      bench.server.with { state in
        state.onRecord = { request, _ in
          request.method == "PATCH" && request.text.contains(#""name":"""#) ? .json(#"{"name":["is empty"]}"#, status: 400) : nil
        }
      }
      #expect(try await bench.up().counts.failed == 1)
      let error = try bench.lastError(bench.entry(1))
      #expect(error["status"] == 400 && error["fields"] == ["name": "is empty"] && error["at"]?.integerValue != nil)
      let next = try await bench.upAgain()
      #expect(next.counts.failed == 1 && !bench.server.recordRequests.contains { $0.hasPrefix("PATCH") })
      try bench.edit(1, ["name": "better"])
      #expect(try await bench.upAgain().counts.succeeded == 1)
      #expect(try bench.entry(1)?["__last_error__"] == nil)
    }
  }

  /// Error bodies of real servers, with the message and the fields of each.
  @Test func errorBodies_giveMessageAndFields() throws {
    let bodies: [(status: Int, body: String, message: String, fields: JSONObject)] = [
      (
        400,
        #"{"code":400,"errno":107,"error":"Invalid parameters","message":"title in body: Required","details":[{"location":"body","name":"title","description":"Required"}]}"#,
        "title in body: Required", ["title": "Required"]
      ),
      (400, #"{"error":{"status":400,"msg":"Property 'x' not found"}}"#, "Property 'x' not found", [:]),
      (
        400, #"{"title":["This field is required."],"pages":["A valid integer is required."]}"#,
        "title: This field is required.; pages: A valid integer is required.",
        ["title": "This field is required.", "pages": "A valid integer is required."]
      ),
      (
        400, #"{"title":"400 Bad Request","description":"Invalid Parameter \"list_id\": Missing"}"#,
        #"Invalid Parameter "list_id": Missing"#, [:]
      ),
      (422, #"{"error":"Could not parse record"}"#, "Could not parse record", [:]),
      (
        400, #"{"error":{"code":"parameter_missing","message":"Missing required param: amount.","param":"amount"}}"#,
        "Missing required param: amount.", ["amount": "Missing required param: amount."]
      ),
      (400, #"{"error":{"code":"Request_BadRequest","message":"Invalid value"}}"#, "Invalid value", [:]),
      (
        400, #"{"errorMessages":[],"errors":{"summary":"You must specify a summary of the issue."}}"#,
        "summary: You must specify a summary of the issue.",
        ["summary": "You must specify a summary of the issue."]
      ),
      (
        422, #"{"message":"Validation Failed","errors":[{"resource":"Label","field":"name","code":"already_exists"}]}"#,
        "Validation Failed", ["name": "already_exists"]
      ),
      (
        422, #"{"errors":[{"source":{"pointer":"/data/attributes/email"},"detail":"is taken"}]}"#, "is taken",
        ["email": "is taken"]
      ),
    ]
    for (status, body, message, fields) in bodies {
      let error = RestError(
        code: .httpStatus, message: "", status: status, headers: [("Content-Type", "application/json")], body: body)
      let json = RefusalDetails.json(error, ConnectionSettings.ErrorPaths(), at: 5, content: nil)
      #expect(json["message"]?.stringValue == message && json["fields"] == .object(fields), "\(json.text)")
      #expect(json["status"] == .integer(Int64(status)) && json["at"] == 5)
    }
  }
}
