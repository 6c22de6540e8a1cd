import JSON
import TestSupport
import Testing

@testable import RestClient

/// Tests the hosts that restricted scripts may reach.
@Suite(.timeLimit(.minutes(60))) struct ReachableHostsTests {
  private func allows(_ name: String, _ url: String) throws -> Bool {
    try ReachableHosts([name]).contains(try #require(WebAddress(url)))
  }

  @Test(arguments: [
    ("api.example.com", "https://api.example.com/x"), ("API.example.com", "https://api.EXAMPLE.com"),
    ("api.example.com", "https://api.example.com:443/"), ("api.example.com:8443", "https://api.example.com:8443/"),
    ("localhost", "http://localhost/x"), ("localhost:8080", "http://localhost:8080/"),
    ("[::1]:8080", "http://[::1]:8080/"), ("192.0.2.1", "https://192.0.2.1/"),
  ])
  func contains_hostOfTheName_isTrue(name: String, url: String) throws {
    let isAllowed = try allows(name, url)
    #expect(isAllowed)
  }

  @Test(arguments: [
    ("api.example.com", "https://www.api.example.com/"), ("api.example.com", "https://example.com/"),
    ("api.example.com", "https://api.example.com.evil.example/"), ("api.example.com", "https://api.example.com:8443/"),
    ("api.example.com:8443", "https://api.example.com/"), ("localhost:8080", "http://localhost/"),
    ("localhost", "http://127.0.0.1/"), ("api.example.com", "https://api.example.com./"),
  ])
  func contains_anotherHostOrPort_isFalse(name: String, url: String) throws {
    let isAllowed = try allows(name, url)
    #expect(!isAllowed)
  }

  @Test func contains_noNames_isFalse() throws {
    let address = try #require(WebAddress("https://api.example.com"))
    #expect(!ReachableHosts().contains(address))
  }

  @Test(arguments: [
    ("*.example.com", "hosts are named one by one"), ("*", "hosts are named one by one"),
    ("https://api.example.com/v1", "name its host: 'api.example.com'"),
    ("http://localhost:8080", "name its host: 'localhost:8080'"),
    ("api.example.com/v1", "not a valid host"), ("api example.com", "not a valid host"), ("", "not a valid host"),
    ("api.example.com:", "not a valid host"), ("api.example.com:0", "not a valid host"), (":443", "not a valid host"),
    ("api..example.com", "not a valid host"), ("api.example.com.", "not a valid host"), ("a:b:1", "not a valid host"),
    ("ada@api.example.com", "not a valid host"), ("m\u{FC}ller.example", "not a valid host"),
  ])
  func init_anythingElse_isRefusedWithTheReason(name: String, reason: String) throws {
    let problem = #expect(throws: ReachableHosts.Problem.self) { try ReachableHosts([name]) }
    #expect(
      problem?.description.contains(reason) == true && problem?.description.contains("'\(name)'") == true, "\(problem as Any)")
  }

  // MARK: Connections

  private func bed(_ hosts: [String]) throws -> ConnectionBed {
    var bed = ConnectionBed()
    bed.reachableHosts = try ReachableHosts(hosts)
    return bed
  }

  @Test func send_connectionToAHostThatIsNotAllowed_isRestrictedAndSaysHowToAllowIt() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    try await bed(["api.example.com"]).with(server, name: "books") { connection in
      let error = try await failure { try await connection.get("/x") }
      #expect(error.code == .restricted && error.outcome == .notSent && !error.isRetryable)
      #expect(
        error.message == "connection 'books': host '127.0.0.1:\(server.port)' is not available to a restricted script "
          + "(--restricted); allow it with --allow-host 127.0.0.1:\(server.port), or HostSettings.allowedHosts in Swift; "
          + "allowed so far: the org, api.example.com")
    }
    #expect(server.requests.isEmpty)
  }

  /// Neither a redirect to a listed origin nor a target with `sameOrigin: false` reaches further than the named hosts.
  @Test func send_redirectAndForeignURL_stayOnAllowedHosts() async throws {
    let other = try ScriptedServer(handler: { _ in .json("{}") })
    let server = try ScriptedServer(handler: { _ in .status(302, headers: [("Location", other.url + "/y")]) })
    let own = "127.0.0.1:\(server.port)", listed: JSONObject = ["allowOrigins": [.string(other.url)]]
    try await bed([own]).with(server, listed) { connection in
      let redirected = try await failure { try await connection.get("/x") }
      let direct = try await failure {
        try await connection.send(RestRequest(.GET, other.url + "/y"), ConnectionOptions(sameOrigin: false))
      }
      #expect(redirected.code == .restricted && direct.code == .restricted)
    }
    #expect(other.requests.isEmpty && server.requests.count == 1)
    try await bed([own, "127.0.0.1:\(other.port)"]).with(server, listed) { connection in
      let answer = try await connection.get("/x")
      #expect(answer.status == 200)
    }
    #expect(other.requests.count == 1)
  }
}
