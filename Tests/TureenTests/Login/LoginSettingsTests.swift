import JSON
import Support
import TestSupport
import Testing

@testable import Tureen

/// Tests the values that a sign-in takes from the home and from `bootconfig.json`.
@Suite struct LoginSettingsTests {
  private let folder: TemporaryFolder
  private var home: String { folder.path + "/home" }

  init() throws {
    folder = try TemporaryFolder()
    try FileSystem.makeDirectory(home + "/orgs/prod")
    try write(
      #"{"name":"prod","loginUrl":"https://acme.my.salesforce.com","orgId":"00D000000000001EAA"}"#, to: "orgs/prod/org.json")
    try write(#"{"default":"prod"}"#, to: "orgs.json")
  }

  private func write(_ text: String, to path: String) throws {
    try FileSystem.write(Array(text.utf8), to: "\(home)/\(path)")
  }

  private func login(
    _ environment: HostSettings = HostSettings(), _ change: (inout LoginSettings) -> Void = { _ in }
  ) throws -> Login {
    var settings = LoginSettings()
    settings.clientId = "app"
    change(&settings)
    return try Login(settings, home: home, environment)
  }

  @Test func known_defaultOrg_givesItsAddress() throws {
    #expect(try login().plan.browser?.request.loginURL == "https://acme.my.salesforce.com")
    let other = try login { $0.loginURL = "https://other.my.salesforce.com" }
    #expect(other.plan.browser?.request.loginURL == "https://other.my.salesforce.com" && other.plan.orgName == nil)
    var host = HostSettings()
    host.org = "sandbox"
    // The embedded sandbox org is not signed in to this way.
    #expect(try login(host).plan.browser?.request.loginURL == "https://acme.my.salesforce.com")
    host.org = "qa"
    let unknown = try login(host)
    #expect(unknown.plan.browser?.request.loginURL == "https://login.salesforce.com" && unknown.plan.orgName == "qa")
  }

  @Test func credentials_relativeFile_isOfTheirFolder() throws {
    try write(#"{"flow":"browser","clientId":"kept","clientSecretFile":"secret"}"#, to: "orgs/prod/credentials.json")
    let plan = try login { $0.clientId = nil }.plan
    #expect(plan.credentials["clientId"] == "kept")
    #expect(plan.credentials["clientSecretFile"]?.stringValue == home + "/orgs/prod/secret")
  }

  @Test func credentials_commandInAHomeOfTheScript_isRefused() throws {
    try write(
      #"{"flow":"browser","clientId":"kept","clientSecretCommand":["pass","acme"]}"#, to: "orgs/prod/credentials.json")
    #expect(try login().plan.credentials["clientSecretCommand"] == ["pass", "acme"])
    var host = HostSettings()
    host.homeIsOfScript = true
    let error = #expect(throws: HostError.self) { try login(host) }
    #expect(error?.code == .invalidConfiguration && error?.message.contains("'clientSecretCommand' names a program") == true)
  }

  @Test func bootConfig_isReadFromTheFolderOfTheScriptAlone() throws {
    try folder.write(
      #"{"remoteAccessConsumerKey":"boot","oauthRedirectURI":"testsfdc:///done","oauthScopes":["api","id"]}"#,
      to: "bootconfig.json", mode: 0o600)
    let plan = try login {
      $0.clientId = nil
      $0.configDirectory = folder.path
    }.plan
    let request = try #require(plan.browser?.request)
    #expect(request.clientId == "boot" && request.redirectURI == "testsfdc:///done" && request.scope == "api id")
    #expect(throws: LoginUsageError.self) { try login { $0.clientId = nil } }
  }
}
