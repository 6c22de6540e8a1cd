import JSON
import LuaBridge
import SmartStore
import Support
import TestSupport
import Testing

@testable import Tureen

/// Tests the accounts of a home: listing them, switching between them, and refusals.
@Suite(.timeLimit(.minutes(60))) struct HomeAccountTests {
  @Test func getUsers_home_currentFirstWithTokensOfTheCurrentOneAlone() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        local function shown(users)
          local list = {}
          for i, user in ipairs(users) do
            list[i] = { user.username, user.userId, user.orgId, user.authToken, user.refreshToken or "none" }
          end
          return list
        end
        local before = shown(assert(await(accounts.getUsers)))
        switch(CLEO)
        return { before, shown(assert(await(accounts.getUsers))), assert(await(accounts.getCurrentUser)).username }
        """, on: home.host { $0.allowsRefreshToken = true })
    #expect(
      result == [
        [
          ["ann", "005A", "00D1", "token-ann", "refresh-ann"], ["bob", "005B", "00D1", .null, "none"],
          ["cleo", "005C", "00D2", .null, "none"],
        ],
        [
          ["cleo", "005C", "00D2", "token-cleo", "refresh-cleo"], ["ann", "005A", "00D1", .null, "none"],
          ["bob", "005B", "00D1", .null, "none"],
        ], "cleo",
      ])
    #expect(home.one.requests.isEmpty && home.two.requests.isEmpty, "nothing is asked")
  }

  @Test func getUsers_sessionDamagedOrOfAFolderSetAside_isLeftOut() async throws {
    let home = try await AccountHome(), orgs = home.runner.home + "/orgs"
    try FileSystem.write(Array("{".utf8), to: orgs + "/one/bob/session.json")
    try FileSystem.makeDirectory(orgs + "/two.before-1/dan")
    try FileSystem.write(
      try #require(FileSystem.read(orgs + "/two/cleo/session.json")), to: orgs + "/two.before-1/dan/session.json")
    let result = try await home.value(
      of: """
        local names = {}
        for i, user in ipairs(assert(await(accounts.getUsers))) do names[i] = user.username end
        return names
        """)
    #expect(result == ["ann", "cleo"])
  }

  @Test func switch_currentUser_isAnsweredAndChangesNothing() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        assert(await(smartstore.registerSoup, "s", SPECS))
        assert(await(smartstore.upsertSoupEntries, "s", { { LastName = "a" }, { LastName = "b" } }))
        local cursor = assert(await(smartstore.querySoup, "s", smartstore.buildAllQuerySpec("LastName", "ascending", 1)))
        local reply = switch(ANN)
        return { reply, assert(await(smartstore.moveCursorToNextPage, cursor)).currentPageIndex, order, whoami() }
        """)
    #expect(result == ["OK", 1, [], "ann"])
  }

  @Test func switch_unknownUser_isNoSuchUserAndChangesNothing() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        local codes = {}
        for i, user in ipairs { { userId = "005X", orgId = "00D1" }, { userId = "005B", orgId = "00D2" },
          { userId = "005B", orgId = "../00D1" } } do
          local _, err = await(accounts.switchToUser, user)
          codes[i] = err.domain .. "/" .. err.code
        end
        return { codes, order, whoami() }
        """)
    #expect(result == [["host/noSuchUser", "host/noSuchUser", "host/noSuchUser"], [], "ann"])
  }

  @Test func switch_noneGiven_isUnsupportedAndNamesLogin() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        local list = {}
        for i, user in ipairs { {}, { userId = "005B" }, { orgId = "00D1" } } do
          local _, err = await(accounts.switchToUser, user)
          list[i] = err.domain .. "/" .. err.code .. " " .. tostring(err.message:find("tureen login", 1, true) ~= nil)
        end
        local _, err = await(accounts.switchToUser)
        list[4] = err.code
        return list
        """)
    #expect(result == ["host/unsupported true", "host/unsupported true", "host/unsupported true", "unsupported"])
  }

  @Test func switch_accountsIsOne_isUnsupportedAndShowsTheCurrentOneAlone() async throws {
    let home = try await AccountHome()
    let result = try await home.value(of: Self.attempt, on: home.host { $0.accounts = nil })
    #expect(result == [["ann"], ["token-ann"], "host/unsupported", "OK", "ann"])
  }

  @Test func switch_restricted_isRefusedWhateverTheSettingSays() async throws {
    let home = try await AccountHome()
    let result = try await home.value(of: Self.attempt, on: home.host { $0.isRestricted = true })
    #expect(result == [["ann"], [.null], "bridge/restricted", "OK", "ann"])
  }

  private static let attempt = """
    local names, tokens = {}, {}
    for i, user in ipairs(assert(await(accounts.getUsers))) do names[i], tokens[i] = user.username, user.authToken end
    local _, err = await(accounts.switchToUser, BOB)
    return { names, tokens, err.domain .. "/" .. err.code, switch(ANN), whoami() }
    """

  /// The sandbox's session is not stored, but switching back to its user works.
  @Test func switch_fromTheSandboxAndBack_worksAsItsUserAgain() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        local VERSIONS = { path = "/services/data/v66.0/sobjects" }
        local me = assert(await(tureen.oauth.authenticate))
        assert(await(smartstore.registerSoup, "s", SPECS))
        switch(BOB)
        local names, mine = {}, nil
        for i, user in ipairs(assert(await(accounts.getUsers))) do
          names[i] = user.username
          if user.userId == me.userId then mine = user end
        end
        switch(mine)
        local count = #assert(await(accounts.getUsers))
        return { #names, names[1], mine.authToken == tureen.null, count, await(smartstore.soupExists, "s"),
          assert(await(network.sendRequest, VERSIONS)).sobjects ~= nil }
        """, on: home.host { $0.org = "sandbox" })
    #expect(result == [4, "bob", true, 4, true, true])
  }

  @Test func switch_pausedMeanwhile_resumeRunsNothingOfTheOldUser() async throws {
    let home = try await AccountHome { request, clock in
      if request.path.hasSuffix("page-2"), AccountHome.user(of: request) == "ann" { clock.waitForSwitch() }
      return nil
    }
    let box = HostBox()
    let host = home.host { settings in
      settings.services["host"] = { action, _ in
        if action == "pause" { box.host?.pauseLater() } else { box.host?.resume() }
        return "OK"
      }
    }
    box.host = host
    let result = try await home.value(
      of: """
        local function tell(action) return await(function(success, failure) tureen.exec(success, failure, "host", action) end) end
        assert(await(smartstore.registerSoup, "c", SPECS))
        mobilesync.syncDown(CONTACTS, "c", OVERWRITE, "down")
        tureen.waitEvent("sync", function(detail) return detail.pages == 1 end)
        tell "pause"
        switch(BOB)
        tell "resume"
        switch(ANN)
        return { await(mobilesync.getSyncStatus, "down").status, whoami() }
        """, on: host)
    #expect(result == ["STOPPED", "ann"])
    #expect(!home.one.requests.contains { $0.path.hasSuffix("page-3") })
  }

  private final class HostBox: @unchecked Sendable { weak var host: Host? }  // set before the script runs

  // MARK: Logging out

  @Test func logout_leavesNobodyCurrentAndKeepsStores() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        assert(await(smartstore.registerSoup, "s", SPECS))
        local out = await(tureen.oauth.logoutCurrentUser)
        local _, err = await(network.sendRequest, LIMITS)
        local names = {}
        for i, user in ipairs(assert(await(accounts.getUsers))) do names[i] = user.username end
        local nobody = await(accounts.getCurrentUser) == tureen.null
        local _, gone = await(accounts.switchToUser, ANN)
        switch(BOB)
        return { out, err.code, names, nobody, gone.code, whoami(), order }
        """)
    #expect(
      result == ["OK", "notAuthenticated", ["bob", "cleo"], true, "noSuchUser", "bob", ["switched - bob"]])
    #expect(!FileSystem.exists(home.runner.home + "/orgs/one/ann/session.json"))
    #expect(FileSystem.exists(home.runner.home + "/orgs/one/ann/stores/defaultStore/store.sqlite"))
    #expect(home.one.requests.filter { $0.path == "/services/oauth2/revoke" }.map(\.text) == ["token=refresh-ann"])
  }

  @Test func logout_otherAccount_endsItsSessionAlone() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        local unknown = await(accounts.logout, { userId = "005X", orgId = "00D1" })
        local out = await(accounts.logout, CLEO)
        local names = {}
        for i, user in ipairs(assert(await(accounts.getUsers))) do names[i] = user.username end
        return { unknown, out, names, whoami() }
        """)
    #expect(result == ["OK", "OK", ["ann", "bob"], "ann"])
    #expect(home.two.requests.map(\.path) == ["/services/oauth2/revoke"])
    #expect(!FileSystem.exists(home.runner.home + "/orgs/two/cleo/session.json"))
  }

  // MARK: Global stores

  @Test func globalSync_anotherOrg_isOtherOrgAndChangesNothing() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        local ALL = smartstore.buildAllQuerySpec("Id", "ascending", 10)
        local function ids()
          local list = tureen.array()
          local page = assert(await(smartstore.querySoup, GLOBAL, "c", ALL))
          for i, entry in ipairs(page.currentPageOrderedEntries) do list[i] = entry.Id end
          return list
        end
        assert(await(smartstore.registerSoup, GLOBAL, "c", SPECS))
        local first = assert(await(mobilesync.syncDown, GLOBAL, CONTACTS, "c", OVERWRITE, "down"))
        switch(CLEO)
        local _, err = await(mobilesync.reSync, GLOBAL, "down")
        local _, ghosts = await(mobilesync.cleanResyncGhosts, GLOBAL, "down")
        local kept = ids()
        local own = assert(await(mobilesync.syncDown, GLOBAL, CONTACTS, "c", OVERWRITE, "hers"))
        switch(BOB)
        local same = assert(await(mobilesync.reSync, GLOBAL, "down"))
        return { first.orgId, err.domain .. "/" .. err.code, err.sync.status, ghosts.code, kept, own.orgId, same.status, same.orgId }
        """)
    #expect(
      result == [
        "00D1", "sync/otherOrg", "FAILED", "otherOrg", ["ann1", "ann2", "ann3"], "00D2", "DONE", "00D1",
      ])
    #expect(home.two.requests.count == 3, "the refused sync has sent nothing")
  }

  @Test func userSync_remembersNoOrg() async throws {
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        assert(await(smartstore.registerSoup, "c", SPECS))
        return assert(await(mobilesync.syncDown, CONTACTS, "c", OVERWRITE)).orgId == nil
        """)
    #expect(result == true)
  }

  // MARK: The limits of the API

  /// Ann's org reports the API usage that the path or a count gives.
  private static func limited(_ request: RecordedRequest, _ clock: SwitchClock) -> ScriptedAnswer? {
    var answer = AccountHome.answer(request)
    let used = request.path.contains("many") || request.path.hasSuffix("page-2") ? 4600 : 100
    answer.headers.append(("Sforce-Limit-Info", "api-usage=\(used)/5000; per-app-api-usage=17/250(appName=x)"))
    return answer
  }

  @Test func getUsage_afterAnAnswer_saysWhatItSaid() async throws {
    let home = try await AccountHome(Self.limited)
    let result = try await home.value(
      of: """
        local none = await(accounts.getUsage) == tureen.null
        whoami()
        local usage = assert(await(accounts.getUsage))
        return { none, usage.used, usage.max, usage.perApp, usage.seenAt > 1700000000000 }
        """, on: home.host { $0.isRestricted = true })
    #expect(result == [true, 100, 5000, ["used": 17, "max": 250, "appName": "x"], true])
  }

  @Test func apiReserve_reachedByAnotherProcess_newSyncFailsAndSingleCallsGoOn() async throws {
    let home = try await AccountHome()
    let now = Int64(saturating: SystemClock.secondsSince1970() * 1000)
    try FileSystem.write(
      Array(#"{"used":4501,"max":5000,"seenAt":\#(now)}"#.utf8), to: home.runner.home + "/orgs/one/usage.json")
    let result = try await home.value(
      of: """
        assert(await(smartstore.registerSoup, "c", SPECS))
        local _, err = await(mobilesync.syncDown, CONTACTS, "c", OVERWRITE, "down")
        local has = await(mobilesync.hasSyncWithName, "down")
        switch(CLEO)
        assert(await(smartstore.registerSoup, "c", SPECS))
        local other = assert(await(mobilesync.syncDown, CONTACTS, "c", OVERWRITE)).status
        switch(ANN)
        return { err.domain .. "/" .. err.code, err["local"], err.retryable, has, whoami(), other }
        """, on: home.host { $0.apiReserve = .percent(10) })
    #expect(result == ["network/requestLimitExceeded", true, true, false, "ann", "DONE"])
  }

  @Test func apiReserve_reachedInASync_stopsItAtItsPageWithAWarning() async throws {
    let home = try await AccountHome(Self.limited)
    let result = try await home.value(
      of: """
        assert(await(smartstore.registerSoup, "c", SPECS))
        local _, err = await(mobilesync.syncDown, CONTACTS, "c", OVERWRITE, "down")
        local state = await(mobilesync.getSyncStatus, "down")
        local _, again = await(mobilesync.reSync, "down")
        return { err.code, state.status, state.pages, state.warnings[1]:find("4600 of its 5000", 1, true) ~= nil, again.code,
          whoami() }
        """, on: home.host { $0.apiReserve = .calls(500) })
    #expect(result == ["stopped", "STOPPED", 1, true, "requestLimitExceeded", "ann"])
  }

  // MARK: Sites

  @Test func siteUser_dataGoUnderTheSiteAndCredentialsSayIt() async throws {
    let home = try await AccountHome()
    let path = home.runner.home + "/orgs/one/ann/session.json"
    var session = try JSONValue(parsing: try #require(FileSystem.read(path))).objectValue ?? [:]
    session["communityURL"] = .string(home.one.url + "/portal")
    session["communityId"] = "0DB000000000001"
    try FileSystem.write(JSONValue.object(session).serialized(), to: path)
    let result = try await home.value(
      of: """
        assert(await(smartstore.registerSoup, "c", SPECS))
        local done = assert(await(mobilesync.syncDown, CONTACTS, "c", OVERWRITE))
        whoami()
        local known = assert(await(tureen.oauth.getAuthCredentials))
        return { done.status, known.communityId, known.communityUrl, known.instanceUrl }
        """)
    #expect(
      result == ["DONE", "0DB000000000001", .string(home.one.url + "/portal"), .string(home.one.url)])
    #expect(!home.one.requests.isEmpty && home.one.requests.allSatisfy { $0.path.hasPrefix("/portal/services/data/") })
  }
}
