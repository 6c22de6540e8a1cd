import Glibc
import JSON
import RestClient
import SandboxOrg
import Support
import TestSupport
import Testing

@testable import Salesforce
@testable import Tureen

/// Tests credentials files: the locations of secrets, and the resulting flow.
@Suite struct CredentialsFileTests {
  private static let key = try! PrivateKey.makeRSA()
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func read(_ text: String, allowsCommands: Bool = true) throws -> CredentialsSource.Found {
    try folder.write(text, to: "c.json", mode: 0o600)
    return try CredentialsSource.read(folder.path + "/c.json", defaultURL: nil, allowsCommands: allowsCommands)
  }

  private func problem(_ text: String, allowsCommands: Bool = true) -> String {
    let error = #expect(throws: HostError.self) { try read(text, allowsCommands: allowsCommands) }
    #expect(error?.code == .invalidConfiguration)
    return error?.message ?? ""
  }

  private static let head = #""loginUrl":"https://acme.my.salesforce.com","clientId":"3MV","username":"bot@acme.com""#

  @Test func jwt_keyBesideTheFile_isRead() throws {
    try folder.write(TestKeys.pkcs1(Self.key), to: "key.pem", mode: 0o600)
    let found = try read(#"{\#(Self.head),"privateKeyFile":"key.pem","audience":"https://login.salesforce.com"}"#)
    #expect(found.user == "bot@acme.com" && found.credentials.grant == .jwtBearer)
    guard case .jwtBearer(let bearer) = found.credentials else { return }
    #expect(bearer.firstAudience == "https://login.salesforce.com" && bearer.username == "bot@acme.com")
    #expect(try bearer.assertion(audience: "x", now: 0).split(separator: ".").count == 3)
  }

  @Test func jwt_keyFromCommand_isReadToSign() throws {
    try folder.write(TestKeys.pkcs1(Self.key), to: "key.pem", mode: 0o600)
    let found = try read(#"{\#(Self.head),"privateKeyCommand":["cat","\#(folder.path)/key.pem"]}"#)
    guard case .jwtBearer(let bearer) = found.credentials else {
      Issue.record("\(found.credentials)")
      return
    }
    #expect(try bearer.assertion(audience: "x", now: 0).split(separator: ".").count == 3)
  }

  @Test func jwt_keyThatOthersCanRead_isRefused() throws {
    try folder.write(TestKeys.pkcs1(Self.key), to: "key.pem", mode: 0o644)
    #expect(problem(#"{\#(Self.head),"privateKeyFile":"key.pem"}"#).contains("can be read or written by others (mode 0644)"))
  }

  @Test func jwt_certificateForKey_isToldWithTheFile() throws {
    try folder.write("-----BEGIN CERTIFICATE-----\nMIIB\n", to: "key.pem", mode: 0o600)
    let message = problem(#"{\#(Self.head),"privateKeyFile":"key.pem"}"#)
    #expect(
      message.hasPrefix("\(folder.path)/c.json: 'privateKeyFile' \(folder.path)/key.pem: it is a certificate"), "\(message)")
  }

  @Test func secrets_fromFileVariableAndCommand_areRead() throws {
    try folder.write("hunter2\n", to: "secret", mode: 0o600)
    // Use an existing variable: setting one would affect the programs that other tests start.
    let path = try #require(Environment["PATH"])
    for (place, secret) in [
      (#""clientSecretFile":"secret""#, "hunter2"), (#""clientSecretVariable":"PATH""#, path),
      (#""clientSecretCommand":"cat \#(folder.path)/secret""#, "hunter2"), (#""clientSecret":"hunter2""#, "hunter2"),
    ] {
      let found = try read(#"{"loginUrl":"https://acme.my.salesforce.com","clientId":"3MV",\#(place)}"#)
      #expect(
        found.credentials
          == .clientCredentials(loginURL: "https://acme.my.salesforce.com", clientId: "3MV", clientSecret: secret))
    }
  }

  @Test func sfdxURL_bareAndInJSON_isRead() throws {
    let url = "force://PlatformCLI::5Aep861token@acme.my.salesforce.com"
    for (text, name) in [
      (url + "\n", "u"), (#"{"sfdxAuthUrl":"\#(url)"}"#, "u.json"), (#"{"result":{"sfdxAuthUrl":"\#(url)"}}"#, "r"),
    ] {
      try folder.write(text, to: name, mode: 0o600)
      let found = try read(#"{"sfdxAuthUrlFile":"\#(name)"}"#)
      #expect(found.credentials == (try SFDXAuthURL(url)).credentials)
    }
    try folder.write(#"{"result":{"sfdxAuthUrl":"[REDACTED] canary"}}"#, to: "d", mode: 0o600)
    let message = problem(#"{"sfdxAuthUrlFile":"d"}"#)
    #expect(message.contains("is redacted; `sf org auth show-sfdx-auth-url`") && !message.contains("canary"))
  }

  @Test func file_wrong_namesTheKey() throws {
    let cases = [
      (#"{\#(Self.head),"password":"hunter2","passwordFile":"p"}"#, "'passwordFile' cannot be combined with 'password'"),
      (#"{\#(Self.head),"flow":"device","password":"hunter2"}"#, "'flow': 'device' is not one of sf, token, sfdxUrl"),
      (#"{\#(Self.head)}"#, "needs loginUrl and clientId"), (#"{\#(Self.head),"passwordFile":"gone"}"#, "'passwordFile'"),
      (#"{"loginUrl":"https://acme.lightning.force.com","clientId":"a","clientSecret":"hunter2"}"#, "take https://acme.my.sales"),
      (#"{\#(Self.head),"passwordCommand":""}"#, "'passwordCommand' must be a program"),
      (#"{\#(Self.head),"pasword":"hunter2"}"#, "did you mean 'password'"),
    ]
    for (text, part) in cases {
      let message = problem(text)
      #expect(message.contains(part) && !message.contains("hunter2"), "\(message)")
    }
  }

  private static let instance = #""instanceUrl":"https://acme.my.salesforce.com""#

  @Test func accessToken_inPlace_isGivenAndNotKept() throws {
    let found = try read(#"{\#(Self.instance),"accessToken":"00D!x"}"#)
    #expect(
      found.credentials == .accessToken(instanceURL: "https://acme.my.salesforce.com", accessToken: "00D!x")
        && found.user == "token-user" && !found.keepsSession)
    // The name and the instance may come from elsewhere.
    try folder.write(#"{"accessToken":"00D!x","username":"ann@acme.com"}"#, to: "c.json", mode: 0o600)
    let named = try CredentialsSource.read(folder.path + "/c.json", defaultURL: "https://acme.my.salesforce.com")
    #expect(named.credentials == found.credentials && named.user == "ann@acme.com")
  }

  @Test func accessToken_fromFileAndCommand_isReadAgainOnceItIsRefused() async throws {
    for place in [#""accessTokenFile":"token""#, #""accessTokenCommand":"cat \#(folder.path)/token""#] {
      try folder.write("first\n", to: "token", mode: 0o600)
      let found = try read(#"{\#(Self.instance),\#(place)}"#)
      guard case .external(let source) = found.credentials else {
        Issue.record("\(found.credentials)")
        continue
      }
      #expect(try await source.session(refused: nil).accessToken == "first")
      await #expect {
        _ = try await source.session(refused: "first")
      } throws: { ($0 as? RestError)?.code == .sessionExpired }
      try folder.write("second\n", to: "token", mode: 0o600)
      #expect(try await source.session(refused: "first").accessToken == "second")
      #expect(!found.keepsSession)
    }
  }

  @Test func accessToken_ofTheKeptSession_isKeptThere() throws {
    let found = try read(#"{\#(Self.instance),"flow":"token"}"#)
    #expect(found.credentials == .accessToken(instanceURL: "https://acme.my.salesforce.com", accessToken: nil))
    #expect(found.keepsSession)
  }

  @Test func browser_withItsKeys_takesTheRefreshTokenOfTheKeptSession() throws {
    let found = try read(
      #"{\#(Self.head),"flow":"browser","scopes":"api refresh_token","redirectUri":"http://localhost:1717/OauthRedirect"}"#)
    #expect(
      found.credentials
        == .refreshToken(loginURL: "https://acme.my.salesforce.com", clientId: "3MV", clientSecret: nil, refreshToken: nil))
    #expect(found.user == "bot@acme.com" && found.keepsSession)
  }

  /// The precedence of keys without `flow`.
  @Test func flow_ofKeysThatStandTogether_isTheFirstOfTheOrder() throws {
    try folder.write(TestKeys.pkcs1(Self.key), to: "key.pem", mode: 0o600)
    let all = [
      (#""refreshToken":"r""#, Credentials.Grant.refreshToken), (#""privateKeyFile":"key.pem""#, .jwtBearer),
      (#""password":"p""#, .password), (#""clientSecret":"s""#, .clientCredentials),
    ]
    for first in all.indices {
      let keys = all[first...].map(\.0).joined(separator: ",")
      #expect(try read("{\(Self.head),\(keys)}").credentials.grant == all[first].1)
      #expect(try read("{\(Self.head),\(Self.instance),\"accessToken\":\"t\",\(keys)}").credentials.grant == .accessToken)
      #expect(try read("{\(Self.head),\"sfdxAuthUrl\":\"force://a::r@h.example.com\",\(keys)}").credentials.clientId == "a")
    }
    let stated = try read(#"{\#(Self.head),"flow":"clientCredentials",\#(all.map(\.0).joined(separator: ","))}"#)
    #expect(stated.credentials.grant == .clientCredentials)
  }

  @Test func flow_ofTwoWholeSignIns_isAnErrorUnlessItIsStated() throws {
    let token = #""accessTokenVariable":"PATH""#, url = #""sfdxAuthUrl":"force://a::r@h.example.com""#, cli = #""sfOrg":"prod""#
    for (keys, words) in [
      ("\(token),\(url)", "'sfdxAuthUrl' cannot be combined with 'accessTokenVariable'"),
      ("\(url),\(cli)", "'sfdxAuthUrl' cannot be combined with 'sfOrg'"),
      ("\(cli),\(token)", "'accessTokenVariable' cannot be combined with 'sfOrg'"),
    ] {
      #expect(problem("{\(Self.instance),\(keys)}").contains(words))
    }
    #expect(try read("{\(Self.instance),\(token),\(url),\"flow\":\"sfdxUrl\"}").credentials.clientId == "a")
  }

  @Test func flow_thatIsStated_namesWhatItLacks() {
    for (text, part) in [
      (#"{"flow":"jwt","loginUrl":"https://a.example.com"}"#, "'flow': 'jwt' needs loginUrl, clientId, username"),
      (#"{"flow":"sfdxUrl"}"#, "needs sfdxAuthUrl"), (#"{"accessToken":"canary"}"#, "needs instanceUrl"),
      (#"{"instanceUrl":"http://acme.example.com","accessToken":"canary"}"#, "'instanceUrl': unencrypted http is allowed only"),
      (#"{\#(Self.instance),"accessToken":""}"#, "'accessToken' must be a string that is not empty"),
      (#"{"clientSecret":"canary"}"#, "needs loginUrl, clientId and clientSecret"),
    ] {
      let message = problem(text)
      #expect(message.contains(part) && !message.contains("canary"), "\(message)")
    }
  }

  @Test func sfdxURL_malformedFile_isToldWithTheCommandAndNoneOfIt() throws {
    for (text, part) in [
      ("force://PlatformCLI:canary@acme.my.salesforce.com", "has no client id"),
      ("{\"a\": \"canary\"}", "it has no 'sfdxAuthUrl'"),
      ("{canary", "it is not valid JSON"), ("canary", "it is not an SFDX auth URL"),
      ("force://:canary@acme.my.salesforce.com", "no client id"),
      (" Access Token    [REDACTED] canary\n Sfdx Auth Url   [REDACTED] canary\n", "is redacted"),
      (#"{"status":0,"result":{"username":"a","sfdxAuthUrl":"[REDACTED] canary"}}"#, "is redacted"),
    ] {
      try folder.write(text, to: "u.json", mode: 0o600)
      let message = problem(#"{"sfdxAuthUrlFile":"u.json"}"#)
      #expect(
        message.contains(part) && message.contains("`sf org auth show-sfdx-auth-url`") && !message.contains("canary"),
        "\(message)")
    }
  }

  @Test func commands_inAHomeThatBootconfigNames_areRefused() throws {
    var settings = HostSettings()
    settings.homeIsOfScript = true
    for part in ["orgs", "orgs/acme"] { #expect(mkdir(folder.path + "/" + part, 0o700) == 0) }
    try folder.write(
      #"{\#(Self.head),"passwordCommand":"touch \#(folder.path)/ran"}"#, to: "orgs/acme/credentials.json", mode: 0o600)
    let choice = OrgResolver(settings: settings, home: folder.path)
    let error = #expect(throws: HostError.self) { try choice.org("acme") }
    #expect(error?.message.contains("names a program") == true && access(folder.path + "/ran", F_OK) != 0)
  }

  @Test func commands_inAFileThatBootconfigNames_areRefused() throws {
    let message = problem(#"{\#(Self.head),"passwordCommand":"touch \#(folder.path)/ran"}"#, allowsCommands: false)
    #expect(message.contains("'passwordCommand' names a program, and bootconfig.json names this file"), "\(message)")
    #expect(access(folder.path + "/ran", F_OK) != 0)
  }

  @Test func environment_names_followTheKeys() {
    #expect(SignInKeys.variable("loginUrl") == "TUREEN_LOGIN_URL")
    #expect(SignInKeys.variable("clientSecretCommand") == "TUREEN_CLIENT_SECRET_COMMAND")
    #expect(SignInKeys.variable("sfdxAuthUrlFile") == "TUREEN_SFDX_AUTH_URL_FILE")
    #expect(SignInKeys.variable("instanceUrl") == "TUREEN_INSTANCE_URL" && SignInKeys.variable("sfOrg") == "TUREEN_SF_ORG")
  }

  @Test func jwt_atTheSandboxOrg_opensTheData() async throws {
    var client = SandboxClient(id: "robot")
    client.certificate = try Self.key.publicPEM()
    client.approval = .byAdministrator(usernames: nil)
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.signIn.clients = [client]
    configuration.signIn.users = [SandboxUser(username: "bot@acme.com", password: "x")]
    let server = try await SandboxServer.start(configuration)
    try folder.write(Self.key.pem(), to: "key.pem", mode: 0o600)
    func status(as user: String) async throws -> Int {
      let found = try read(
        #"{"loginUrl":"\#(server.url)","clientId":"robot","username":"\#(user)","privateKeyFile":"key.pem"}"#)
      let salesforce = SalesforceClient(credentials: found.credentials)
      let result: Result<Int, any Error>
      do {
        result = .success(try await salesforce.send(RestRequest(.GET, "/services/data/v66.0/limits")).status)
      } catch {
        result = .failure(error)
      }
      await salesforce.shutdown()
      return try result.get()
    }
    #expect(try await status(as: "bot@acme.com") == 200)
    await #expect {
      _ = try await status(as: "nobody@acme.com")
    } throws: { ($0 as? RestError)?.reason == "notApproved" }
    await server.stop()
  }
}
