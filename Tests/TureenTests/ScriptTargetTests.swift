import JSON
import LuaBridge
import Testing
import Tureen

/// Tests custom sync targets in Lua.
@Suite struct ScriptTargetTests {
  private static let source = """
    local function record(n) return { Id = ("a%03d"):format(n), LastName = "r" .. n } end
    mobilesync.registerTarget("my.source", {
      startFetch = function(target, stamp)
        note("start", { stamp = stamp, extra = target.extra })
        return { record(1), record(2) }, { totalSize = 3, more = { from = 3 } }
      end,
      continueFetch = function(target, more)
        note("continue", more)
        return { record(more.from) }
      end,
      remoteIds = function(target, ids)
        note("ids", ids)
        return { "a001" }
      end,
    })
    local TARGET = { type = "custom", luaImpl = "my.source", extra = { 1, 2 } }

    """

  private func run(_ body: String) async throws -> ScriptRunner {
    let runner = try await ScriptRunner(contacts: 0)
    let outcome = try await runner.run(
      Self.source + """
        local function main()
          tureen.await(smartstore.registerSoup, "things", SPECS)
          \(body)
        end
        tureen.async(main)
        """)
    #expect(outcome == .done)
    return runner
  }

  @Test func syncDown_customTarget_fetchesThroughTheScript() async throws {
    let runner = try await run(
      """
      local sync, err = tureen.await(mobilesync.syncDown, TARGET, "things", OVERWRITE, "c")
      note("end", { err = err and err.message, total = sync and sync.totalSize, stored = sync and sync.stored })
      note("removed", tureen.await(mobilesync.cleanResyncGhosts, "c"))
      """)
    #expect(runner.noted("start") == [["stamp": .integer(-1), "extra": [1, 2]]])
    #expect(runner.noted("continue") == [["from": 3]])
    #expect(runner.noted("end") == [["total": 3, "stored": 3]])
    #expect(runner.noted("ids") == [["a001", "a002", "a003"]])
    #expect(runner.noted("removed") == [2])
  }

  /// Invalid functions, and the resulting error of the sync.
  private static let failures = [
    ("error('boom')", "boom"), ("return 3", "startFetch must return an array of records, got number"),
    ("return {}, 3", "startFetch must return a table {totalSize, more} as its second value, got number"),
    ("return {}, { totalSize = 'x' }", "startFetch: totalSize must be an integer, got string"),
    ("return { print }", "cannot be sent"), ("return { { LastName = 'no id' } }", "has no 'Id'"),
  ]

  @Test(arguments: failures)
  func syncDown_functionMisbehaves_fails(body: String, text: String) async throws {
    let runner = try await run(
      """
      mobilesync.registerTarget("my.source", { startFetch = function() \(body) end })
      local sync, err = tureen.await(mobilesync.syncDown, TARGET, "things", OVERWRITE)
      note("end", { status = err.sync.status, message = err.message, domain = err.domain })
      """)
    let end = try #require(runner.noted("end").first)
    #expect(end["status"] == "FAILED")
    #expect(end["message"]?.stringValue?.contains(text) ?? false, "\(end)")
  }

  @Test func syncDown_unknownModule_failsNamingIt() async throws {
    let runner = try await run(
      """
      local _, err = tureen.await(mobilesync.syncDown, { type = "custom", luaImpl = "no.such" }, "things", OVERWRITE)
      note("end", { code = err.code, message = err.message:match("^[^\\n]*") })
      """)
    let end = try #require(runner.noted("end").first)
    #expect(end["code"] == "customTarget")
    #expect(end["message"]?.stringValue?.contains("module 'no.such' cannot be loaded") ?? false)
  }

  @Test func syncDown_functionAwaits_isWaitedFor() async throws {
    let runner = try await run(
      """
      mobilesync.registerTarget("my.source", { startFetch = function()
        local there = tureen.await(smartstore.soupExists, "things")
        return { { Id = tostring(there) } }
      end })
      local sync = tureen.await(mobilesync.syncDown, TARGET, "things", OVERWRITE)
      note("end", sync.totalSize)
      """)
    #expect(runner.noted("end") == [1])
  }

  /// If a script ends while the engine waits for it, nothing hangs.
  @Test func close_whileTheEngineWaits_ends() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    let outcome = try await runner.run(
      Self.source + """
        local seen
        smartstore.registerSoup("things", SPECS)
        mobilesync.syncDown(TARGET, "things", OVERWRITE, "c", function(sync) seen = sync.status end)
        while not seen do tureen.poll(1000) end
        error("the script gives up")
        """)
    if case .failed = outcome {} else { Issue.record("\(outcome)") }
    let again = try await runner.run(
      """
      mobilesync.getSyncStatus("c", function(sync) note("status", sync.status) end)
      """)
    #expect(again == .done)
    #expect(runner.noted("status").count == 1 && runner.noted("status") != ["RUNNING"])
  }

  // MARK: Syncs up

  private static let sink = """
    smartstore.registerSoup("things", SPECS)
    local function entry(id, name, flag)
      return { Id = id, LastName = name, attributes = { type = "Contact" }, __local__ = true, [flag] = true }
    end
    local UP = { fieldlist = { "LastName" }, mergeMode = "OVERWRITE" }
    local function all()
      local names = tureen.await(smartstore.querySoup, "things",
        { queryType = "range", indexPath = "LastName", order = "ascending", pageSize = 10 })
      return names.currentPageOrderedEntries
    end

    """

  @Test func syncUp_customTarget_sendsThroughTheScript() async throws {
    let runner = try await run(
      Self.sink + """
        tureen.await(smartstore.upsertSoupEntries, "things", {
          entry("local_1", "a", "__locally_created__"), entry("s2", "b", "__locally_updated__"),
          entry("s3", "c", "__locally_deleted__"), entry("s4", "d", "__locally_updated__") })
        mobilesync.registerTarget("my.sink", {
          createOnServer = function(target, record, fields) note("create", fields) return "s1" end,
          updateOnServer = function(target, record, fields)
            if record.Id == "s4" then return false, "no such row" end
            tureen.await(smartstore.soupExists, "things")
            return true
          end,
          deleteOnServer = function(target, record) note("delete", record.Id) return 404 end,
        })
        local sync = tureen.await(mobilesync.syncUp, { type = "custom", luaImpl = "my.sink" }, "things", UP)
        note("end", { status = sync.status, succeeded = sync.succeeded, failed = sync.failed })
        for _, found in ipairs(all()) do
          note("entry", { found.Id, found.__local__, (found.__last_error__ or ""):match("no such row") or "" })
        end
        """)
    #expect(runner.noted("end") == [["status": "DONE", "succeeded": 3, "failed": 1]])
    #expect(runner.noted("create") == [["LastName": "a"]] && runner.noted("delete") == ["s3"])
    #expect(runner.noted("entry") == [["s1", false, ""], ["s2", false, ""], ["s4", true, "no such row"]])
  }

  /// A function that fails for one record does not keep the others from being sent.
  @Test(arguments: [
    ("error('boom')", "boom"), ("error({ message = 'a table' })", "a table"),
    ("return 'x'", "updateOnServer must return true, or false and a reason, or an HTTP status"),
    ("return {}", "updateOnServer must return true"), ("tureen.await(smartstore.soupExists, 'things') error('late')", "late"),
  ])
  func syncUp_functionFailsForOneRecord_othersAreSent(body: String, text: String) async throws {
    let runner = try await run(
      Self.sink + """
        tureen.await(smartstore.upsertSoupEntries, "things", {
          entry("s1", "a", "__locally_updated__"), entry("s2", "b", "__locally_updated__"),
          entry("s3", "c", "__locally_updated__") })
        mobilesync.registerTarget("my.sink", {
          createOnServer = 3, updateOnServer = function(_, record) if record.Id == "s2" then \(body) end return true end })
        local sync = tureen.await(mobilesync.syncUp, { type = "custom", luaImpl = "my.sink" }, "things", UP)
        note("end", { sync.status, sync.succeeded, sync.failed })
        for _, found in ipairs(all()) do note("entry", { found.Id, found.__local__, found.__last_error__ or "" }) end
        """)
    #expect(runner.noted("end") == [["DONE", 2, 1]])
    let entries = runner.noted("entry").compactMap(\.arrayValue)
    #expect(entries.map { $0[1] } == [false, true, false])
    #expect(entries[1][2].stringValue?.contains(text) ?? false, "\(entries)")
  }

  /// The record exists once the function was called: an integer is an id, and another result leaves the create in doubt.
  @Test(arguments: [("42", "42"), ("42.0", "42"), ("'s-1'", "s-1"), ("9007199254740993", "9007199254740993")])
  func syncUp_createReturnsAnId_isCreatedOnce(result: String, id: String) async throws {
    let runner = try await run(
      Self.sink + """
        tureen.await(smartstore.upsertSoupEntries, "things", { entry("local_1", "a", "__locally_created__") })
        mobilesync.registerTarget("my.sink", { createOnServer = function() note("create", 1) return \(result) end })
        for _ = 1, 2 do
          local sync = tureen.await(mobilesync.syncUp, { type = "custom", luaImpl = "my.sink" }, "things", UP)
          note("end", { sync.status, sync.succeeded })
        end
        note("entry", { all()[1].Id, all()[1].__local__ })
        """)
    #expect(runner.noted("create").count == 1 && runner.noted("end") == [["DONE", 1], ["DONE", 0]])
    #expect(runner.noted("entry") == [[.string(id), false]])
  }

  @Test(arguments: ["true", "{}", "1.5", "{ id = 's' }"])
  func syncUp_createReturnsSomethingElse_isInDoubtAndNotRepeated(result: String) async throws {
    let runner = try await run(
      Self.sink + """
        tureen.await(smartstore.upsertSoupEntries, "things", {
          entry("local_1", "a", "__locally_created__"), entry("local_2", "b", "__locally_created__") })
        mobilesync.registerTarget("my.sink", { createOnServer = function(_, record)
          note("create", record.LastName)
          if record.LastName == "b" then return "s2" end
          return \(result)
        end })
        local function up()
          local sync = tureen.await(mobilesync.syncUp, { type = "custom", luaImpl = "my.sink" }, "things", UP)
          note("end", { sync.status, sync.succeeded, sync.failed, sync.inDoubt })
        end
        up() up()
        note("error", all()[1].__last_error__)
        local entry = all()[1]
        entry.Id = "s1"
        tureen.await(smartstore.upsertSoupEntries, "things", { entry })
        up()
        note("entry", { all()[1].Id, all()[1].__local__ })
        """)
    #expect(runner.noted("create") == ["a", "b"])
    #expect(runner.noted("end") == [["DONE", 1, 0, 1], ["DONE", 0, 0, 1], ["DONE", 1, 0, 0]])
    #expect(runner.noted("error").first?.stringValue?.contains("IN_DOUBT") ?? false)
    #expect(runner.noted("entry") == [["s1", false]])
  }

  /// A comparison that fails for one record keeps that one here, and a script without the module ends the run.
  @Test func syncUp_comparisonFailsForOneRecord_othersAreSent() async throws {
    let runner = try await run(
      Self.sink + """
        tureen.await(smartstore.upsertSoupEntries, "things", {
          entry("s1", "a", "__locally_updated__"), entry("s2", "b", "__locally_updated__"),
          entry("s3", "c", "__locally_updated__") })
        mobilesync.registerTarget("my.sink", {
          fetchFromServer = function(_, records)
            local found = {}
            for i, record in ipairs(records) do
              if record.Id == "s2" then error "broken" end
              found[i] = { Id = record.Id, LastName = record.LastName }
            end
            return found
          end,
          updateOnServer = function(_, record) note("update", record.Id) return true end })
        UP.mergeMode = "LEAVE_IF_CHANGED"
        local sync = tureen.await(mobilesync.syncUp, { type = "custom", luaImpl = "my.sink" }, "things", UP)
        note("end", sync.status)
        local _, err = tureen.await(mobilesync.syncUp, { type = "custom", luaImpl = "no.such" }, "things", UP)
        note("missing", { err.code, err.sync.status })
        """)
    #expect(runner.noted("end") == ["DONE"])
    let sent = runner.noted("update")
    #expect(sent.contains("s1") && sent.contains("s3"), "\(sent)")
    #expect(runner.noted("missing") == [["customTarget", "FAILED"]])
  }

  @Test func syncUp_leaveIfChanged_asksTheScriptForDates() async throws {
    let runner = try await run(
      Self.sink + """
        local function dated(id, name)
          local made = entry(id, name, "__locally_updated__")
          made.LastModifiedDate = "2020-01-01T00:00:00.000+0000"
          return made
        end
        tureen.await(smartstore.upsertSoupEntries, "things", { dated("s1", "a"), dated("s2", "b"), dated("s3", "c") })
        mobilesync.registerTarget("my.sink", {
          updateOnServer = function(target, record) note("update", record.Id) return true end,
          fetchLastModifiedDates = function(target, records)
            note("asked", #records)
            return { "2019-01-01T00:00:00.000+0000", nil, false }
          end,
        })
        UP.mergeMode = "LEAVE_IF_CHANGED"
        local sync = tureen.await(mobilesync.syncUp, { type = "custom", luaImpl = "my.sink" }, "things", UP)
        note("end", { sync.succeeded, sync.conflicting })
        """)
    #expect(runner.noted("asked") == [3] && runner.noted("update") == ["s1"])
    #expect(runner.noted("end") == [[1, 2]])
  }

  /// The date in the result is that of the script's own upload. Without it the next edit would conflict with the upload.
  @Test(arguments: [true, false])
  func syncUp_updateGivesItsDate_nextEditGoesUp(givesDate: Bool) async throws {
    let runner = try await run(
      Self.sink + """
        local server = "2019-01-01T00:00:00.000+0000"
        local made = entry("s1", "a", "__locally_updated__")
        made.LastModifiedDate = "2020-01-01T00:00:00.000+0000"
        tureen.await(smartstore.upsertSoupEntries, "things", { made })
        mobilesync.registerTarget("my.sink", {
          updateOnServer = function()
            server = "2030-01-01T00:00:00.000+0000"
            return true\(givesDate ? ", server" : "")
          end,
          fetchLastModifiedDates = function() return { server } end,
        })
        UP.mergeMode = "LEAVE_IF_CHANGED"
        for n = 1, 2 do
          local edited = all()[1]
          edited.LastName, edited.__local__, edited.__locally_updated__ = "edit " .. n, true, true
          tureen.await(smartstore.upsertSoupEntries, "things", { edited })
          local sync = tureen.await(mobilesync.syncUp, { type = "custom", luaImpl = "my.sink" }, "things", UP)
          note("end", { sync.succeeded, sync.conflicting })
        end
        """)
    #expect(runner.noted("end") == [[1, 0], givesDate ? [1, 0] : [0, 1]])
  }
}
