import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestClient
@testable import RestCollections

/// Tests the bodies of writes, and the effects of responses on a row.
struct UploadBodyWireTests {
  /// Edits row 1 and returns the body of the update.
  private func body(
    _ update: JSONObject, _ up: JSONObject = [:], _ members: JSONObject = [:], edit: JSONObject = ["name": "mine"],
    prepare: (inout CollectionServer.State) -> Void = { _ in }
  ) async throws -> RecordedRequest {
    var found: RecordedRequest?
    try await CollectionBench.with(rows: 1) { bench async throws in
      bench.server.with { prepare(&$0) }
      let up = (["update": .object(update)] as JSONObject).replacing(with: up)
      try await bench.down(CollectionBench.upTarget(up, members))
      try bench.edit(1, edit)
      let state = try await bench.up(up, members)
      #expect(state.counts.succeeded == 1, "\(state.error)")
      found = bench.server.requests.last { $0.method != "GET" }
    }
    return try #require(found)
  }

  @Test func fields_nestedRead_areWrittenFlat() async throws {
    let sent = try await body(
      [
        "url": "/items/{id}", "send": "listed",
        "fields": ["author_id": "owner.id", "text.raw": "name", "tags": "labels[*].name"],
      ],
      edit: ["name": "mine", "labels": [["name": "a"], ["name": "b"]]])
    #expect(sent.text == #"{"author_id":7,"text":{"raw":"mine"},"tags":["a","b"]}"#)
  }

  @Test func patch_sendsChangedFieldsOnly_listedSendsAll() async throws {
    let changed = try await body(["url": "/items/{id}", "fields": ["name", "full_name"]])
    #expect(changed.text == #"{"name":"mine"}"#)
    let listed = try await body(["url": "/items/{id}", "fields": ["name", "full_name"], "send": "listed"])
    #expect(listed.text == #"{"name":"mine","full_name":"acme/r1"}"#)
  }

  @Test func put_ofAFieldList_isRefusedUnlessTheServerMerges() throws {
    func read(_ update: JSONObject) throws -> RestTarget {
      try RestTarget(CollectionBench.upTarget(["update": .object(update)]))
    }
    let put: JSONObject = ["url": "/items/{id}", "method": "PUT", "fields": ["name"]]
    #expect(throws: RestTargetError.self) { try read(put) }
    #expect(try read(put.replacing(with: ["merges": true])).up?.update?.method == .put)
  }

  /// The server removes what the request lacks.
  @Test(arguments: ["MERGE", "LEAVE_IF_CHANGED"])
  func put_everything_keepsAMemberThatAnotherClientHasAdded(mode: String) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      let up: JSONObject = ["update": ["url": "/items/{id}", "method": "PUT", "fields": "*"]]
      try await bench.down(CollectionBench.upTarget(up))
      try bench.edit(1, ["name": "mine"])
      bench.server.with { $0.change(1, ["theirs": "added", "updated_at": .string(Repository.date(Repository.start + 60))]) }
      let state = try await bench.up(up, mode: mode)
      #expect(state.counts.succeeded == 1 && state.counts.conflicting == 0, "\(state.error) \(state.counts)")
      let row = try #require(bench.server.row("1"))
      #expect(row["name"] == "mine" && row["theirs"] == "added", "\(row.text)")
    }
  }

  @Test func put_everything_sendsTheItemAsReceivedWithTheChanges() async throws {
    let sent = try await body(
      ["url": "/items/{id}", "method": "PUT", "fields": "*"], [:], ["map": ["login": "owner.login", "title": "full_name"]],
      edit: ["name": "mine", "title": "acme/new"])
    let json = try #require(try JSONValue(parsing: sent.body).objectValue)
    #expect(json["full_name"] == "acme/new" && json["name"] == "mine" && json["owner"]?["login"] == "acme")
    #expect(json["login"] == nil && json["title"] == nil && json["id"] == nil)
    #expect(!json.keys.contains { $0.hasPrefix("_") })
  }

  /// Members computed by the script's function are not sent with the whole item; members that it
  /// only changes are.
  @Test func put_everything_leavesOutWhatAFunctionComputed() async throws {
    try await CollectionBench.with(rows: 1, transforms: Line()) { bench async throws in
      let members: JSONObject = ["transform": "rows.line"]
      let up: JSONObject = ["update": ["url": "/items/{id}", "method": "PUT", "fields": "*"]]
      bench.server.with { $0.change(1, ["description": "given", "topic": nil]) }
      try await bench.down(CollectionBench.upTarget(up, members))
      let row = try #require(try bench.entry(1))
      #expect(row["line"] == "r1 of acme/r1" && row["description"] == "GIVEN" && row["topic"] == "none")
      try bench.edit(1, ["name": "mine", "note": "added here"])
      let state = try await bench.up(up, members)
      #expect(state.counts.succeeded == 1, "\(state.counts) \(state.error)")
      let sent = try #require(bench.server.requests.last { $0.method == "PUT" })
      let json = try #require(try JSONValue(parsing: sent.body).objectValue)
      #expect(json["line"] == nil && json["topic"] == nil, "\(json.text)")
      #expect(
        json["name"] == "mine" && json["note"] == "added here" && json["description"] == "GIVEN" && json["full_name"] == "acme/r1"
      )
      #expect(try bench.entry(1)?["line"] == "mine of acme/r1", "the answer is stored as a run down would")
    }
  }

  @Test func form_nestedMembers_areWrittenWithBrackets() async throws {
    let sent = try await body(
      ["url": "/items/{id}", "method": "POST", "bodyFormat": "form", "fields": ["name": "name", "metadata.key": "full_name"]],
      prepare: { state in
        state.onRecord = { request, state in
          request.method == "POST" ? .json(JSONValue.object(state.rows[0]).text) : nil
        }
      })
    #expect(sent.header("Content-Type") == "application/x-www-form-urlencoded")
    #expect(sent.text == "name=mine&metadata%5Bkey%5D=acme%2Fr1", "\(sent.text)")
  }

  @Test func contentTypeConstantsWrapAndNull_areAsTheTargetSays() async throws {
    let sent = try await body(
      [
        "url": "/items/{id}", "fields": ["name", "summary"], "contentType": "application/merge-patch+json", "send": "listed",
        "constants": ["type": "repo", "in": ["org": "{org}"]], "wrap": "data", "nullOnMissing": true,
        "headers": ["X-Of": "{name}"],
      ], [:], ["vars": ["org": "acme"]])
    #expect(sent.header("Content-Type") == "application/merge-patch+json" && sent.header("X-Of") == "mine")
    #expect(sent.text == #"{"data":{"name":"mine","summary":null,"type":"repo","in":{"org":"acme"}}}"#)
  }

  /// An edit of an unlisted member needs no request, and the entry stays dirty.
  @Test func patch_nothingListedChanged_sendsNothing() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["note": "for me"])
      let counts = try await bench.up().counts
      #expect(counts.skipped == 1 && counts.succeeded == 0 && counts.failed == 0, "\(counts)")
      #expect(!bench.server.requests.contains { $0.method == "PATCH" })
      let entry = try bench.entry(1), error = try bench.lastError(entry)
      #expect(entry?["__local__"] == true && entry?["note"] == "for me")
      #expect(error["errorCode"] == "NOTHING_TO_SEND" && error["fields"] == ["note"], "\(error)")
    }
  }

  // MARK: Answers

  /// An envelope, an empty 201 with a Location, and an empty response: no member of another object
  /// gets into the row, which is read afterwards.
  @Test(arguments: ["envelope", "location", "itemPath"]) func answer_ofEachForm_leavesNoForeignMember(form: String) async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { state in
        state.afterWriting("POST") { state in
          switch form {
          case "envelope": return .json(#"{"data":{"id":"1000","link":"/items/1000"}}"#, status: 201)
          case "location": return ScriptedAnswer(status: 201, headers: [("Location", "/items/1000")])
          default: return .json(JSONValue.object(["data": .object(state.rows[0])]).text, status: 201)
          }
        }
      }
      try bench.make("local_1", ["name": "new"])
      var create: JSONObject = ["url": "/items", "fields": ["name"]]
      if form == "envelope" {
        create["answer"] = "id"
        create["idPath"] = "data.id"
      }
      if form == "itemPath" { create["itemPath"] = "data" }
      #expect(try await bench.up(["create": .object(create)]).counts.succeeded == 1)
      let row = try #require(try bench.record("1000"))
      let keys = Set(row.keys.filter { !$0.hasPrefix("_") })
      #expect(keys == ["id", "name", "updated_at"], "\(keys)")
    }
  }

  @Test func answer_partial_laysItsMembersOverTheRow() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      bench.server.with { state in
        state.afterWriting("PATCH") { .json(JSONValue.object(["updated_at": $0.rows[0]["updated_at"] ?? .null]).text) }
      }
      try bench.edit(1, ["name": "mine"])
      let update: JSONObject = ["url": "/items/{id}", "fields": ["name"], "answer": "partial"]
      #expect(try await bench.up(["update": .object(update)]).counts.succeeded == 1)
      let row = try #require(try bench.entry(1))
      #expect(row["updated_at"] == bench.server.row("1")?["updated_at"] && row["name"] == "mine" && row["full_name"] == "acme/r1")
    }
  }
}

/// Computes a line, converts a description to capitals, and fills in a topic.
private struct Line: CustomTargetRunner {
  func run(_ call: CustomTargetCall) async throws -> [UInt8] {
    let made = (call.arguments["records"]?.arrayValue ?? []).map { record -> JSONValue in
      guard var item = record.objectValue, let name = item["name"]?.stringValue, let full = item["full_name"]?.stringValue else {
        return ["error": "name or full name missing"]
      }
      item["line"] = .string("\(name) of \(full)")
      if let text = item["description"]?.stringValue { item["description"] = .string(text.uppercased()) }
      item["topic"] = item["topic"]?.stringValue.map { .string($0) } ?? "none"
      return ["record": .object(item)]
    }
    return Array(JSONObject([("records", .array(made))]).text.utf8)
  }
}
