import JSON
import LuaBridge
import SandboxOrg
import Testing

@testable import Tureen

/// Tests the events that a host sends on its own.
@Suite struct EventTests {
  /// Runs `body` as a task and returns its result; `heard` lists the events in order.
  private func run(_ runner: ScriptRunner, on host: Host? = nil, _ body: String) async throws -> JSONValue? {
    try await runner.value(
      of: body,
      before: """
        local await, network = tureen.await, tureen.network
        local LIMITS = { path = "/services/data/v66.0/limits" }
        local POST = { path = "/services/data/v66.0/sobjects/Contact", method = "POST", queryParams = { LastName = "Ito" } }
        local function call(service, action, success, failure) tureen.exec(success, failure, service, action) end
        local heard, details = tureen.array(), {}
        for _, name in ipairs { "salesforceSessionRefresh", "online", "offline", "pause", "resume" } do
          tureen.on(name, function(detail)
            heard[#heard + 1] = name
            details[name] = detail
          end)
        end
        """, on: host)
  }

  @Test func salesforceSessionRefresh_expiredToken_comesBeforeTheAnswerWithNewCredentials() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    let host = runner.makeHost { settings in
      settings.services["org"] = { [server = runner.server] _, _ in
        try server.expireSessions()
        return "OK"
      }
    }
    let result = try await run(
      runner, on: host,
      """
      assert(await(network.sendRequest, LIMITS))
      local first = assert(await(tureen.oauth.getAuthCredentials))
      local before = #heard
      assert(await(call, "org", "expire"))
      assert(await(network.sendRequest, LIMITS))
      local told, known = details.salesforceSessionRefresh, assert(await(tureen.oauth.getAuthCredentials))
      return { before, #heard, heard[1], told.accessToken == known.accessToken, told.accessToken ~= first.accessToken,
        told.instanceUrl == known.instanceUrl, told.userAgent:find("^tureen/") ~= nil, told.refreshToken == nil }
      """)
    #expect(result == [0, 1, "salesforceSessionRefresh", true, true, true, true, true])
  }

  @Test func salesforceSessionRefresh_signInAfterLogout_isNone() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    let result = try await run(
      runner,
      """
      assert(await(tureen.oauth.authenticate))
      assert(await(tureen.oauth.logoutCurrentUser))
      assert(await(tureen.oauth.authenticate))
      assert(await(network.sendRequest, LIMITS))
      return heard
      """)
    #expect(result == [])
  }

  @Test func offlineAndOnline_answersLostAndBack_areToldOnceEach() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    try runner.server.faults.add(.dropBeforeResponse(), when: .first(3), path: "/services/data/**", method: "POST")
    let result = try await run(
      runner,
      """
      assert(await(network.sendRequest, LIMITS))
      local codes = tureen.array()
      for i = 1, 3 do
        local _, err = await(network.sendRequest, POST)
        codes[i] = err.code
      end
      assert(await(network.sendRequest, POST))
      assert(await(network.sendRequest, LIMITS))
      return { codes, heard }
      """)
    #expect(result == [["noResponse", "noResponse", "noResponse"], ["offline", "online"]])
  }

  @Test func report_byTheHost_isToldWhenItIsAChange() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    let hosts = Box()
    let host = runner.makeHost { settings in
      settings.services["host"] = { action, _ in
        hosts.host?.report(isOnline: action == "online")
        return "OK"
      }
    }
    hosts.host = host
    let result = try await run(
      runner, on: host,
      """
      for _, what in ipairs { "online", "offline", "offline", "online" } do await(call, "host", what) end
      return heard
      """)
    #expect(result == ["offline", "online"])
  }

  @Test func pauseAndResume_syncRuns_isStoppedAndRunsAgain() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    let hosts = Box()
    let host = runner.makeHost { settings in
      settings.services["host"] = { action, _ in
        if action == "pause" { return .bool(hosts.host?.pause(stoppingSyncs: true, timeoutMs: 900_000) ?? false) }
        hosts.host?.resume()
        return "OK"
      }
    }
    hosts.host = host
    let result = try await run(
      runner, on: host,
      """
      local began, starts = tureen.array(), 0
      tureen.mobilesync.registerTarget("waiting", {
        startFetch = function()
          starts = starts + 1
          if starts == 1 then
            tureen.exec(function(wasHeard) began[#began + 1] = wasHeard end, nil, "host", "pause")
            tureen.waitEvent("go")
          end
          return { { Id = "a", LastModifiedDate = "2024-01-01T00:00:00.000+0000" } }
        end,
      })
      assert(await(smartstore.registerSoup, "c", SPECS))
      local _, stopped = await(mobilesync.syncDown, { type = "custom", luaImpl = "waiting" }, "c", OVERWRITE, "down")
      local _, refused = await(mobilesync.syncDown, { type = "custom", luaImpl = "waiting" }, "c", OVERWRITE, "other")
      tureen.exec(nil, nil, "host", "resume")
      local done = tureen.waitEvent("sync", function(detail) return detail.name == "down" and detail.status == "DONE" end, 900000)
      if #heard < 2 then tureen.waitEvent("resume", nil, 900000) end
      return { began, stopped.code, refused.code, done.totalSize, done.storeName, heard, starts }
      """)
    #expect(
      result == [[true], "stopped", "managerStopped", 1, "defaultStore", ["pause", "resume"], 2])
  }

  @Test func resume_withoutAPause_isSilent() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    let hosts = Box()
    let host = runner.makeHost { settings in
      settings.services["host"] = { _, _ in
        hosts.host?.resume()
        return "OK"
      }
    }
    hosts.host = host
    #expect(host.pause(), "nobody is there to listen yet")
    let result = try await run(
      runner, on: host,
      """
      await(call, "host", "resume")
      tureen.sleep(0)
      return heard
      """)
    #expect(result == [])
  }

  @Test func connectivity_lostAnswersInARow_isOfflineUntilOneComes() {
    var state = Connectivity()
    #expect(state.note(hasAnswer: false, isCutOff: true) == nil)
    #expect(state.note(hasAnswer: true, isCutOff: false) == nil)
    #expect(state.note(hasAnswer: false, isCutOff: true) == nil)
    #expect(state.note(hasAnswer: false, isCutOff: false) == nil, "cancelled requests say nothing")
    #expect(state.note(hasAnswer: false, isCutOff: true) == false)
    #expect(state.note(hasAnswer: false, isCutOff: true) == nil)
    #expect(state.note(hasAnswer: true, isCutOff: false) == true)
    #expect(state.set(true) == nil)
    #expect(state.set(false) == false)
  }

  /// A reference to the host for its own services.
  private final class Box: @unchecked Sendable {  // set before the script runs
    weak var host: Host?
  }
}
