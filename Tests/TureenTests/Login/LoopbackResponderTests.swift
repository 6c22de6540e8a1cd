import Salesforce
import Testing

@testable import Tureen

/// Tests the responses of a sign-in's listener without a network.
@Suite struct LoopbackResponderTests {
  private let request = try! AuthorizationRequest(
    loginURL: "https://acme.my.salesforce.com", clientId: "app", redirectURI: LoopbackRedirect.standard)
  private var state: String { LoopbackListenerTests.state(of: request) }

  private func responder() throws -> LoopbackResponder {
    LoopbackResponder(request, try #require(LoopbackRedirect(LoopbackRedirect.standard)))
  }

  private func status(_ responder: inout LoopbackResponder, _ request: LoopbackRequest) -> Int? {
    if case .answer(let answer) = responder.reply(to: request) { answer.status } else { nil }
  }

  private func get(_ target: String, _ method: String = "GET", hosts: [String] = ["localhost:1717"]) -> LoopbackRequest {
    LoopbackRequest(method: method, target: target, hosts: hosts)
  }

  @Test(arguments: [
    ("http://localhost:1717/OauthRedirect", 1717, "/OauthRedirect"), ("http://localhost/x", 80, "/x"),
    ("http://LOCALHOST:9/", 9, "/"), ("http://localhost:1717", 1717, "/"),
  ])
  func redirect_ofThisMachine_isListenedFor(uri: String, port: Int, path: String) throws {
    let redirect = try #require(LoopbackRedirect(uri))
    #expect(redirect.port == port && redirect.path == path && redirect.uri == uri)
  }

  @Test(arguments: [
    "http://127.0.0.1:1717/x", "https://localhost:1717/x", "http://example.com:1717/x", "testsfdc:///done",
    "http://localhost:0/x",
    "http://localhost:1717/x?a=b", "",
  ])
  func redirect_toElsewhere_isNotListenedFor(uri: String) { #expect(LoopbackRedirect(uri) == nil) }

  @Test func requests_thatAreNoAnswer_areRefusedAndTheSignInGoesOn() throws {
    var responder = try responder()
    #expect(status(&responder, get("/OauthRedirect?code=a&state=other")) == 400)
    #expect(status(&responder, get("/OauthRedirect?code=a")) == 400)
    #expect(status(&responder, get("/favicon.ico")) == 404)
    #expect(status(&responder, get("/")) == 404)
    #expect(status(&responder, get("/done")) == 404 && status(&responder, get("/failed")) == 404)
    #expect(status(&responder, get("/OauthRedirect/?code=a&state=\(state)")) == 404)
    #expect(status(&responder, get("http://localhost:1717/OauthRedirect?code=a&state=\(state)")) == 404)
    for method in ["POST", "HEAD", "PUT", "OPTIONS"] {
      #expect(status(&responder, get("/OauthRedirect?code=a&state=\(state)", method)) == 405, "\(method)")
    }
    #expect(responder.reply(to: get("/OauthRedirect?code=a&state=\(state)")) == .hold(.code("a")))
  }

  @Test(arguments: [
    ["evil.example"], ["evil.example:1717"], ["localhost.evil.example"], [], ["localhost", "localhost"], ["localhost:17x"], [""],
    ["127.0.0.2"], ["0.0.0.0:1717"], ["user@localhost"],
  ])
  func host_ofAnotherName_is400(hosts: [String]) throws {
    var responder = try responder()
    #expect(status(&responder, get("/OauthRedirect?code=a&state=\(state)", hosts: hosts)) == 400)
    #expect(status(&responder, get("/done", hosts: hosts)) == 400)
  }

  @Test(arguments: ["localhost", "LOCALHOST:1717", "127.0.0.1:1717", "[::1]:1717", "[::1]"])
  func host_ofThisMachine_isAnswered(host: String) throws {
    var responder = try responder()
    #expect(responder.reply(to: get("/OauthRedirect?code=a&state=\(state)", hosts: [host])) == .hold(.code("a")))
  }

  @Test func preflight_forThePrivateNetwork_isAllowedForThePathAlone() throws {
    var responder = try responder()
    var request = get("/OauthRedirect", "OPTIONS")
    request.headers += [
      .init(name: "access-control-request-private-network", value: "true"),
      .init(name: "origin", value: "https://acme.my.salesforce.com"),
    ]
    guard case .answer(let answer) = responder.reply(to: request) else {
      Issue.record("held")
      return
    }
    func header(_ name: String) -> String? { answer.headers.first { $0.name == name }?.value }
    #expect(answer.status == 204 && answer.body.isEmpty)
    #expect(header("Access-Control-Allow-Private-Network") == "true")
    #expect(header("Access-Control-Allow-Origin") == "https://acme.my.salesforce.com")
    var other = get("/x", "OPTIONS")
    other.headers.append(.init(name: "access-control-request-private-network", value: "true"))
    #expect(status(&responder, other) == 404)
  }

  @Test func pages_afterTheEnd_showHowItEndedAndEscapeServersWords() throws {
    var responder = try responder()
    #expect(responder.reply(to: get("/OauthRedirect?error=access_denied&state=\(state)")) != .hold(.code("a")))
    #expect(responder.ending == .redirect("/failed"))
    guard case .answer(let late) = responder.reply(to: get("/failed")) else {
      Issue.record("held")
      return
    }
    #expect(late.text.contains("has not answered yet"))
    responder.end(.failed("the org said <script>alert(1)</script> & more"))
    #expect(responder.ending == .redirect("/failed") && status(&responder, get("/done")) == 404)
    guard case .answer(let page) = responder.reply(to: get("/failed")) else {
      Issue.record("held")
      return
    }
    #expect(page.status == 200 && page.text.contains("said &lt;script&gt;alert(1)&lt;/script&gt; &amp; more"))
    #expect(
      responder.isForEnding(get("/failed")) && !responder.isForEnding(get("/failed", "POST"))
        && !responder.isForEnding(get("/done")))
    #expect(status(&responder, get("/OauthRedirect?code=b&state=\(state)")) == 410)
    #expect(status(&responder, get("/OauthRedirect?code=b&state=other")) == 400)
  }
}

extension LoopbackAnswer {
  fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}
