import JSON
import SandboxParse
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Tests that a record's files are uploaded before the record.
struct FileWireTests {
  private static let lists: JSONObject = [
    "createFieldlist": ["title", "cover", "pages"], "updateFieldlist": ["title", "cover", "pages"],
  ]
  /// `hello`
  private static let file: JSONValue = ["__type": "File", "name": "note.txt", "base64": "aGVsbG8="]

  private func uploads(_ bench: ParseBench) -> [LoggedRequest] { bench.requests.filter { $0.path.contains("/files/") } }

  @Test func upload_goesBeforeTheObject_andItsNameIsKept() async throws {
    try await ParseBench.with { bench async throws in
      try bench.make(["objectId": "local_1", "title": "a", "cover": Self.file, "pages": [["scan": Self.file], "text"]])
      bench.forgetRequests()
      #expect(try await bench.up("Book", Self.lists).counts.succeeded == 1)
      #expect(bench.requests.map { "\($0.method) \($0.path)" } == ["POST /parse/files/note.txt", "POST /parse/classes/Book"])
      let object = try #require(try await bench.objects("Book").first)
      let name = try #require(object["cover"]?["name"]?.stringValue)
      #expect(name.hasSuffix("_note.txt") && object["pages"]?.arrayValue?.first?["scan"]?["name"]?.stringValue == name)
      let entry = try #require(try bench.entries().first)
      #expect(entry["cover"]?["name"]?.stringValue == name && entry["cover"]?["base64"] == nil && entry["__local__"] == false)
      #expect(entry["cover"]?["url"] != nil)
      // An edit of another field does not upload it again.
      try bench.edit(object["objectId"]?.stringValue ?? "", ["title": "b"])
      bench.forgetRequests()
      try await bench.again("up")
      #expect(bench.requests.filter { $0.method == "PUT" }.map(\.body) == [#"{"title":"b"}"#] && uploads(bench).isEmpty)
    }
  }

  @Test func object_thatIsRefused_makesNoSecondFile() async throws {
    try await ParseBench.with { bench async throws in
      try bench.make(["objectId": "local_1", "title": "a", "cover": Self.file])
      try bench.server.faults.add(
        .answer(status: 400, body: #"{"code":142,"error":"no"}"#), path: "/parse/classes/Book", method: "POST", times: 1)
      bench.forgetRequests()
      #expect(try await bench.up("Book", Self.lists).counts.failed == 1)
      let entry = try #require(try bench.entries().first)
      #expect(entry["cover"] == Self.file, "the record is as it was")
      try bench.edit("local_1", ["title": "b"])
      try await bench.reopen()
      #expect(try await bench.again("up").counts.succeeded == 1)
      #expect(uploads(bench).count == 1)
      #expect(try await bench.objects("Book").first?["cover"]?["name"] != nil)
    }
  }

  @Test(arguments: [122, 129, 130, 141])
  func file_thatIsRefused_flagsItsRecordAlone(code: Int) async throws {
    try await ParseBench.with { bench async throws in
      try bench.make(["objectId": "local_1", "title": "a", "cover": Self.file])
      try bench.make(["objectId": "local_2", "title": "b"])
      try bench.server.faults.add(
        .answer(status: 400, body: #"{"code":\#(code),"error":"no"}"#), path: "/parse/files/note.txt")
      let state = try await bench.up("Book", Self.lists)
      #expect(state.status == .done && state.counts.failed == 1 && state.counts.succeeded == 1)
      let entry = try #require(try bench.entry("local_1"))
      #expect(try bench.lastError(entry)["code"] == .integer(Int64(code)) && entry["cover"] == Self.file)
      bench.forgetRequests()
      try await bench.again("up")
      #expect(bench.requests.isEmpty, "it is not sent again before it is edited")
    }
  }

  @Test(arguments: ["-a.txt", "é.txt", "a/b.txt", ""])
  func name_thatCannotBe_isRefusedHere(name: String) async throws {
    try await ParseBench.with { bench async throws in
      try bench.make(["objectId": "local_1", "cover": ["__type": "File", "name": .string(name), "base64": "aGVsbG8="]])
      bench.forgetRequests()
      #expect(try await bench.up("Book", Self.lists).counts.failed == 1)
      #expect(try bench.lastError(bench.entry("local_1"))["error"]?.stringValue?.contains("is not valid") == true)
      #expect(bench.requests.isEmpty)
    }
  }

  /// The network fails between the file and the object: the object is not sent, and the file is not
  /// uploaded again.
  @Test func network_thatFailsBehindTheFile_leavesTheRecordDirty() async throws {
    try await ParseBench.with { bench async throws in
      try bench.make(["objectId": "local_1", "title": "a", "cover": Self.file])
      try bench.server.faults.add(.htmlPage(status: 502), path: "/parse/classes/Book")
      bench.forgetRequests()
      _ = try? await bench.up("Book", Self.lists.replacing(with: ["externalIdFieldName": "key"]))
      bench.server.faults.clear()
      bench.clock.advance(by: 700)
      _ = try await bench.again("up")
      #expect(uploads(bench).count == 1)
      #expect(try await bench.objects("Book").count == 1)
      #expect(try bench.entries().first?["__local__"] == false)
    }
  }

  @Test func client_savesFilesFirst_andRemembersThem() async throws {
    try await ParseBench.with { bench async throws in
      let client = try ParseClient(bench.connections.connection(named: "default"))
      let book = ParseObject("Book", ["title": "a", "cover": Self.file])
      try bench.server.faults.add(
        .answer(status: 400, body: #"{"code":142,"error":"no"}"#), path: "/parse/classes/Book", method: "POST", times: 1)
      bench.forgetRequests()
      let error = await #expect(throws: ParseSaveError.self) { try await client.save(book) }
      #expect(error?.code == 142 && error?.uploaded["cover"]?["name"] != nil)
      let saved = try await client.save(book)
      #expect(uploads(bench).count == 1)
      #expect(saved["cover"]?["base64"] == nil && saved["cover"]?["url"] != nil)
      let refused = ParseObject("Book", ["cover": ["__type": "File", "name": "a.html", "base64": "aGVsbG8="]])
      let known = await #expect(throws: ParseSaveError.self) { try await client.save(refused) }
      #expect(known?.code == 130)
      #expect(try await bench.objects("Book").count == 1)
    }
  }
}
