import Foundation
import JSON
import SandboxOrg
import Testing

private let verifier = String(repeating: "v", count: 171)
private let grace = [("username", "Grace@example.org"), ("password", "h0pper")]

@Suite struct AuthorizeTests {
  private func phone(_ extra: [(String, String)] = []) -> [(String, String)] {
    [
      ("response_type", "code"), ("client_id", "phone"), ("redirect_uri", "app:///done"), ("state", "s & ü"),
      ("code_challenge", challenge(verifier)),
    ] + extra
  }

  /// Gets a code for the phone client, through all pages.
  private func code(_ client: WireClient, _ fields: [(String, String)]) async throws -> String {
    var browser = Browser(client)
    _ = try await browser.open(fields)
    var answer = try await browser.submit(grace)
    if answer.status == 200 { answer = try await browser.submit([("decision", "allow")]) }
    return redirected(answer).fields["code"] ?? ""
  }

  private func exchange(_ code: String, _ changes: [String: String?] = [:]) -> [(String, String)] {
    var fields: [String: String?] = [
      "grant_type": "authorization_code", "code": code, "client_id": "phone", "redirect_uri": "app:///done",
      "code_verifier": verifier,
    ]
    fields.merge(changes) { $1 }
    return fields.compactMap { name, value in value.map { (name, $0) } }
  }

  // MARK: The complete flow

  @Test func authorize_signInAndAllow_bringsTokensOnce() async throws {
    try await withSignIn { server, client in
      var browser = Browser(client)
      let login = try await browser.open(phone([("scope", "api refresh_token openid"), ("login_hint", "<b>\"x\"")]))
      #expect(login.status == 200 && login.headers["content-type"] == "text/html;charset=UTF-8")
      #expect(login.text.contains("value=\"&lt;b&gt;&quot;x&quot;\"") && !login.text.contains("<b>\"x\""))
      #expect(login.headers["set-cookie"]?.hasSuffix("; Path=/services/oauth2; HttpOnly; SameSite=Strict") == true)
      #expect(login.headers["x-frame-options"] == "DENY" && login.headers["cache-control"] == "no-store")
      let approval = try await browser.submit(grace)
      #expect(approval.status == 200 && approval.text.contains("<li>refresh_token</li>"))
      let (target, fields) = redirected(try await browser.submit([("decision", "allow")]))
      #expect(target == "app:///done" && fields["state"] == "s & ü" && fields["code"]?.hasSuffix("==") == true)
      let tokens = try await client.form("/services/oauth2/token", exchange(fields["code"] ?? ""))
      #expect(tokens.status == 200 && tokens.json["scope"] == "api refresh_token openid")
      let token = tokens.json["access_token"]?.stringValue
      let who = try await WireClient(port: server.port, token: token).send("GET", "/services/oauth2/userinfo")
      #expect(who.json["preferred_username"] == "grace@example.org" && who.json["family_name"] == "grace")
      // Using a code twice ends the tokens of its first use.
      let again = try await client.form("/services/oauth2/token", exchange(fields["code"] ?? ""))
      #expect(again.json["error_description"] == "expired authorization code")
      #expect(try await WireClient(port: server.port, token: token).query("SELECT Id FROM User").status == 401)
      let refresh = [
        ("grant_type", "refresh_token"), ("client_id", "phone"),
        ("refresh_token", tokens.json["refresh_token"]?.stringValue ?? ""),
      ]
      #expect(try await client.form("/services/oauth2/token", refresh).json["error"] == "invalid_grant")
    }
  }

  @Test func authorize_allowedBefore_asksNoMoreUnlessTold() async throws {
    try await withSignIn { _, client in
      _ = try await code(client, phone([("scope", "api")]))
      for (extra, status) in [
        ([("scope", "api")], 302), ([("scope", "api web")], 200), ([("scope", "api"), ("prompt", "consent")], 200),
      ] {
        var browser = Browser(client)
        _ = try await browser.open(phone(extra))
        #expect(try await browser.submit(grace).status == status)
      }
    }
  }

  @Test func authorize_administratorApproved_asksNobodyAndLetsOnlyItsUsersIn() async throws {
    try await withSignIn { server, client in
      let request = [("response_type", "code"), ("client_id", "admin"), ("redirect_uri", "https://example.org/admin")]
      var browser = Browser(client)
      _ = try await browser.open(request)
      #expect(redirected(try await browser.submit(grace)).fields["code"] != nil)
      browser = Browser(client)
      _ = try await browser.open(request)
      let other = try await browser.submit([("username", server.username), ("password", server.password)])
      #expect(redirected(other).fields["error_description"] == "user is not admin approved to access this app")
    }
  }

  @Test func authorize_userAgentFlow_putsTokensIntoTheFragment() async throws {
    try await withSignIn { server, client in
      var browser = Browser(client)
      _ = try await browser.open([
        ("response_type", "token"), ("client_id", "admin"), ("redirect_uri", "https://example.org/admin"), ("state", "z"),
      ])
      let answer = try await browser.submit(grace)
      #expect(answer.headers["location"]?.hasPrefix("https://example.org/admin#access_token=") == true)
      let fields = redirected(answer).fields
      #expect(fields["state"] == "z" && fields["refresh_token"]?.isEmpty == false && fields["token_type"] == "Bearer")
      let signedIn = WireClient(port: server.port, token: fields["access_token"])
      #expect(try await signedIn.query("SELECT Id FROM User").status == 200)
    }
  }

  // MARK: Errors before the pages

  @Test(
    arguments: [
      (["client_id": "nobody"], "invalid_client_id"), (["redirect_uri": "https://evil.example"], "redirect_uri_mismatch"),
      (["redirect_uri": "app:///done/"], "redirect_uri_mismatch"), (["redirect_uri": nil], "redirect_uri_mismatch"),
    ] as [([String: String?], String)])
  func authorize_unknownClientOrAddress_isNotSentBack(changes: [String: String?], error: String) async throws {
    try await withSignIn { _, client in
      var fields = Dictionary(uniqueKeysWithValues: phone()).mapValues { Optional($0) }
      fields.merge(changes) { $1 }
      var browser = Browser(client)
      let answer = try await browser.open(fields.compactMap { name, value in value.map { (name, $0) } })
      #expect(answer.status == 400 && answer.headers["location"] == nil && answer.text.contains("error=\(error)&amp;"))
    }
  }

  @Test(
    arguments: [
      (["response_type": "magic"], "#", "unsupported_response_type"), (["response_type": nil], "#", "invalid_request"),
      (["scope": "api unheard"], "?", "invalid_scope"), (["code_challenge": nil], "?", "invalid_request"),
      (["code_challenge_method": "plain"], "?", "invalid_request"), (["immediate": "true"], "?", "immediate_unsuccessful"),
    ] as [([String: String?], String, String)])
  func authorize_badRequest_goesBackWithState(changes: [String: String?], mark: String, error: String) async throws {
    try await withSignIn { _, client in
      var fields = Dictionary(uniqueKeysWithValues: phone()).mapValues { Optional($0) }
      fields.merge(changes) { $1 }
      var browser = Browser(client)
      let answer = try await browser.open(fields.compactMap { name, value in value.map { (name, $0) } })
      #expect(answer.status == 302 && answer.headers["location"]?.hasPrefix("app:///done\(mark)error=\(error)&") == true)
      #expect(redirected(answer).fields["state"] == "s & ü")
    }
  }

  // MARK: Errors on the pages

  @Test func authorize_denied_goesBackWithAccessDenied() async throws {
    try await withSignIn { _, client in
      var browser = Browser(client)
      _ = try await browser.open(phone())
      _ = try await browser.submit(grace)
      let fields = redirected(try await browser.submit([("decision", "deny")])).fields
      #expect(fields == ["error": "access_denied", "error_description": "end-user denied authorization", "state": "s & ü"])
    }
  }

  @Test func authorize_redirectWithAQuery_keepsIt() async throws {
    try await withSignIn { _, client in
      var browser = Browser(client)
      _ = try await browser.open([
        ("response_type", "code"), ("client_id", "phone"), ("redirect_uri", "https://example.org/back?x=1"),
        ("code_challenge", challenge("v")), ("scope", "api"),
      ])
      _ = try await browser.submit(grace)
      let answer = try await browser.submit([("decision", "allow")])
      #expect(answer.headers["location"]?.hasPrefix("https://example.org/back?x=1&code=") == true)
    }
  }

  @Test func authorize_wrongPasswords_askAgainAndThenNoMore() async throws {
    try await withSignIn { _, client in
      var browser = Browser(client)
      _ = try await browser.open(phone())
      for user in ["grace@example.org", "nobody@example.org", "gone@example.org"] {
        let answer = try await browser.submit([("username", user), ("password", user == "gone@example.org" ? "gone" : "wrong")])
        #expect(answer.status == 403 && answer.text.contains("Please check your username and password."))
      }
      for _ in 0..<6 { _ = try await browser.submit([("username", "x"), ("password", "y")]) }
      #expect(try await browser.submit([("username", "x"), ("password", "y")]).status == 400)
      #expect(try await browser.submit(grace).status == 400)
    }
  }

  @Test func authorize_formsFromElsewhere_doNothing() async throws {
    try await withSignIn { server, client in
      var browser = Browser(client)
      _ = try await browser.open(phone())
      let foreign = try await browser.submit(grace, headers: [("Origin", "https://evil.example")])
      #expect(foreign.status == 403 && foreign.headers["location"] == nil)
      // A ticket is only valid with the cookie it was issued with, not with another browser's.
      var victim = Browser(client), attacker = Browser(client)
      _ = try await victim.open(phone())
      _ = try await attacker.open(phone())
      let stolen = [("ticket", victim.ticket)] + grace
      #expect(try await client.form("/services/oauth2/authorize", stolen).status == 400)
      let body = stolen.map { "\($0.0)=\(WireClient.encoded($0.1))" }.joined(separator: "&")
      let mixed = try await client.send(
        "POST", "/services/oauth2/authorize", headers: [("Cookie", attacker.cookie)], body: Array(body.utf8))
      #expect(mixed.status == 400)
      // Its own browser may continue, from the right origin, and no page works twice.
      let page = victim
      #expect(try await victim.submit(grace, headers: [("Origin", server.url)]).status == 200)
      var back = page
      #expect(try await back.submit(grace).status == 400)
    }
  }

  @Test func authorize_pageLeftOpenTooLong_isStale() async throws {
    let clock = ManualSandboxClock()
    try await withSignIn(clock: clock) { _, client in
      var browser = Browser(client)
      _ = try await browser.open(phone())
      clock.advance(by: 901)
      #expect(try await browser.submit(grace).status == 400)
    }
  }

  // MARK: Codes

  @Test func code_badExchanges_areToldApart() async throws {
    let clock = ManualSandboxClock()
    try await withSignIn(clock: clock) { _, client in
      let code = try await code(client, phone())
      let cases: [([String: String?], String, String)] = [
        (["code": "no"], "invalid_grant", "invalid authorization code"),
        (["code": nil], "invalid_request", "missing required parameter: code"),
        (["client_id": "web", "client_secret": "web secret"], "invalid_grant", "invalid authorization code"),
        (["client_id": "web"], "invalid_client", "invalid client credentials"),
        (["client_id": "nobody"], "invalid_client_id", "client identifier invalid"),
        (["client_secret": "unheard"], "invalid_client", "invalid client credentials"),
        (["redirect_uri": "https://example.org/back?x=1"], "redirect_uri_mismatch", "redirect_uri must match configuration"),
        (["redirect_uri": nil], "redirect_uri_mismatch", "redirect_uri must match configuration"),
        (["code_verifier": "wrong"], "invalid_grant", "invalid code verifier"),
        (["code_verifier": nil], "invalid_grant", "invalid code verifier"),
      ]
      for (changes, error, description) in cases {
        let answer = try await client.form("/services/oauth2/token", exchange(code, changes))
        #expect(answer.status == 400)
        #expect(answer.json == ["error": .string(error), "error_description": .string(description)])
      }
      clock.advance(by: 901)
      let late = try await client.form("/services/oauth2/token", exchange(code))
      #expect(late.json["error_description"] == "expired authorization code")
    }
  }
}
