import JSON
import RestClient
import SandboxOrg
import TestSupport
import Testing
import Tureen

@testable import Salesforce

/// Tests `com.salesforce.oauth`, `com.salesforce.sfaccountmanager` and the features of `sdkinfo` from scripts.
@Suite struct AccountTests {
  /// Runs `body` as a task and records its result under `result`.
  private func run(_ body: String, changing change: (inout HostSettings) -> Void = { _ in }) async throws -> JSONValue? {
    let runner = try await ScriptRunner(contacts: 1)
    return try await runner.value(
      of: body,
      before: """
        local oauth, accounts, sdkinfo = tureen.oauth, tureen.sfaccountmanager, tureen.sdkinfo
        local await, network = tureen.await, tureen.network
        local LIMITS = { path = "/services/data/v66.0/limits" }
        """, on: runner.makeHost(changing: change))
  }

  @Test func getAuthCredentials_beforeAndAfterSignIn_failsThenGivesThem() async throws {
    let result = try await run(
      """
      local none, err = await(oauth.getAuthCredentials)
      local made = assert(await(oauth.authenticate))
      local known = assert(await(oauth.getAuthCredentials))
      return { none == nil, err.code, err.message, known.accessToken == made.accessToken, #known.userId > 0, #known.orgId > 0,
        known.instanceUrl ~= "", known.userAgent:find("^tureen/") ~= nil, known.refreshToken == nil,
        known.communityId == tureen.null }
      """)
    #expect(result == [true, "notAuthenticated", "Not authenticated", true, true, true, true, true, true, true])
  }

  @Test func getAuthCredentials_hostAllowsRefreshToken_hasTheKey() async throws {
    let result = try await run("return assert(await(oauth.authenticate)).refreshToken ~= nil") { $0.allowsRefreshToken = true }
    #expect(result == true)
  }

  @Test func logout_twiceThenAuthenticate_requestsFailUntilThen() async throws {
    let result = try await run(
      """
      assert(await(network.sendRequest, LIMITS))
      local first, second = await(oauth.logoutCurrentUser), await(oauth.logout)
      local _, err = await(network.sendRequest, LIMITS)
      local _, err2 = await(oauth.getAuthCredentials)
      assert(await(oauth.authenticate))
      assert(await(network.sendRequest, LIMITS))
      return { first, second, err.code, err2.code, await(oauth.getAppHomeUrl) }
      """)
    #expect(result == ["OK", "OK", "notAuthenticated", "notAuthenticated", ""])
  }

  @Test func accounts_oneIsSignedIn_isListedAndLoggedOut() async throws {
    let result = try await run(
      """
      local before, nobody = await(accounts.getUsers), await(accounts.getCurrentUser)
      assert(await(oauth.authenticate))
      local user = assert(await(accounts.getUsers))[1]
      local other = { userId = "005", orgId = "00D" }
      local switched, _, err = await(accounts.switchToUser, user), nil, select(2, await(accounts.switchToUser, other))
      local ignored = await(accounts.logout, other)
      local still = assert(await(accounts.getCurrentUser)).userId == user.userId
      local out = await(accounts.logout, user)
      return { #before, nobody == tureen.null, user.username ~= "", switched, err.code, ignored, still, out,
        await(accounts.getCurrentUser) == tureen.null }
      """)
    #expect(result == [0, true, true, "OK", "unsupported", "OK", true, "OK", true])
  }

  @Test func registerAppFeature_isInTheUserAgentUntilUnregistered() async throws {
    let result = try await run(
      """
      assert(await(oauth.authenticate))
      local function agent() return assert(await(oauth.getAuthCredentials)).userAgent:match(" ftr_(.*)") or "" end
      local first = { await(sdkinfo.registerAppFeature, "SJ"), await(sdkinfo.registerAppFeature, "AB") }
      first[3] = agent()
      first[4] = await(sdkinfo.unregisterAppFeature, "SJ")
      first[5] = agent()
      first[6] = select(2, await(sdkinfo.registerAppFeature, "a b\\r\\nX: y")).code
      return first
      """)
    #expect(result == ["OK", "OK", "AB.SJ", "OK", "AB", "invalidArguments"])
  }

  @Test func registerAppFeature_isInTheUserAgentOfSyncRequests() async throws {
    let org = try ScriptedServer(handler: { request in
      guard request.path == "/services/oauth2/token" else { return .json(#"{"totalSize":0,"done":true,"records":[]}"#) }
      let host = request.header("Host") ?? ""
      return .json(#"{"access_token":"t","instance_url":"http://\#(host)","id":"http://\#(host)/id/00D/005"}"#)
    })
    let runner = try await ScriptRunner(contacts: 1)
    let host = runner.makeHost { settings in
      settings.embeddedSandbox = { _ in .clientCredentials(loginURL: org.url, clientId: "a", clientSecret: "b") }
    }
    let result = try await runner.value(
      of: """
        assert(await(tureen.sdkinfo.registerAppFeature, "XY"))
        assert(await(smartstore.registerSoup, "c", SPECS))
        return assert(await(mobilesync.syncDown, CONTACTS, "c", OVERWRITE)).status
        """, before: "local await = tureen.await", on: host)
    #expect(result == "DONE")
    let agents = org.requests.map { $0.header("User-Agent") ?? "" }
    #expect(!agents.isEmpty && agents.allSatisfy { $0.hasPrefix("tureen/") && $0.hasSuffix(" ftr_XY") }, "\(agents)")
  }

  @Test func logout_signedIn_revokesTheTokenAtTheOrg() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    let outcome = try await runner.run(
      """
      tureen.async(function()
        assert(tureen.await(tureen.oauth.authenticate))
        assert(tureen.await(tureen.oauth.logoutCurrentUser))
      end)
      assert(tureen.run())
      """)
    #expect(outcome == .done)
    let revoked = runner.server.requests().filter { $0.path == "/services/oauth2/revoke" }
    #expect(revoked.map(\.status) == [200])
    await runner.server.stop()
  }

  @Test func authenticate_wrongPassword_answersTheFailureOnce() async throws {
    let result = try await run(
      """
      local count, code = 0, nil
      local function count_up(err)
        count = count + 1
        code = err.code
      end
      oauth.authenticate(count_up, count_up)
      while count == 0 do tureen.sleep(5) end
      tureen.sleep(20)
      return { count, code }
      """
    ) { settings in
      let make = settings.embeddedSandbox
      settings.embeddedSandbox = { home in
        guard case .password(let url, let id, let secret, let name, _)? = try make?(home) else { throw Mistake() }
        return .password(loginURL: url, clientId: id, clientSecret: secret, username: name, password: "wrong")
      }
    }
    #expect(result == [1, "notAuthenticated"])
  }

  private struct Mistake: Error {}
}
