import JSON
import SandboxOrg
import Testing

private let tokenURL = "/services/oauth2/token"
private let limits = "/services/data/v66.0/limits"

/// Control actions on an org: moves, refreshes, redirects and restrictions; the login history.
@Suite struct SignInControlTests {
  private func call(_ server: SandboxServer, _ action: String, _ body: String = "{}") async throws -> WireClient.Answer {
    try await WireClient(port: server.port, token: server.controlToken).json("POST", "/__sandbox/\(action)", body)
  }

  private func refresh(_ server: SandboxServer, port: Int? = nil) async throws -> WireClient.Answer {
    try await WireClient(port: port ?? server.port).form(
      tokenURL,
      [
        ("grant_type", "refresh_token"), ("client_id", server.clientId), ("refresh_token", server.credentials().refreshToken),
      ])
  }

  private func port(_ url: JSONValue?) -> Int { url?.stringValue?.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

  @Test func instanceURL_isToldInsteadOfTheAddress() async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.instanceURL = "https://acme.my.salesforce.com"
    let server = try await SandboxServer.start(configuration)
    let tokens = try await refresh(server)
    #expect(tokens.json["instance_url"] == "https://acme.my.salesforce.com")
    let answer = try await WireClient(port: server.port, token: tokens.json["access_token"]?.stringValue).send("GET", limits)
    #expect(answer.status == 200, "the org answers at its own address, too")
    await server.stop()
  }

  // MARK: Moving

  @Test(arguments: ["refused", "urlNotReset", "closed"])
  func migrate_oldInstanceRefuses_newTokensNameTheNewOne(old: String) async throws {
    try await withOrg { server, client in
      let answer = try await call(server, "migrate", #"{"old":"\#(old)"}"#)
      let instance = answer.json["instanceUrl"]
      #expect(answer.status == 200 && instance != .string(server.url))
      let tokens = try await refresh(server)
      #expect(tokens.json["instance_url"] == instance && tokens.json["id"]?.stringValue?.hasPrefix(server.url + "/id/") == true)
      let token = tokens.json["access_token"]?.stringValue
      let atOld = WireClient(port: server.port, token: token), atNew = WireClient(port: port(instance), token: token)
      #expect(try await atNew.send("GET", limits).status == 200)
      #expect(try await WireClient(port: port(instance), token: client.token).send("GET", limits).status == 401, "the old token")
      switch old {
      case "closed": await #expect(throws: WireClient.NoAnswer.self) { _ = try await atOld.send("GET", limits) }
      case "urlNotReset":
        let refused = try await atOld.send("GET", limits)
        #expect(refused.status == 400 && refused.errorCode == "URL_NOT_RESET")
      default: #expect(try await atOld.send("GET", limits).errorCode == "INVALID_SESSION_ID")
      }
      // Signing in and identity work at both.
      #expect(try await refresh(server, port: port(instance)).status == 200)
      let who = try await atOld.send("GET", "/services/oauth2/userinfo")
      #expect(who.status == 200 && who.json["urls"]?["custom_domain"] == instance)
      #expect(server.requests().contains { $0.status == 0 } == (old == "closed"))
    }
  }

  @Test func migrate_twice_leavesOnlyTheLastInstance() async throws {
    try await withOrg { server, _ in
      let first = try await server.migrate(), second = try await server.migrate(old: .urlNotReset)
      let token = try await refresh(server).json["access_token"]?.stringValue
      for (url, status) in [(server.url, 400), (first, 400), (second, 200)] {
        #expect(try await WireClient(port: port(.string(url)), token: token).send("GET", limits).status == status)
      }
    }
  }

  @Test func migrate_stoppedServer_listensNoMore() async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    let server = try await SandboxServer.start(configuration)
    let second = port(.string(try await server.migrate()))
    #expect(try await WireClient(port: second).send("GET", "/services/data").status == 200)
    await server.stop()
    await #expect(throws: (any Error).self) { _ = try await WireClient(port: second).send("GET", "/services/data") }
    await #expect(throws: SandboxError.self) { _ = try await server.migrate() }
  }

  // MARK: Refreshing the org

  @Test func refreshOrg_newId_sameRecordsAndNoTokens() async throws {
    try await withSignIn { server, client in
      let phone = SignedIn(client: client, id: "phone", redirect: "app:///done")
      let before = server.credentials()
      let tokens = try await phone.tokens("grace@example.org", "h0pper").json
      let account = try server.create("Account", fields: ["Name": "Kept"])
      let id = try await call(server, "refreshOrg").json["organizationId"]?.stringValue
      #expect(id != before.organizationId && id == server.credentials().organizationId && id?.hasPrefix("00D") == true)
      let own = try server.query("SELECT Id, IsSandbox FROM Organization")["records"]?.arrayValue?.first
      #expect(own?["Id"]?.stringValue == id && own?["IsSandbox"] == true)
      let refused = try await phone.refresh(tokens["refresh_token"]?.stringValue)
      #expect(refused.json["error_description"] == "expired access/refresh token")
      let old = WireClient(port: server.port, token: tokens["access_token"]?.stringValue)
      #expect(try await old.send("GET", limits).status == 401)
      // The user has to approve again; user and records are the same.
      var browser = Browser(client)
      _ = try await phone.authorize(&browser)
      #expect(try await browser.submit([("username", "grace@example.org"), ("password", "h0pper")]).status == 200)
      let again = try await phone.tokens("grace@example.org", "h0pper").json
      let users = [tokens, again].map { $0["id"]?.stringValue?.split(separator: "/").last }
      #expect(users[0] == users[1] && again["id"]?.stringValue?.contains(id ?? "?") == true)
      #expect(try server.query("SELECT Name FROM Account WHERE Id = '\(account)'")["totalSize"] == 1)
      _ = try await call(server, "reset")
      #expect(try server.query("SELECT Id FROM Organization")["records"]?.arrayValue?.first?["Id"]?.stringValue == id)
    }
  }

  // MARK: Redirects

  @Test func redirectTokens_secondPort_answersThere() async throws {
    try await withOrg { server, _ in
      let place = try await call(server, "redirectTokens", #"{"to":"secondPort"}"#).json["to"]
      let answer = try await refresh(server)
      #expect(answer.status == 302 && answer.headers["location"] == (place?.stringValue ?? "") + tokenURL)
      let followed = try await refresh(server, port: port(place))
      #expect(followed.status == 200 && followed.json["instance_url"] == place)
      _ = try await call(server, "redirectTokens", #"{"to":"https://elsewhere.example","status":307}"#)
      let elsewhere = try await refresh(server)
      #expect(elsewhere.status == 307 && elsewhere.headers["location"] == "https://elsewhere.example" + tokenURL)
      #expect(try await call(server, "redirectTokens").json == ["to": .null])
      #expect(try await refresh(server).status == 200)
    }
  }

  // MARK: Addresses

  @Test func restrictAddress_userOrClient_isRefusedUntilLifted() async throws {
    try await withOrg { server, client in
      let cases = [#""user":"\#(server.username.uppercased())""#, #""client":"\#(server.clientId)""#]
      for who in cases {
        #expect(try await call(server, "restrictAddress", "{\(who)}").text == "\"OK\"")
        let refused = try await refresh(server)
        #expect(refused.status == 400)
        #expect(refused.json == ["error": "invalid_grant", "error_description": "ip restricted"])
        #expect(try await client.send("GET", limits).errorCode == "INVALID_SESSION_ID")
        #expect(try await client.send("GET", "/services/oauth2/userinfo").text == "Bad_OAuth_Token")
        _ = try await call(server, "restrictAddress", "{\(who),\"restricted\":false}")
        #expect(try await refresh(server).status == 200)
        #expect(try await client.send("GET", limits).status == 200)
      }
    }
  }

  @Test(arguments: [
    ("migrate", #"{"old":"gone"}"#, "argument 'old' must be one of refused, urlNotReset, closed"),
    ("redirectTokens", #"{"to":"elsewhere"}"#, "argument 'to' must be \"secondPort\" or an origin"),
    ("redirectTokens", #"{"to":"https://a/b"}"#, "argument 'to' must be"),
    ("redirectTokens", #"{"to":"https://a\r\nX: y"}"#, "argument 'to' must be"),
    ("redirectTokens", #"{"to":"secondPort","status":200}"#, "argument 'status' must be 301, 302"),
    ("restrictAddress", "{}", "argument 'user' must be a user name, or 'client' an id"),
    ("restrictAddress", #"{"user":"x@y"}"#, "argument 'user': 'x@y' does not exist in the org"),
    ("restrictAddress", #"{"client":"x"}"#, "argument 'client': 'x' does not exist in the org"),
    ("signIns", #"{"since":"x"}"#, "argument 'since' must be"),
  ])
  func control_wrongArguments_areNamed(action: String, body: String, message: String) async throws {
    try await withOrg { server, _ in
      let answer = try await call(server, action, body)
      #expect(answer.status == 400 && answer.errorCode == "INVALID_ARGUMENT")
      #expect(answer.message?.contains(message) == true, "\(answer.message ?? "")")
    }
  }

  // MARK: The history

  @Test func signIns_eachTry_isToldWithoutValues() async throws {
    try await withSignIn { server, client in
      let phone = SignedIn(client: client, id: "phone", redirect: "app:///done")
      let refreshToken = try await phone.tokens("grace@example.org", "h0pper").json["refresh_token"]?.stringValue
      _ = try await phone.refresh(refreshToken)
      _ = try await phone.refresh(refreshToken)
      let web = [("client_id", "web"), ("client_secret", "web secret")]
      _ = try await client.form(tokenURL, [("grant_type", "client_credentials")] + web)
      _ = try await client.form(
        tokenURL, [("grant_type", "password"), ("username", "GRACE@example.org"), ("password", "canary")] + web)
      _ = try await client.form(tokenURL, [("grant_type", "canary"), ("client_id", "canary"), ("username", "canary")])
      let all = try await call(server, "signIns").json
      let told = (all.arrayValue ?? []).map { entry in
        ["user", "client", "grant", "result"].map { entry[$0]?.stringValue ?? "-" }.joined(separator: " ")
      }
      #expect(
        told == [
          "grace@example.org phone browser success", "grace@example.org phone authorization_code success",
          "grace@example.org phone refresh_token success", "- phone refresh_token invalid_grant",
          "grace@example.org web client_credentials success", "grace@example.org web password invalid_grant",
          "- - other unsupported_grant_type",
        ])
      #expect(!String(decoding: all.serialized(), as: UTF8.self).contains("canary"))
      #expect(all.arrayValue?[5]["message"] == "authentication failure" && all.arrayValue?[5]["time"] == 1_772_442_000)
      let later = try await call(server, "signIns", #"{"since":6}"#).json.arrayValue
      #expect(later?.map { $0["sequence"] } == [7])
    }
  }
}
