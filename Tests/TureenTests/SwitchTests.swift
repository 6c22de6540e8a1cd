import JSON
import LuaBridge
import SmartStore
import TestSupport
import Testing

@testable import Tureen

/// Tests `switchToUser` row by row of its table: what happens to the old user's work.
@Suite(.timeLimit(.minutes(60))) struct SwitchTests {
  // MARK: Calls and requests

  @Test func switch_callsAcceptedBefore_areAnsweredFirstAsTheOldUser() async throws {
    let home = try await AccountHome { request, clock in
      // Ann's response arrives while the switch is waiting.
      if AccountHome.user(of: request) == "ann" { clock.waitForSwitch() }
      return nil
    }
    let result = try await home.value(
      of: """
        local function answered(when)
          return function(reply) hear(when .. " " .. tostring(type(reply) == "table" and reply.user or reply))() end
        end
        local function failed(err) hear("failed " .. tostring(err.code or err.message or err))() end
        assert(await(smartstore.registerSoup, "s", SPECS))
        network.sendRequest(LIMITS, answered "before", failed)
        smartstore.soupExists("s", answered "before", failed)
        accounts.switchToUser(BOB, answered "switch", failed)
        smartstore.soupExists("s", answered "after", failed)
        network.sendRequest(LIMITS, answered "after", failed)
        for _ = 1, 60000 do
          if #order >= 6 then break end
          tureen.sleep(5)
        end
        return order
        """)
    #expect(
      result == ["before true", "before ann", "switched ann bob", "switch OK", "after false", "after bob"]
        || result == ["before true", "before ann", "switched ann bob", "switch OK", "after bob", "after false"])
    let senders = home.one.requests.map { AccountHome.user(of: $0) }
    #expect(senders == ["ann", "bob"], "each request has the token of its own user")
  }

  @Test func switch_requestInFlight_endsWithTheOldTokenAndIsDelivered() async throws {
    let home = try await AccountHome { request, clock in
      guard request.path.contains("slow") else { return nil }
      clock.waitForSwitch()
      return .json(#"{"token":"\#(request.header("Authorization") ?? "")"}"#)
    }
    let result = try await home.value(
      of: """
        local slow
        network.sendRequest({ path = "/slow" }, function(reply) slow = reply.token end)
        switch(CLEO)
        return { slow, whoami() }
        """)
    #expect(result == ["Bearer token-ann", "cleo"])
    #expect(home.two.requests.map { AccountHome.user(of: $0) } == ["cleo"], "the other org sees its own user alone")
  }

  // MARK: Syncs

  /// Holds the second page of each list until the switch has begun.
  private static func heldPages(_ request: RecordedRequest, _ clock: SwitchClock) -> ScriptedAnswer? {
    if request.path.hasSuffix("page-2"), AccountHome.user(of: request) == "ann" { clock.waitForSwitch() }
    return nil
  }

  @Test func switch_runningSyncs_userAndGlobalStores_areStoppedAtTheirPage() async throws {
    let home = try await AccountHome(Self.heldPages)
    let result = try await home.value(
      of: """
        local states = {}
        for _, config in ipairs { { isGlobalStore = false }, GLOBAL } do
          assert(await(smartstore.registerSoup, config, "c", SPECS))
          mobilesync.syncDown(config, CONTACTS, "c", OVERWRITE, "down", function(sync)
            if sync.status ~= "RUNNING" then states[#states + 1] = sync.status .. " " .. sync.pages end
          end, function(err) states[#states + 1] = err.code end)
        end
        tureen.waitEvent("sync", function(detail) return detail.pages == 1 end)
        tureen.on("userSwitched", function() states[#states + 1] = "switched" end)
        switch(BOB)
        local found = await(mobilesync.getSyncStatus, GLOBAL, "down")
        return { states, found.status, found.orgId, await(smartstore.soupExists, "c") }
        """)
    let found = result?.arrayValue ?? [], states = found.first?.arrayValue ?? []
    #expect(states.last == "switched" && states.count == 3)
    #expect(states.dropLast().allSatisfy { $0.stringValue?.hasPrefix("STOPPED") == true }, "\(states)")
    #expect(found.dropFirst() == ["STOPPED", "00D1", false])
  }

  @Test func switch_uploadWithoutAnswer_isCancelledAfterHalfAMinute() async throws {
    let home = try await AccountHome { request, clock in
      guard request.method == "POST", AccountHome.user(of: request) == "ann" else { return nil }
      clock.waitForSwitch()
      clock.passTime()
      return .never
    }
    let result = try await home.value(
      of: """
        assert(await(smartstore.registerSoup, "c", SPECS))
        local NEW = { attributes = { type = "Contact" }, LastName = "x", __local__ = true, __locally_created__ = true,
          __locally_updated__ = false, __locally_deleted__ = false }
        assert(await(smartstore.upsertSoupEntries, "c", { NEW }))
        local ended
        mobilesync.syncUp({}, "c", { fieldlist = { "LastName" } }, "up", function(sync)
          if sync.status ~= "RUNNING" then ended = sync.status end
        end)
        switch(BOB)
        return { ended, whoami() }
        """)
    #expect(result == ["STOPPED", "bob"])
  }

  /// The script's answer is queued behind the switch, which waits for the sync.
  @Test func switch_uploadThatWaitsForTheScript_isAnsweredMeanwhile() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        assert(await(smartstore.registerSoup, "c", SPECS))
        assert(await(smartstore.upsertSoupEntries, "c", { { attributes = { type = "X" }, LastName = "x", __local__ = true,
          __locally_created__ = true, __locally_updated__ = false, __locally_deleted__ = false } }))
        local switched, ended
        mobilesync.registerTarget("mine", {
          createOnServer = function()
            accounts.switchToUser(BOB, function(reply) switched = reply end)
            return "id-1"
          end,
        })
        mobilesync.syncUp({ type = "custom", luaImpl = "mine" }, "c", { fieldlist = { "LastName" } }, "up",
          function(sync) if sync.status ~= "RUNNING" then ended = sync.status end end, function(err) ended = err.message end)
        while not switched do tureen.sleep(5) end
        switch(ANN)
        local cursor = assert(await(smartstore.querySoup, "c", smartstore.buildAllQuerySpec("Id", "ascending", 10)))
        return { ended, cursor.currentPageOrderedEntries[1].Id }
        """)
    let found = result?.arrayValue ?? []
    #expect(["DONE", "STOPPED"].contains(found.first), "\(found)")
    #expect(found.last == "id-1", "what the server has made is written back")
  }

  @Test func switch_backAgain_resumesNothing() async throws {
    let home = try await AccountHome(Self.heldPages)
    let host = home.host()
    let result = try await home.value(
      of: """
        assert(await(smartstore.registerSoup, "c", SPECS))
        mobilesync.syncDown(CONTACTS, "c", OVERWRITE, "down")
        tureen.waitEvent("sync", function(detail) return detail.pages == 1 end)
        switch(BOB)
        switch(ANN)
        local stopped = await(mobilesync.getSyncStatus, "down").status
        local done = assert(await(mobilesync.reSync, "down"))
        return { stopped, done.status }
        """, on: host)
    #expect(result == ["STOPPED", "DONE"])
  }

  // MARK: Stores

  @Test func switch_cursors_ofUserStoresAreClosedAndOfGlobalOnesStay() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        local ALL = smartstore.buildAllQuerySpec("LastName", "ascending", 1)
        local function open(config)
          assert(await(smartstore.registerSoup, config, "s", SPECS))
          assert(await(smartstore.upsertSoupEntries, config, "s", { { LastName = "a" }, { LastName = "b" } }))
          return assert(await(smartstore.querySoup, config, "s", ALL))
        end
        local USER = { isGlobalStore = false }
        local mine, common = open(USER), open(GLOBAL)
        switch(BOB)
        local his = open(USER)
        local _, err = await(smartstore.moveCursorToNextPage, USER, mine)
        local page = assert(await(smartstore.moveCursorToNextPage, GLOBAL, common))
        switch(ANN)
        local _, again = await(smartstore.moveCursorToNextPage, USER, mine)
        return { err.code, again.code, page.currentPageOrderedEntries[1].LastName, his.cursorId ~= mine.cursorId }
        """)
    #expect(result == ["noSuchCursor", "noSuchCursor", "b", true])
  }

  @Test func switch_observers_ofUserStoresEndWithAWordAndOfGlobalOnesStay() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        local heard, observers = {}, {}
        for name, config in pairs { user = { isGlobalStore = false }, global = GLOBAL } do
          assert(await(smartstore.registerSoup, config, "s", SPECS))
          heard[name] = tureen.array()
          observers[name] = smartstore.observe(config, "s", function(change)
            local list = heard[name]
            list[#list + 1] = change.closed or #change.created
            if change.closed then hear("closed")() end
          end, function(err) hear(err.code)() end)
        end
        assert(await(smartstore.upsertSoupEntries, "s", { { LastName = "a" } }))
        switch(BOB)
        assert(await(smartstore.registerSoup, "s", SPECS))
        assert(await(smartstore.upsertSoupEntries, "s", { { LastName = "b" } }))
        assert(await(smartstore.upsertSoupEntries, GLOBAL, "s", { { LastName = "c" }, { LastName = "d" } }))
        observers.user:close()
        observers.global:close()
        return { heard.user, heard.global, order }
        """)
    #expect(result == [[1, "userSwitched"], [2], ["closed", "switched ann bob"]])
  }

  @Test func switch_dirtyEntries_stayInTheOldUsersStore() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        assert(await(smartstore.registerSoup, "s", SPECS))
        local edited = assert(await(smartstore.upsertSoupEntries, "s", { { LastName = "mine", __local__ = true,
          __locally_created__ = true, __locally_updated__ = false, __locally_deleted__ = false } }))[1]
        switch(BOB)
        local there = await(smartstore.soupExists, "s")
        switch(ANN)
        local kept = assert(await(smartstore.retrieveSoupEntries, "s", { edited._soupEntryId }))[1]
        return { there, kept.LastName, kept.__local__ }
        """)
    #expect(result == [false, "mine", true])
    #expect(home.one.requests.isEmpty, "nothing is sent by itself")
  }

  @Test func switch_configurationFiles_areAppliedToTheNewUsersStores() async throws {
    let home = try await AccountHome(), folder = home.runner.folder
    try folder.write(
      #"{"soups":[{"soupName":"set","indexes":[{"path":"Id","type":"string"}]}]}"#, to: "userstore.json", mode: 0o644)
    try folder.write(
      """
      {"syncs":[{"syncName":"setDown","syncType":"syncDown","soupName":"set","options":{"mergeMode":"OVERWRITE"},
        "target":{"type":"soql","query":"SELECT Id, LastName, LastModifiedDate FROM Contact"}}]}
      """, to: "usersyncs.json", mode: 0o644)
    let result = try await home.value(
      of: """
        local first = assert(await(mobilesync.reSync, "setDown"))
        switch(BOB)
        local has = await(smartstore.soupExists, "set")
        local fresh = await(mobilesync.getSyncStatus, "setDown").status
        assert(await(mobilesync.reSync, "setDown"))
        local cursor = assert(await(smartstore.querySoup, "set", smartstore.buildAllQuerySpec("Id", "ascending", 10)))
        local ids = {}
        for i, entry in ipairs(cursor.currentPageOrderedEntries) do ids[i] = entry.Id end
        return { first.status, has, fresh, ids }
        """)
    #expect(result == ["DONE", true, "NEW", ["bob1", "bob2", "bob3"]])
  }

  // MARK: The event

  @Test func switch_event_standsBetweenTheUsersAnswers() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        local details = {}
        tureen.on("userSwitched", function(detail) details[#details + 1] = detail end)
        accounts.switchToUser(BOB, hear "one")
        accounts.switchToUser(CLEO, hear "two")
        accounts.switchToUser(ANN, hear "three")
        for _ = 1, 60000 do
          if #order >= 6 then break end
          tureen.sleep(5)
        end
        return { order, details[1], details[2].to }
        """)
    #expect(
      result == [
        ["switched ann bob", "one", "switched bob cleo", "two", "switched cleo ann", "three"],
        ["from": AccountHome.ann, "to": AccountHome.bob], AccountHome.cleo,
      ])
  }

  @Test func switch_scriptEndsMeanwhile_returns() async throws {
    let home = try await AccountHome { request, _ in request.path.contains("never") ? .never : nil }
    let outcome = try await home.runner.run(
      """
      tureen.network.sendRequest({ path = "/never" }, print, function() end)
      tureen.accounts.switchToUser({ userId = "005B", orgId = "00D1" }, print, function() end)
      error("the end")
      """, on: home.host())
    guard case .failed = outcome else { return #expect(Bool(false), "\(outcome)") }
    home.one.stop()
    home.two.stop()
    await home.runner.server.stop()
  }
}
