import Foundation
import JSON
import SandboxOrg
import Support
import Testing

private let tokenURL = "/services/oauth2/token"

@Suite struct SessionTests {
  private func passwordGrant(_ server: SandboxServer, password: String? = nil, secret: String? = nil) -> [(String, String)] {
    let secrets = server.credentials()
    return [
      ("grant_type", "password"), ("client_id", secrets.clientId), ("client_secret", secret ?? secrets.clientSecret),
      ("username", secrets.username), ("password", password ?? secrets.password),
    ]
  }

  @Test func token_passwordGrant_opensTheData() async throws {
    try await withOrg { server, _ in
      let client = WireClient(port: server.port)
      let answer = try await client.form(tokenURL, passwordGrant(server))
      #expect(answer.status == 200)
      #expect(answer.json["instance_url"] == .string(server.url))
      #expect(answer.json["token_type"] == "Bearer" && answer.json["refresh_token"] == nil)
      #expect(answer.json["issued_at"] == "1772442000000")
      #expect(
        answer.json["id"]?.stringValue?.hasSuffix("/id/\(server.credentials().organizationId)/\(server.credentials().userId)")
          == true)
      let signedIn = WireClient(port: server.port, token: answer.json["access_token"]?.stringValue)
      #expect(try await signedIn.query("SELECT COUNT() FROM User").json["totalSize"] == 2)
      let identity = try await signedIn.send("GET", String((answer.json["id"]?.stringValue ?? "").dropFirst(server.url.count)))
      #expect(identity.status == 200 && identity.json["username"] == .string(server.username))
      let userinfo = try await signedIn.send("GET", "/services/oauth2/userinfo")
      #expect(userinfo.json["user_id"] == .string(server.credentials().userId))
    }
  }

  @Test func token_signature_isMadeOfIdAndTimeWithTheClientsSecret() async throws {
    try await withOrg { server, _ in
      let answer = try await WireClient(port: server.port).form(tokenURL, passwordGrant(server))
      let signed = (answer.json["id"]?.stringValue ?? "") + (answer.json["issued_at"]?.stringValue ?? "")
      let code = try Digest.hmacSHA256(signed.utf8, key: Array(server.credentials().clientSecret.utf8))
      #expect(answer.json["signature"]?.stringValue == Base64.text(code))
    }
  }

  @Test func token_configuredSecrets_areTheOnesThatCount() async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.username = "me@example.org"
    configuration.password = "p&ss=wörd +"
    configuration.clientId = "app"
    configuration.clientSecret = "s3cret"
    let server = try await SandboxServer.start(configuration)
    let client = WireClient(port: server.port)
    let form = [
      ("grant_type", "password"), ("client_id", "app"), ("client_secret", "s3cret"), ("username", "ME@example.org"),
      ("password", "p&ss=wörd +"),
    ]
    let answer = try await client.form(tokenURL, form)
    let token = answer.json["access_token"]?.stringValue
    let identity = try await WireClient(port: server.port, token: token).send("GET", "/services/oauth2/userinfo")
    #expect(answer.status == 200 && identity.json["preferred_username"] == "me@example.org")
    #expect(!"\(server.credentials())".contains("s3cret"))
    await server.stop()
  }

  @Test func token_clientCredentials_worksWithBasicAndForm() async throws {
    try await withOrg { server, _ in
      let client = WireClient(port: server.port)
      let basic = Data("\(server.clientId):\(server.clientSecret)".utf8).base64EncodedString()
      let first = try await client.send(
        "POST", tokenURL, headers: [("Authorization", "Basic \(basic)"), ("Content-Type", "application/x-www-form-urlencoded")],
        body: Array("grant_type=client_credentials".utf8))
      #expect(first.status == 200 && first.json["access_token"] != nil)
      let query = "grant_type=client_credentials&client_id=\(server.clientId)&client_secret=\(server.clientSecret)"
      #expect(try await client.send("POST", "\(tokenURL)?\(query)", body: []).status == 200)
    }
  }

  @Test func token_badRequests_areToldApart() async throws {
    try await withOrg { server, _ in
      let client = WireClient(port: server.port)
      var unknownClient = passwordGrant(server)
      unknownClient[1].1 = "nobody"
      let refresh = [("grant_type", "refresh_token"), ("client_id", server.clientId), ("refresh_token", "no")]
      let cases: [([(String, String)], String, String)] = [
        (passwordGrant(server, password: "wrong"), "invalid_grant", "authentication failure"),
        (passwordGrant(server, secret: "wrong"), "invalid_client", "invalid client credentials"),
        (unknownClient, "invalid_client_id", "client identifier invalid"),
        ([("grant_type", "magic")], "unsupported_grant_type", "grant type not supported"),
        ([], "unsupported_grant_type", "grant type not supported"),
        (refresh, "invalid_grant", "expired access/refresh token"),
      ]
      for (form, error, description) in cases {
        let answer = try await client.form(tokenURL, form)
        #expect(answer.status == 400)
        #expect(answer.json == ["error": .string(error), "error_description": .string(description)])
      }
      #expect(try await client.send("GET", tokenURL).status == 405)
    }
  }

  @Test func data_withoutAGoodToken_answers401() async throws {
    try await withOrg { server, signedIn in
      var client = WireClient(port: server.port)
      for token in [nil, "garbage"] {
        client.token = token
        let answer = try await client.query("SELECT Id FROM User")
        #expect(answer.status == 401 && answer.headers["www-authenticate"] == "Token")
        #expect(answer.text == #"[{"message":"Session expired or invalid","errorCode":"INVALID_SESSION_ID"}]"#)
      }
      let scheme = try await client.send("GET", "/services/data/v66.0/limits", headers: [("Authorization", "Digest x")])
      #expect(scheme.status == 401 && scheme.errorCode == "INVALID_AUTH_HEADER")
      let oauth = try await client.send(
        "GET", "/services/data/v66.0/limits", headers: [("Authorization", "OAuth \(signedIn.token ?? "")")])
      #expect(oauth.status == 200)
      let identity = try await client.send("GET", "/services/oauth2/userinfo")
      #expect(identity.status == 403 && identity.text == "Bad_OAuth_Token")
      client.token = nil
      #expect(try await client.send("GET", "/services/oauth2/userinfo").text == "Missing_OAuth_Token")
    }
  }

  @Test func sessions_expiredByOrderOrByTime_areRefreshedWithTheRefreshToken() async throws {
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      try server.expireSessions()
      #expect(try await client.query("SELECT Id FROM User").errorCode == "INVALID_SESSION_ID")
      let form = [
        ("grant_type", "refresh_token"), ("client_id", server.clientId), ("refresh_token", server.credentials().refreshToken),
      ]
      let answer = try await client.form(tokenURL, form)
      #expect(answer.status == 200 && answer.json["refresh_token"] == nil)
      let renewed = WireClient(port: server.port, token: answer.json["access_token"]?.stringValue)
      clock.advance(by: 7_000)
      #expect(try await renewed.query("SELECT Id FROM User").status == 200)
      clock.advance(by: 7_000)
      #expect(try await renewed.query("SELECT Id FROM User").status == 200)
      clock.advance(by: 7_201)
      #expect(try await renewed.query("SELECT Id FROM User").status == 401)
    }
  }

  @Test func revoke_refreshToken_endsItsAccessTokens() async throws {
    try await withOrg { server, client in
      let refreshToken = server.credentials().refreshToken
      let form = [("grant_type", "refresh_token"), ("client_id", server.clientId), ("refresh_token", refreshToken)]
      let token = try await client.form(tokenURL, form).json["access_token"]?.stringValue
      let renewed = WireClient(port: server.port, token: token)
      #expect(try await client.send("POST", "/services/oauth2/revoke?token=\(refreshToken)").status == 200)
      #expect(try await renewed.query("SELECT Id FROM User").status == 401)
      #expect(try await client.query("SELECT Id FROM User").status == 200)
      #expect(try await client.form(tokenURL, form).json["error"] == "invalid_grant")
      let unknown = try await client.send("POST", "/services/oauth2/revoke?token=\(refreshToken)")
      #expect(unknown.status == 400 && unknown.text.hasPrefix("error=unsupported_token_type"))
    }
  }
}
