import JSON
import SandboxOrg
import Testing

private let limits = "/services/data/v66.0/limits"

/// Users of a site can sign in and access data only under its path.
@Suite struct SiteTests {
  private func withSite(_ body: (SandboxServer, WireClient) async throws -> Void) async throws {
    try await withSignIn(
      change: { data in
        data.users.append(SandboxUser(username: "guest@example.org", password: "guest"))
        data.sites = [SandboxSite(path: "portal", users: ["Guest@example.org"]), SandboxSite(path: "/portal/inner/", users: [])]
        data.clients[2].approval = .byAdministrator(usernames: nil)
      }, body)
  }

  private func password(_ client: WireClient, _ name: String, _ word: String, at base: String) async throws -> WireClient.Answer {
    try await client.form(
      base + "/services/oauth2/token",
      [
        ("grant_type", "password"), ("client_id", "web"), ("client_secret", "web secret"), ("username", name), ("password", word),
      ])
  }

  @Test func siteUser_authorizesAndReadsUnderThePath() async throws {
    try await withSite { server, client in
      let phone = SignedIn(client: client, id: "phone", redirect: "app:///done", base: "/portal")
      var browser = Browser(client, at: "/portal")
      let page = try await phone.authorize(&browser)
      #expect(page.text.contains("action=\"/portal/services/oauth2/authorize\""))
      #expect(page.headers["set-cookie"]?.contains("; Path=/portal/services/oauth2;") == true)
      let answer = try await phone.tokens("guest@example.org", "guest")
      #expect(answer.json["sfdc_community_url"] == .string(server.url + "/portal"))
      #expect(answer.json["sfdc_community_id"]?.stringValue?.hasPrefix("0DB") == true)
      #expect(answer.json["instance_url"] == .string(server.url))
      let signedIn = WireClient(port: server.port, token: answer.json["access_token"]?.stringValue)
      #expect(try await signedIn.send("GET", "/portal" + limits).status == 200)
      #expect(try await signedIn.send("GET", limits).errorCode == "INVALID_SESSION_ID")
      #expect(try await signedIn.send("GET", "/portal/inner" + limits).status == 401)
      let identity = String((answer.json["id"]?.stringValue ?? "").dropFirst(server.url.count))
      #expect(try await signedIn.send("GET", identity).json["username"] == "guest@example.org")
      #expect(try await signedIn.send("GET", "/portal/services/oauth2/userinfo").status == 200)
      let again = try await phone.refresh(answer.json["refresh_token"]?.stringValue)
      #expect(again.status == 200 && again.json["sfdc_community_url"] == .string(server.url + "/portal"))
      // Site and org distinguish their browser sessions.
      #expect(try await Browser(client).client.send("GET", "/portal" + limits).status == 401)
    }
  }

  @Test func siteUser_elsewhere_isUnknown() async throws {
    try await withSite { server, client in
      #expect(try await password(client, "guest@example.org", "guest", at: "/portal").status == 200)
      for (name, word, base) in [
        ("guest@example.org", "guest", ""), ("guest@example.org", "guest", "/portal/inner"),
        ("grace@example.org", "h0pperTOKEN", "/portal"),
      ] {
        #expect(try await password(client, name, word, at: base).json["error_description"] == "authentication failure")
      }
      let inside = WireClient(port: server.port, token: try server.issueAccessToken())
      #expect(try await inside.send("GET", "/portal" + limits).status == 401)
      #expect(try await inside.send("GET", limits).status == 200)
      let plain = try await password(client, "grace@example.org", "h0pperTOKEN", at: "")
      #expect(plain.status == 200 && plain.json["sfdc_community_url"] == nil)
    }
  }

  @Test func siteUser_assertion_namesTheSitesURL() async throws {
    try await withSite { server, client in
      func bearer(_ aud: String, at base: String) async throws -> JSONValue {
        let assertion = try Keys.assertion([
          "iss": "admin", "sub": "guest@example.org", "aud": .string(aud), "exp": 1_772_442_180,
        ])
        return try await client.form(
          base + "/services/oauth2/token",
          [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion)]
        ).json
      }
      let site = server.url + "/portal"
      let answer = try await bearer(site, at: "/portal")
      #expect(answer["sfdc_community_url"] == .string(site))
      #expect(try await bearer("https://login.salesforce.com", at: "/portal")["error_description"] == "audience is invalid")
      #expect(try await bearer(server.url, at: "")["error_description"] == "user hasn't approved this consumer")
    }
  }

  @Test func site_faultsAndLog_seeItsRequests() async throws {
    try await withSite { server, client in
      let token = try await password(client, "guest@example.org", "guest", at: "/portal").json["access_token"]?.stringValue
      try server.faults.add(.expireSession(), when: .nth(2))
      let signedIn = WireClient(port: server.port, token: token)
      #expect(try await signedIn.send("GET", "/portal" + limits).status == 200)
      #expect(try await signedIn.send("GET", "/portal" + limits).status == 401)
      #expect(server.requests().map(\.path) == ["/portal/services/oauth2/token", "/portal" + limits, "/portal" + limits])
      #expect(server.requests().map(\.grant) == ["password", nil, nil] && server.requests()[0].body.isEmpty)
    }
  }
}
