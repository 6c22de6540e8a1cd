import JSON
import Support
import TestSupport
import Testing

@testable import Salesforce
@testable import Tureen

/// Tests `accounts.getOrgs`, `accounts.getIdentity`, the setting `user`, and `--sandbox-only`.
@Suite(.timeLimit(.minutes(60))) struct AccountActionTests {
  /// Answers requests for the identity of a token, and whether the org is a sandbox.
  private static func identified(_ request: RecordedRequest, isSandbox: JSONValue = .null) -> ScriptedAnswer? {
    let user = AccountHome.user(of: request)
    if request.path.hasPrefix("/id/") {
      return .json(
        #"{"user_id":"005A","organization_id":"00D1","username":"\#(user)","display_name":"Ann Other","email":null}"#)
    }
    guard request.target.contains("IsSandbox") else { return nil }
    return .json(#"{"totalSize":1,"done":true,"records":[{"IsSandbox":\#(isSandbox.text)}]}"#)
  }

  private static let orgs = """
    local list, err = await(accounts.getOrgs)
    if not list then return err.domain .. "/" .. err.code end
    local shown = tureen.array()
    for i, org in ipairs(list) do shown[i] = { org.name, org.username, org.state, org.isCurrent, org.isSandbox } end
    return shown
    """

  @Test func getOrgs_home_listsEachUserAndAsksNoOrg() async throws {
    let home = try await AccountHome()
    try home.keep(["userId": "005D", "orgId": "00D1", "username": "dan"], org: "one", at: home.one.url)
    try FileSystem.removeTree(home.runner.home + "/orgs/one/dan/session.json")
    try FileSystem.write(
      Array(#"{"name":"Two","orgId":"00D2","isSandbox":true,"user":"cleo"}"#.utf8), to: home.runner.home + "/orgs/two/org.json")
    let result = try await home.value(of: Self.orgs)
    #expect(
      result == [
        ["one", "ann", "signed in", false, .null], ["one", "bob", "signed in", false, .null],
        ["one", "dan", "not asked", false, .null], ["Two", "cleo", "signed in", true, true],
      ])
    #expect(home.one.requests.isEmpty && home.two.requests.isEmpty)
  }

  @Test func getOrgs_accountsIsOne_showsTheCurrentOneAlone() async throws {
    let home = try await AccountHome()
    let result = try await home.value(of: Self.orgs, on: home.host { $0.accounts = nil })
    #expect(result == [["one", "ann", "signed in", false, .null]])
  }

  @Test func getOrgs_restricted_isRefusedAndGetIdentityIsNot() async throws {
    let home = try await AccountHome { request, _ in Self.identified(request) }
    let result = try await home.value(
      of: """
        local _, err = await(accounts.getOrgs)
        return { err.domain .. "/" .. err.code, assert(await(accounts.getIdentity)) }
        """, on: home.host { $0.isRestricted = true })
    let ann: JSONValue = ["userId": "005A", "orgId": "00D1", "username": "ann", "displayName": "Ann Other", "email": .null]
    #expect(result == ["bridge/restricted", ann])
    #expect(home.one.requests.map(\.path) == ["/id/00D1/005A"])
  }

  @Test func user_setting_choosesTheUserOfTheOrg() async throws {
    for name in ["bob", "BOB"] {
      let home = try await AccountHome()
      #expect(try await home.value(of: "return whoami()", on: home.host { $0.user = name }) == "bob")
    }
    let home = try await AccountHome()
    let result = try await home.value(
      of: """
        local _, err = await(smartstore.getAllStores)
        return { err.domain .. "/" .. err.code, err.message }
        """, on: home.host { $0.user = "eve" })
    #expect(result == ["host/noSuchUser", "'one' has no user 'eve'; known: ann, bob"])
  }

  @Test func user_ofConfigure_goesBeforeTheCommandLine() async throws {
    let home = try await AccountHome(), host = home.host { $0.user = "ann" }
    try host.configure(["user": "bob"])
    #expect(try await home.value(of: "return whoami()", on: host) == "bob")
  }

  // MARK: Sandboxes only

  private static let ask = """
    local answer, err = await(network.sendRequest, LIMITS)
    return answer and answer.user or err.domain .. "/" .. err.code .. (err.message:find("--sandbox-only", 1, true) and " named" or "")
    """

  @Test(
    arguments: [
      (#"{"name":"one","user":"ann","isSandbox":true}"#, true, "ann", 0), (#"{"name":"one","user":"ann"}"#, true, "ann", 1),
      (#"{"name":"one","user":"ann"}"#, false, "host/otherOrg named", 1),
      (#"{"name":"one","user":"ann"}"#, nil, "host/otherOrg named", 1),
      (#"{"name":"one","user":"ann","isSandbox":false}"#, true, "host/otherOrg named", 0),
    ] as [(String, Bool?, String, Int)])
  func sandboxOnly_asksOnceAndLetsNothingElseThrough(file: String, isSandbox: Bool?, expected: String, asked: Int) async throws {
    let home = try await AccountHome { request, _ in
      Self.identified(request, isSandbox: isSandbox.map { .bool($0) } ?? .null)
    }
    let path = home.runner.home + "/orgs/one/org.json"
    try FileSystem.write(Array(file.utf8), to: path)
    #expect(try await home.value(of: Self.ask, on: home.host { $0.isSandboxOnly = true }) == .string(expected))
    let questions = home.one.requests.filter { $0.target.contains("IsSandbox") }.count
    #expect(questions == asked && home.one.requests.count == questions + (expected == "ann" ? 1 : 0))
    let kept = try JSONValue(parsing: try #require(FileSystem.read(path)))["isSandbox"]
    #expect(kept == (asked == 0 ? kept : isSandbox.map { .bool($0) }), "it is asked once: \(kept as Any)")
  }

  // MARK: Another org with the same name

  /// The org's file contains its id, which is compared even if there is no stored session.
  @Test func signIn_ofAnotherOrgThanTheFile_isOtherOrgAndKeepsNothing() async throws {
    let home = try await AccountHome { request, _ in
      guard request.path == "/services/oauth2/token" else { return nil }
      let url = "http://" + (request.header("Host") ?? "")
      return .json(
        #"{"access_token":"token-ann","instance_url":"\#(url)","id":"\#(url)/id/00D9/005A","token_type":"Bearer"}"#)
    }
    let folder = home.runner.home + "/orgs/one"
    try FileSystem.write(Array(#"{"name":"one","orgId":"00D1","user":"ann"}"#.utf8), to: folder + "/org.json")
    try FileSystem.removeTree(folder + "/ann/session.json")
    let result = try await home.value(
      of: """
        local codes = {}
        for i = 1, 2 do
          local _, err = await(network.sendRequest, LIMITS)
          codes[i] = err.domain .. "/" .. err.code
        end
        assert(await(smartstore.registerSoup, "c", SPECS))
        local _, err = await(mobilesync.syncDown, CONTACTS, "c", OVERWRITE)
        codes[3] = err.domain .. "/" .. err.code
        return { codes, err.message:find("tureen login --new-org", 1, true) ~= nil }
        """)
    #expect(result == [["host/otherOrg", "host/otherOrg", "host/otherOrg"], true])
    #expect(home.one.requests.map(\.path) == ["/services/oauth2/token"], "no data were asked for")
    #expect(!FileSystem.exists(folder + "/ann/session.json"))
  }

  @Test func sync_inAnOrgThatCannotBeOpened_endsWithTheHostsOwnError() async throws {
    let home = try await AccountHome()
    try FileSystem.write(
      Array(#"{"name":"one","user":"ann","isSandbox":false}"#.utf8), to: home.runner.home + "/orgs/one/org.json")
    let result = try await home.value(
      of: """
        assert(await(smartstore.registerSoup, "c", SPECS))
        local _, err = await(mobilesync.syncDown, CONTACTS, "c", OVERWRITE)
        return { err.domain .. "/" .. err.code, err.retryable, err.sync.status }
        """, on: home.host { $0.isSandboxOnly = true })
    #expect(result == ["host/otherOrg", false, "FAILED"])
  }
}
