import Foundation
import JSON
import SandboxOrg
import Support
import Testing

private let tokenURL = "/services/oauth2/token"

/// Flows without a browser, with their errors.
@Suite struct GrantTests {
  // MARK: JWT bearer

  private func claims(_ changes: [String: JSONValue?] = [:]) -> JSONObject {
    // The manual clock stands at 1,772,442,000.
    var claims: JSONObject = [
      "iss": "admin", "sub": "grace@example.org", "aud": "https://login.salesforce.com", "exp": 1_772_442_180,
    ]
    for (key, value) in changes { claims[key] = value }
    return claims
  }

  private func bearer(_ client: WireClient, _ assertion: String) async throws -> WireClient.Answer {
    try await client.form(
      tokenURL, [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion)])
  }

  @Test func assertion_goodOnes_openTheData() async throws {
    try await withSignIn { server, client in
      let variants: [[String: JSONValue?]] = [
        [:], ["exp": "1772442180"], ["aud": .string(server.url)], ["aud": .string(server.url + tokenURL)],
        ["aud": ["https://test.salesforce.com/"]], ["sub": nil, "prn": "GRACE@example.org"], ["nbf": 1_772_442_000],
        // Far in the future: an hour, and milliseconds instead of seconds.
        ["exp": 1_772_445_600], ["exp": 1_772_442_180_000],
      ]
      for changes in variants {
        let answer = try await bearer(client, Keys.assertion(claims(changes)))
        #expect(answer.status == 200 && answer.json["refresh_token"] == nil)
        let signedIn = WireClient(port: server.port, token: answer.json["access_token"]?.stringValue)
        #expect(try await signedIn.query("SELECT Id FROM User").status == 200)
      }
    }
  }

  @Test func assertion_badOnes_areToldApart() async throws {
    try await withSignIn { server, client in
      let other = try PrivateKey.makeRSA()
      let good = try Keys.assertion(claims())
      let parts = good.split(separator: ".")
      let unsigned = try Keys.assertion(claims(), header: ["alg": "none"]).split(separator: ".")
      let cases: [(String, String)] = [
        (try Keys.assertion(claims(), signedBy: other), "invalid assertion"),
        (
          "\(parts[0]).\(Keys.urlText(JSONValue.object(claims(["sub": "gone@example.org"])).serialized())).\(parts[2])",
          "invalid assertion"
        ),
        ("\(unsigned[0]).\(unsigned[1]).", "invalid assertion"), ("\(parts[0]).\(parts[1])", "invalid assertion"),
        (try Keys.assertion(claims(), header: ["alg": "HS256"]), "invalid assertion"),
        (try Keys.assertion(claims(), header: ["alg": "RS256", "crit": ["b64"]]), "invalid assertion"),
        ("no.jwt.at all", "invalid assertion"), (String(repeating: "a", count: 20_000), "invalid assertion"),
        (try Keys.assertion(claims(["exp": nil])), "invalid assertion"),
        (try Keys.assertion(claims(["exp": "soon"])), "invalid assertion"),
        (try Keys.assertion(claims(["exp": 1_772_441_900])), "expired authorization code"),
        (try Keys.assertion(claims(["iss": "strict", "exp": 1_772_442_600])), "invalid assertion"),
        (try Keys.assertion(claims(["nbf": 1_772_442_100])), "invalid assertion"),
        (try Keys.assertion(claims(["aud": "https://elsewhere.example"])), "audience is invalid"),
        (try Keys.assertion(claims(["aud": nil])), "audience is invalid"),
        (try Keys.assertion(claims(["sub": "nobody@example.org"])), "user hasn't approved this consumer"),
        (try Keys.assertion(claims(["iss": "asking"])), "user hasn't approved this consumer"),
        (try Keys.assertion(claims(["iss": "web"])), "invalid assertion"),
      ]
      for (assertion, description) in cases {
        let answer = try await bearer(client, assertion)
        #expect(answer.status == 400)
        #expect(answer.json == ["error": "invalid_grant", "error_description": .string(description)])
      }
      #expect(try await bearer(client, Keys.assertion(claims(["iss": "no"]))).json["error"] == "invalid_client_id")
      let others: [([String: JSONValue?], JSONValue)] = [
        (["sub": "gone@example.org"], ["error": "invalid_grant", "error_description": "inactive user"]),
        // The older claim takes precedence.
        (["prn": "gone@example.org"], ["error": "invalid_grant", "error_description": "inactive user"]),
        (
          ["sub": .string(server.username)],
          ["error": "invalid_app_access", "error_description": "user is not admin approved to access this app"]
        ),
      ]
      for (changes, refusal) in others {
        #expect(try await bearer(client, Keys.assertion(claims(changes))).json == refusal)
      }
    }
  }

  @Test func assertion_afterTheUserAllowedTheClient_isGood() async throws {
    try await withSignIn { _, client in
      var browser = Browser(client)
      _ = try await browser.open([
        ("response_type", "code"), ("client_id", "asking"), ("redirect_uri", "https://example.org/asking"),
      ])
      _ = try await browser.submit([("username", "grace@example.org"), ("password", "h0pper")])
      #expect(try await browser.submit([("decision", "allow")]).status == 302)
      #expect(try await bearer(client, Keys.assertion(claims(["iss": "asking"]))).status == 200)
    }
  }

  // MARK: Password and client credentials

  @Test func password_usersAndTokens_areToldApart() async throws {
    try await withSignIn { server, client in
      let cases: [(String, String, String, String?)] = [
        ("grace@example.org", "h0pperTOKEN", "web secret", nil), ("GRACE@EXAMPLE.ORG", "h0pperTOKEN", "web secret", nil),
        ("grace@example.org", "h0pper", "web secret", "invalid_grant"), ("nobody", "h0pperTOKEN", "web secret", "invalid_grant"),
        ("gone@example.org", "gone", "web secret", "invalid_grant"), ("grace@example.org", "h0pperTOKEN", "x", "invalid_client"),
        ("grace@example.org", "h0pperTOKEN", "", "invalid_client"),
      ]
      for (user, password, secret, error) in cases {
        let answer = try await client.form(
          tokenURL,
          [
            ("grant_type", "password"), ("client_id", "web"), ("client_secret", secret), ("username", user),
            ("password", password),
          ])
        #expect(answer.status == (error == nil ? 200 : 400) && answer.json["error"]?.stringValue == error)
      }
      let public1 = try await client.form(
        tokenURL,
        [("grant_type", "password"), ("client_id", "phone"), ("username", server.username), ("password", server.password)])
      #expect(public1.json["error"] == "invalid_client")
    }
  }

  @Test func password_flowSwitchedOff_isRefusedLikeAWrongPassword() async throws {
    var modern = SandboxClient(id: "modern", secret: "s")
    modern.passwordFlow = false
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.signIn.clients = [modern]
    let server = try await SandboxServer.start(configuration)
    let form = [
      ("grant_type", "password"), ("client_id", "modern"), ("client_secret", "s"), ("username", server.username),
      ("password", server.password),
    ]
    let answer = try await WireClient(port: server.port).form(tokenURL, form)
    await server.stop()
    #expect(answer.json == ["error": "invalid_grant", "error_description": "authentication failure"])
  }

  @Test func basicHeader_unreadable_is401() async throws {
    try await withSignIn { _, client in
      for text in ["%%%", "bm9jb2xvbg=="] {
        let answer = try await client.send(
          "POST", tokenURL,
          headers: [("Authorization", "Basic \(text)"), ("Content-Type", "application/x-www-form-urlencoded")],
          body: Array("grant_type=client_credentials&client_id=web&client_secret=web+secret".utf8))
        #expect(answer.status == 401 && answer.json["error"] == "invalid_basic_auth_header")
      }
    }
  }

  @Test func organizationNumber_givesTwoOrgsTwoIds() async throws {
    var ids: Set<String> = []
    for number in [1, 2, 3] as [Int64] {
      var configuration = SandboxConfiguration()
      configuration.seed = .none
      configuration.organizationNumber = number
      let server = try await SandboxServer.start(configuration)
      let access = server.credentials()
      let answer = try await WireClient(port: server.port).form(
        tokenURL,
        [
          ("grant_type", "refresh_token"), ("client_id", server.clientId), ("client_secret", server.clientSecret),
          ("refresh_token", access.refreshToken),
        ])
      await server.stop()
      #expect(answer.json["id"]?.stringValue?.contains("/id/\(access.organizationId)/") == true)
      #expect(access.organizationId.count == 18 && access.organizationId.hasPrefix("00D"))
      ids.insert(access.organizationId)
    }
    #expect(ids.count == 3)
  }

  @Test func clientCredentials_runAsTheirUserAndNotOnTheLoginHost() async throws {
    try await withSignIn { server, client in
      let form = "grant_type=client_credentials&client_id=web&client_secret=web+secret"
      func send(_ host: String, _ body: String) async throws -> WireClient.Answer {
        let head = "POST \(tokenURL) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        return try await client.exchange(Array((head + body).utf8))
      }
      let answer = try await send("my.sandbox.localhost:\(server.port)", form)
      #expect(answer.json["scope"] == "api openid id")
      #expect(answer.status == 200 && answer.json["instance_url"] == .string("http://my.sandbox.localhost:\(server.port)"))
      let who = try await WireClient(port: server.port, token: answer.json["access_token"]?.stringValue)
        .send("GET", "/services/oauth2/userinfo")
      #expect(who.json["preferred_username"] == "grace@example.org")
      // A shared login host forwards to the org's own.
      let password = form.replacing("client_credentials", with: "password") + "&username=grace%40example.org&password=h0pperTOKEN"
      #expect(try await send("login.salesforce.com", password).json["instance_url"] == .string(server.url))
      for host in ["login.salesforce.com", "test.salesforce.com:443"] {
        #expect(try await send(host, form).json["error_description"] == "request not supported on this domain")
      }
      let noUser = try await send("x", "grant_type=client_credentials&client_id=admin&client_secret=admin+secret")
      #expect(noUser.json["error_description"] == "no client credentials user enabled")
    }
  }

  // MARK: Refresh

  @Test func refresh_withRotation_replacesTheTokenAndEndsTheLineWhenAnOldOneIsUsed() async throws {
    try await withSignIn { server, client in
      var browser = Browser(client)
      _ = try await browser.open([
        ("response_type", "code"), ("client_id", "phone"), ("redirect_uri", "app:///done"), ("code_challenge", challenge("v")),
      ])
      _ = try await browser.submit([("username", "grace@example.org"), ("password", "h0pper")])
      let code = redirected(try await browser.submit([("decision", "allow")])).fields["code"] ?? ""
      let first = try await client.form(
        tokenURL,
        [
          ("grant_type", "hybrid_auth_code"), ("client_id", "phone"), ("redirect_uri", "app:///done"), ("code", code),
          ("code_verifier", "v"),
        ])
      func refresh(_ answer: WireClient.Answer, _ id: String = "phone") async throws -> WireClient.Answer {
        let token = answer.json["refresh_token"]?.stringValue ?? ""
        return try await client.form(tokenURL, [("grant_type", "hybrid_refresh"), ("client_id", id), ("refresh_token", token)])
      }
      #expect(try await refresh(first, "admin").json["error_description"] == "expired access/refresh token")
      let second = try await refresh(first)
      #expect(second.status == 200 && second.json["refresh_token"] != first.json["refresh_token"])
      let old = WireClient(port: server.port, token: first.json["access_token"]?.stringValue)
      #expect(try await old.query("SELECT Id FROM User").status == 401)
      let third = try await refresh(second)
      #expect(third.status == 200)
      #expect(try await refresh(first).json["error"] == "invalid_grant")
      #expect(try await refresh(third).json["error"] == "invalid_grant")
      let newest = WireClient(port: server.port, token: third.json["access_token"]?.stringValue)
      #expect(try await newest.query("SELECT Id FROM User").status == 401)
    }
  }

  // MARK: Introspection and revocation

  @Test func introspect_ownTokens_areDescribedAndOthersAreNot() async throws {
    let clock = ManualSandboxClock()
    try await withSignIn(clock: clock) { server, client in
      func ask(_ token: String, _ id: String = "web", _ secret: String = "web secret") async throws -> JSONValue {
        try await client.form("/services/oauth2/introspect", [("token", token), ("client_id", id), ("client_secret", secret)])
          .json
      }
      let grant = [
        ("grant_type", "client_credentials"), ("client_id", "web"), ("client_secret", "web secret"),
      ]
      let token = try await client.form(tokenURL, grant).json["access_token"]?.stringValue ?? ""
      let state = try await ask(token)
      #expect(state["active"] == true && state["client_id"] == "web" && state["username"] == "grace@example.org")
      #expect(state["exp"] == 1_772_449_200 && state["iat"] == 1_772_442_000 && state["token_type"] == "access_token")
      #expect(try await ask(token, "admin", "admin secret") == ["active": false])
      #expect(try await ask("garbage") == ["active": false])
      #expect(
        try await ask(server.credentials().refreshToken, server.clientId, server.clientSecret)["token_type"] == "refresh_token")
      #expect(try await ask(token, "web", "wrong")["error"] == "invalid_client")
      #expect(try await ask("")["error"] == "invalid_request")
      clock.advance(by: 7_000)
      #expect(try await ask(token)["active"] == true)
      // Introspection does not keep a token alive.
      clock.advance(by: 201)
      #expect(try await ask(token) == ["active": false])
    }
  }

  @Test func revoke_accessToken_endsOnlyThatOne() async throws {
    try await withOrg { server, client in
      let other = try server.issueAccessToken()
      #expect(try await client.form("/services/oauth2/revoke", [("token", client.token ?? "")]).status == 200)
      #expect(try await client.query("SELECT Id FROM User").status == 401)
      #expect(try await WireClient(port: server.port, token: other).query("SELECT Id FROM User").status == 200)
      #expect(try await client.send("GET", "/services/oauth2/revoke").status == 400)
    }
  }
}
