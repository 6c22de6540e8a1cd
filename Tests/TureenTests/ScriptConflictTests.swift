import JSON
import LuaBridge
import Testing
import Tureen

/// Tests conflicts from scripts: the merge mode MERGE, the event, the two calls, and resolvers in Lua.
@Suite struct ScriptConflictTests {
  /// Contacts in the soup and in the org, and functions that change one on either side.
  private static let prelude = """
    local FIELDS = { "Title", "Department" }
    local TARGET = { type = "soql", query = "SELECT Id, LastName, Title, Department FROM Contact" }
    local function options(resolver) return { mergeMode = "MERGE", fieldlist = FIELDS, resolver = resolver } end
    local function down(opts) return tureen.await(mobilesync.syncDown, TARGET, "people", opts or options()) end
    local function up(opts) return tureen.await(mobilesync.syncUp, "people", opts or options()) end
    local function get(id) return tureen.await(smartstore.retrieveSoupEntries, "people", { id })[1] end
    local function edit(id, changes)
      local entry = get(id)
      for key, value in pairs(changes) do entry[key] = value end
      entry.__local__, entry.__locally_updated__ = true, true
      tureen.await(smartstore.upsertSoupEntries, "people", { entry })
      return entry
    end
    local function there(entry, changes)
      changes.Id = entry.Id
      local _, err = require("tureen.force").update("Contact", changes)
      if err then error(err, 0) end
    end
    local function conflicts(filter) return tureen.await(mobilesync.getConflicts, filter or {}) end

    """

  private func run(_ body: String) async throws -> ScriptRunner {
    let runner = try await ScriptRunner(contacts: 3)
    let outcome = try await runner.run(
      Self.prelude + """
        tureen.async(function()
          tureen.await(smartstore.registerSoup, "people", SPECS)
          assert(down(OVERWRITE))
          local function both(here, server)
            local entry = edit(1, here)
            there(entry, server)
          end
          \(body)
        end)
        assert(tureen.run())
        """)
    #expect(outcome == .done, "\(outcome)")
    await runner.server.stop()
    return runner
  }

  @Test func merge_differentFields_needsNobody() async throws {
    let runner = try await run(
      """
      both({ Title = "mine" }, { Department = "theirs" })
      local sync = up()
      note("up", { sync.succeeded, sync.merged, sync.conflicting })
      local entry = get(1)
      note("entry", { entry.Title, entry.Department, entry.__local__ })
      note("conflicts", conflicts())
      """)
    #expect(runner.noted("up") == [[1, 1, 0]] && runner.noted("entry") == [["mine", "theirs", false]])
    #expect(runner.noted("conflicts") == [[]])
  }

  @Test(arguments: ["syncUp", "syncDown"])
  func syncConflict_event_tellsWhatIsLeft(direction: String) async throws {
    let runner = try await run(
      """
      tureen.document.addEventListener("syncConflict", function(event)
        local c = event.detail
        note("event", { type = event.type, soup = c.soupName, entry = c.entryId, kind = c.kind, fields = c.fields,
          here = c["local"].Title, server = c.server.Title, store = c.storeName, global = c.isGlobalStore })
      end)
      tureen.on("sync", function(sync) if sync.status == "DONE" then note("event", "done") end end)
      both({ Title = "mine" }, { Title = "theirs" })
      local sync = \(direction == "syncUp" ? "up()" : "down()")
      note("counts", { sync.conflicting, #conflicts { soupName = "people", syncId = sync._soupEntryId } })
      note("one", conflicts({ soupName = "people", entryId = 1 })[1].remoteChanges)
      note("none", #conflicts { soupName = "people", entryId = 2 })
      """)
    #expect(
      runner.noted("event") == [
        [
          "type": "syncConflict", "soup": "people", "entry": 1, "kind": "changed", "fields": ["Title"], "here": "mine",
          "server": "theirs", "store": "defaultStore", "global": false,
        ], "done",
      ])
    #expect(runner.noted("counts") == [[1, 1]] && runner.noted("one") == [["Title"]] && runner.noted("none") == [0])
  }

  @Test(arguments: [
    ("resolution = 'local'", "mine"), ("resolution = 'server'", "theirs"), ("record = { Title = 'both' }", "both"),
  ])
  func resolveConflict_each_endsIt(how: String, title: String) async throws {
    let runner = try await run(
      """
      both({ Title = "mine" }, { Title = "theirs" })
      down()
      local entry, err = tureen.await(mobilesync.resolveConflict, { soupName = "people", entryId = 1, \(how) })
      note("entry", entry and entry.Title or tostring(err))
      note("left", #conflicts())
      local sync = up()
      note("up", { sync.conflicting, sync.failed })
      note("title", get(1).Title)
      """)
    #expect(runner.noted("entry") == [.string(title)] && runner.noted("left") == [0])
    #expect(runner.noted("up") == [[0, 0]] && runner.noted("title") == [.string(title)])
  }

  @Test func resolveConflict_wrong_namesTheMistake() async throws {
    let runner = try await run(
      """
      local function fail(given)
        local _, err = tureen.await(mobilesync.resolveConflict, given)
        note("error", { err.domain, err.code })
      end
      fail { soupName = "people", entryId = 1, resolution = "local" }
      fail { soupName = "people", entryId = 1 }
      fail { soupName = "people", entryId = 1, resolution = "mine" }
      fail { soupName = "none", entryId = 1, resolution = "local" }
      local _, err = tureen.await(mobilesync.getConflicts, { entryId = 1 })
      note("error", { err.domain, err.code })
      _, err = tureen.await(mobilesync.getConflicts, { syncName = "none" })
      note("error", { err.domain, err.code })
      """)
    #expect(
      runner.noted("error") == [
        ["sync", "noSuchConflict"], ["bridge", "invalidArguments"], ["sync", "invalidArguments"],
        ["smartstore", "noSuchSoup"], ["sync", "invalidArguments"], ["sync", "noSuchSync"],
      ])
  }

  // MARK: Resolvers

  @Test(arguments: [
    ("return 'local'", "mine"), ("return 'server'", "theirs"),
    (
      "conflict.merged.Title = conflict['local'].Title .. ' and ' .. conflict.server.Title return conflict.merged",
      "mine and theirs"
    ),
    ("tureen.await(smartstore.soupExists, 'people') return { Title = conflict.base and 'after a while' }", "after a while"),
  ])
  func resolver_inLua_decides(body: String, title: String) async throws {
    let runner = try await run(
      """
      mobilesync.registerResolver("mine", function(conflict)
        note("asked", { conflict.entryId, conflict.fields })
        \(body)
      end)
      both({ Title = "mine" }, { Title = "theirs", Department = "new" })
      local sync, err = up(options "mine")
      note("up", sync and { sync.merged, sync.conflicting } or tostring(err))
      local entry = get(1)
      note("entry", { entry.Title, entry.Department, entry.__local__ })
      """)
    #expect(runner.noted("asked") == [[1, ["Title"]]] && runner.noted("up") == [[1, 0]])
    #expect(runner.noted("entry") == [[.string(title), "new", false]])
  }

  @Test(arguments: ["return 'skip'", "return nil", "return tureen.null"])
  func resolver_thatLeavesIt_keepsTheConflict(body: String) async throws {
    let runner = try await run(
      """
      mobilesync.registerResolver("mine", function() \(body) end)
      both({ Title = "mine" }, { Title = "theirs" })
      local sync = down(options "mine")
      note("end", { sync.status, sync.conflicting, #conflicts(), get(1).Title })
      """)
    #expect(runner.noted("end") == [["DONE", 1, 1, "mine"]])
  }

  @Test(arguments: [
    ("mobilesync.registerResolver('mine', function() error('boom') end)", "boom"),
    ("mobilesync.registerResolver('mine', function() return 7 end)", "must return a record"),
    ("mobilesync.registerResolver('mine', function() return 'both' end)", "must return a record"),
    ("mobilesync.registerResolver('mine', function() return { Title = print } end)", "cannot be sent"),
    ("mobilesync.registerResolver('mine', function() return { 1, 2 } end)", "must return a record"),
    ("", "no resolver is registered under that name"),
  ])
  func resolver_thatFails_losesNothing(register: String, text: String) async throws {
    let runner = try await run(
      """
      \(register)
      both({ Title = "mine" }, { Title = "theirs" })
      local _, err = down(options "mine")
      note("end", { err.code, err.sync.status, #conflicts(), get(1).Title, get(1).__local__ })
      note("message", err.message)
      """)
    #expect(runner.noted("end") == [["resolver", "FAILED", 1, "mine", true]])
    let message = try #require(runner.noted("message").first?.stringValue)
    #expect(message.contains(text) && message.contains("'mine'"), "\(message)")
  }

  @Test func resolver_withoutMerge_isRefused() async throws {
    let runner = try await run(
      """
      local _, err = down { mergeMode = "OVERWRITE", resolver = "mine" }
      note("code", err.code)
      note("raised", (pcall(mobilesync.registerResolver, "x", 3)))
      """)
    #expect(runner.noted("code") == ["invalidOptions"])
    #expect(runner.noted("raised") == [false])
  }

  // MARK: Custom targets

  @Test func syncUp_customTarget_comparesWithWhatItFetches() async throws {
    let runner = try await run(
      """
      tureen.await(smartstore.registerSoup, "things", SPECS)
      local function thing(id) return { Id = id, LastName = "base", Title = "base", LastModifiedDate = "2020-01-01T00:00:00Z" } end
      local server = { a = thing "a", b = thing "b", c = thing "c" }
      mobilesync.registerTarget("shelf", {
        startFetch = function() return { server.a, server.b, server.c } end,
        updateOnServer = function(_, record, fields)
          for key, value in pairs(fields) do server[record.Id][key] = value end
          return true
        end,
        fetchLastModifiedDates = function(_, records)
          local dates = {}
          for i, record in ipairs(records) do dates[i] = server[record.Id] and server[record.Id].LastModifiedDate or false end
          return dates
        end,
        fetchFromServer = function(_, records, fields)
          note("fields", fields)
          local found = {}
          for i, record in ipairs(records) do found[i] = server[record.Id] or false end
          return found
        end,
      })
      local target = { type = "custom", luaImpl = "shelf" }
      assert(tureen.await(mobilesync.syncDown, target, "things", OVERWRITE))
      for id = 1, 3 do
        local entry = tureen.await(smartstore.retrieveSoupEntries, "things", { id })[1]
        entry.Title, entry.__local__, entry.__locally_updated__ = "mine", true, true
        tureen.await(smartstore.upsertSoupEntries, "things", { entry })
      end
      server.a.LastName, server.a.LastModifiedDate = "theirs", "2021-01-01T00:00:00Z"
      server.b.Title, server.b.LastModifiedDate = "theirs", "2021-01-01T00:00:00Z"
      server.c = nil
      local sync = tureen.await(mobilesync.syncUp, target, "things", { mergeMode = "MERGE", fieldlist = { "LastName", "Title" } })
      note("end", { sync.succeeded, sync.merged, sync.conflicting })
      note("a", { server.a.LastName, server.a.Title })
      for _, conflict in ipairs(conflicts { soupName = "things" }) do note("kind", conflict.kind) end
      """)
    #expect(runner.noted("end") == [[1, 1, 2]] && runner.noted("a") == [["theirs", "mine"]])
    #expect(runner.noted("kind") == ["changed", "deletedThere"])
    #expect(runner.noted("fields") == [["LastName", "Title", "LastModifiedDate"]])
  }
}
