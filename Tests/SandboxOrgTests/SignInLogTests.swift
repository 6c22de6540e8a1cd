import Foundation
import JSON
import SandboxOrg
import TestSupport
import Testing

/// The request log contains no secrets, wherever clients send them.
@Suite struct SignInLogTests {
  @Test func log_canariesEverywhere_areNotInIt() async throws {
    let folder = try TemporaryFolder()
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.logPath = folder.path + "/log.jsonl"
    configuration.signIn.users = [SandboxUser(username: "guest@example.org", password: "canary")]
    configuration.signIn.sites = [SandboxSite(path: "/portal", users: ["guest@example.org"])]
    let server = try await SandboxServer.start(configuration)
    let client = WireClient(port: server.port)
    let body = Array("grant_type=canary&username=canary&password=canary&refresh_token=canary&assertion=canary".utf8)
    let soap = Array(
      "<Envelope><Body><login><username>canary</username><password>canary</password></login></Body></Envelope>".utf8)
    for (target, body) in [
      ("/services/oauth2/token", body), ("/services/%6Fauth2/token", body), ("/services/OAuth2/Token/", body),
      ("/portal/services/oauth2/token?client_secret=canary", body), ("/services/oauth2/authorize?state=canary", []),
      ("/services/oauth2/revoke?token=canary", []), ("/services/oauth2/introspect", body),
      ("/services/Soap/u/66.0", soap), ("/services/Soap/c/66.0/00D", soap), ("/id/00D/005?oauth_token=canary", []),
      ("/secur/frontdoor.jsp?sid=canary", []), ("/services/oauth2/userinfo?access_token=canary", []),
      ("/portal/id/00D/005?oauth_token=canary", []),
    ] {
      for method in ["GET", "POST"] {
        _ = try await client.send(method, target, headers: [("Authorization", "Basic canary")], body: body)
      }
    }
    // Refused by its head alone; the site's path is still in it.
    _ = try await client.send(
      "POST", "/portal/services/oauth2/token?token=canary", headers: [("Content-Length", "99999999")], body: nil)
    let logged = server.requests()
    await server.stop()
    let file = try String(contentsOfFile: configuration.logPath ?? "", encoding: .utf8)
    #expect(logged.count == 27 && !file.isEmpty && !file.contains("canary"))
    #expect(!"\(logged)".contains("canary") && logged.contains { $0.grant == "other" })
  }

  @Test func log_grant_isOneOfTheKnownNames() async throws {
    try await withSignIn { server, client in
      let grants = [
        "password", "client_credentials", "authorization_code", "hybrid_auth_code", "refresh_token", "hybrid_refresh",
        "urn:ietf:params:oauth:grant-type:jwt-bearer", "device", "",
      ]
      for grant in grants { _ = try await client.form("/services/oauth2/token", [("grant_type", grant)]) }
      _ = try await client.form("/services/oauth2/introspect", [("grant_type", "password")])
      let told = server.requests().map { $0.grant ?? "-" }
      #expect(told == Array(grants.prefix(6)) + ["jwt-bearer", "other", "other", "-"])
      #expect(server.requests()[4].json["grant"] == "refresh_token")
    }
  }

  // MARK: Requests that are wrong in form

  @Test func token_oddForms_areRefusedOrReadAndTheServerGoesOn() async throws {
    try await withSignIn { server, client in
      let good = "grant_type=client_credentials&client_id=web&client_secret=web+secret"
      func post(_ type: String?, _ body: String, _ target: String = "/services/oauth2/token") async throws -> WireClient.Answer {
        try await client.send("POST", target, headers: type.map { [("Content-Type", $0)] } ?? [], body: Array(body.utf8))
      }
      for type in [nil, "application/x-www-form-urlencoded; charset=UTF-8", "text/plain", "APPLICATION/X-WWW-FORM-URLENCODED"] {
        #expect(try await post(type, good).status == 200, "\(type ?? "-")")
      }
      let refused: [(String?, String, String)] = [
        ("application/json", #"{"grant_type":"client_credentials"}"#, "unsupported_grant_type"),
        (
          "multipart/form-data; boundary=x",
          "--x\r\nContent-Disposition: form-data; name=\"grant_type\"\r\n\r\nrefresh_token\r\n--x--", "unsupported_grant_type"
        ),
        (nil, "grant_type", "unsupported_grant_type"), (nil, "=&&=%zz&%", "unsupported_grant_type"),
        (nil, "grant_type=client_credentials&client_id=%00%ff%fe", "invalid_client_id"),
        (nil, "grant_type=refresh_token&client_id=web&client_secret=web+secret", "invalid_grant"),
        (
          nil, "grant_type=client_credentials&client_id=web&client_secret=" + String(repeating: "x", count: 200_000),
          "invalid_client"
        ),
        (nil, String(repeating: "grant_type=password&", count: 10_000), "invalid_client_id"),
      ]
      for (type, body, error) in refused {
        let answer = try await post(type, body)
        #expect(answer.status == 400 && answer.json["error"] == .string(error), "\(body.prefix(40)): \(answer.text)")
      }
      #expect(try await post(nil, String(repeating: "x", count: 300_000)).status == 413)
      // Of a repeated parameter the first value is used; the body takes precedence over the query.
      #expect(try await post(nil, good + "&client_id=nobody").status == 200)
      #expect(try await post(nil, good, "/services/oauth2/token?client_id=nobody&grant_type=password").status == 200)
      #expect(try server.signIns().count == 4 + refused.count + 2)
    }
  }
}
