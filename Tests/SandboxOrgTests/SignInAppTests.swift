import JSON
import SandboxOrg
import TestSupport
import Testing

private let tokenURL = "/services/oauth2/token"
private let grace = [("username", "grace@example.org"), ("password", "h0pper")]

/// What administrators do to apps: kinds, installation, blocking, flows.
@Suite struct SignInAppTests {
  private func app(_ id: String, _ change: (inout SandboxClient) -> Void) -> SandboxClient {
    var client = SandboxClient(id: id, secret: "s")
    client.redirectURIs = ["http://localhost:1717/OauthRedirect", "http://127.0.0.1:1717/OauthRedirect"]
    client.certificate = Keys.publicKey
    client.runsAs = "grace@example.org"
    client.approval = .byAdministrator(usernames: nil)
    change(&client)
    return client
  }

  private func withApp(
    _ change: (inout SandboxClient) -> Void, _ body: (SandboxServer, WireClient) async throws -> Void
  ) async throws {
    let client = app("app", change)
    try await withSignIn(change: { $0.clients.append(client) }, body)
  }

  private func form(_ grant: String, _ extra: [(String, String)] = []) -> [(String, String)] {
    [("grant_type", grant), ("client_id", "app"), ("client_secret", "s")] + extra
  }

  private func bearer(_ client: WireClient, aud: String) async throws -> JSONValue {
    let assertion = try Keys.assertion([
      "iss": "app", "sub": "grace@example.org", "aud": .string(aud), "exp": 1_772_442_180,
    ])
    return try await client.form(
      tokenURL, [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion)]
    ).json
  }

  private func authorize(_ client: WireClient, _ redirect: String = "http://localhost:1717/OauthRedirect") async throws
    -> WireClient.Answer
  {
    var browser = Browser(client)
    let page = try await browser.open([
      ("response_type", "code"), ("client_id", "app"), ("redirect_uri", redirect), ("state", "st"),
    ])
    return page.status == 200 ? try await browser.submit(grace) : page
  }

  // MARK: External client apps

  @Test func externalApp_signsInAtMyDomainsAndWithoutPasswords() async throws {
    try await withApp({ $0.kind = .external }) { server, client in
      #expect(try await bearer(client, aud: server.url)["access_token"] != nil)
      for host in ["https://login.salesforce.com", "https://test.salesforce.com/"] {
        let refused = try await bearer(client, aud: host)
        #expect(refused == ["error": "app_not_found", "error_description": "External client app is not installed in this org"])
      }
      let body = Array("grant_type=refresh_token&client_id=app&refresh_token=x".utf8)
      let head = "POST \(tokenURL) HTTP/1.1\r\nHost: login.salesforce.com\r\nConnection: close\r\n"
      let shared = try await client.exchange(Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body)
      #expect(shared.json["error"] == "app_not_found")
      let password = try await client.form(
        tokenURL, form("password", [("username", "grace@example.org"), ("password", "h0pperTOKEN")]))
      #expect(password.json["error_description"] == "authentication failure")
      #expect(try await client.form(tokenURL, form("client_credentials")).status == 200)
    }
  }

  @Test func externalApp_notInstalled_isNotFoundEverywhere() async throws {
    try await withApp({
      $0.kind = .external
      $0.isInstalled = false
    }) { server, client in
      #expect(try await bearer(client, aud: server.url)["error"] == "app_not_found")
      #expect(try await client.form(tokenURL, form("client_credentials")).json["error"] == "app_not_found")
      let fields = redirected(try await authorize(client)).fields
      #expect(fields["error"] == "OAUTH_EC_APP_NOT_FOUND" && fields["state"] == "st")
    }
  }

  // MARK: Connected apps

  @Test func connectedApp_notInstalled_endsOnAPageWithoutRedirect() async throws {
    try await withApp({ $0.isInstalled = false }) { _, client in
      let answer = try await authorize(client)
      let page = "/setup/secur/RemoteAccessErrorPage.apexp?error=invalid_client&error_description=app+must+be+installed+into+org"
      #expect(answer.status == 302 && answer.headers["location"] == page)
      let shown = try await client.send("GET", page)
      #expect(shown.status == 200 && shown.headers["location"] == nil)
      #expect(shown.text.contains("error=invalid_client&amp;error_description=app must be installed into org"))
      let evil = try await client.send("GET", "/setup/secur/RemoteAccessErrorPage.apexp?error=%3Cscript%3E")
      #expect(evil.text.contains("&lt;script&gt;") && !evil.text.contains("<script>"))
      let refusals = [
        (form("client_credentials"), "no client credentials user enabled"),
        (form("password", [("username", "grace@example.org"), ("password", "h0pperTOKEN")]), "authentication failure"),
      ]
      for (fields, text) in refusals {
        #expect(try await client.form(tokenURL, fields).json["error_description"] == .string(text))
      }
      let assertion = try await bearer(client, aud: "https://login.salesforce.com")
      #expect(assertion["error_description"] == "user hasn't approved this consumer")
    }
  }

  @Test func connectedApp_uninstalledLater_goesOnForWhoAllowedIt() async throws {
    var configuration = SandboxConfiguration()
    let folder = try TemporaryFolder()
    configuration.databasePath = folder.path + "/org.sqlite"
    configuration.seed = .none
    configuration.clock = ManualSandboxClock()
    configuration.signIn.users = [SandboxUser(username: "grace@example.org", password: "h0pper")]
    var refreshToken: String?
    for isInstalled in [true, false] {
      configuration.signIn.clients = [
        app("app") {
          $0.isInstalled = isInstalled
          $0.approval = .byUser
        }
      ]
      let server = try await SandboxServer.start(configuration)
      let person = SignedIn(
        client: WireClient(port: server.port), id: "app", redirect: "http://localhost:1717/OauthRedirect", secret: "s")
      if isInstalled {
        refreshToken = try await person.tokens("grace@example.org", "h0pper").json["refresh_token"]?.stringValue
      } else {
        #expect(try await person.refresh(refreshToken).status == 200)
        #expect(try await person.tokens("grace@example.org", "h0pper").status == 200)
        let stranger = try await person.tokens(server.username, server.password)
        #expect(stranger.json["error_description"] == "missing required parameter: code")
      }
      await server.stop()
    }
  }

  @Test func blockedApp_getsNoTokens() async throws {
    try await withApp({ $0.isBlocked = true }) { server, client in
      for fields in [form("client_credentials"), form("refresh_token", [("refresh_token", "x")])] {
        let answer = try await client.form(tokenURL, fields)
        #expect(answer.json == ["error": "app_blocked", "error_description": "this app is blocked by admin"])
      }
      #expect(try await bearer(client, aud: server.url)["error"] == "app_blocked")
      let fields = redirected(try await authorize(client)).fields
      #expect(fields == ["error": "OAUTH_APP_BLOCKED", "error_description": "this app is blocked by admin", "state": "st"])
    }
  }

  @Test func flows_switchedOff_areDisabled() async throws {
    try await withApp({ $0.flows = [] }) { server, client in
      let robot = try await client.form(tokenURL, form("client_credentials")), signed = try await bearer(client, aud: server.url)
      #expect(robot.json["error"] == "oauth_flow_disabled" && signed["error"] == "oauth_flow_disabled")
      #expect(redirected(try await authorize(client)).fields["error"] == "oauth_flow_disabled")
      let password = form("password", [("username", "grace@example.org"), ("password", "h0pperTOKEN")])
      #expect(try await client.form(tokenURL, password).json["error_description"] == "authentication failure")
    }
  }

  // MARK: Addresses and assertions

  @Test func redirect_plainHTTP_isForLocalhostAlone() async throws {
    try await withApp({ _ in }) { _, client in
      #expect(try await authorize(client).status == 302)
      let answer = try await authorize(client, "http://127.0.0.1:1717/OauthRedirect")
      #expect(answer.status == 400 && answer.text.contains("error=redirect_uri_mismatch"))
    }
  }

  @Test func assertion_sameId_isGoodOnce() async throws {
    try await withApp({ _ in }) { server, client in
      for (id, error) in [("a", nil), ("a", "bad_jti_claim"), ("b", nil)] as [(String, JSONValue?)] {
        let assertion = try Keys.assertion([
          "iss": "app", "sub": "grace@example.org", "aud": .string(server.url), "exp": 1_772_442_180, "jti": .string(id),
        ])
        let answer = try await client.form(
          tokenURL, [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion)])
        #expect(answer.json["error"] == error && answer.status == (error == nil ? 200 : 400))
      }
    }
  }
}
