import Glibc
import JSON
import TestSupport
import Testing

@testable import Tureen

/// Tests that configuration files which other users could have written choose nothing outside their folder.
///
/// As root the tests give files to another user. Otherwise they check files and folders that others can write to.
@Suite(.timeLimit(.minutes(60))) struct FileTrustTests {
  private static let other: uid_t = 65_534

  /// A job's folder, itself inside a private folder.
  private struct Job {
    let outer: TemporaryFolder
    var folder: String { outer.path + "/job" }

    init(mode: mode_t = 0o755) throws {
      outer = try TemporaryFolder()
      #expect(mkdir(outer.path + "/job", 0o755) == 0 && chmod(outer.path + "/job", mode) == 0)
    }

    func write(_ text: String, to name: String, mode: mode_t = 0o644) throws {
      try outer.write(text, to: "job/" + name, mode: mode)
    }

    /// Reads the folder as a host does. Nil if it is accepted.
    func problem(_ change: (inout HostSettings) -> Void = { _ in }) throws -> String? {
      var settings = HostSettings()
      settings.home = outer.path + "/home"
      settings.configDirectory = folder
      change(&settings)
      do {
        try Host(settings: settings).prepare()
        return nil
      } catch let error as HostError {
        #expect(error.code == .invalidConfiguration)
        return error.message
      }
    }
  }

  private static let org = "{\n  \"appName\": \"x\",\n  \"org\": \"https://org.example.com\"}"

  @Test(arguments: [0o664, 0o646, 0o666] as [mode_t])
  func file_thatOthersCanWriteTo_choosesNoOrg(mode: mode_t) throws {
    let job = try Job()
    try job.write(Self.org, to: "bootconfig.json", mode: mode)
    let path = job.folder + "/bootconfig.json"
    #expect(
      try job.problem()
        == "\(path):3: 'org' is refused, because it reaches outside the folder, and the file can be written to by "
        + "others (mode 0\(String(mode, radix: 8))): chmod go-w \(path); or, if you trust the folder, set "
        + "TUREEN_TRUST=\(job.folder)")
  }

  @Test(arguments: [0o775, 0o757, 0o777] as [mode_t])
  func folder_thatOthersCanWriteTo_choosesNoOrg(mode: mode_t) throws {
    let job = try Job(mode: mode)
    try job.write(Self.org, to: "bootconfig.json")
    let message = try #require(try job.problem())
    #expect(
      message.contains("'org' is refused")
        && message.contains("the folder \(job.folder) can be written to by others (mode 0\(String(mode, radix: 8)))")
        && message.contains("chmod go-w \(job.folder);"), "\(message)")
  }

  @Test func folderAndFile_ofTheUser_areTrusted() throws {
    let job = try Job()
    try job.write(Self.org, to: "bootconfig.json")
    try job.write(#"{"books": {"baseURL": "https://books.example.com"}}"#, to: "connections.json")
    #expect(try job.problem() == nil)
  }

  // A budget needs a database, which the file must not choose.
  @Test(arguments: HostSettings.keys.filter { !["connections", "sessionCommand", "apiBudget"].contains($0) })
  func setting_ofAFileThatOthersCanWriteTo_isRefusedIfItReachesOutside(key: String) throws {
    let job = try Job(),
      values = [
        "apiVersion": "\"v65.0\"", "apiReserve": "100", "logRequests": "\"info\"", "recover": "\"refuse\"", "history": "\"off\"",
      ]
    try job.write("{\"\(key)\": \(values[key] ?? "\"/elsewhere\"")}", to: "bootconfig.json", mode: 0o666)
    let message = try job.problem()
    let isRefused = message?.contains("'\(key)' is refused, because it reaches outside the folder") == true
    #expect(isRefused == (values[key] == nil), "\(message ?? "")")
    #expect((message == nil) == (values[key] != nil), "\(message ?? "")")
  }

  @Test func openFolder_settingsThatStayInside_areAccepted() throws {
    let job = try Job(mode: 0o777)
    try job.write(#"{"appName": "x", "org": "sandbox", "apiVersion": "v65.0"}"#, to: "bootconfig.json", mode: 0o666)
    try job.write(#"{"soups": []}"#, to: "userstore.json", mode: 0o666)
    try job.write(#"{"syncs": []}"#, to: "usersyncs.json", mode: 0o666)
    try job.write("{}", to: "connections.json", mode: 0o666)
    #expect(try job.problem() == nil)
  }

  @Test func openFolder_connections_areRefused() throws {
    let job = try Job(mode: 0o777)
    try job.write("{\n\"books\": {\"baseURL\": \"https://books.example.com\"}}", to: "connections.json")
    let message = try #require(try job.problem())
    #expect(message.hasPrefix("\(job.folder)/connections.json:2: connection 'books' is refused"), "\(message)")
  }

  // MARK: Owners

  @Test(.enabled(if: geteuid() == 0)) func file_ofAnotherUser_isRefused() throws {
    let job = try Job(), path = job.folder + "/bootconfig.json"
    try job.write(Self.org, to: "bootconfig.json")
    #expect(chown(path, Self.other, 0) == 0)
    let message = try #require(try job.problem())
    #expect(message.contains("the file belongs to another user (id 65534): chown 0 \(path);"), "\(message)")
  }

  @Test(.enabled(if: geteuid() == 0)) func folder_ofAnotherUser_isRefusedForRootAsWell() throws {
    let job = try Job()
    try job.write(Self.org, to: "bootconfig.json")
    #expect(chown(job.folder, Self.other, 0) == 0)
    let message = try #require(try job.problem())
    #expect(message.contains("the folder \(job.folder) belongs to another user (id 65534)"), "\(message)")
    #expect(try job.problem { $0.trustedFolders = [job.folder] } == nil)
  }

  // MARK: Links and the sticky bit

  /// In a folder like /tmp others can add files and links, but not replace those of the user.
  @Test func stickyFolder_fileOfTheUser_isTrusted() throws {
    let job = try Job(mode: 0o1777)
    try job.write(Self.org, to: "bootconfig.json")
    #expect(try job.problem() == nil)
  }

  @Test(.enabled(if: geteuid() == 0)) func stickyFolder_fileAndLinkOfAnotherUser_areRefused() throws {
    let job = try Job(mode: 0o1777), path = job.folder + "/bootconfig.json"
    try job.write(Self.org, to: "mine.json")
    #expect(symlink("mine.json", path) == 0)
    #expect(try job.problem() == nil)
    #expect(lchown(path, Self.other, 0) == 0)
    let message = try #require(try job.problem())
    #expect(message.contains("the symbolic link belongs to another user (id 65534): chown -h 0 \(path);"), "\(message)")
    #expect(unlink(path) == 0)
    try job.write(Self.org, to: "bootconfig.json")
    #expect(chown(path, Self.other, 0) == 0)
    #expect(try job.problem()?.contains("the file belongs to another user") == true)
  }

  @Test func link_toAFileInAnOpenFolder_isRefused() throws {
    let job = try Job(), shared = try Job(mode: 0o777)
    try shared.write(Self.org, to: "real.json")
    #expect(symlink(shared.folder + "/real.json", job.folder + "/bootconfig.json") == 0)
    let message = try #require(try job.problem())
    #expect(message.contains("the folder \(shared.folder) can be written to by others (mode 0777)"), "\(message)")
  }

  @Test func link_toAFileThatOthersCanWriteTo_isRefused() throws {
    let job = try Job(), shared = try Job()
    try shared.write(Self.org, to: "real.json", mode: 0o666)
    #expect(symlink(shared.folder + "/real.json", job.folder + "/bootconfig.json") == 0)
    #expect(try job.problem()?.contains("the file can be written to by others (mode 0666)") == true)
  }

  // MARK: Trusted folders

  @Test func trustedFolder_namedThroughALink_isTrusted() throws {
    let job = try Job(mode: 0o777), link = job.outer.path + "/link"
    try job.write(Self.org, to: "bootconfig.json", mode: 0o666)
    #expect(symlink(job.folder, link) == 0)
    #expect(try job.problem { $0.trustedFolders = ["/nowhere", link] } == nil)
  }

  @Test func trustedFolder_ofAnotherName_changesNothing() throws {
    let job = try Job(mode: 0o777)
    try job.write(Self.org, to: "bootconfig.json")
    // The folder above is another one.
    #expect(try job.problem { $0.trustedFolders = [job.outer.path] }?.contains("'org' is refused") == true)
  }

  @Test func trustedFolder_thatIsRelative_isAnError() throws {
    let job = try Job()
    #expect(
      try job.problem { $0.trustedFolders = ["job"] } == "trustedFolders: 'job' must be an absolute path, such as /srv/sync")
  }

  // MARK: Sign-in

  /// The app that a person signs in to must not be chosen by another user.
  @Test(arguments: [
    #"{"remoteAccessConsumerKey": "app"}"#, #"{"oauthRedirectURI": "http://localhost:1717/x"}"#, #"{"oauthScopes": ["full"]}"#,
  ])
  func login_inAnOpenFolder_refusesItsApp(text: String) throws {
    let job = try Job(mode: 0o777)
    try job.write(text, to: "bootconfig.json")
    var settings = LoginSettings()
    settings.loginURL = "https://login.example.com"
    settings.configDirectory = job.folder
    let error = #expect(throws: HostError.self) { try Login(settings, home: job.outer.path + "/home", HostSettings()) }
    #expect(
      error?.code == .invalidConfiguration
        && error?.message.contains("is refused, because it reaches outside the folder") == true,
      "\(error as Any)")
  }
}
