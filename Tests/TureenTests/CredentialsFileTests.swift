import CryptoExtras
import Glibc
import JSON
import RestClient
import SandboxOrg
import TestSupport
import Testing

@testable import Salesforce
@testable import Tureen

/// Credentials files: where each secret is kept, and which flow follows.
@Suite struct CredentialsFileTests {
  private static let key = try! _RSA.Signing.PrivateKey(keySize: .bits2048)
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
    try folder.write(Self.key.pemRepresentation, to: "key.pem", mode: 0o600)
    let found = try read(#"{\#(Self.head),"privateKeyFile":"key.pem","audience":"https://login.salesforce.com"}"#)
    #expect(found.user == "bot@acme.com" && found.credentials.grant == .jwtBearer)
    guard case .jwtBearer(let bearer) = found.credentials else { return }
    #expect(bearer.firstAudience == "https://login.salesforce.com" && bearer.username == "bot@acme.com")
    #expect(try bearer.assertion(audience: "x", now: 0).split(separator: ".").count == 3)
  }

  @Test func jwt_keyFromCommand_isReadToSign() throws {
    try folder.write(Self.key.pemRepresentation, to: "key.pem", mode: 0o600)
    let found = try read(#"{\#(Self.head),"privateKeyCommand":["cat","\#(folder.path)/key.pem"]}"#)
    guard case .jwtBearer(let bearer) = found.credentials else {
      Issue.record("\(found.credentials)")
      return
    }
    #expect(try bearer.assertion(audience: "x", now: 0).split(separator: ".").count == 3)
  }

  @Test func jwt_keyThatOthersCanRead_isRefused() throws {
    try folder.write(Self.key.pemRepresentation, to: "key.pem", mode: 0o644)
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
    // A variable that is there anyway: setting one would disturb the programs that other tests start.
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
      (#"{\#(Self.head),"password":"hunter2","passwordFile":"p"}"#, "'passwordFile' stands beside 'password'"),
      (#"{\#(Self.head),"flow":"device","password":"hunter2"}"#, "'flow': 'device' is not one of sfdxUrl, refreshToken, jwt"),
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

  @Test func commands_inAFileThatBootconfigNames_areRefused() throws {
    let message = problem(#"{\#(Self.head),"passwordCommand":"touch \#(folder.path)/ran"}"#, allowsCommands: false)
    #expect(message.contains("'passwordCommand' names a program, and bootconfig.json names this file"), "\(message)")
    #expect(access(folder.path + "/ran", F_OK) != 0)
  }

  @Test func environment_names_followTheKeys() {
    #expect(SignInKeys.variable("loginUrl") == "TUREEN_LOGIN_URL")
    #expect(SignInKeys.variable("clientSecretCommand") == "TUREEN_CLIENT_SECRET_COMMAND")
    #expect(SignInKeys.variable("sfdxAuthUrlFile") == "TUREEN_SFDX_AUTH_URL_FILE")
  }

  @Test func jwt_atTheSandboxOrg_opensTheData() async throws {
    var client = SandboxClient(id: "robot")
    client.certificate = Self.key.publicKey.pemRepresentation
    client.approval = .byAdministrator(usernames: nil)
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.signIn.clients = [client]
    configuration.signIn.users = [SandboxUser(username: "bot@acme.com", password: "x")]
    let server = try await SandboxServer.start(configuration)
    try folder.write(Self.key.pkcs8PEMRepresentation, to: "key.pem", mode: 0o600)
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
