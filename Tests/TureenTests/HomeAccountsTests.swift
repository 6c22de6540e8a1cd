import JSON
import RestClient
import SandboxOrg
import SmartStore
import Support
import TestSupport
import Testing

@testable import Salesforce
@testable import Tureen

/// Tests the accounts of a home for `tureen orgs`, `logout` and `whoami`.
@Suite struct HomeAccountsTests {
  let folder: TemporaryFolder
  let directory: OrgDirectory

  init() throws {
    folder = try TemporaryFolder()
    directory = OrgDirectory(home: folder.path + "/home")
  }

  private func accounts(org: String? = nil) throws -> HomeAccounts {
    var settings = HostSettings()
    (settings.home, settings.org) = (directory.home, org)
    return try HomeAccounts(settings: settings)
  }

  /// Returns a session of the sandbox org's user, with a refresh token that the org accepts.
  private func session(
    _ server: SandboxServer, _ username: String = "ann@acme.com", user: String? = nil
  ) async throws -> Session {
    let access = server.credentials()
    let client = SalesforceClient(
      credentials: .refreshToken(
        loginURL: access.loginURL, clientId: access.clientId, clientSecret: access.clientSecret,
        refreshToken: access.refreshToken))
    var session = try await client.session()
    await client.shutdown()
    session.username = username
    session.flow = "browser"
    session.clientId = access.clientId
    if let user { session.userId = user }
    return session
  }

  private func record(_ name: String, _ session: Session) async throws {
    try await directory.record(
      RecordedLogin(
        session: session,
        credentials: ["flow": "browser", "loginUrl": .string(session.loginURL), "clientId": .string(session.clientId ?? "")],
        orgName: name))
  }

  private func logOut(_ change: (inout HomeAccounts.Logout) -> Void = { _ in }, org: String? = nil) async throws
    -> [HomeAccounts.Ended]
  {
    var logout = HomeAccounts.Logout()
    change(&logout)
    let home = try accounts(org: org)
    return try await home.end(home.targets(of: logout), logout)
  }

  private func kept(_ org: String, _ user: String = "ann@acme.com") async throws -> Session? {
    try await FileSessionStore(folder: directory.userFolder(org: org, user: OrgDirectory.folderName(ofUser: user))).load()?
      .session
  }

  @Test func logout_signedIn_endsTheSessionHereAndAtTheOrg() async throws {
    let server = try await SandboxServer.start()
    try await record("prod", session(server))
    let ended = try await logOut()
    #expect(ended.map(\.username) == ["ann@acme.com"] && ended.allSatisfy { $0.hadSession && $0.notRevoked == nil })
    #expect(try await kept("prod") == nil && directory.entry("prod")?.user == nil)
    #expect(server.requests().filter { $0.path == "/services/oauth2/revoke" }.map(\.status) == [200])
    // No request is sent for a user who is not signed in.
    let error = await #expect(throws: HostError.self) { try await logOut() }
    #expect(error?.code == .noSuchUser && error?.message.contains("tureen login --org prod") == true)
    #expect(try await logOut({ $0.user = "ann@acme.com" }).map(\.hadSession) == [false])
    await server.stop()
  }

  @Test func logout_tokenThatIsGoneAlready_isDone() async throws {
    let server = try await SandboxServer.start()
    let session = try await session(server)
    try await record("prod", session)
    try server.revoke(session.refreshToken ?? "")
    #expect(try await logOut().map(\.notRevoked) == [nil])
    await server.stop()
  }

  @Test func logout_hostAway_endsTheSessionHereAndSaysSo() async throws {
    let server = try await SandboxServer.start()
    try await record("prod", session(server))
    await server.stop()
    let ended = try await logOut()
    #expect(ended.count == 1 && ended[0].hadSession)
    #expect(ended[0].notRevoked?.hasPrefix("the token was not revoked (") == true, "\(ended)")
    #expect(ended[0].json["revoked"] == false && ended[0].json["problem"] != .null)
    #expect(try await kept("prod") == nil)
  }

  @Test func logout_ofTwoAccounts_leavesTheOtherAndNobodyCurrent() async throws {
    let server = try await SandboxServer.start()
    // They share a refresh token, so revoking one ends all of them.
    let ann = try await session(server), bob = try await session(server, "bob@acme.com", user: "005000000000009AAA")
    let cy = try await session(server, "cy@acme.com", user: "005000000000008AAA")
    try await record("prod", ann)
    try await record("prod", bob)
    #expect(try directory.entry("prod")?.user == "bob@acme.com")
    #expect(try await logOut().map(\.username) == ["bob@acme.com"])
    #expect(try await kept("prod") != nil)
    #expect(try await kept("prod", "bob@acme.com") == nil)
    let error = await #expect(throws: HostError.self) { try await logOut() }
    #expect(error?.code == .noSuchUser && error?.message.contains("--user: ann@acme.com, bob@acme.com") == true)
    // User names are compared ignoring case.
    #expect(try await logOut({ $0.user = "ANN@acme.com" }).map(\.hadSession) == [true])
    try await record("prod", ann)
    try await record("prod", cy)
    #expect(try await logOut({ $0.all = true }).filter(\.hadSession).map(\.username) == ["ann@acme.com", "cy@acme.com"])
    await server.stop()
  }

  @Test func logout_notTheCurrentUser_keepsTheCurrentOne() async throws {
    let server = try await SandboxServer.start()
    try await record("prod", session(server))
    try await record("prod", session(server, "bob@acme.com", user: "005000000000009AAA"))
    _ = try await logOut({ $0.user = "ann@acme.com" })
    #expect(try directory.entry("prod")?.user == "bob@acme.com")
    await server.stop()
  }

  @Test func logout_deletingStoresThatAreOpen_isRefusedAndChangesNothing() async throws {
    let server = try await SandboxServer.start()
    try await record("prod", session(server))
    let path = directory.userFolder(org: "prod", user: "ann%40acme%2Ecom")
    try FileSystem.makeDirectory(path + "/stores/s")
    let store = try Store(name: "s", isGlobal: false, path: path + "/stores/s/store.sqlite")
    let error = await #expect(throws: StoreError.self) { _ = try await logOut({ $0.deletesStores = true }) }
    #expect(error?.code == .storeInUse)
    #expect(try await kept("prod") != nil && directory.entry("prod")?.user == "ann@acme.com")
    #expect(server.requests().allSatisfy { $0.path != "/services/oauth2/revoke" })
    store.close()
    #expect(
      try await logOut({
        $0.deletesStores = true
        $0.forget = true
      }).map(\.deletedStores) == [1])
    #expect(try FileSystem.entries(of: path).filter { $0 != "session.lock" }.isEmpty)
    await server.stop()
  }

  @Test func remove_org_takesItAwayWithItsStoresAndRevokes() async throws {
    let server = try await SandboxServer.start()
    try await record("prod", session(server))
    try FileSystem.makeDirectory(directory.userFolder(org: "prod", user: "ann%40acme%2Ecom") + "/stores/s")
    #expect(try await accounts().remove("prod").map(\.notRevoked) == [nil])
    #expect(try directory.entries().isEmpty && directory.defaultName() == nil)
    #expect(try FileSystem.entries(of: directory.folder).isEmpty)
    #expect(server.requests().contains { $0.path == "/services/oauth2/revoke" })
    let error = await #expect(throws: HostError.self) { try await accounts().remove("prod") }
    #expect(error?.code == .noSuchOrg)
    await server.stop()
  }

  @Test func accounts_haveTheStateOfTheirSignIn() async throws {
    try await record("prod", OrgDirectoryTests.session())
    try await record("prod", OrgDirectoryTests.session("bob@acme.com", user: "005000000000002AAA"))
    try await record("qa", OrgDirectoryTests.session("cy@acme.com", org: "00D000000000002AAA"))
    var kept = StoredSession(session: OrgDirectoryTests.session("cy@acme.com", org: "00D000000000002AAA"))
    kept.refusal = StoredSession.Refusal(reason: "sessionEnded", message: "x", until: nil, count: 1, key: "k")
    try await FileSessionStore(folder: directory.userFolder(org: "qa", user: "cy%40acme%2Ecom")).save(kept)
    try await FileSessionStore(folder: directory.userFolder(org: "prod", user: "ann%40acme%2Ecom")).erase()
    try FileSystem.makeDirectory(directory.folder + "/robot")
    try FileSystem.write(
      Array(#"{"loginUrl":"https://acme.my.salesforce.com","clientId":"a","clientSecret":"b"}"#.utf8),
      to: directory.folder + "/robot/credentials.json")
    let found = try await accounts().accounts()
    #expect(
      OrgAccount.table(found)
        == """
          NAME   USER          ORG ID              INSTANCE                       FLOW     STATE
          prod   ann@acme.com  00D000000000001AAA  https://acme.my.salesforce.com  -        needs sign-in: needsPerson
        * prod   bob@acme.com  00D000000000001AAA  https://acme.my.salesforce.com  browser  signed in
          qa     cy@acme.com   00D000000000002AAA  https://acme.my.salesforce.com  browser  needs sign-in: sessionEnded
          robot  -             -                   -                               -        not asked

        """.replacing("INSTANCE                       FLOW", with: "INSTANCE                        FLOW"))
    #expect(
      found[1].json == [
        "name": "prod", "username": "bob@acme.com", "userId": "005000000000002AAA", "orgId": "00D000000000001AAA",
        "loginUrl": "https://login.salesforce.com", "instanceUrl": "https://acme.my.salesforce.com", "isSandbox": .null,
        "flow": "browser", "state": "signed in", "reason": .null, "isDefault": true, "isCurrent": true,
      ])
    #expect(found[2].json["state"] == "needs sign-in" && found[2].json["reason"] == "sessionEnded")
  }

  @Test func check_asksEachOrg_andTellsWhoNeedsAPerson() async throws {
    let server = try await SandboxServer.start()
    let good = try await session(server)
    try await record("prod", good)
    var ended = try await session(server, "bob@acme.com", user: "005000000000009AAA")
    (ended.accessToken, ended.refreshToken) = ("gone", "gone")
    try await record("prod", ended)
    let nowhere = "http://127.0.0.1:9"
    var away = OrgDirectoryTests.session("cy@acme.com", org: "00D000000000002AAA", login: nowhere, instance: nowhere)
    away.flow = "browser"
    try await record("qa", away)
    let home = try accounts()
    let checked = try await home.check(home.accounts())
    #expect(checked.map { $0.account.user?.name } == ["ann@acme.com", "bob@acme.com", "cy@acme.com"])
    #expect(checked[0].account.state == .signedIn && checked[0].problem == nil)
    #expect(checked[1].account.state == .needsSignIn(reason: "sessionEnded"), "\(checked[1])")
    #expect((checked[2].problem as? RestError)?.code == .noResponse, "\(checked[2])")
    await server.stop()
  }
}
