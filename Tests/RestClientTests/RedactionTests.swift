import JSON
import TestSupport
import Testing

@testable import RestClient
@testable import Salesforce

@Suite(.timeLimit(.minutes(60))) struct RedactionTests {
  private let secrets = ["SECRET-access", "SECRET-refresh", "SECRET-client", "SECRET-password"]

  private func everyForm(of value: some Any) -> String {
    var dumped = ""
    dump(value, to: &dumped)
    return "\(value) \(String(reflecting: value)) \(dumped) \(dump: [value])"
  }

  @Test func session_printed_showsNoToken() {
    let session = Session(
      accessToken: secrets[0], refreshToken: secrets[1], instanceURL: "https://a.example", userId: "005U",
      loginURL: "https://login.example")
    let text = everyForm(of: session) + everyForm(of: Optional(session)) + everyForm(of: ["k": session])
    #expect(text.contains("005U"))
    for secret in secrets { #expect(!text.contains(secret)) }
  }

  @Test func credentials_printed_showNoSecret() {
    let url = "https://login.example"
    let all: [Credentials] = [
      .password(loginURL: url, clientId: "a", clientSecret: secrets[2], username: "u", password: secrets[3]),
      .clientCredentials(loginURL: url, clientId: "a", clientSecret: secrets[2]),
      .refreshToken(loginURL: url, clientId: "a", clientSecret: secrets[2], refreshToken: secrets[1]),
    ]
    let text = all.map { everyForm(of: $0) }.joined() + everyForm(of: all)
    #expect(text.contains("client_credentials"))
    for secret in secrets { #expect(!text.contains(secret)) }
  }

  @Test func log_ofAWholeCall_showsPathsOnly() async throws {
    let server = try ScriptedServer(expired)
    server.enqueue(tokenAnswer(server, token: "SECRET-access"), .closed, .json(#"{"Name":"SECRET-record"}"#))
    let (log, traces) = (RecordedLog(), RecordedTraces())
    let credentials = Credentials.refreshToken(
      loginURL: server.url, clientId: "a", clientSecret: "SECRET-client", refreshToken: "SECRET-refresh")
    let query = SalesforceRequests(apiVersion: "v66.0").query(soql: "SELECT Id FROM Account WHERE Name='SECRET-value'")
    try await withClient(
      server, session: session(server, token: "SECRET-old"), credentials: credentials, policy: .standard,
      observer: traces, logger: log.logger
    ) { _ = try await $0.send(query) }
    #expect(log.text.contains("/services/data/v66.0/query") && log.text.contains("/services/oauth2/token"))
    #expect(!log.text.contains("SECRET"))
    #expect(!"\(traces.all)".contains("SECRET"))
  }

  /// The message shows the beginning of the body, which can end within a secret.
  @Test func error_ofABodyThatIsCutInASecret_showsNoPart() throws {
    let secret = "SECRET-0123456789", settings = try ConnectionSettings(name: "api", baseURL: "http://127.0.0.1")
    for shown in 0...Tuning.shownCharacters {
      let text = String(repeating: "x", count: shown) + secret
      let response = RestResponse(status: 400, headers: [("Content-Type", "text/plain")], body: ResponseBody(Array(text.utf8)))
      let error = settings.error(response, hiding: [secret])
      #expect(!error.message.contains("S") && error.body?.contains("S") == false, "\(shown): \(error.message)")
    }
  }

  @Test func session_storedAndRead_isTheSame() throws {
    let session = Session(
      accessToken: "a", refreshToken: "r", instanceURL: "https://i", userId: "u", orgId: "o", loginURL: "https://l",
      identityURL: "https://l/id/o/u", issuedAt: 12)
    #expect(Session(json: try JSONValue(parsing: session.json.text)) == session)
    var bare = session
    bare.refreshToken = nil
    bare.issuedAt = nil
    #expect(Session(json: try JSONValue(parsing: bare.json.text)) == bare)
    #expect(Session(json: ["accessToken": "a"]) == nil)
  }
}

extension String.StringInterpolation {
  fileprivate mutating func appendInterpolation(dump value: some Any) {
    var text = ""
    Swift.dump(value, to: &text)
    appendLiteral(text)
  }
}
