import SandboxOrg
import Testing

/// Web pages that call the org.
@Suite struct CrossOriginTests {
  private func with(_ origins: [String], _ body: (WireClient) async throws -> Void) async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.corsOrigins = origins
    let server = try await SandboxServer.start(configuration)
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await body(WireClient(port: server.port, token: try server.issueAccessToken())))
    } catch { outcome = .failure(error) }
    await server.stop()
    try outcome.get()
  }

  @Test(arguments: [
    ("http://localhost:3000", true), ("http://127.0.0.1", true), ("http://[::1]:80", true), ("https://app.example.org", true),
    ("https://a.b.example.com", true), ("https://example.com", false), ("http://a.example.com", false), ("null", false),
    ("https://app.example.org.evil.net", false), ("http://localhost.evil.net", false), ("file://localhost", false),
    ("https://app.example.org:8443", false), ("https://.example.com", false),
  ])
  func preflight_isAnsweredForAllowedOrigins(origin: String, isAllowed: Bool) async throws {
    try await with(["https://app.example.org", "https://*.example.com"]) { client in
      let asked = [
        ("Origin", origin), ("Access-Control-Request-Method", "PATCH"),
        ("Access-Control-Request-Headers", "authorization,content-type,sforce-query-options"),
      ]
      let preflight = try await WireClient(port: client.port).send(
        "OPTIONS", "/services/data/v66.0/sobjects/Account/001gL0000000001", headers: asked)
      #expect((preflight.status == 200) == isAllowed, "\(preflight.text)")
      #expect(preflight.headers["access-control-allow-origin"] == (isAllowed ? origin : nil))
      let answer = try await client.send("GET", "/services/data/v66.0/limits", headers: [("Origin", origin)])
      #expect(answer.status == 200 && answer.headers["access-control-allow-origin"] == (isAllowed ? origin : nil))
      guard isAllowed else { return }
      #expect(preflight.headers["access-control-allow-methods"]?.contains("PATCH") == true && preflight.body.isEmpty)
      #expect(preflight.headers["access-control-allow-headers"] == "authorization,content-type,sforce-query-options")
      #expect(answer.headers["access-control-expose-headers"]?.contains("Sforce-Limit-Info") == true)
    }
  }

  @Test func error_forAnAllowedOrigin_canBeReadByThePage() async throws {
    try await with([]) { client in
      let refused = try await WireClient(port: client.port).send(
        "GET", "/services/data/v66.0/limits", headers: [("Origin", "http://localhost:8080")])
      #expect(refused.status == 401 && refused.headers["access-control-allow-origin"] == "http://localhost:8080")
      #expect(try await client.send("OPTIONS", "/services/data/v66.0/limits").status == 405, "no preflight")
    }
  }
}
