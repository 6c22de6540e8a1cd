import Foundation
import JSON
import SandboxOrg
import Support
import TestSupport
import Testing

@Suite struct IdentityTests {
  @Test func identity_everyForm_saysTheSame() async throws {
    try await withOrg { server, client in
      let access = server.credentials()
      let url = "/id/\(access.organizationId)/\(access.userId)"
      let json = try await client.send("GET", url)
      #expect(json.json["id"] == .string(server.url + url) && json.json["asserted_user"] == true)
      #expect(json.json["urls"]?["rest"] == .string(server.url + "/services/data/v{version}/"))
      #expect(json.json["status"] == ["created_date": .null, "body": .null] && json.json["addr_street"] == .null)
      let latest = try await client.send("GET", url + "?version=latest").json
      #expect(latest["urls"]?["query"] == .string(server.url + "/services/data/v67.0/query/"))
      let xml = try await client.send("GET", url, headers: [("Accept", "application/xml")])
      #expect(xml.headers["content-type"] == "application/xml;charset=UTF-8")
      #expect(
        xml.text.contains("<username>\(access.username)</username>") && xml.text.contains("<addr_street xsi:nil=\"true\"/>"))
      let form = try await client.send("GET", url + "?format=urlencoded")
      #expect(form.text.contains("user_id=\(access.userId)&") && form.text.contains("&urls.rest="))
      let script = try await client.send("GET", url + "?callback=show_it")
      #expect(script.text.hasPrefix("show_it({\"id\":") && script.text.hasSuffix("})"))
      #expect(try await client.send("GET", url + "?callback=alert(1)//").json["user_id"] == .string(access.userId))
      var anonymous = client
      anonymous.token = nil
      let query = try await anonymous.send("GET", url + "?format=json&oauth_token=\(WireClient.encoded(client.token ?? ""))")
      #expect(query.json["username"] == .string(access.username))
    }
  }

  @Test func identity_errors_areSingleWords() async throws {
    try await withOrg { server, client in
      let access = server.credentials()
      var anonymous = client, stranger = client
      anonymous.token = nil
      stranger.token = "garbage"
      let url = "/id/\(access.organizationId)/\(access.userId)"
      let cases: [(WireClient, String, Int, String)] = [
        (anonymous, url, 403, "Missing_OAuth_Token"), (stranger, url, 403, "Bad_OAuth_Token"),
        (client, "/id/00D000000000099/\(access.userId)", 403, "Wrong_Org"),
        (client, "/id/\(access.organizationId)/005000000000099", 404, "Bad_Id"),
        (client, "/id/\(access.organizationId)/nonsense", 404, "Bad_Id"),
        (stranger, "/services/oauth2/userinfo", 403, "Bad_OAuth_Token"),
      ]
      for (caller, target, status, text) in cases {
        let answer = try await caller.send("GET", target)
        #expect(answer.status == status && answer.text == text && answer.headers["content-type"]?.hasPrefix("text/plain") == true)
      }
    }
  }

  @Test(arguments: [("web", 403), ("id web", 200), ("api", 200), ("openid", 200)])
  func identity_withoutAFittingScope_isForbidden(scope: String, status: Int) async throws {
    try await withSignIn(change: { $0.clients[1].scopes = scope.split(separator: " ").map(String.init) + ["refresh_token"] }) {
      server, client in
      let answer = try await client.form(
        "/services/oauth2/token",
        [
          ("grant_type", "password"), ("client_id", "web"), ("client_secret", "web secret"), ("username", "grace@example.org"),
          ("password", "h0pperTOKEN"),
        ])
      #expect(answer.json["scope"] == .string(scope))
      let signedIn = WireClient(port: server.port, token: answer.json["access_token"]?.stringValue)
      for path in [String((answer.json["id"]?.stringValue ?? "").dropFirst(server.url.count)), "/services/oauth2/userinfo"] {
        let who = try await signedIn.send("GET", path)
        #expect(who.status == status && (status == 200 || who.text == "Bad_OAuth_Token"))
      }
    }
  }

  @Test func idToken_isSignedWithThePublishedKey() async throws {
    try await withSignIn { server, client in
      let options = try await client.send("GET", "/.well-known/auth-configuration").json
      #expect(options["OrgId"] == .string(server.credentials().organizationId))
      let found = try await client.send("GET", "/.well-known/openid-configuration").json
      #expect(found["issuer"] == .string(server.url))
      var browser = Browser(client)
      _ = try await browser.open([
        ("response_type", "token id_token"), ("client_id", "admin"), ("redirect_uri", "https://example.org/admin"),
        ("scope", "openid api"), ("nonce", "n-1"),
      ])
      let fields = redirected(try await browser.submit([("username", "grace@example.org"), ("password", "h0pper")])).fields
      let parts = (fields["id_token"] ?? "").split(separator: ".").map(String.init)
      #expect(parts.count == 3)
      let jwks = String((found["jwks_uri"]?.stringValue ?? "").dropFirst(server.url.count))
      let key = try await client.send("GET", jwks).json["keys"]?.arrayValue?.first
      let publicKey = try TestKeys.publicKey(
        modulus: Keys.bytes(urlText: key?["n"]?.stringValue ?? ""), exponent: Keys.bytes(urlText: key?["e"]?.stringValue ?? ""))
      let signed = Array("\(parts[0]).\(parts[1])".utf8)
      #expect(publicKey.isValid(signature: Keys.bytes(urlText: parts[2]), of: signed))
      let claims = try JSONValue(parsing: Keys.bytes(urlText: parts[1]))
      #expect(claims["nonce"] == "n-1" && claims["aud"] == "admin" && claims["sub"]?.stringValue == fields["id"])
    }
  }
}
