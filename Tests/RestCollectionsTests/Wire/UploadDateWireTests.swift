import JSON
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests dates and ids in uploads as services use them: in every format, nested, or missing.
struct UploadDateWireTests {
  struct Form: Sendable, CustomTestStringConvertible {
    let format: String
    let old: JSONValue
    let new: JSONValue
    /// The old date in HTTP format; nil if it is not a time.
    let header: String?
    var testDescription: String { format }
  }

  static let forms = [
    Form(format: "iso8601", old: "2023-11-13T22:14:20", new: "2023-11-14T22:14:20", header: "Mon, 13 Nov 2023 22:14:20 GMT"),
    Form(
      format: "rfc1123", old: "Mon, 13 Nov 2023 22:14:20 GMT", new: "Tue, 14 Nov 2023 22:14:20 GMT",
      header: "Mon, 13 Nov 2023 22:14:20 GMT"),
    Form(format: "epoch", old: 1_699_913_660, new: 1_700_000_060, header: "Mon, 13 Nov 2023 22:14:20 GMT"),
    Form(format: "epochMs", old: 1_699_913_660_000, new: 1_700_000_060_000, header: "Mon, 13 Nov 2023 22:14:20 GMT"),
    Form(format: "integer", old: 41, new: 42, header: nil),
    Form(
      format: "dd.MM.yyyy HH:mm:ss", old: "13.11.2023 22:14:20", new: "14.11.2023 22:14:20",
      header: "Mon, 13 Nov 2023 22:14:20 GMT"),
  ]

  /// A copy was read before a sync down stored another version, and saved after it: its base is
  /// unknown, and its date shows that the server has a newer version.
  @Test(arguments: forms) func staleCopy_dateOfAnyFormat_isAConflict(form: Form) async throws {
    for mode in ["LEAVE_IF_CHANGED", "MERGE"] {
      try await CollectionBench.with(rows: 1) { bench async throws in
        let members: JSONObject = ["dateFormat": .string(form.format)]
        bench.server.with { $0.change(1, ["updated_at": form.old]) }
        try await bench.down(CollectionBench.upTarget([:], members))
        let copy = try #require(try bench.entry(1))
        bench.server.with { $0.change(1, ["name": "theirs", "updated_at": form.new]) }
        #expect(try await bench.again().status == .done)
        #expect(try bench.entry(1)?["name"] == "theirs")
        try bench.store.upsert(
          JSONValue.array([
            .object(copy.replacing(with: ["description": "mine", "__local__": true, "__locally_updated__": true]))
          ]).text, into: CollectionBench.soup)
        let state = try await bench.up([:], members, mode: mode)
        #expect(state.status == .done && state.counts.conflicting == 1, "\(mode) \(state.error) \(state.counts)")
        #expect(bench.server.row("1")?["name"] == "theirs" && bench.server.row("1")?["description"] == .some(.null))
      }
    }
  }

  /// The record is unchanged on the server, whatever the format of its date, so the edit is
  /// uploaded.
  @Test(arguments: forms) func edit_dateOfAnyFormat_goesUp(form: Form) async throws {
    for mode in ["LEAVE_IF_CHANGED", "MERGE"] {
      try await CollectionBench.with(rows: 1) { bench async throws in
        let members: JSONObject = ["dateFormat": .string(form.format)]
        bench.server.with { state in
          state.change(1, ["updated_at": form.old])
          state.onRecord = { request, state in
            guard request.method == "PATCH" else { return nil }
            _ = CollectionServer.write(request, &state)
            state.change(1, ["updated_at": form.new])
            return .json(JSONValue.object(state.rows[0]).text)
          }
        }
        try await bench.down(CollectionBench.upTarget([:], members))
        for name in ["mine", "mine again"] {
          try bench.edit(1, ["name": .string(name)])
          let state = try await bench.up([:], members, mode: mode, name: name)
          #expect(state.counts.succeeded == 1 && state.counts.conflicting == 0, "\(mode) \(state.error) \(state.counts)")
          #expect(bench.server.row("1")?["name"] == .string(name))
        }
        #expect(try bench.entry(1)?["updated_at"] == form.new)
      }
    }
  }

  @Test(arguments: forms) func ifUnmodifiedSince_dateOfAnyFormat_isSentAsHTTPHasIt(form: Form) async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      let up: JSONObject = ["precondition": "ifUnmodifiedSince", "read": nil],
        members: JSONObject = ["dateFormat": .string(form.format)]
      guard let expected = form.header else {
        #expect(throws: RestTargetError.self) { try RestTarget(CollectionBench.upTarget(up, members)) }
        return
      }
      bench.server.with { $0.change(1, ["updated_at": form.old]) }
      try await bench.down(CollectionBench.upTarget(up, members))
      try bench.edit(1, ["name": "mine"])
      #expect(try await bench.up(up, members).counts.succeeded == 1)
      let sent = bench.server.requests.first { $0.method == "PATCH" }?.header("If-Unmodified-Since")
      #expect(sent == expected, "\(sent ?? "none")")
    }
  }

  /// Without a date field there is no date to send, which is an error when the target is read.
  @Test func ifUnmodifiedSince_withoutADateField_isRefused() throws {
    let target = CollectionBench.upTarget(["precondition": "ifUnmodifiedSince"], ["modificationDateField": nil])
    #expect(throws: RestTargetError.self) { try RestTarget(target) }
  }

  // MARK: Nested members

  /// Entries as in Contentful: `sys` contains id, date and version, `fields` the rest.
  private final class Entries {
    static let target: JSONObject = [
      "type": "rest", "connection": "api", "url": "/entries", "itemsPath": "items", "idField": "sys.id",
      "modificationDateField": "sys.updatedAt",
      "up": [
        "precondition": "ifMatch", "tag": ["path": "sys.version", "header": "X-Contentful-Version"],
        "read": ["url": "/entries/{sys.id}"],
        "create": ["method": "PUT", "url": "/entries/{sys.id}", "newId": "uuid", "fields": ["fields.name", "fields.text"]],
        "update": [
          "method": "PUT", "merges": true, "url": "/entries/{sys.id}", "fields": ["fields.name", "fields.text"],
        ],
        "delete": ["url": "/entries/{sys.id}"],
      ],
    ]
    static let specs = [IndexSpec(path: "sys.id", type: .string), IndexSpec(path: "__sync_id__", type: .integer)]

    static func row(_ id: String, _ version: Int64, _ name: String, _ text: String = "t") -> JSONObject {
      [
        "sys": [
          "id": .string(id), "version": .integer(version), "updatedAt": .string(Repository.date(Repository.start + Int(version))),
        ],
        "fields": ["name": .string(name), "text": .string(text)],
      ]
    }

    static func answer(_ request: RecordedRequest, _ state: inout CollectionServer.State) -> ScriptedAnswer? {
      guard request.path.hasPrefix("/entries") else { return nil }
      let id = String(request.path.dropFirst("/entries/".count))
      guard !id.isEmpty else { return .json(JSONValue.object(["items": .array(state.rows.map { .object($0) })]).text) }
      let place = state.rows.firstIndex { $0["sys"]?["id"]?.stringValue == id }
      let version = place.flatMap { state.rows[$0]["sys"]?["version"]?.integerValue }
      if request.method != "GET", let version, request.header("X-Contentful-Version") != String(version) {
        return .json(#"{"sys":{"type":"Error","id":"VersionMismatch"},"message":"other version"}"#, status: 409)
      }
      switch (request.method, place) {
      case ("GET", let place?): return .json(JSONValue.object(state.rows[place]).text)
      case ("DELETE", let place?):
        state.rows.remove(at: place)
        return .status(204)
      case ("PUT", _):
        let fields = (try? JSONValue(parsing: request.body))?["fields"] ?? [:]
        let new = row(id, (version ?? 0) + 1, fields["name"]?.plain ?? "", fields["text"]?.plain ?? "")
        if let place { state.rows[place] = new } else { state.rows.append(new) }
        state.writes += 1
        return .json(JSONValue.object(new).text, status: place == nil ? 201 : 200)
      default: return .json("{}", status: 404)
      }
    }
  }

  private static func withEntries(_ body: (CollectionBench) async throws -> Void) async throws {
    try await CollectionBench.with { bench async throws in
      try bench.store.registerSoup("entries", indexSpecs: Entries.specs)
      bench.server.with { state in
        state.takesWrites = true
        state.rows = [Entries.row("a", 1, "A"), Entries.row("b", 4, "B"), Entries.row("c", 7, "C")]
        state.onRecord = { Entries.answer($0, &$1) }
      }
      let down = try await bench.manager.syncDown(target: Entries.target, options: [:], soupName: "entries", syncName: "down")
      #expect(down.status == .done, "\(down.error)")
      try await body(bench)
    }
  }

  private static func rows(_ bench: CollectionBench) throws -> [JSONObject] {
    let found = try JSONValue(parsing: bench.store.rows("SELECT {entries:_soup} FROM {entries}", pageSize: 100)).arrayValue ?? []
    return found.compactMap { $0.arrayValue?.first?.objectValue }.sorted { id($0) < id($1) }
  }

  private static func id(_ row: JSONObject) -> String { row["sys"]?["id"]?.stringValue ?? "" }

  private static func save(_ bench: CollectionBench, _ id: String, _ fields: JSONObject, _ mark: String = "__locally_updated__")
    throws
  {
    var row = try rows(bench).first { Self.id($0) == id } ?? ["sys": ["id": .string(id)]]
    row["fields"] = .object((row["fields"]?.objectValue ?? [:]).replacing(with: fields))
    row["__local__"] = true
    row[mark] = true
    try bench.store.upsert(JSONValue.array([.object(row)]).text, into: "entries")
  }

  private static func up(_ bench: CollectionBench, _ mode: String = "LEAVE_IF_CHANGED") async throws -> SyncState {
    try await bench.manager.syncUp(
      target: Entries.target, options: ["mergeMode": .string(mode)], soupName: "entries", syncName: nil)
  }

  @Test func nestedIdDateAndTag_editsCreatesAndDeletesGoUp() async throws {
    try await Self.withEntries { bench async throws in
      try Self.save(bench, "a", ["name": "mine"])
      try Self.save(bench, "b", [:], "__locally_deleted__")
      try Self.save(bench, "local_1", ["name": "new", "text": "x"], "__locally_created__")
      let state = try await Self.up(bench)
      #expect(
        state.status == .done && state.counts.succeeded == 3, "\(state.error) \(state.counts) \(bench.server.recordRequests)")
      let there = bench.server.with { $0.rows }.sorted { Self.id($0) < Self.id($1) }
      #expect(try Self.rows(bench).map { $0.filtered { !$0.key.hasPrefix("_") } } == there)
      #expect(there.count == 3 && there.contains { $0["fields"] == ["name": "new", "text": "x"] })
      #expect(try Self.rows(bench).allSatisfy { $0["__local__"] == false })
      // The next edit is sent with the version from the response.
      try Self.save(bench, "a", ["name": "mine again"])
      #expect(try await Self.up(bench).counts.succeeded == 1)
      #expect(bench.server.with { $0.rows[0]["sys"]?["version"] } == 3)
    }
  }

  @Test func nestedIdDateAndTag_changedThere_isAConflict() async throws {
    for mode in ["LEAVE_IF_CHANGED", "MERGE"] {
      try await Self.withEntries { bench async throws in
        try Self.save(bench, "a", ["name": "mine"])
        try Self.save(bench, "c", [:], "__locally_deleted__")
        bench.server.with { state in
          state.rows[0] = Entries.row("a", 2, "theirs")
          state.rows[2] = Entries.row("c", 8, "theirs")
        }
        let state = try await Self.up(bench, mode)
        #expect(state.status == .done && state.counts.conflicting == 2, "\(mode) \(state.error) \(state.counts)")
        #expect(bench.server.with { $0.rows.count } == 3 && bench.server.with { $0.writes } == 0)
        let conflicts = try bench.manager.conflicts(inSoup: "entries")
        #expect(conflicts.count == 2 && conflicts.allSatisfy { $0.server?["fields"]?["name"] == "theirs" }, "\(conflicts)")
        for conflict in conflicts {
          _ = try bench.manager.resolveConflict(inSoup: "entries", entryId: conflict.entryId, with: .local)
        }
        let again = try await Self.up(bench, mode)
        #expect(again.status == .done && again.counts.succeeded == 2, "\(mode) \(again.error) \(again.counts)")
        #expect(bench.server.with { $0.rows.map { Self.id($0) } } == ["a", "b"])
        #expect(bench.server.with { $0.rows[0]["fields"]?["name"] } == "mine")
      }
    }
  }

  @Test func nestedIdDateAndTag_overwrite_endsWithTheLocalValue() async throws {
    try await Self.withEntries { bench async throws in
      try Self.save(bench, "a", ["name": "mine"])
      bench.server.with { $0.rows[0] = Entries.row("a", 2, "theirs") }
      let state = try await Self.up(bench, "OVERWRITE")
      #expect(state.counts.succeeded == 1, "\(state.error) \(state.counts)")
      #expect(bench.server.with { $0.rows[0]["fields"]?["name"] } == "mine")
      #expect(try Self.rows(bench)[0]["sys"]?["version"] == 3)
    }
  }

  /// The server changed the record while the response to the create was lost: its row is found by
  /// its nested id.
  @Test func nestedId_lostAnswer_isFoundAgain() async throws {
    try await Self.withEntries { bench async throws in
      try Self.save(bench, "local_1", ["name": "new", "text": "x"], "__locally_created__")
      bench.server.with { state in
        state.onRecord = { request, state in
          let answer = Entries.answer(request, &state)
          return request.method == "PUT" ? .closed : answer
        }
      }
      #expect(try await Self.up(bench).status == .failed)
      bench.server.with { $0.onRecord = { Entries.answer($0, &$1) } }
      bench.clock.advance(3600)
      let down = try await bench.manager.reSync(.name("down"))
      #expect(down.status == .done)
      let state = try await Self.up(bench)
      #expect(state.status == .done, "\(state.error)")
      #expect(bench.server.with { $0.rows.count } == 4)
      #expect(try Self.rows(bench).map(Self.id) == bench.server.with { $0.rows.map { Self.id($0) } }.sorted())
      #expect(try Self.rows(bench).allSatisfy { $0["__local__"] == false })
    }
  }

  @Test func nestedDate_staleCopy_isAConflict() async throws {
    try await Self.withEntries { bench async throws in
      let copy = try Self.rows(bench)[0]
      bench.server.with { $0.rows[0] = Entries.row("a", 2, "theirs") }
      #expect(try await bench.manager.reSync(.name("down")).status == .done)
      try bench.store.upsert(
        JSONValue.array([
          .object(
            copy.replacing(with: ["fields": ["name": "A", "text": "mine"], "__local__": true, "__locally_updated__": true]))
        ]).text, into: "entries")
      let state = try await Self.up(bench)
      #expect(state.counts.conflicting == 1, "\(state.error) \(state.counts)")
      #expect(bench.server.with { $0.rows[0]["fields"] } == ["name": "theirs", "text": "t"])
    }
  }
}
