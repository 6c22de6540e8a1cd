import JSON
import LuaBridge
import RestClient
import SandboxOrg
import SmartStore
import Support
import TestSupport
import Testing

@testable import Salesforce
@testable import Tureen

/// Tests which org and user settings refer to, and that their stores open without a network.
@Suite struct OrgResolverTests {
  let folder: TemporaryFolder
  let directory: OrgDirectory

  init() throws {
    folder = try TemporaryFolder()
    directory = OrgDirectory(home: folder.path + "/home")
  }

  private func resolve(_ org: String? = nil, user: String? = nil, credentials: String? = nil) throws -> Org {
    var settings = HostSettings()
    (settings.home, settings.org, settings.user, settings.credentialsFile) = (directory.home, org, user, credentials)
    return try Org.resolve(settings, home: directory.home, program: ProgramSessions { _ in })
  }

  private func record(_ name: String?, _ session: Session = OrgDirectoryTests.session()) async throws {
    try await directory.record(
      RecordedLogin(
        session: session,
        credentials: [
          "flow": "browser", "loginUrl": .string(session.loginURL), "clientId": "app",
          "username": .string(session.username ?? ""),
        ],
        orgName: name))
  }

  private static let other = OrgDirectoryTests.session(
    "bob@acme.com", org: "00D000000000002AAA", user: "005000000000002AAA", instance: "https://qa.my.salesforce.com")

  private func failure(_ org: String? = nil, user: String? = nil, credentials: String? = nil) -> HostError? {
    #expect(throws: HostError.self) { try resolve(org, user: user, credentials: credentials) }
  }

  @Test func resolve_nothingChosen_isTheDefaultElseTheSandbox() async throws {
    #expect(try resolve().folder == "sandbox")
    try await record("prod")
    try await record("qa", Self.other)
    #expect(try resolve().name == "prod" && resolve().userFolder == "ann%40acme%2Ecom")
    try directory.setDefault("qa")
    #expect(try resolve().name == "qa")
    try directory.setDefault("sandbox")
    #expect(try resolve().folder == "sandbox" && directory.defaultName() == "sandbox")
    #expect(try resolve("prod").name == "prod")
  }

  /// An app that signs in by itself has its client id for a name; lists show the user it acts as.
  @Test func resolve_userByTheNameThatListsShow_isFound() async throws {
    var session = OrgDirectoryTests.session("bot@acme.com")
    (session.flow, session.clientId) = ("clientCredentials", "job")
    try await directory.record(RecordedLogin(session: session, orgName: "prod"))
    for name in ["job", "bot@acme.com", "BOT@acme.com"] { #expect(try resolve("prod", user: name).userFolder == "job") }
    let refused = failure("prod", user: "eve@acme.com")
    #expect(refused?.code == .noSuchUser && refused?.message.contains("job, bot@acme.com") == true)
  }

  @Test func resolve_defaultWhoseFileIsWrong_isToldAndNotTheSandbox() async throws {
    try await record("prod")
    try FileSystem.write(Array("{".utf8), to: directory.folder + "/prod/org.json")
    let error = failure()
    #expect(error?.code == .invalidConfiguration && error?.message.contains("prod/org.json") == true, "\(error as Any)")
    #expect(try resolve("sandbox").folder == "sandbox")
    // A default org that was removed is ignored.
    try FileSystem.removeTree(directory.folder + "/prod")
    #expect(try resolve().folder == "sandbox")
  }

  @Test func resolve_nameThatIsNotKnown_saysWhichAre() async throws {
    #expect(failure("prod")?.code == .noSuchOrg)
    try await record("prod")
    let error = failure("prd")
    #expect(error?.code == .noSuchOrg && error?.message.contains("did you mean 'prod'?") == true, "\(error as Any)")
  }

  @Test func resolve_renamedOrg_keepsItsFolder() async throws {
    try await record("prod")
    try directory.rename("prod", to: "live")
    #expect(try resolve("live").folder == "prod" && resolve().name == "live")
    #expect(failure("prod")?.message.contains("live") == true)
    // The old name is free again, and a new org of that name gets its own folder.
    try await record("prod", Self.other)
    #expect(try resolve("prod").folder == "prod-2" && resolve("live").folder == "prod")
    try directory.rename("live", to: "Live")
    #expect(throws: OrgNameError.self) { try directory.rename("Live", to: "PROD") }
    #expect(throws: OrgNameError.self) { try directory.rename("Live", to: "a b") }
    #expect(throws: HostError.self) { try directory.rename("gone", to: "x") }
  }

  @Test func address_ofAKnownOrg_opensTheSameStoresOffline() async throws {
    try await record("prod")
    for name in ["prod", "https://acme.my.salesforce.com", "https://login.salesforce.com", "https://acme.my.salesforce.com/"] {
      var settings = HostSettings()
      (settings.home, settings.org) = (directory.home, name)
      let host = Host(settings: settings)
      let store = try host.core().user.stores.store(named: "s")
      #expect(store.path == directory.home + "/orgs/prod/ann%40acme%2Ecom/stores/s/store.sqlite", "\(name)")
      try await Blocking.offPool { host.shutdown() }
    }
    #expect(try directory.entries().count == 1)
  }

  @Test func homeOfTheLastRelease_opensItsStoresUnderTheSameNames() throws {
    // By name, with credentials in the home.
    try FileSystem.makeDirectory(directory.folder + "/acme/app")
    try FileSystem.write(
      Array(#"{"loginUrl":"https://acme.my.salesforce.com","clientId":"app","clientSecret":"s"}"#.utf8),
      to: directory.folder + "/acme/credentials.json")
    #expect(try resolve("acme").folder == "acme" && resolve("acme").userFolder == "app")
    #expect(try resolve("acme").credentials()?.grant == .clientCredentials)
    // By address, with a named credentials file.
    try FileSystem.write(
      Array(#"{"clientId":"app","clientSecret":"s","username":"bot@acme.com","password":"p"}"#.utf8), to: folder.path + "/c.json")
    let byAddress = try resolve("https://login.salesforce.com/", credentials: folder.path + "/c.json")
    #expect(byAddress.folder == "login%2Esalesforce%2Ecom" && byAddress.userFolder == "bot%40acme%2Ecom")
    #expect(try directory.entry("acme")?.hasFile == false, "looking changes nothing")
  }

  @Test func sharedLoginHost_ofAKnownOrg_isNotTakenForAnotherUser() async throws {
    try await record("prod")
    let file = folder.path + "/c.json"
    for (user, expected) in [("ann@acme.com", "prod"), ("bot@other.com", "login%2Esalesforce%2Ecom")] {
      try FileSystem.write(
        Array(#"{"clientId":"app","clientSecret":"s","username":"\#(user)","password":"p"}"#.utf8), to: file)
      #expect(try resolve("https://login.salesforce.com", credentials: file).folder == expected)
      #expect(try resolve("https://acme.my.salesforce.com", credentials: file).folder == "prod")
    }
  }

  @Test func user_named_isTheOneOfTheOrg() async throws {
    try await record("prod")
    try await record("prod", OrgDirectoryTests.session("bob@acme.com", user: "005000000000002AAA"))
    #expect(try resolve("prod").userFolder == "bob%40acme%2Ecom")
    #expect(try resolve("prod", user: "Ann@acme.com").userFolder == "ann%40acme%2Ecom")
    let error = failure("prod", user: "cy@acme.com")
    #expect(error?.code == .noSuchUser && error?.message.contains("known: ann@acme.com, bob@acme.com") == true)
    // A browser session continues with the stored refresh token.
    #expect(
      try resolve("prod").credentials()
        == .refreshToken(loginURL: "https://login.salesforce.com", clientId: "app", clientSecret: nil, refreshToken: nil))
  }

  @Test func user_besideOtherCredentials_isRefused() async throws {
    let file = folder.path + "/c.json"
    try FileSystem.write(Array(#"{"clientId":"app","clientSecret":"s","username":"a@b.c","password":"p"}"#.utf8), to: file)
    let error = failure("https://acme.my.salesforce.com", user: "x@y.z", credentials: file)
    #expect(error?.code == .noSuchUser && error?.message.contains("those of 'a@b.c'") == true)
  }

  @Test func orgFile_isForUsersWithoutOneOfTheirOwn() async throws {
    try await record("prod")
    try FileSystem.write(
      Array(
        #"{"loginUrl":"https://acme.my.salesforce.com","clientId":"a","clientSecret":"s","username":"bot@acme.com","password":"p"}"#
          .utf8),
      to: directory.folder + "/prod/credentials.json")
    #expect(try resolve("prod").userFolder == "ann%40acme%2Ecom" && resolve("prod").credentials()?.grant == .refreshToken)
    let bot = try resolve("prod", user: "bot@acme.com")
    #expect(try bot.userFolder == "bot%40acme%2Ecom" && bot.credentials()?.grant == .password)
  }

  /// A credentials file without secrets of a single user is valid for all users of the org.
  @Test func orgFile_withoutUser_isForEachUserOfTheOrg() async throws {
    try FileSystem.makeDirectory(directory.folder + "/prod")
    try FileSystem.write(
      Array(#"{"loginUrl":"https://acme.my.salesforce.com","clientId":"a","privateKeyCommand":"cat key.pem"}"#.utf8),
      to: directory.folder + "/prod/credentials.json")
    for user in ["ann@acme.com", "bob@acme.com"] {
      let org = try resolve("prod", user: user)
      #expect(try org.credentials()?.username == user && org.userFolder == OrgDirectory.folderName(ofUser: user))
    }
    // A password belongs to a single user.
    try FileSystem.write(
      Array(#"{"loginUrl":"https://acme.my.salesforce.com","clientId":"a","clientSecret":"s","password":"p"}"#.utf8),
      to: directory.folder + "/prod/credentials.json")
    #expect(failure("prod", user: "ann@acme.com")?.code == .noSuchUser)
  }

  @Test func twoOrgs_inTwoHostsOfAProcess_keepApart() async throws {
    var servers: [SandboxServer] = [], runs: [(host: Host, org: String)] = []
    for (number, name) in [(1, "one"), (2, "two")] {
      var configuration = SandboxConfiguration()
      configuration.organizationNumber = Int64(number)
      configuration.seed = .custom(accounts: 1, contacts: number * 3)
      let server = try await SandboxServer.start(configuration)
      let access = server.credentials()
      try FileSystem.makeDirectory(directory.folder + "/\(name)")
      try FileSystem.write(
        JSONValue.object([
          "loginUrl": .string(access.loginURL), "clientId": .string(access.clientId),
          "clientSecret": .string(access.clientSecret), "username": .string(access.username),
          "password": .string(access.password),
        ]).serialized(), to: directory.folder + "/\(name)/credentials.json")
      var settings = HostSettings()
      (settings.home, settings.org) = (directory.home, name)
      runs.append((Host(settings: settings), name))
      servers.append(server)
    }
    let script = """
      local tureen = require "tureen"
      tureen.main(function()
        assert(tureen.await(tureen.smartstore.registerSoup, "c", { { path = "Id", type = "string" } }))
        local target = { type = "soql", query = "SELECT Id, LastName FROM Contact" }
        assert(tureen.await(tureen.mobilesync.syncDown, target, "c", {}))
      end)
      """
    let outcomes = await withTaskGroup(of: ScriptState.Outcome?.self) { group in
      for run in runs {
        group.addTask {
          await withCheckedContinuation { continuation in
            Thread.start {
              let state = try? ScriptState(host: run.host)
              let outcome = state?.run(text: script)
              state?.close()
              continuation.resume(returning: outcome)
            }
          }
        }
      }
      var all: [ScriptState.Outcome?] = []
      for await outcome in group { all.append(outcome) }
      return all
    }
    #expect(outcomes == [.done, .done])
    var orgIds: Set<String> = []
    for (i, name) in ["one", "two"].enumerated() {
      let users = try FileSystem.entries(of: directory.folder + "/\(name)").filter { $0 != "credentials.json" }
      let user = try #require(users.first { FileSystem.exists(directory.folder + "/\(name)/\($0)/stores") })
      let kept = try #require(try await FileSessionStore(folder: directory.userFolder(org: name, user: user)).load()?.session)
      orgIds.insert(kept.orgId)
      #expect(kept.instanceURL == servers[i].url)
      // Each org received only its own token.
      let store = try Store(
        name: "defaultStore", isGlobal: false,
        path: directory.userFolder(org: name, user: user) + "/stores/defaultStore/store.sqlite")
      let rows = try store.rows("SELECT count(*) FROM {c}")
      store.close()
      #expect(rows == "[[\((i + 1) * 3)]]", "\(name): \(rows)")
      #expect(servers[i].requests().allSatisfy { $0.status < 400 })
      #expect(FileSystem.exists(directory.folder + "/\(name)/usage.json"), "its limits are its own")
      await servers[i].stop()
    }
    #expect(orgIds.count == 2)
  }
}
