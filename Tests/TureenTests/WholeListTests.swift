import JSON
import Synchronization
import TestSupport
import Testing

/// Tests from scripts that an answer is taken for no more than it says: what is missing from it is
/// no evidence that rows are gone.
@Suite(.timeLimit(.minutes(60))) struct WholeListTests {
  /// What a server answers: the list, and single records under `/list/<id>`.
  final class Source: Sendable {
    let list: Mutex<@Sendable (RecordedRequest) -> ScriptedAnswer>
    let record: Mutex<ScriptedAnswer> = Mutex(.json("{}", status: 404))
    let count = Mutex(0)

    init(_ list: @escaping @Sendable (RecordedRequest) -> ScriptedAnswer) { self.list = Mutex(list) }

    /// The first `stages` list requests get one answer, later ones the other.
    static func changing(after stages: Int, _ first: ScriptedAnswer, _ then: ScriptedAnswer) -> Source {
      let asked = Mutex(0)
      return Source { _ in
        let number = asked.withLock { count in
          count += 1
          return count
        }
        return number <= stages ? first : then
      }
    }

    func answer(_ request: RecordedRequest) -> ScriptedAnswer {
      request.path == "/list" ? list.withLock { $0 }(request) : record.withLock { $0 }
    }
  }

  private static func items(_ ids: some Sequence<Int>) -> String {
    "[\(ids.map { "{\"id\":\($0),\"name\":\"n\($0)\"}" }.joined(separator: ","))]"
  }

  /// Runs a script that may use `down(target)` and `clean()`, which return a status or a count, or an
  /// error's text, and `ids()`.
  private func run(_ source: Source, _ body: String) async throws -> JSONValue? {
    let server = try ScriptedServer { source.answer($0) }
    return try await ScriptRunner().value(
      of: body,
      before: """
        local await = tureen.await
        tureen.configure { connections = { api = { baseURL = "\(server.url)", cache = false, maxWaitS = 1 } } }
        local function down(target)
          await(smartstore.registerSoup, "rows",
            { { path = "id", type = "string" }, { path = "__sync_id__", type = "integer" } })
          target.type, target.connection, target.url = "rest", "api", "/list"
          local state, err = await(mobilesync.syncDown, target, "rows", {}, "rows")
          return state and state.status or err.message
        end
        local function clean(options)
          local removed, err = await(mobilesync.cleanResyncGhosts, "rows", options)
          return removed or err.code .. " " .. err.message
        end
        local function ids()
          local found = assert(await(smartstore.runSmartQuery,
            smartstore.buildSmartQuerySpec("SELECT {rows:id} FROM {rows} ORDER BY CAST({rows:id} AS INTEGER)", 1000)))
          local list = {}
          for i, row in ipairs(found.currentPageOrderedEntries) do list[i] = row[1] end
          return table.concat(list, " ")
        end
        """)
  }

  // MARK: 202

  @Test(arguments: ["[]", "{}", #"{"items":[]}"#, #"{"state":"queued"}"#, #"[{"id":9}]"#, ""])
  func down_202_isAskedAgainAndNeverAList(body: String) async throws {
    let pending = ScriptedAnswer.json(body, status: 202, headers: [("Retry-After", "0")])
    let result = try await run(.changing(after: 2, pending, .json(Self.items(1...2))), "return { down {}, ids() }")
    #expect(result == ["DONE", "1 2"])
  }

  @Test(arguments: ["[]", #"{"items":[]}"#, #"[{"id":9}]"#]) func clean_202ForEver_removesNothing(body: String) async throws {
    let pending = ScriptedAnswer.json(body, status: 202, headers: [("Retry-After", "0")])
    let result = try await run(
      .changing(after: 1, .json(Self.items(1...5)), pending),
      #"down { ghosts = { mode = "fullList" } } return { clean(), ids() }"#)
    #expect(result?[0]?.stringValue?.contains("still computing the list (202)") == true, "\(String(describing: result))")
    #expect(result?[1] == "1 2 3 4 5")
  }

  // MARK: Missing members

  @Test(arguments: [
    (#"{ itemsPath = "items" }"#, #"{"count":0}"#), (#"{ itemsPath = "items" }"#, "null"),
    (#"{ itemsPath = "items", itemsMissing = "empty" }"#, #"{"errors":[{"message":"no"}]}"#),
    (#"{ itemsPath = "items", itemsMissing = "empty" }"#, #"{"error":"no"}"#),
    (#"{ itemsPath = "data.items", itemsMissing = "empty" }"#, #"{"data":null,"errors":[{"message":"no"}]}"#),
  ])
  func clean_answerWithoutAList_removesNothing(target: String, body: String) async throws {
    let whole = #"{"items":\#(Self.items(1...3)),"data":{"items":\#(Self.items(1...3))}}"#
    let result = try await run(
      .changing(after: 1, .json(whole), .json(body)),
      #"local target = \#(target) target.ghosts = { mode = "fullList" } down(target) return { clean(), ids() }"#)
    #expect(result?[0]?.stringValue?.hasPrefix("unexpectedAnswer") == true, "\(String(describing: result))")
    #expect(result?[1] == "1 2 3")
  }

  @Test(arguments: [
    ("{}", "[]"), (#"{ itemsPath = "items" }"#, #"{"items":null}"#),
    (#"{ itemsPath = "items", itemsMissing = "empty" }"#, #"{"count":0,"errors":[]}"#),
  ])
  func clean_emptyList_removesTheRows(target: String, body: String) async throws {
    let first = target == "{}" ? Self.items(1...3) : #"{"items":\#(Self.items(1...3))}"#
    let result = try await run(
      .changing(after: 1, .json(first), .json(body)),
      #"local target = \#(target) target.ghosts = { mode = "fullList" } down(target) return { clean(), ids() }"#)
    #expect(result == [3, ""])
  }

  // MARK: Single records

  @Test(arguments: [
    (#"{"errors":[{"code":"forbidden"}]}"#, "data", 200, false), (#"{}"#, "data", 200, false),
    (#"{"data":null}"#, "data", 200, true), (#"{"data":null}"#, "data.node", 200, false),
    (#"{"data":{"node":null}}"#, "data.node", 200, true), (#"{"data":[]}"#, "data.0", 200, true),
    (#"{"data":"x"}"#, "data", 200, false), ("null", "$", 200, true), ("[]", "$", 200, false), ("{}", "data", 202, false),
    ("{}", "data", 404, true), ("{}", "data", 410, true), ("", "data", 204, false),
  ])
  func clean_readsOfRecords_onlyCleanStatementsRemove(body: String, path: String, status: Int, isGone: Bool) async throws {
    let source = Source { _ in .json(Self.items(1...3)) }
    source.record.withLock { $0 = .json(body, status: status) }
    let result = try await run(
      source,
      """
      down { ghosts = { mode = "perId" }, up = { read = { url = "/list/{id}", itemPath = "\(path)" } } }
      return { clean(), ids() }
      """)
    #expect(result == (isGone ? [3, ""] : [0, "1 2 3"]), "\(String(describing: result))")
  }

  // MARK: The end of a list

  @Test(arguments: ["0", "false", #""0""#, #""false""#, #""False""#, "0.0"])
  func down_hasMoreSaysNo_endsTheList(flag: String) async throws {
    let source = Source { request in
      request.query.isEmpty
        ? .json(#"{"items":\#(Self.items(1...2)),"next":"c1","more":1}"#)
        : .json(#"{"items":\#(Self.items(3...3)),"next":"c2","more":\#(flag)}"#)
    }
    let result = try await run(source, Self.cursor("hasMorePath", "more"))
    #expect(result == ["DONE", "1 2 3"])
  }

  /// A page without the member says nothing: the paging style decides.
  @Test(arguments: ["", #","more":null"#, #","more":"""#]) func down_hasMoreMissing_theStyleDecides(member: String) async throws {
    let source = Source { request in
      request.query.isEmpty
        ? .json(#"{"items":\#(Self.items(1...2)),"next":"c1"\#(member)}"#)
        : .json(#"{"items":\#(Self.items(3...3)),"next":null\#(member)}"#)
    }
    #expect(try await run(source, Self.cursor("hasMorePath", "more")) == ["DONE", "1 2 3"])
  }

  @Test(arguments: ["[]", "{}", #""perhaps""#]) func down_hasMoreUnreadable_isAnErrorThatNamesIt(flag: String) async throws {
    let source = Source { _ in .json(#"{"items":\#(Self.items(1...2)),"next":"c1","more":\#(flag)}"#) }
    let result = try await run(source, Self.cursor("hasMorePath", "more"))
    #expect(result?[0]?.stringValue?.contains("'hasMorePath' (more) leads to") == true, "\(String(describing: result))")
  }

  @Test func down_moreIsSaidButNotWhere_isAnError() async throws {
    let source = Source { _ in .json(#"{"items":\#(Self.items(1...2)),"next":null,"more":true}"#) }
    let result = try await run(source, Self.cursor("hasMorePath", "more"))
    let error = result?[0]?.stringValue ?? ""
    #expect(error.contains("'hasMorePath' says that the list goes on"), "\(error)")
  }

  @Test(arguments: [("7", "0"), ("7", "0.0"), (#""7""#, #""0""#)])
  func down_cursorZero_endsTheList(first: String, last: String) async throws {
    let source = Source { request in
      let isFirst = request.query.isEmpty
      return .json(#"{"items":\#(Self.items(isFirst ? 1...2 : 3...3)),"next":\#(isFirst ? first : last)}"#)
    }
    #expect(try await run(source, Self.cursor(nil, "")) == ["DONE", "1 2 3"])
  }

  private static func cursor(_ key: String?, _ path: String) -> String {
    let more = key.map { ", \($0) = \"\(path)\"" } ?? ""
    return """
      local paging = { style = "cursor", cursorPath = "next", cursorParam = "c"\(more) }
      return { down { itemsPath = "items", paging = paging }, ids() }
      """
  }

  /// The server counts an empty page past the end as it likes.
  @Test(arguments: [0, 3, 99]) func pages_totalPastTheEnd_isIgnored(total: Int) async throws {
    let isGone = Mutex(false)
    let source = Source { request in
      let rows = isGone.withLock { $0 } ? [2, 3] : [1, 2, 3], page = Int(request.query.suffix(1)) ?? 1
      let shown = rows.dropFirst((page - 1) * 2).prefix(2)
      return .json(#"{"items":\#(Self.items(shown)),"total":\#(shown.isEmpty ? total : rows.count)}"#)
    }
    let server = try ScriptedServer { request in
      if request.path == "/gone" { isGone.withLock { $0 = true } }
      return source.answer(request)
    }
    let result = try await ScriptRunner().value(
      of: """
        assert(await(smartstore.registerSoup, "rows",
          { { path = "id", type = "string" }, { path = "__sync_id__", type = "integer" } }))
        local target = { type = "rest", connection = "api", url = "/list", itemsPath = "items", totalPath = "total",
          paging = { style = "page", pageParam = "p" }, ghosts = { mode = "fullList" } }
        local state = assert(await(mobilesync.syncDown, target, "rows", {}, "rows"))
        await(tureen.network.sendRequest, { connection = "api", path = "/gone" })
        return { state.status, state.incomplete or false, state.pages, assert(await(mobilesync.cleanResyncGhosts, "rows")) }
        """,
      before: """
        local await = tureen.await
        tureen.configure { connections = { api = { baseURL = "\(server.url)", cache = false } } }
        """)
    #expect(result == ["DONE", false, 3, 1], "\(String(describing: result))")
  }

  /// A Parse server, or a proxy before it, that ignores where a page begins.
  @Test(arguments: [1, 3]) func parse_sameRowsForEver_ends(rows: Int) async throws {
    let objects = (1...rows).map {
      #"{"objectId":"o\#($0)","createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-0\#($0)T00:00:00.000Z"}"#
    }
    let server = try ScriptedServer { _ in .json(#"{"results":[\#(objects.joined(separator: ","))]}"#) }
    let result = try await ScriptRunner().value(
      of: """
        assert(await(smartstore.registerSoup, "rows", { { path = "objectId", type = "string" } }))
        local state, err = await(mobilesync.syncDown, { type = "parse", className = "Book" }, "rows", {}, "rows")
        return err and err.message
        """,
      before: """
        local await = tureen.await
        tureen.configure { connections = { default =
          { kind = "parse", serverURL = "\(server.url)", applicationId = "a", restAPIKey = "k" } } }
        """)
    #expect(result?.stringValue?.contains("so the list would never end") == true, "\(String(describing: result))")
    #expect(server.requests.count <= 4)
  }

  // MARK: Ghosts

  /// A list by token sends its first parameters again, or it would be another list.
  @Test func clean_tokenList_asksWithTheFirstParameters() async throws {
    let source = Source { request in
      let ids = request.query.contains("full=1") ? Array(1...7) : [1, 2]
      return .json(#"{"items":\#(Self.items(ids)),"token":"t"}"#)
    }
    let result = try await run(
      source,
      """
      down { itemsPath = "items", ghosts = { mode = "fullList" },
        incremental = { mode = "token", tokenPath = "token", tokenParam = "t", firstParams = { full = "1" } } }
      return { clean(), ids() }
      """)
    #expect(result == [0, "1 2 3 4 5 6 7"])
  }

  @Test(arguments: [#"{"id":null}"#, #"{"name":"x"}"#, "5", #"{"id":1.5}"#, #"{"id":{}}"#])
  func clean_itemWithoutAnId_isRefused(item: String) async throws {
    let result = try await run(
      .changing(after: 1, .json(Self.items(1...3)), .json("[{\"id\":1},\(item)]")),
      #"down { ghosts = { mode = "fullList" } } return { clean { force = true }, ids() }"#)
    #expect(result?[0]?.stringValue?.contains("without a usable id") == true, "\(String(describing: result))")
    #expect(result?[1] == "1 2 3")
  }

  /// Records that left the list but can still be read, such as closed issues, go.
  @Test func clean_itemThatLivesElsewhere_goes() async throws {
    let asked = Mutex(0)
    let source = Source { request in
      let isLater = asked.withLock { count in
        if !request.query.contains("p=2") { count += 1 }
        return count > 1
      }
      let rows = isLater ? [1, 2] : [1, 2, 3, 4]
      return .json(Self.items(request.query.contains("p=2") ? rows.dropFirst(2) : rows.prefix(2)))
    }
    source.record.withLock { $0 = .json(#"{"id":3,"state":"closed"}"#) }
    let result = try await run(
      source,
      """
      down { ghosts = { mode = "fullList" }, paging = { style = "page", pageParam = "p" },
        up = { read = { url = "/list/{id}" } } }
      return { clean(), ids() }
      """)
    #expect(result == [2, "1 2"], "\(String(describing: result))")
  }

  @Test func clean_listThatKeepsMoving_saysSo() async throws {
    let asked = Mutex(0)
    let source = Source { request in
      let walks = asked.withLock { count in
        count += 1
        return count
      }
      if request.query.contains("p=3") { return .json(#"{"items":[],"total":4}"#) }
      let isSecond = request.query.contains("p=2"), lost = walks > 3
      return .json(#"{"items":\#(Self.items(isSecond ? lost ? 4...4 : 3...4 : 1...2)),"total":4}"#)
    }
    let result = try await run(
      source,
      """
      down { itemsPath = "items", totalPath = "total", ghosts = { mode = "fullList" },
        paging = { style = "page", pageParam = "p" } }
      return { clean(), ids() }
      """)
    #expect(result?[0]?.stringValue?.contains("it is unknown which rows are gone") == true, "\(String(describing: result))")
    #expect(result?[1] == "1 2 3 4")
  }

  /// Custom targets may use ids that are integers.
  @Test func clean_integerIds_findsTheGhost() async throws {
    let result = try await ScriptRunner().value(
      of: """
        assert(await(smartstore.registerSoup, "rows",
          { { path = "id", type = "integer" }, { path = "__sync_id__", type = "integer" } }))
        local target = { type = "custom", luaImpl = "numbers", idFieldName = "id", modificationDateFieldName = "at" }
        assert(await(mobilesync.syncDown, target, "rows", {}, "rows"))
        present = { 1, 3 }
        local removed = assert(await(mobilesync.cleanResyncGhosts, "rows"))
        local rows = assert(await(smartstore.querySoup, "rows", smartstore.buildAllQuerySpec("id", "ascending", 10)))
        return { removed, #rows.currentPageOrderedEntries, rows.currentPageOrderedEntries[2].id }
        """,
      before: """
        local await = tureen.await
        local present = { 1, 2, 3 }
        mobilesync.registerTarget("numbers", {
          startFetch = function()
            local records = {}
            for i, id in ipairs(present) do
              records[i] = { id = id, at = "2026-01-01T00:00:00.000+0000", attributes = { type = "T" } }
            end
            return records, { totalSize = #records }
          end,
          remoteIds = function() return present end,
        })
        """)
    #expect(result == [1, 2, 3], "\(String(describing: result))")
  }

  @Test func down_integerIndexOfTextIds_namesTheIndex() async throws {
    let source = Source { _ in .json(Self.items(1...2)) }
    let server = try ScriptedServer { source.answer($0) }
    let result = try await ScriptRunner().value(
      of: """
        assert(await(smartstore.registerSoup, "rows", { { path = "id", type = "integer" } }))
        local state, err = await(mobilesync.syncDown, { type = "rest", connection = "api", url = "/list" }, "rows", {}, "rows")
        return err and err.message
        """,
      before: """
        local await = tureen.await
        tureen.configure { connections = { api = { baseURL = "\(server.url)", cache = false } } }
        """)
    let error = result?.stringValue ?? ""
    #expect(error.contains("does not fit its index in soup rows, which has the type 'integer'"), "\(error)")
  }
}

extension JSONValue {
  fileprivate subscript(position: Int) -> JSONValue? { arrayValue?.dropFirst(position).first }
}
