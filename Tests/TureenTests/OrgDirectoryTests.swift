import Glibc
import JSON
import RestClient
import SmartStore
import Support
import TestSupport
import Testing

@testable import Salesforce
@testable import Tureen

/// Tests the orgs of a home: names, addresses, homes of early releases, and atomic storage of sign-ins.
@Suite struct OrgDirectoryTests {
  let folder: TemporaryFolder
  let directory: OrgDirectory

  init() throws {
    folder = try TemporaryFolder()
    directory = OrgDirectory(home: folder.path + "/home")
  }

  static func session(
    _ username: String = "ann@acme.com", org: String = "00D000000000001AAA", user: String = "005000000000001AAA",
    login: String = "https://login.salesforce.com", instance: String = "https://acme.my.salesforce.com"
  ) -> Session {
    var session = Session(
      accessToken: "token-\(username)", refreshToken: "refresh", instanceURL: instance, userId: user, orgId: org, loginURL: login,
      identityURL: "\(login)/id/\(org)/\(user)", issuedAt: 1_700_000_000_000)
    session.username = username
    session.flow = "browser"
    session.clientId = "app"
    return session
  }

  @discardableResult
  private func record(
    _ name: String? = "prod", _ session: Session = Self.session(), replacing: Bool = false, asDefault: Bool = false
  ) async throws -> OrgEntry {
    try await directory.record(
      RecordedLogin(
        session: session, credentials: ["flow": "browser", "clientId": "app"], orgName: name, makesDefault: asDefault,
        replacesOrg: replacing))
  }

  /// Returns every file in the home with its content, sorted, to compare the whole home.
  private func files(_ path: String = "") throws -> [String] {
    let root = folder.path + "/home" + path
    return try FileSystem.entries(of: root).sorted().flatMap { name -> [String] in
      let inner = path + "/" + name
      if FileSystem.exists("\(root)/\(name)/.") { return try files(inner) }
      guard !name.hasSuffix(".lock") else { return [] }
      return [inner + " " + String(decoding: FileSystem.read("\(root)/\(name)") ?? [], as: UTF8.self).count.description]
    }
  }

  private func text(_ path: String) -> String? {
    FileSystem.read(folder.path + "/home/" + path).map { String(decoding: $0, as: UTF8.self) }
  }

  private func nameError(_ body: () async throws -> Void) async -> String {
    await #expect(throws: OrgNameError.self) { try await body() }?.message ?? ""
  }

  // MARK: Sign-ins

  @Test func record_first_writesAllFilesAndIsTheDefault() async throws {
    let entry = try await record()
    #expect(entry.name == "prod" && entry.isDefault && entry.user == "ann@acme.com" && entry.orgId == "00D000000000001AAA")
    #expect(
      try JSONValue(parsing: Array(try #require(text("orgs/prod/org.json")).utf8)) == [
        "name": "prod", "loginUrl": "https://login.salesforce.com", "instanceUrl": "https://acme.my.salesforce.com",
        "orgId": "00D000000000001AAA", "user": "ann@acme.com",
      ])
    #expect(text("orgs.json") == "{\"default\":\"prod\"}\n")
    #expect(text("orgs/prod/ann%40acme%2Ecom/credentials.json") == "{\"flow\":\"browser\",\"clientId\":\"app\"}\n")
    let kept = try #require(
      try await FileSessionStore(folder: directory.userFolder(org: "prod", user: "ann%40acme%2Ecom")).load())
    #expect(kept.session == Self.session() && kept.refusal == nil)
    for file in ["orgs.json", "orgs/prod/org.json", "orgs/prod/ann%40acme%2Ecom/session.json"] {
      var info = stat()
      #expect(stat(folder.path + "/home/" + file, &info) == 0 && info.st_mode & 0o777 == 0o600)
    }
  }

  @Test func record_secondOrg_isTheDefaultOnlyWhenAsked() async throws {
    try await record()
    let other = Self.session(org: "00D000000000002AAA", instance: "https://qa.my.salesforce.com")
    #expect(try await !record("qa", other).isDefault)
    #expect(try directory.defaultName() == "prod")
    #expect(try await record("qa", other, asDefault: true).isDefault)
    #expect(try directory.defaultName() == "qa")
    #expect(try directory.entries().map(\.name) == ["prod", "qa"])
  }

  @Test func record_withoutName_takesTheKnownOrgElseItsHost() async throws {
    #expect(try await record(nil).name == "acme.my.salesforce.com")
    #expect(try await record(nil, Self.session("bob@acme.com", user: "005000000000002AAA")).users.count == 2)
    let elsewhere = Self.session(org: "00D000000000002AAA", instance: "https://qa.my.salesforce.com")
    #expect(try await record(nil, elsewhere).folder == "qa%2Emy%2Esalesforce%2Ecom")
    #expect(try directory.entries().count == 2)
  }

  @Test func record_clientCredentials_keepTheFolderOfTheClient() async throws {
    var session = Self.session("bot@acme.com")
    session.flow = "clientCredentials"
    let entry = try await record("prod", session)
    #expect(entry.user == "app" && entry.users.map(\.folder) == ["app"])
    // The app's run-as user changes.
    session.userId = "005000000000009AAA"
    try await record("prod", session)
  }

  @Test func record_killedAtAnyStep_leavesAllOrNothing() async throws {
    try await record()
    let before = try files()
    let login = RecordedLogin(
      session: Self.session(org: "00D000000000002AAA", instance: "https://qa.my.salesforce.com"),
      credentials: ["flow": "browser"],
      orgName: "qa", makesDefault: true)
    struct Killed: Error {}
    var reached = 0, outcomes: [[String]] = []
    repeat {
      reached = 0
      let place = try directory.place(login)
      let stop = outcomes.count
      _ = try? directory.commit(login, expected: place, keepsSession: true) { _ in
        if reached == stop { throw Killed() }
        reached += 1
      }
      // The next process finishes or removes what was left.
      _ = try directory.entries()
      outcomes.append(try files().filter { !$0.contains("/.staging-") })
      let isThere = try directory.entry("qa") != nil
      #expect(isThere ? outcomes.last != before : outcomes.last == before, "stopped at step \(stop)")
      if isThere { #expect(try directory.defaultName() == "qa") }
      try FileSystem.removeTree(directory.folder + "/qa")
      try FileSystem.write(Array("{\"default\":\"prod\"}\n".utf8), to: directory.home + "/orgs.json")
    } while reached == outcomes.count - 1
    #expect(outcomes.contains(before) && Set(outcomes).count == 2 && outcomes.count > 10, "\(outcomes.count)")
    _ = try HomeLock(home: directory.home)
    #expect(try FileSystem.entries(of: directory.folder) == ["prod"])
  }

  @Test func record_twentyAtOnce_areAllKept() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for i in 1...20 {
        group.addTask {
          let session = Self.session("u\(i)@acme.com", org: "00D0000000000\(10 + i / 2)AAA", user: "0050000000000\(10 + i)AAA")
          try await directory.record(RecordedLogin(session: session, credentials: ["flow": "browser"], orgName: "org\(i / 2)"))
        }
      }
      try await group.waitForAll()
    }
    let entries = try directory.entries()
    #expect(entries.count == 11 && entries.flatMap(\.users).count == 20 && entries.filter(\.isDefault).count == 1)
  }

  // MARK: Names

  @Test func record_nameThatIsNotValid_isRefusedWithTheRule() async throws {
    for name in ["", "my org", "-x", ".x", "a/b", "é", String(repeating: "a", count: 65)] {
      #expect(await nameError { try await record(name) }.contains("1 to 64 letters, digits, '.', '_' and '-'"), "\(name)")
    }
    #expect(await nameError { try await record("sandbox") }.contains("it means the sandbox org"))
    #expect(await nameError { try await record("SF") }.contains("it means the orgs of the sf CLI"))
    #expect(!FileSystem.exists(directory.home))
    try await record(String(repeating: "a", count: 64))
  }

  @Test func record_caseTwinOfAKnownName_isRefused() async throws {
    try await record("prod")
    let message = await nameError { try await record("Prod", Self.session(org: "00D000000000002AAA")) }
    #expect(message.hasPrefix("'Prod' differs from the org 'prod' only in case"))
    #expect(try directory.entries().count == 1)
  }

  @Test func record_secondNameOfAKnownOrgAndUser_isRefusedWithTheKnownName() async throws {
    try await record("prod")
    let message = await nameError { try await record("live") }
    #expect(message.contains("is already known as 'prod'") && message.contains("tureen orgs name live prod"), "\(message)")
    // Another user of the org may use it.
    try await record("live", Self.session("bob@acme.com", user: "005000000000002AAA"))
  }

  // MARK: Other orgs

  @Test func record_otherOrgOrUser_changesNothingUnlessReplaced() async throws {
    try await record("qa")
    let before = try files()
    let refreshed = Self.session(org: "00D000000000002AAA")
    for session in [refreshed, Self.session(user: "005000000000002AAA")] {
      let error = await #expect(throws: HostError.self) { try await record("qa", session) }
      #expect(error?.code == .otherOrg && error?.message.contains("tureen login --new-org") == true, "\(error as Any)")
      #expect(try files() == before)
    }
    try await record("qa", refreshed, replacing: true)
    try await record("qa", Self.session(org: "00D000000000003AAA"), replacing: true)
    #expect(try FileSystem.entries(of: directory.folder).sorted() == ["qa", "qa.before-1", "qa.before-2"])
    #expect(text("orgs/qa.before-1/org.json")?.contains("00D000000000001AAA") == true)
    #expect(try directory.entries().map(\.orgId) == ["00D000000000003AAA"])
    // Another user of the same name: only the user's folder is set aside.
    try await record("qa", Self.session(org: "00D000000000003AAA", user: "005000000000002AAA"), replacing: true)
    #expect(text("orgs/qa/ann%40acme%2Ecom.before-1/session.json") != nil)
    #expect(try directory.entries().flatMap(\.users).map(\.name) == ["ann@acme.com"])
  }

  @Test func record_newOrgWhileStoresAreOpen_isRefused() async throws {
    try await record("qa")
    let path = directory.userFolder(org: "qa", user: "ann%40acme%2Ecom") + "/stores/s"
    try FileSystem.makeDirectory(path)
    let store = try Store(name: "s", isGlobal: false, path: path + "/store.sqlite")
    let refreshed = Self.session(org: "00D000000000002AAA")
    let error = await #expect(throws: StoreError.self) { try await record("qa", refreshed, replacing: true) }
    #expect(error?.code == .storeInUse)
    store.close()
    try await record("qa", refreshed, replacing: true)
    #expect(FileSystem.exists(directory.folder + "/qa.before-1/ann%40acme%2Ecom/stores/s/store.sqlite"))
    #expect(try directory.storeFolders(under: directory.folder + "/qa").isEmpty)
  }

  // MARK: Looking orgs up

  @Test func entry_addressOfAKnownOrg_isTheOrgOfThatName() async throws {
    try await record("prod")
    for address in ["https://login.salesforce.com", "https://acme.my.salesforce.com/", "https://ACME.my.salesforce.com:443/x"] {
      #expect(try directory.entry(address)?.name == "prod", "\(address)")
    }
    #expect(try directory.entry("https://acme.my.salesforce.com:8443") == nil)
    #expect(try directory.entry("https://other.my.salesforce.com") == nil)
    try await record("qa", Self.session(org: "00D000000000002AAA", instance: "https://qa.my.salesforce.com"))
    let error = #expect(throws: HostError.self) { try directory.entry("https://login.salesforce.com") }
    #expect(error?.code == .noSuchOrg && error?.message.contains("prod, qa") == true)
    #expect(try directory.entry("https://qa.my.salesforce.com")?.name == "qa")
  }

  @Test func entry_folderWithoutFile_goesByItsNameAndAddress() async throws {
    try FileSystem.makeDirectory(directory.folder + "/my%20org/bot")
    try FileSystem.makeDirectory(directory.folder + "/acme%2Emy%2Esalesforce%2Ecom/bot%40acme%2Ecom")
    try FileSystem.write(
      Self.session("bot@acme.com").json.serialized(),
      to: directory.folder + "/acme%2Emy%2Esalesforce%2Ecom/bot%40acme%2Ecom/session.json")
    #expect(try directory.entries().map(\.name) == ["acme.my.salesforce.com", "my org"])
    let entry = try #require(try directory.entry("https://acme.my.salesforce.com"))
    #expect(!entry.hasFile && entry.orgId == "00D000000000001AAA" && entry.users.map(\.name) == ["bot@acme.com"])
    #expect(try directory.entry("acme.my.salesforce.com") == entry && directory.entry("my org")?.folder == "my%20org")
    // A sign-in creates the file and keeps the folder.
    #expect(try await record("my org").folder == "my%20org")
    #expect(try directory.entry("my org")?.hasFile == true)
  }

  @Test func entries_wrongFile_isToldWithLineAndKey() async throws {
    try await record("prod")
    try FileSystem.makeDirectory(directory.folder + "/bad")
    for (text, part) in [
      ("{\n\"name\": 5}", "bad/org.json:2: 'name' must be a string"), ("{\"Name\":\"x\"}", "did you mean 'name'?"),
      ("[]", "bad/org.json: must contain an object"), ("{", "bad/org.json:1"), ("{\"isSandbox\":1}", "must be a boolean"),
    ] {
      try FileSystem.write(Array(text.utf8), to: directory.folder + "/bad/org.json")
      let error = #expect(throws: HostError.self) { try directory.entries() }
      #expect(error?.code == .invalidConfiguration && error?.message.contains(part) == true, "\(error as Any)")
      #expect(try directory.entry("prod")?.name == "prod", "the others are of use")
    }
  }
}
