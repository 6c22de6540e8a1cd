import JSON
import SandboxParse
import TestSupport
import Testing
import Tureen

/// Tests ids, values and keys that differ only in normalisation: to servers and databases they are different.
@Suite(.timeLimit(.minutes(60))) struct TextIsBytesTests {
  private static let composed = "caf\u{E9}", decomposed = "cafe\u{301}"
  /// Ohm and Omega, the sign and the letter, composed and not.
  private static let forms = ["\u{2126}", "\u{3A9}", "\u{212B}", "\u{C5}", "A\u{30A}"]

  private let before = """
    local await = tureen.await
    local function rows(sql)
      return assert(await(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(sql, 100))).currentPageOrderedEntries
    end
    local function all(soup)
      return assert(await(smartstore.querySoup, soup, smartstore.buildAllQuerySpec(nil, "ascending", 100))).currentPageOrderedEntries
    end
    local ID = { { path = "id", type = "string" } }
    """

  private func configure(_ server: ScriptedServer) -> String {
    before + #" tureen.configure { connections = { api = { baseURL = "\#(server.url)" } } }"#
  }

  @Test func syncDown_idsThatDifferInNormalisation_areRowsOfTheirOwn() async throws {
    let ids = Self.forms + [Self.composed, Self.decomposed]
    let server = try ScriptedServer(handler: { _ in
      .json("[\(ids.map { #"{"id":"\#($0)","name":"\#($0.unicodeScalars.count)"}"# }.joined(separator: ","))]")
    })
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        assert(await(smartstore.registerSoup, "s", ID))
        local target = { type = "rest", connection = "api", url = "/", ghosts = { mode = "fullList" } }
        local state = assert(await(mobilesync.syncDown, target, "s", {}, "d"))
        local ghosts = assert(await(mobilesync.cleanResyncGhosts, "d"))
        return { #rows "SELECT {s:id} FROM {s}", ghosts }
        """, before: configure(server))
    #expect(result == [7, 0])
  }

  /// A ghost of one form is not hidden by the other form on the server.
  @Test func cleanResyncGhosts_oneOfTwoForms_removesThatOne() async throws {
    let server = try ScriptedServer(handler: { _ in .json("[]") })
    let both = #"[{"id":"\#(Self.composed)"},{"id":"\#(Self.decomposed)"}]"#
    server.enqueue(.json(both))
    let one = #"[{"id":"\#(Self.decomposed)"}]"#
    for _ in 0..<6 { server.enqueue(.json(one)) }
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        assert(await(smartstore.registerSoup, "s", ID))
        local target = { type = "rest", connection = "api", url = "/", ghosts = { mode = "fullList" } }
        assert(await(mobilesync.syncDown, target, "s", {}, "d"))
        assert(await(mobilesync.cleanResyncGhosts, "d", { force = true }))
        local left = rows "SELECT {s:id} FROM {s}"
        return { #left, left[1][1] == "cafe\\u{301}" }
        """, before: configure(server))
    #expect(result == [1, true])
  }

  @Test func syncUp_editOfTheFormAlone_isSent() async throws {
    let item = #"{"id":1,"name":"\#(Self.decomposed)"}"#
    let server = try ScriptedServer(handler: { request in
      request.method == "GET" && request.path == "/l" ? .json("[\(item)]") : .json(item)
    })
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        assert(await(smartstore.registerSoup, "s", ID))
        local target = { type = "rest", connection = "api", url = "/l", up = { read = { url = "/l/{id}" },
          update = { url = "/l/{id}", fields = { "name" } } } }
        assert(await(mobilesync.syncDown, target, "s", {}, "d"))
        assert(await(mobilesync.markUpdated, "s", rows("SELECT {s:_soup} FROM {s}")[1][1], { name = "caf\\u{e9}" }))
        return assert(await(mobilesync.syncUp, target, "s", { mergeMode = "MERGE" }, "u")).succeeded
        """, before: configure(server))
    let sent = server.requests.filter { $0.method == "PATCH" }
    #expect(result == 1 && sent.count == 1 && sent.allSatisfy { $0.text.contains(Self.composed) })
  }

  @Test func soup_pathsThatDifferInNormalisation_areTwo() async throws {
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        local one, two = "caf\\u{e9}", "cafe\\u{301}"
        assert(await(smartstore.registerSoup, "s", { { path = one, type = "integer" }, { path = two, type = "integer" } }))
        assert(await(smartstore.upsertSoupEntries, "s", { { [one] = 1, [two] = 2 } }))
        local row = rows(("SELECT {s:%s}, {s:%s} FROM {s}"):format(two, one))[1]
        local other = rows(("SELECT {s:%s}, {s:%s} FROM {s}"):format(one, two))[1]
        return { row[1], row[2], other[1], other[2] }
        """, before: before)
    #expect(result == [2, 1, 1, 2])
  }

  @Test func edits_ofIdsThatDifferInNormalisation_makeEntriesOfTheirOwn() async throws {
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        local one, two = "caf\\u{e9}", "cafe\\u{301}"
        assert(await(smartstore.registerSoup, "patched", ID))
        assert(await(smartstore.registerSoup, "merged", ID))
        local function patch(id) return { externalId = id, create = { id = id, bytes = #id } } end
        local patched = assert(await(smartstore.patchSoupEntries, "patched", { patch(one), patch(two) }, "id"))
        local records = { { id = one, bytes = #one }, { id = two, bytes = #two } }
        local merged = assert(await(smartstore.mergeServerRecords, "merged", records, "OVERWRITE", { externalIdPath = "id" }))
        return { patched[1].entry.bytes, patched[2].entry.bytes, merged[1].entry.bytes, merged[2].entry.bytes,
          #all "patched", #all "merged" }
        """, before: before)
    #expect(result == [5, 6, 5, 6, 2, 2])
  }

  @Test func parse_idsAndValuesThatDifferInNormalisation_areDifferent() async throws {
    var setup = ParseConfiguration()
    setup.isSeeded = false
    let server = try await ParseServer.start(setup)
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        local parse = tureen.parse
        local Book = parse.class("Book", { soup = "books" })
        for _, title in ipairs { "caf\\u{e9}", "cafe\\u{301}" } do
          assert(Book { title = title, tags = { title } }:save { cacheMode = "server-only" })
        end
        local function count(condition)
          return #assert(condition:find { cacheMode = "server-only" })
        end
        return { count(Book:query()), count(Book:query(parse.equalTo("title", "caf\\u{e9}"))),
          count(Book:query(parse.containedIn("title", { "cafe\\u{301}" }))),
          count(Book:query(parse.equalTo("tags", "cafe\\u{301}"))) }
        """,
      before: before + """
         tureen.configure { connections = { default = { kind = "parse", serverURL = "\(server.url)/parse",
          applicationId = "\(server.keys.applicationId)", restAPIKey = "\(server.keys.restAPIKey)" } } }
        """)
    await server.stop()
    #expect(result == [2, 1, 1, 1])
  }

  @Test func csv_columnsAndIdsThatDifferInNormalisation_areKeptApart() async throws {
    let values: [JSONValue] = [["\u{E9}": 1, "e\u{301}": 2], ["e\u{301}": 2, "\u{E9}": 1]]
    #expect(values[0] == values[1] && values[0]["\u{E9}"] == 1)
    #expect(JSONValue.string("\u{E9}") != .string("e\u{301}") && JSONValue.array(["K"]) != .array(["\u{212A}"]))
  }
}
