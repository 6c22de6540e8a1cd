import RestClient
import TestSupport
import Testing

@testable import Salesforce

/// Tests what the client of a restricted script hides.
@Suite(.timeLimit(.minutes(60))) struct RestrictedClientTests {
  private func send(
    _ request: RestRequest, to server: ScriptedServer, token: String = "token+0123456789", hosts: [String] = []
  ) async throws -> RestResponse {
    let client = SalesforceClient(
      session: session(server, token: token, refresh: "refresh-0123456789"), transport: HTTPTransport(), hidesTokens: true,
      reachableHosts: try ReachableHosts(hosts), policy: .never)
    do {
      let response = try await client.send(request)
      await client.shutdown()
      return response
    } catch {
      await client.shutdown()
      throw error
    }
  }

  @Test func send_answerThatEchoesTheTokens_showsNone() async throws {
    let server = try ScriptedServer(handler: { request in
      let echo = request.header("Authorization") ?? ""
      return ScriptedAnswer(
        headers: [("X-Echo", echo)], body: Array("[\"\(echo)\",\"token%2B0123456789\",\"refresh-0123456789\",\"token\"]".utf8))
    })
    let response = try await send(RestRequest(.GET, "/echo"), to: server)
    #expect(response.body.text == #"["Bearer [token]","[token]","[token]","token"]"#)
    #expect(response.header("X-Echo") == "Bearer [token]")
    #expect(server.requests.first?.header("Authorization") == "Bearer token+0123456789")
  }

  @Test func send_errorThatEchoesTheToken_showsNone() async throws {
    let server = try ScriptedServer(handler: { request in
      let echo = request.header("Authorization") ?? ""
      return ScriptedAnswer(
        status: 400, headers: [("Content-Type", "application/json"), ("X-Echo", echo)],
        body: Array(#"[{"errorCode":"E","message":"you sent \#(echo)"}]"#.utf8))
    })
    let error = try await failure { try await send(RestRequest(.GET, "/echo"), to: server) }
    #expect(error.message == "you sent Bearer [token]" && error.header("X-Echo") == "Bearer [token]")
    #expect(error.body?.contains("[token]") == true && error.errors.first?["message"] == "you sent Bearer [token]")
    #expect(!"\(error) \(error.body ?? "") \(error.errors) \(error.headers)".contains("0123456789"))
  }

  /// A script may read the token from the session, but errors are also shown to others.
  @Test func send_errorThatEchoesTheTokenOfAnyClient_showsNone() async throws {
    let server = try ScriptedServer(handler: { request in
      .json(#"[{"errorCode":"E","message":"you sent \#(request.header("Authorization") ?? "")"}]"#, status: 400)
    })
    let error = try await withClient(server, session: session(server, token: "token+0123456789")) { client in
      try await failure { try await client.send(RestRequest(.GET, "/echo")) }
    }
    #expect(error.message == "you sent Bearer [token]" && !"\(error) \(error.body ?? "")".contains("0123456789"))
  }

  @Test func send_toAnotherHost_isRefusedWithASessionAndWithout() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") }), other = try ScriptedServer(handler: { _ in .json("{}") })
    for requiresAuthentication in [true, false] {
      let request = RestRequest(.GET, other.url + "/x", requiresAuthentication: requiresAuthentication)
      let error = try await failure { try await send(request, to: server) }
      #expect(error.code == .restricted && error.outcome == .notSent, "\(error)")
    }
    #expect(other.requests.isEmpty)
    let own = RestRequest(.GET, server.url + "/x", requiresAuthentication: false)
    #expect(try await send(own, to: server).status == 200)
  }

  @Test func send_toAnAllowedHost_goesThereWithoutTheToken() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") }), other = try ScriptedServer(handler: { _ in .json("{}") })
    let open = RestRequest(.GET, other.url + "/x", requiresAuthentication: false), hosts = ["127.0.0.1:\(other.port)"]
    #expect(try await send(open, to: server, hosts: hosts).status == 200)
    let withToken = RestRequest(.GET, other.url + "/x", requiresAuthentication: true)
    let error = try await failure { try await send(withToken, to: server, hosts: hosts) }
    #expect(error.code == .invalidURL && error.outcome == .notSent, "\(error)")
    #expect(other.requests.count == 1 && other.requests[0].header("Authorization") == nil)
    // The port is part of the name.
    let portless = try await failure { try await send(open, to: server, hosts: ["127.0.0.1"]) }
    #expect(portless.code == .restricted, "\(portless)")
  }
}
