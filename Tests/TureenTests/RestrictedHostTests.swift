import Glibc
import JSON
import LuaBridge
import TestSupport
import Testing

@testable import Salesforce
@testable import Tureen

/// Tests what restricted scripts can reach through the host.
@Suite struct RestrictedHostTests {
  @Test func restrictedScript_findsNoTokenAndSignsNobodyOut() async throws {
    let runner = try await ScriptRunner()
    let host = runner.makeHost { $0.isRestricted = true }
    let result = try await runner.value(
      of: """
        local oauth, accounts = tureen.oauth, tureen.sfaccountmanager
        assert(await(tureen.network.sendRequest, "/services/data", "/v66.0/sobjects"))
        local credentials = assert(await(oauth.getAuthCredentials))
        local again = assert(await(oauth.authenticate))
        local users = assert(await(accounts.getUsers))
        local user = assert(await(accounts.getCurrentUser))
        local _, out = await(oauth.logoutCurrentUser)
        local _, out2 = await(accounts.logout, { userId = user.userId, orgId = user.orgId })
        return { credentials.accessToken, again.accessToken, users[1].authToken, user.authToken, credentials.refreshToken == nil,
          out.code, out2.code, credentials.userId == user.userId }
        """, before: "local await = tureen.await", on: host)
    #expect(result == [.null, .null, .null, .null, true, "restricted", "restricted", true])
  }

  @Test func restrictedScript_hearsOfARenewedSessionWithoutItsToken() async throws {
    let runner = try await ScriptRunner()
    let host = runner.makeHost { $0.isRestricted = true }
    let result = try await runner.value(
      of: """
        local heard
        tureen.on("salesforceSessionRefresh", function(detail) heard = detail end)
        assert(await(tureen.oauth.authenticate))
        assert(await(tureen.oauth.authenticate))
        return { heard.accessToken == tureen.null, heard.userId ~= nil }
        """, before: "local await = tureen.await", on: host)
    #expect(result == [true, true])
  }

  @Test func restrictedScript_reachesNoOtherHost() async throws {
    let other = try ScriptedServer(handler: { _ in .json("{}") })
    let runner = try await ScriptRunner()
    let host = runner.makeHost { $0.isRestricted = true }
    let result = try await runner.value(
      of: """
        local codes = {}
        local others = { "\(other.url)/x", "https://192.0.2.1/x", "http://localhost:\(other.port)/x", "@127.0.0.1:\(other.port)/" }
        for _, path in ipairs(others) do
          for _, open in ipairs { true, false } do
            local _, err = await(tureen.network.sendRequest, { path = path, doesNotRequireAuthentication = open })
            codes[#codes + 1] = err.code
          end
        end
        return codes
        """, before: "local await = tureen.await", on: host)
    #expect(result == .array(Array(repeating: "restricted", count: 6) + ["invalidURL", "invalidURL"]))
    #expect(other.requests.isEmpty)
  }

  @Test(arguments: HostSettings.keys)
  func restrictedScript_bringsNoSettings(key: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(#"{"appName": "x", "\#(key)": "/elsewhere"}"#, to: "bootconfig.json", mode: 0o644)
    var settings = HostSettings()
    settings.configDirectory = folder.path
    settings.home = folder.path + "/home"
    settings.isRestricted = true
    let error = #expect(throws: HostError.self) { try Host(settings: settings).prepare() }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains("'\(key)' is not available to a restricted script (--restricted)") == true, "\(error as Any)")
  }
}
