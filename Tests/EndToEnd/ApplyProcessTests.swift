import Foundation
import Glibc
import JSON
import Synchronization
import TestSupport
import Testing

/// Tests `tureen apply` with several processes and kills, at a collection over REST.
@Suite(.timeLimit(.minutes(60))) struct ApplyProcessTests {
  /// A collection whose new records get their ids from the client.
  private final class Items: Sendable {
    private struct State {
      var rows: [(id: String, row: JSONObject)] = ["1", "2"].map { ($0, ["id": .string($0), "name": .string("Item \($0)")]) }
      var writes = 0
      var onWrite: (@Sendable (Int) -> ScriptedAnswer?)?
    }

    private let state = Mutex(State())

    var names: [String] { state.withLock { $0.rows.compactMap { $0.row["name"]?.stringValue } }.sorted() }
    var writes: Int { state.withLock { $0.writes } }

    /// Calls `body` after each write with its number; its answer replaces the server's.
    func onWrite(_ body: (@Sendable (Int) -> ScriptedAnswer?)?) { state.withLock { $0.onWrite = body } }

    func answer(_ request: RecordedRequest) -> ScriptedAnswer {
      let id = String(request.path.dropFirst("/items/".count))
      guard request.method != "GET" else {
        let rows = state.withLock { $0.rows }
        guard request.path != "/items" else { return .json(JSONValue.array(rows.map { .object($0.row) }).text) }
        guard let row = rows.first(where: { $0.id == id })?.row else { return .json("{}", status: 404) }
        return .json(row.text)
      }
      guard let body = (try? JSONValue(parsing: request.body))?.objectValue else { return .json("{}", status: 400) }
      let (answer, told) = state.withLock {
        state -> (ScriptedAnswer, (number: Int, body: (@Sendable (Int) -> ScriptedAnswer?)?)) in
        state.writes += 1
        let told = (state.writes, state.onWrite), place = state.rows.firstIndex { $0.id == id }
        guard request.header("If-None-Match") == nil || place == nil else { return (.json("{}", status: 412), told) }
        var row = place.map { state.rows[$0].row } ?? ["id": .string(id)]
        for (key, value) in body { row[key] = value }
        if let place { state.rows[place].row = row } else { state.rows.append((id, row)) }
        return (.json(row.text, status: place == nil ? 201 : 200), told)
      }
      return told.body?(told.number) ?? answer
    }
  }

  private static let syncs = """
    {"syncs": [
      {"syncName": "down", "syncType": "syncDown", "soupName": "items", "options": {"mergeMode": "MERGE"},
       "target": {"type": "rest", "connection": "api", "url": "/items"}},
      {"syncName": "up", "syncType": "syncUp", "soupName": "items", "options": {"mergeMode": "MERGE"},
       "target": {"type": "rest", "connection": "api", "url": "/items", "up": {
         "read": {"url": "/items/{id}"}, "update": {"url": "/items/{id}", "fields": ["name", "note"]},
         "create": {"url": "/items/{id}", "method": "PUT", "newId": "uuid", "headers": {"If-None-Match": "*"},
           "fields": ["name", "note"]}}}}]}
    """

  private static let edits = """
    local tureen = require "tureen"
    local smartstore, await = tureen.smartstore, tureen.await
    tureen.main(function()
      local entries = assert(await(smartstore.retrieveSoupEntries, "items", { 1, 2 }))
      for _, entry in ipairs(entries) do entry.note, entry.__local__, entry.__locally_updated__ = "mine", true, true end
      for _, name in ipairs { "A", "B" } do
        entries[#entries + 1] = { id = "local_" .. name, name = name, __local__ = true, __locally_created__ = true }
      end
      assert(await(smartstore.upsertSoupEntries, "items", entries))
    end)
    """

  private let place: Workplace
  private let items = Items()
  private let server: ScriptedServer
  private var plan: String { place.path + "/plan.json" }

  init() throws {
    place = try Workplace()
    let items = items
    server = try ScriptedServer(handler: { items.answer($0) })
    let indexes = #"[{"path":"id","type":"string"},{"path":"__local__","type":"string"}]"#
    try place.write(#"{"soups":[{"soupName":"items","indexes":\#(indexes)}]}"#, to: "userstore.json")
    try place.write(Self.syncs, to: "usersyncs.json")
    try connect(to: server)
  }

  private func connect(to server: ScriptedServer) throws {
    try place.write(#"{"api": {"baseURL": "\#(server.url)"}}"#, to: "connections.json")
  }

  private func tureen(_ words: String...) async throws -> Child.Ended {
    try await place.run(Built.tureen, [words[0], "--home", place.home] + words.dropFirst())
  }

  /// Loads the items, edits both of them, creates two, and makes a plan.
  private func makePlan() async throws {
    let loaded = try await tureen("sync", "--quiet", "down")
    #expect(loaded.status == 0, "\(loaded)")
    let edited = try await tureen("run", try place.write(Self.edits, to: "edits.lua"))
    #expect(edited.status == 0, "\(edited)")
    let planned = try await tureen("plan", "--brief", "--output", plan, "up")
    #expect(planned.status == 0, "\(planned)")
  }

  @Test func row34_twoProcesses_oneRuns() async throws {
    try await makePlan()
    async let first = tureen("apply", plan)
    async let second = tureen("apply", plan)
    let ended = try await [first, second].sorted { $0.status < $1.status }
    #expect(ended[0].status == 0 && ended[0].output.contains("up: DONE, 4 sent"), "\(ended)")
    let isUsed = ended[1].status == 1 && ended[1].errors.contains("applied before")
    #expect(isUsed || ended[1].status == 75 && ended[1].errors.contains("runningElsewhere"), "\(ended)")
    #expect(items.writes == 4 && items.names == ["A", "B", "Item 1", "Item 2"])
  }

  @Test func row34_otherServer_isRefused() async throws {
    try await makePlan()
    let items = items, other = try ScriptedServer(handler: { items.answer($0) })
    try connect(to: other)
    let applied = try await tureen("apply", plan)
    #expect(applied.status == 1 && applied.errors.contains("another server"), "\(applied)")
    #expect(other.requests.isEmpty && items.writes == 0)
  }

  @Test func row34_damagedFile_isRefused() async throws {
    try await makePlan()
    let whole = try String(contentsOfFile: plan, encoding: .utf8)
    for text in ["", "{", "[]", "7", String(whole.prefix(whole.count / 2)), #"{"format":"tureen-plan/1"}"#] {
      try place.write(text, to: "damaged.json")
      let applied = try await tureen("apply", place.path + "/damaged.json")
      #expect(applied.status != 0 && !applied.errors.isEmpty, "\(text.prefix(20)): \(applied)")
    }
    #expect(items.writes == 0)
  }

  /// The process is killed at each write in turn, after the server has executed it. The plan is used; the next sync up completes
  /// what it began.
  @Test(arguments: 1...4) func row35_killedAtAWrite_makesNothingTwice(at write: Int) async throws {
    try await makePlan()
    let child = try Child(Built.tureen, ["apply", "--home", place.home, plan], in: place.path)
    items.onWrite { number in
      guard number == write else { return nil }
      child.send(SIGKILL)
      return .closed
    }
    #expect(await child.ended().status == 128 + SIGKILL)
    items.onWrite(nil)
    let again = try await tureen("apply", plan)
    #expect(again.status == 1 && again.errors.contains("applied before"), "\(again)")
    for _ in 0..<2 { _ = try await tureen("sync", "up") }
    #expect(items.names == ["A", "B", "Item 1", "Item 2"])
    let left = try await tureen("dirty")
    #expect(left.status == 0 && left.errors.contains("nothing is unsent"), "\(left)")
  }
}
