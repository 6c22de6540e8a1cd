import JSON
import Support
import Synchronization
import TestSupport
import Testing
import Tureen

/// Tests syncs of collections from scripts: pages on demand, transformations, progress, files.
@Suite(.timeLimit(.minutes(60))) struct CollectionScriptTests {
  /// Serves seven rows in pages of two, with `Link` headers.
  private func server(_ row: @escaping @Sendable (Int, String) -> String = { id, _ in #"{"id":\#(id),"name":"row \#(id)"}"# })
    throws -> ScriptedServer
  {
    try ScriptedServer(handler: { request in
      let base = "http://" + (request.header("Host") ?? "")
      guard request.path == "/rows" else {
        return request.path == "/none"
          ? .status(404) : ScriptedAnswer(headers: [("Content-Type", "image/png")], body: Array("picture".utf8))
      }
      let page = Int(request.query.split(separator: "=").last ?? "1") ?? 1, ids = (page * 2 - 1)...min(page * 2, 7)
      let links = page < 4 ? [("Link", "<\(base)/rows?page=\(page + 1)>; rel=\"next\"")] : []
      return .json("[\(ids.map { row($0, base) }.joined(separator: ","))]", headers: links)
    })
  }

  private func before(_ server: ScriptedServer) -> String {
    """
    local await = tureen.await
    tureen.configure { connections = { api = { baseURL = "\(server.url)" } } }
    local function target(more)
      local target = { type = "rest", connection = "api", url = "/rows", paging = { style = "link" } }
      for key, value in pairs(more or {}) do target[key] = value end
      return target
    end
    local function register() assert(await(smartstore.registerSoup, "rows", { { path = "id", type = "string" } })) end
    local function ids(path)
      local found = assert(await(smartstore.runSmartQuery,
        smartstore.buildSmartQuerySpec("SELECT {rows:" .. (path or "id") .. "} FROM {rows} ORDER BY {rows:id}", 100)))
      local list = {}
      for i, row in ipairs(found.currentPageOrderedEntries) do list[i] = row[1] end
      return table.concat(list, " ")
    end
    local function create(more, options)
      register()
      return assert(await(mobilesync.createSyncDown, target(more), "rows", options or {}, "rows"))
    end
    """
  }

  /// Acceptance row R30.
  @Test func pages_maxPages1_giveEachPageInOrderAndThenEnd() async throws {
    let server = try server()
    let result = try await ScriptRunner().value(
      of: """
        create(nil, { maxPages = 1 })
        local seen = {}
        for state in mobilesync.pages("rows") do seen[#seen + 1] = state.status .. " " .. ids() end
        local again = 0
        for _ in mobilesync.pages("rows") do
          again = again + 1
          if again == 2 then break end
        end
        local more = assert(await(mobilesync.more, "rows"))
        return { seen, more.status, more.hasMore }
        """, before: before(server))
    #expect(
      result?[0] == ["STOPPED 1 2", "STOPPED 1 2 3 4", "STOPPED 1 2 3 4 5 6", "DONE 1 2 3 4 5 6 7"],
      "\(String(describing: result))")
    #expect(result?[1] == "STOPPED" && result?[2] == true)
  }

  @Test func pages_failedPage_raisesItsErrorAndKeepsTheRows() async throws {
    let server = try ScriptedServer(handler: { request in
      let page = Int(request.query.split(separator: "=").last ?? "1") ?? 1
      guard page < 3 else { return .text("<html>", type: "text/html") }
      return .json("[{\"id\":\(page)}]", headers: [("Link", "</rows?page=\(page + 1)>; rel=next")])
    })
    let result = try await ScriptRunner().value(
      of: """
        create(nil, { maxPages = 1 })
        local count = 0
        local ok, err = pcall(function() for _ in mobilesync.pages("rows") do count = count + 1 end end)
        return { ok, count, err.code, err.sync.status, ids() }
        """, before: before(server))
    #expect(result == [false, 2, "unexpectedAnswer", "FAILED", "1 2"])
  }

  @Test func refresh_afterSomePages_beginsAgainAndKeepsRowsMeanwhile() async throws {
    let server = try server()
    let result = try await ScriptRunner().value(
      of: """
        create(nil, { maxPages = 2 })
        assert(await(mobilesync.reSync, "rows"))
        assert(await(mobilesync.more, "rows"))
        local state = assert(await(mobilesync.refresh, "rows"))
        local _, up = await(mobilesync.refresh, 999)
        return { state.status, state.hasMore, state.pages, ids(), up.code }
        """, before: before(server))
    #expect(result == ["STOPPED", true, 2, "1 2 3 4 5 6 7", "noSuchSync"])
    #expect(server.requests.map(\.target) == ["/rows", "/rows?page=2", "/rows?page=3", "/rows?page=4", "/rows", "/rows?page=2"])
  }

  /// Acceptance row R15, transformations.
  @Test func transform_registered_computesDropsAndFlagsAlone() async throws {
    let server = try server()
    let result = try await ScriptRunner().value(
      of: """
        mobilesync.registerTransform("rows.decorate", function(item)
          if item.id == "2" then return nil end
          if item.id == "3" then error("no third one") end
          if item.id == "4" then return "text" end
          if item.id == "5" then tureen.sleep(1) end
          return { id = item.id, line = item.name:upper() }
        end)
        create { transform = "rows.decorate" }
        local state = assert(await(mobilesync.reSync, "rows"))
        return { state.status, ids(), ids("line"), state.flagged, state.warnings }
        """, before: before(server))
    #expect(
      result?[0] == "DONE" && result?[1] == "1 5 6 7" && result?[2] == "ROW 1 ROW 5 ROW 6 ROW 7", "\(String(describing: result))")
    #expect(result?[3] == 2)
    let warnings = result?[4]?.text ?? ""
    #expect(warnings.contains("rows.decorate failed") && warnings.contains("no third one"))
    #expect(warnings.contains("it must return a table or nil, got string"))
  }

  @Test func transform_ofAModule_isFoundByItsName() async throws {
    let server = try server(), runner = try await ScriptRunner()
    let module = "return { decorate = function(item) item.line = 'module ' .. item.id return item end }"
    try FileSystem.write(Array(module.utf8), to: runner.folder.path + "/shapes.lua")
    let result = try await runner.value(
      of: """
        create { transform = "shapes.decorate" }
        assert(await(mobilesync.reSync, "rows"))
        local here = ids("line")
        local function reason(name)
          assert(await(mobilesync.createSyncDown, target { transform = name }, "rows", {}, name))
          local _, err = await(mobilesync.refresh, name)
          return err.code .. " " .. err.message
        end
        local _, plain = pcall(mobilesync.registerTransform, "plain", print)
        return { here, reason "shapes.decorat", reason "nowhere.fn", tostring(plain) }
        """,
      before: before(server) + "\npackage.path = '\(runner.folder.path)/?.lua;' .. package.path")
    #expect(result?[0] == "module 1 module 2 module 3 module 4 module 5 module 6 module 7", "\(String(describing: result))")
    #expect(result?[1]?.stringValue?.contains("module 'shapes' has no function 'decorat'") == true)
    #expect(result?[2]?.stringValue?.contains("module 'nowhere' cannot be loaded") == true)
    #expect(result?[3]?.stringValue?.contains("'name' must have the form module.name") == true)
  }

  @Test func cleanResyncGhosts_moreThanMaxRatio_needsForce() async throws {
    let asked = Mutex(0)
    let server = try ScriptedServer(handler: { _ in
      let isFirst = asked.withLock { count in
        count += 1
        return count == 1
      }
      return .json("[\((10...(isFirst ? 39 : 11)).map { "{\"id\":\($0)}" }.joined(separator: ","))]")
    })
    let result = try await ScriptRunner().value(
      of: """
        create { ghosts = { mode = "fullList", confirm = "none" }, paging = { style = "none" } }
        assert(await(mobilesync.reSync, "rows"))
        local _, err = await(mobilesync.cleanResyncGhosts, "rows")
        local _, kept = ids():gsub("%d+", "")
        local removed = assert(await(mobilesync.cleanResyncGhosts, "rows", { force = true }))
        return { err.code, kept, removed, ids() }
        """, before: before(server))
    #expect(result == ["tooManyGhosts", 30, 28, "10 11"])
  }

  @Test func onProgress_withAndWithoutGrace_tellsStatesOfThatSyncAlone() async throws {
    let server = try server()
    let result = try await ScriptRunner().value(
      of: """
        create(nil, { graceMs = 600000 })
        local plain, graced, other, text = {}, {}, 0, nil
        local stop = mobilesync.onProgress("rows", function(state)
          plain[#plain + 1] = state.status
          text = ("%s %d %d"):format(state.status, state.pages, state.progress)
        end)
        mobilesync.onProgress("rows", function(state) graced[#graced + 1] = state.status end, { grace = true })
        mobilesync.onProgress("else", function() other = other + 1 end)
        assert(await(mobilesync.reSync, "rows"))
        assert(await(mobilesync.getSyncStatus, "rows")) -- the event comes behind the answer
        stop()
        local count = #plain
        assert(await(mobilesync.reSync, "rows"))
        local ok, wrong = pcall(mobilesync.onProgress, "rows", print, { grce = true })
        return { plain[1], text, #graced, other, #plain == count, ok, tostring(wrong) }
        """, before: before(server))
    #expect(result?[0] == "RUNNING" && result?[1] == "DONE 4 100" && result?[2] == 0, "\(String(describing: result))")
    #expect(result?[3] == 0 && result?[4] == true && result?[5] == false)
    #expect(result?[6]?.stringValue?.contains("unknown option 'grce'; did you mean 'grace'?") == true)
  }

  @Test func onProgress_noGraceLeft_tellsTheLastStateToo() async throws {
    let server = try server()
    let result = try await ScriptRunner().value(
      of: """
        create(nil, { graceMs = 0 })
        local told = {}
        mobilesync.onProgress("rows", function(state) told[#told + 1] = state.status end, { grace = true })
        assert(await(mobilesync.reSync, "rows"))
        assert(await(mobilesync.getSyncStatus, "rows")) -- the event comes behind the answer
        return { told[1], told[#told] }
        """, before: before(server))
    #expect(result == ["RUNNING", "DONE"])
  }

  /// Acceptance row R32, from a script.
  @Test func assetPath_fetchedMissingAndUnknown_givePathOrNil() async throws {
    let server = try server { id, base in
      #"{"id":\#(id),"picture":"\#(base)\#(id == 2 ? "/none" : "/picture")"}"#
    }
    let result = try await ScriptRunner().value(
      of: """
        create { assets = { { field = "picture", store = "files" } } }
        local state = assert(await(mobilesync.reSync, "rows"))
        local path = tureen.asset.path("\(server.url)/picture")
        local file = assert(io.open(path))
        local info = tureen.asset.info("\(server.url)/picture", "API")
        local awaited = await(tureen.asset.path, "\(server.url)/none")
        local _, err = tureen.asset.path("x", "nowhere")
        return { state.status, file:read "a", path:match "%.png$", info.contentType, info.bytes, awaited == tureen.null,
          tureen.asset.path("\(server.url)/none") or "placeholder", err.code }
        """, before: before(server))
    #expect(result == ["DONE", "picture", ".png", "image/png", 7, true, "placeholder", "invalidConfiguration"])
    #expect(server.requests.count { $0.path == "/picture" } == 1)
  }
}

extension JSONValue {
  /// An element of an array.
  fileprivate subscript(position: Int) -> JSONValue? { arrayValue?.dropFirst(position).first }
}
