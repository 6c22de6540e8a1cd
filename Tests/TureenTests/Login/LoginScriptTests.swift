import JSON
import LuaBridge
import SandboxOrg
import Support
import TestSupport
import Testing

@testable import Tureen

/// Tests sign-ins by scripts: `startLogin`, `finishLogin` and `cancelLogin` of `tureen.accounts`.
@Suite(.timeLimit(.minutes(60))) struct LoginScriptTests {
  private let runner: ScriptRunner
  private let person: ScriptPerson
  private let time = ManualTime()

  init() async throws {
    let port = HeldPort()
    runner = try await ScriptRunner(contacts: 1) { $0.redirectURIs.append(ScriptPerson.redirect(port)) }
    person = ScriptPerson(server: runner.server, port: port)
  }

  /// Runs a task that has the locals of ``ScriptPerson/lua``, and `pass(seconds)`.
  private func run(_ body: String, changing change: (inout HostSettings) -> Void = { _ in }) async throws -> JSONValue? {
    let host = runner.makeHost {
      $0.services["person"] = person.service
      $0.services["clock"] = { [time] _, arguments in
        try Blocking.run {
          await time.pass(Double(arguments["seconds"]?.integerValue ?? 0))
          return "OK"
        }
      }
      change(&$0)
    }
    return try await runner.value(
      of: body,
      before: person.lua + """

        local function pass(seconds)
          assert(await(function(success, failure) tureen.exec(success, failure, "clock", "pass", { seconds = seconds }) end))
        end
        """, on: host)
  }

  private var username: JSONValue { .string(runner.server.credentials().username) }

  // MARK: Signed in

  @Test func startLogin_pastedAddress_keepsTheSession() async throws {
    let result = try await run(
      """
      local login = assert(await(accounts.startLogin, options()))
      local none, missing = await(accounts.finishLogin, login.id)
      local url = person("signIn", login.url)
      local foreign, wrong = await(accounts.finishLogin, login.id, (url:gsub("state=.", "state=%%2B")))
      local account = assert(await(accounts.finishLogin, login.id, url))
      local again, gone = await(accounts.finishLogin, login.id, url)
      return { login.redirectUri, none == nil and code(missing), foreign == nil and code(wrong), account.org, account.username,
        account.isDefault, again == nil and code(gone) }
      """)
    #expect(
      result == [
        "http://localhost:1717/OauthRedirect", "bridge/invalidArguments", "bridge/invalidArguments", "prod", username, true,
        "host/noSuchLogin",
      ])
    #expect(FileSystem.exists(runner.home + "/orgs/prod/org.json"))
  }

  /// A script with an unknown org signs a person in and then reads data.
  @Test func startLogin_orgOfTheHostUnknown_itsDataAreReadAfterwards() async throws {
    let result = try await run(
      """
      local LIMITS = { path = "/services/data/v66.0/limits" }
      local nothing, unknown = await(tureen.network.sendRequest, LIMITS)
      local login = assert(await(accounts.startLogin, { clientId = "app", listen = true, redirectUri = URI }))
      local isMeant = login.url:find("https://login.salesforce.com/services/oauth2/authorize?", 1, true) == 1
      assert(await(accounts.cancelLogin, login.id))
      login = assert(await(accounts.startLogin, options { listen = true, redirectUri = URI }))
      local answer = person("signIn", login.url)
      local page = tureen.async(function() return person("follow", answer) end)
      local account = assert(await(accounts.finishLogin, login.id))
      local shown = assert(await(page))
      local me = assert(await(accounts.getCurrentUser))
      return { nothing == nil and code(unknown), isMeant, account.username == me.username, shown[1], shown[2],
        shown[3]:find("signed in as " .. account.username, 1, true) ~= nil,
        assert(await(tureen.network.sendRequest, LIMITS)).DailyApiRequests ~= nil }
      """
    ) { $0.org = "prod" }
    #expect(result == ["host/noSuchOrg", true, true, 303, 200, true, true])
    #expect(!person.isOpen)
  }

  /// Two calls wait for the same sign-in; the pasted URL may arrive before the browser's request.
  @Test func finishLogin_twoCalls_getTheSameAnswer() async throws {
    let result = try await run(
      """
      local login = assert(await(accounts.startLogin, options { listen = true, redirectUri = URI }))
      local waiting = tureen.async(function() return await(accounts.finishLogin, login.id) end)
      local account = assert(await(accounts.finishLogin, login.id, person("signIn", login.url)))
      local same = assert(await(waiting))
      return { same.userId == account.userId, same.instanceUrl == account.instanceUrl, person "port" }
      """)
    #expect(result == [true, true, "free"])
  }

  @Test func finishLogin_afterLogout_makesTheUserCurrentAgain() async throws {
    let result = try await run(
      """
      local function sign_in()
        local login = assert(await(accounts.startLogin, options()))
        return assert(await(accounts.finishLogin, login.id, person("signIn", login.url)))
      end
      sign_in()
      local first = assert(await(accounts.getCurrentUser))
      assert(await(tureen.oauth.logoutCurrentUser))
      local nobody = await(accounts.getCurrentUser)
      sign_in()
      local second = assert(await(accounts.getCurrentUser))
      return { nobody == tureen.null, first.userId == second.userId, first.authToken ~= second.authToken,
        assert(await(tureen.network.sendRequest, { path = "/services/data/v66.0/limits" })).DailyApiRequests ~= nil }
      """
    ) { $0.org = "prod" }
    #expect(result == [true, true, true, true])
  }

  // MARK: Not signed in

  @Test func startLogin_anotherOneOpen_isRefusedUntilItIsGivenUp() async throws {
    let result = try await run(
      """
      local first = assert(await(accounts.startLogin, options { listen = true, redirectUri = URI }))
      local open = person "port"
      local second, err = await(accounts.startLogin, options { listen = true, redirectUri = URI })
      assert(await(accounts.cancelLogin, first.id) == "OK")
      local closed = person "port"
      local none, gone = await(accounts.finishLogin, first.id)
      local third = assert(await(accounts.startLogin, options { listen = true, redirectUri = URI }))
      assert(await(accounts.cancelLogin, first.id) == "OK")
      local fourth, bare = await(accounts.finishLogin, third.id, "aPrxACodeAlone")
      return { open, second == nil and code(err), closed, none == nil and code(gone), first.id ~= third.id,
        fourth == nil and code(bare), person "port" }
      """)
    #expect(
      result == ["open", "host/alreadyInUse", "free", "host/noSuchLogin", true, "bridge/invalidArguments", "open"])
    #expect(!person.isOpen, "the port is free when the host is closed")
  }

  @Test func cancelLogin_whileACallWaits_endsIt() async throws {
    let result = try await run(
      """
      local login = assert(await(accounts.startLogin, options { listen = true, redirectUri = URI }))
      local waiting = tureen.async(function() return await(accounts.finishLogin, login.id) end)
      assert(await(accounts.cancelLogin, login.id))
      local none, err = await(waiting)
      local other = assert(await(accounts.startLogin, options { listen = true, redirectUri = URI }))
      return { none == nil and code(err), other.id ~= login.id }
      """)
    #expect(result == ["network/cancelled", true])
    #expect(!FileSystem.exists(runner.home + "/orgs/prod"))
  }

  @Test func finishLogin_timeIsOver_isToldWhetherACallWaitsOrNot() async throws {
    let result = try await run(
      """
      local login = assert(await(accounts.startLogin, options { listen = true, redirectUri = URI }))
      local waiting = tureen.async(function() return await(accounts.finishLogin, login.id) end)
      pass(300)
      local none, late = await(waiting)
      local second = assert(await(accounts.startLogin, options()))
      pass(300)
      local gone
      repeat none, gone = await(accounts.finishLogin, second.id, "code=x") until code(gone) ~= "bridge/invalidArguments"
      return { login.expiresAt, second.expiresAt - login.expiresAt, code(late), late.reason, code(gone), person "port" }
      """
    ) { $0.clock = time.environment }
    #expect(
      result == [1_772_442_300_000, 300_000, "network/notAuthenticated", "needsPerson", "host/noSuchLogin", "free"])
  }

  @Test func finishLogin_personDenies_keepsNothing() async throws {
    let result = try await run(
      """
      local login = assert(await(accounts.startLogin, options { listen = true, redirectUri = URI }))
      local state = login.url:match "[?&](state=[^&]+)"
      local page = tureen.async(function() return person("follow", URI .. "?error=access_denied&" .. state) end)
      local none, err = await(accounts.finishLogin, login.id)
      return { none == nil and code(err), err.reason, assert(await(page))[2] }
      """)
    #expect(result == ["network/notAuthenticated", "denied", 200])
    #expect(!FileSystem.exists(runner.home + "/orgs/prod"))
  }

  @Test func finishLogin_anotherUserOrOrg_isOtherOrgAndChangesNothing() async throws {
    let file = runner.home + "/orgs/prod/org.json"
    try FileSystem.makeDirectory(runner.home + "/orgs/prod")
    let known = #"{"name":"prod","loginUrl":"https://acme.my.salesforce.com","orgId":"00D000000000099EAA"}"#
    try FileSystem.write(Array(known.utf8), to: file)
    let result = try await run(
      """
      local function sign_in(more)
        local login = assert(await(accounts.startLogin, options(more)))
        local account, err = await(accounts.finishLogin, login.id, person("signIn", login.url))
        return account and account.org or code(err)
      end
      return { sign_in { org = "qa", user = "bob@acme.com" }, sign_in(), sign_in { newOrg = true } }
      """)
    #expect(result == ["host/otherOrg", "host/otherOrg", "prod"])
    #expect(!FileSystem.exists(runner.home + "/orgs/qa"))
    #expect(FileSystem.read(runner.home + "/orgs/prod.before-1/org.json").map { String(decoding: $0, as: UTF8.self) } == known)
    #expect(FileSystem.exists(file))
  }

  @Test func startLogin_wrongOptionsOrRestricted_isRefused() async throws {
    let body = """
      local codes = tureen.array()
      for _, more in ipairs { { prompt = "never" }, { org = "a/b" }, { loginUrl = "https://acme.lightning.force.com" },
        { clientid = "app" }, { redirectUri = "nowhere" } } do
        local login, err = await(accounts.startLogin, options(more))
        codes[#codes + 1] = login == nil and err.code
      end
      for _, name in ipairs { "finishLogin", "cancelLogin" } do
        local answer, err = await(accounts[name], "1")
        codes[#codes + 1] = answer or err.code
      end
      return codes
      """
    let wrong: JSONValue = "invalidArguments"
    #expect(try await run(body) == .array(Array(repeating: wrong, count: 5) + ["noSuchLogin", "OK"]))
  }

  @Test func startLogin_restricted_isRefused() async throws {
    let result = try await run(
      """
      local one, first = await(accounts.startLogin, options())
      local two, second = await(accounts.finishLogin, "1", "code=x")
      local three, third = await(accounts.cancelLogin, "1")
      return { one == nil and first.code, two == nil and second.code, three == nil and third.code }
      """
    ) { $0.isRestricted = true }
    #expect(result == ["restricted", "restricted", "restricted"])
  }
}
