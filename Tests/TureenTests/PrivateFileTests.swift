import Glibc
import JSON
import LuaBridge
import TestSupport
import Testing

@testable import Salesforce
@testable import Tureen

/// Tests homes and secret files that other users can access.
@Suite struct PrivateFileTests {
  private func failure(_ change: (inout HostSettings, TemporaryFolder) throws -> Void) throws -> String {
    let folder = try TemporaryFolder()
    var settings = HostSettings()
    settings.home = folder.path + "/home"
    settings.org = "https://org.example.com"
    try change(&settings, folder)
    let host = Host(settings: settings)
    let error = #expect(throws: HostError.self) {
      try host.prepare()
      _ = try host.core()
    }
    #expect(error?.code == .invalidConfiguration)
    return error?.message ?? ""
  }

  private static let credentials = #"{"clientId": "app", "clientSecret": "hunter2"}"#

  @Test(arguments: [0o777, 0o770, 0o702, 0o1777] as [mode_t])
  func home_thatOthersCanWriteTo_isRefused(mode: mode_t) throws {
    let message = try failure { settings, _ in
      let home = try #require(settings.home)
      #expect(mkdir(home, 0o700) == 0 && chmod(home, mode) == 0)
    }
    #expect(
      message.contains("/home: the home can be written to by others (mode 0") && message.contains("chmod 700"), "\(message)")
  }

  /// As root the test gives the folder to another user. Otherwise it checks that root's folders are accepted, because a packaged
  /// home may belong to root.
  @Test func home_ofAnotherUser_isRefused() throws {
    let folder = try TemporaryFolder()
    guard geteuid() == 0 else { return try HostSettings.checkHome("/usr") }
    #expect(chown(folder.path, 65_534, 65_534) == 0)
    let error = #expect(throws: HostError.self) { try HostSettings.checkHome(folder.path) }
    #expect(error?.message.contains("the home belongs to another user (id 65534)") == true)
  }

  @Test func defaultHome_withoutHOME_isTheUsersAndNeverTheTemporaryFolder() throws {
    #expect(try HostSettings.defaultHome({ ["XDG_DATA_HOME": "/d"][$0] }, ofUser: { nil }) == "/d/tureen")
    #expect(try HostSettings.defaultHome({ ["HOME": "/h"][$0] }, ofUser: { "/u" }) == "/h/.local/share/tureen")
    #expect(try HostSettings.defaultHome({ _ in nil }, ofUser: { "/u" }) == "/u/.local/share/tureen")
    let error = #expect(throws: HostError.self) { try HostSettings.defaultHome({ _ in nil }, ofUser: { nil }) }
    #expect(error?.code == .invalidConfiguration && error?.message.contains("set HOME") == true)
  }

  @Test func home_thatOthersCanOnlyLookInto_isFine() throws {
    let folder = try TemporaryFolder()
    #expect(chmod(folder.path, 0o755) == 0)
    try HostSettings.checkHome(folder.path)
    try HostSettings.checkHome(folder.path + "/not-there-yet")
  }

  @Test(arguments: [0o644, 0o640, 0o604, 0o620] as [mode_t])
  func credentialsFile_thatOthersCanRead_isRefusedWithItsModeAndTheMend(mode: mode_t) throws {
    let message = try failure { settings, folder in
      try folder.write(Self.credentials, to: "c.json", mode: mode)
      settings.credentialsFile = folder.path + "/c.json"
    }
    #expect(
      message.contains("/c.json: the credentials file can be read or written by others (mode 0\(String(mode, radix: 8)))"))
    #expect(message.contains("chmod 600") && !message.contains("hunter2"), "\(message)")
  }

  @Test func credentialsFile_thatIsItsOwnersAlone_isFine() throws {
    let folder = try TemporaryFolder()
    for mode in [0o600, 0o400] as [mode_t] {
      try folder.write(Self.credentials, to: "c-\(mode).json", mode: mode)
      let found = try CredentialsSource.read(folder.path + "/c-\(mode).json", defaultURL: "https://org.example.com")
      #expect(found.user == "app")
    }
  }

  @Test func keyFile_thatOthersCanRead_isRefused() throws {
    let folder = try TemporaryFolder()
    try folder.write("hunter2\n", to: "key", mode: 0o644)
    let error = #expect(throws: HostError.self) { try StoreKeySource.file(folder.path + "/key").secret() }
    #expect(error?.message.contains("the key file can be read or written by others (mode 0644)") == true, "\(error as Any)")
  }
}

extension TemporaryFolder {
  /// Writes a file with exactly this mode, independent of the process's umask.
  func write(_ text: String, to name: String, mode: mode_t) throws {
    let file = try #require(fopen(path + "/" + name, "w"))
    fputs(text, file)
    fclose(file)
    #expect(chmod(path + "/" + name, mode) == 0)
  }
}
