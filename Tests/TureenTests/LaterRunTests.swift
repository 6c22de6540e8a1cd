import JSON
import Synchronization
import TestSupport
import Testing

/// Tests from scripts that one odd item hides no others, and that a sync whose soup was emptied
/// starts over.
@Suite(.timeLimit(.minutes(60))) struct LaterRunTests {
  /// A list that has other rows after a request of `/change`, with the details of single items.
  private final class Source: Sendable {
    let rows = Mutex<[String]>([])
    let later: [String]
    let date: String?
    let detail: @Sendable (String) -> ScriptedAnswer

    init(
      _ rows: [String], then later: [String] = [], date: String? = nil,
      detail: @escaping @Sendable (String) -> ScriptedAnswer = { .json(#"{"id":"\#($0)","body":"text"}"#) }
    ) {
      self.later = later
      self.date = date
      self.detail = detail
      self.rows.withLock { $0 = rows }
    }

    func server() throws -> ScriptedServer {
      try ScriptedServer { [self] request in
        if request.path == "/change" {
          rows.withLock { $0 = later }
          return .status(204)
        }
        guard request.path == "/list" else { return detail(request.path.split(separator: "/").last.map(String.init) ?? "") }
        let since = request.query.split(separator: "=").last.map { $0.replacing("%3A", with: ":") } ?? ""
        let shown = rows.withLock { $0 }.filter { row in
          let stamp = row.split(separator: "\"").first { $0.hasPrefix("20") || $0.hasPrefix("22") }
          return !request.query.hasPrefix("since=") || stamp.map { $0 >= since } ?? true
        }
        return .json("[\(shown.joined(separator: ","))]", headers: date.map { [("Date", $0)] } ?? [])
      }
    }
  }

  private func run(_ source: Source, target: String, index: String = "id", _ body: String) async throws -> JSONValue? {
    let server = try source.server()
    return try await ScriptRunner().value(
      of: body,
      before: """
        local await = tureen.await
        tureen.configure { connections = { api = { baseURL = "\(server.url)", cache = false } } }
        local function change() assert(await(tureen.network.sendRequest, { connection = "api", path = "/change" })) end
        local function register()
          assert(await(smartstore.registerSoup, "rows",
            { { path = "\(index)", type = "string" }, { path = "__sync_id__", type = "integer" } }))
        end
        local function down()
          register()
          local target = \(target)
          target.type, target.connection, target.url = "rest", "api", "/list"
          return assert(await(mobilesync.syncDown, target, "rows", {}, "rows"))
        end
        local function again() return assert(await(mobilesync.reSync, "rows")) end
        local function ids()
          local found = assert(await(smartstore.runSmartQuery,
            smartstore.buildSmartQuerySpec("SELECT {rows:\(index)} FROM {rows} ORDER BY 1", 1000)))
          local list = {}
          for i, row in ipairs(found.currentPageOrderedEntries) do list[i] = row[1] end
          return table.concat(list, " ")
        end
        """)
  }

  private static func row(_ id: Int, _ at: String, _ more: String = "") -> String { #"{"id":"\#(id)","at":"\#(at)"\#(more)}"# }
  private static let dates = [nil, "Thu, 01 Oct 2026 10:00:00 GMT"]

  // MARK: Dates

  /// A typo must not hide what changes until then.
  @Test(arguments: dates) func param_dateInTheFuture_hidesNothing(date: String?) async throws {
    let far = Self.row(2, "2204-03-01T00:00:00Z")
    let old = Self.row(1, "2024-02-29T10:00:00Z")
    let source = Source([old, far], then: [old, far, Self.row(3, "2026-01-01T00:00:00Z")], date: date)
    let result = try await run(
      source,
      target: #"{ modificationDateField = "at", incremental = { mode = "param", params = { since = "{since}" } } }"#,
      """
      local first = down()
      change()
      return { first.maxTimeStamp <= 1709200800000, again().status, ids(), again().stored }
      """)
    #expect(result == [true, "DONE", "1 2 3", 0], "\(String(describing: result))")
  }

  @Test(arguments: dates) func sorted_dateInTheFuture_hidesNothing(date: String?) async throws {
    let far = Self.row(2, "2204-03-01T00:00:00Z"), old = Self.row(1, "2024-01-01T00:00:00Z")
    let new = [Self.row(4, "2026-09-01T00:00:00Z"), Self.row(3, "2026-08-01T00:00:00Z")]
    let source = Source([far, old], then: [far] + new + [old], date: date)
    let result = try await run(
      source, target: #"{ modificationDateField = "at", incremental = { mode = "sorted", params = { sort = "at" } } }"#,
      """
      down()
      change()
      return { again().status, ids(), again().maxTimeStamp }
      """)
    #expect(result == ["DONE", "1 2 3 4", 1_788_220_800_000], "\(String(describing: result))")
  }

  @Test func custom_dateInTheFuture_hidesNothing() async throws {
    let result = try await ScriptRunner().value(
      of: """
        assert(await(smartstore.registerSoup, "rows", { { path = "id", type = "string" } }))
        local target = { type = "custom", luaImpl = "dated", idFieldName = "id", modificationDateFieldName = "at" }
        local first = assert(await(mobilesync.syncDown, target, "rows", {}, "rows"))
        assert(await(mobilesync.reSync, "rows"))
        return { first.maxTimeStamp, asked[2] }
        """,
      before: """
        local await = tureen.await
        asked = {}
        mobilesync.registerTarget("dated", {
          startFetch = function(_, since)
            asked[#asked + 1] = since
            return { { id = "1", at = "2024-02-29T10:00:00.000+0000", attributes = { type = "T" } },
              { id = "2", at = "2204-03-01T00:00:00.000+0000", attributes = { type = "T" } } }
          end,
          remoteIds = function() return {} end,
        })
        """)
    #expect(result?[0] == 1_709_200_800_000, "\(String(describing: result))")
    #expect((result?[1]?.integerValue ?? .max) <= 1_709_200_800_000, "\(String(describing: result))")
  }

  /// No date is no mistake, however a database writes it; a date of another format is one.
  @Test func dates_emptyOrZero_areStored_othersAreFlagged() async throws {
    let odd = ["", "  ", "0000-00-00", "0000-00-00 00:00:00", "0000-00-00T00:00:00.000+00:00"]
    let rows = odd.enumerated().map { Self.row($0 + 1, $1) } + [Self.row(7, "tomorrow"), #"{"id":"8","at":false}"#]
    let result = try await run(
      Source(rows + [Self.row(9, "2024-01-01T00:00:00Z")]),
      target: #"{ modificationDateField = "at", incremental = { mode = "param", params = { since = "{since}" } } }"#,
      "local state = down() return { ids(), state.flagged, state.warnings, again().fetched }")
    #expect(result?[0] == "1 2 3 4 5 9" && result?[1] == 2, "\(String(describing: result))")
    #expect(result?[2]?.text.contains("'at' is not a date of the format 'iso8601'") == true)
  }

  // MARK: Ids

  @Test func ids_numbersInOtherForms_areTheirDigits_othersTellTheReason() async throws {
    let whole = ["42.0", "1e3", "12.5e1", "7", "-3.0", "9007199254740993.0", "1E+2"]
    let ids = whole + ["1.5", "1e-1", "1e400", "true", "null", "{}", #""""#]
    let result = try await run(
      Source(ids.map { #"{"id":\#($0),"n":1.50}"# }), target: #"{ map = { copy = "n" } }"#,
      "local state = down() return { ids(), state.flagged, table.concat(state.warnings, ' ') }")
    #expect(result?[0] == "-3 100 1000 125 42 7 9007199254740993" && result?[1] == 7, "\(String(describing: result))")
    let warnings = result?[2]?.stringValue ?? ""
    for reason in ["a number that is not whole, or too large", "is a boolean", "is null", "is an object", "is empty"] {
      #expect(warnings.contains(reason), "\(reason): \(warnings)")
    }
  }

  @Test(arguments: [("1e3", "1000"), ("42.0", "42"), ("7", "7"), (#""1e3""#, "1e3")])
  func create_answerWithANumericId_givesItsDigits(id: String, expected: String) async throws {
    let server = try ScriptedServer { request in
      request.method == "POST" ? .json(#"{"id":\#(id)}"#, status: 201) : .json("[]")
    }
    let result = try await ScriptRunner().value(
      of: """
        assert(await(smartstore.registerSoup, "rows",
          { { path = "id", type = "string" }, { path = "__local__", type = "string" } }))
        local entry = { id = "local_1", name = "n", __local__ = true, __locally_created__ = true }
        assert(await(smartstore.upsertSoupEntries, "rows", { entry }))
        local target = { type = "rest", connection = "api", url = "/list",
          up = { create = { url = "/list", fields = { "name" } } } }
        assert(await(mobilesync.syncUp, target, "rows", {}))
        local rows = assert(await(smartstore.querySoup, "rows", smartstore.buildAllQuerySpec("id", "ascending", 10)))
        return rows.currentPageOrderedEntries[1].id
        """,
      before: """
        local await = tureen.await
        tureen.configure { connections = { api = { baseURL = "\(server.url)", cache = false } } }
        """)
    #expect(result == .string(expected), "\(String(describing: result))")
  }

  // MARK: Emptied soups

  private static let empties = [
    #"assert(await(smartstore.clearSoup, "rows"))"#, #"assert(await(smartstore.removeSoup, "rows")) register()"#,
    // An edit made in the empty soup does not make it up to date.
    #"assert(await(smartstore.clearSoup, "rows")) assert(await(smartstore.upsertSoupEntries, "rows", { { id = "0" } }))"#,
  ]

  @Test(arguments: empties, ["param", "etag", "token", "detail"])
  func reSync_soupWasEmptied_bringsTheRowsAgain(how: String, mode: String) async throws {
    let rows = [Self.row(1, "2024-01-01T00:00:00Z"), Self.row(2, "2024-02-01T00:00:00Z")]
    let server = try ScriptedServer { request in
      guard request.path == "/list" else { return .json(#"{"body":"text"}"#) }
      if request.header("If-None-Match") == "\"1\"" { return .status(304, headers: [("ETag", "\"1\"")]) }
      let isIncremental = request.query.hasPrefix("since=2024") || request.query.hasPrefix("token=")
      return .json(
        #"{"items":[\#(isIncremental ? "" : rows.joined(separator: ","))],"token":"t"}"#, headers: [("ETag", "\"1\"")])
    }
    let targets = [
      "param": #"modificationDateField = "at", incremental = { mode = "param", params = { since = "{since}" } }"#,
      "etag": #"incremental = { mode = "etag" }"#,
      "token": #"incremental = { mode = "token", tokenPath = "token", tokenParam = "token" }"#,
      "detail": #"detail = { url = "/one/{id}" }"#,
    ]
    let result = try await ScriptRunner().value(
      of: """
        register()
        local target = { type = "rest", connection = "api", url = "/list", itemsPath = "items", \(targets[mode] ?? "") }
        assert(await(mobilesync.syncDown, target, "rows", {}, "rows"))
        assert(await(mobilesync.reSync, "rows"))
        \(how)
        local state = assert(await(mobilesync.reSync, "rows"))
        local second = assert(await(mobilesync.reSync, "rows"))
        local found = assert(await(smartstore.runSmartQuery,
          smartstore.buildSmartQuerySpec("SELECT {rows:id} FROM {rows} WHERE {rows:id} <> '0' ORDER BY 1", 10)))
        return { state.status, state.stored, #found.currentPageOrderedEntries, second.stored }
        """,
      before: """
        local await = tureen.await
        tureen.configure { connections = { api = { baseURL = "\(server.url)", cache = false } } }
        local function register()
          assert(await(smartstore.registerSoup, "rows",
            { { path = "id", type = "string" }, { path = "__sync_id__", type = "integer" } }))
        end
        """)
    #expect(result == ["DONE", 2, 2, 0], "\(mode): \(String(describing: result))")
  }

  @Test(arguments: [#"clearSoup, "people""#, #"removeSoup, "people""#])
  func reSync_soupOfAnOrgWasEmptied_bringsTheRecordsAgain(how: String) async throws {
    let result = try await ScriptRunner(contacts: 12).value(
      of: """
        assert(await(smartstore.registerSoup, "people", SPECS))
        local first = assert(await(mobilesync.syncDown, CONTACTS, "people", OVERWRITE, "down"))
        assert(await(smartstore.\(how)))
        assert(await(smartstore.registerSoup, "people", SPECS))
        local again = assert(await(mobilesync.reSync, "down"))
        local rows = assert(await(smartstore.querySoup, "people", smartstore.buildAllQuerySpec("Id", "ascending", 100)))
        return { first.stored, again.status, again.stored, #rows.currentPageOrderedEntries }
        """, before: "local await = tureen.await")
    #expect(result == [12, "DONE", 12, 12], "\(String(describing: result))")
  }

  // MARK: Details

  private static let refusals: [(ScriptedAnswer, String)] = [
    (.json(#"{"error":"no"}"#, status: 400), "refused with 400"), (.json("{}", status: 403), "refused with 403"),
    (.json("{}", status: 422), "refused with 422"), (.text("<html>", type: "text/html"), "not JSON"),
    (.json(#"{"errors":[]}"#), "does not lead to an object"), (.json("[]"), "does not lead to an object"),
    (.json("{}", status: 202), "not ready yet (202)"),
  ]

  @Test(arguments: refusals.indices) func detail_refusedForOneItem_flagsItAlone(refusal: Int) async throws {
    let (answer, reason) = Self.refusals[refusal]
    let source = Source((1...5).map { Self.row($0, "2024-01-01T00:00:00Z") }) { id in
      id == "3" ? answer : .json(#"{"data":{"id":"\#(id)","body":"text"}}"#)
    }
    let result = try await run(
      source, target: #"{ detail = { url = "/one/{id}", itemPath = "data" } }"#,
      "local state = down() return { state.status, state.flagged, table.concat(state.warnings, ' '), ids() }")
    #expect(result?[0] == "DONE" && result?[1] == 1 && result?[3] == "1 2 4 5", "\(String(describing: result))")
    #expect(result?[2]?.stringValue?.contains(reason) == true, "\(String(describing: result))")
  }

  /// The detail may have other values under the same names; only the listed item counts.
  @Test func detail_listedItemUnchanged_isNotAskedForAgain() async throws {
    let asked = Mutex<[String]>([])
    let rows = (1...8).map { Self.row($0, "2024-01-01T00:00:00Z", #","name":"short","url":"/list/\#($0)""#) }
    let changed = rows[0].replacing("short", with: "new")
    let source = Source(rows, then: [changed] + rows.dropFirst()) { id in
      asked.withLock { $0.append(id) }
      return .json(#"{"id":"\#(id)","name":"a long name","url":"/one/\#(id)","extra":1}"#)
    }
    let result = try await run(
      source, target: #"{ detail = { url = "/one/{id}" } }"#,
      """
      down() again()
      change()
      again() again()
      return ids()
      """)
    #expect(result == "1 2 3 4 5 6 7 8", "\(String(describing: result))")
    #expect(asked.withLock { $0.count } == 9 && asked.withLock { $0.last } == "1")
  }
}

extension JSONValue {
  fileprivate subscript(position: Int) -> JSONValue? { arrayValue?.dropFirst(position).first }
}
