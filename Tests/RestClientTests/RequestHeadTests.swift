import JSON
import RestClient
import TestSupport
import Testing

@testable import Salesforce

/// Tests URLs and headers that must not reach the HTTP library.
@Suite(.timeLimit(.minutes(60))) struct RequestHeadTests {
  /// The length of the value in bytes, and whether the request has a body: with a body, the library
  /// ended the process from 64 KB on.
  @Test(arguments: [(48 * 1024, true), (65_300, true), (66_000, true), (66_000, false), (5_000_000, true)])
  func send_urlOrHeadersTooLong_isRequestTooLarge(length: Int, hasBody: Bool) async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") }), long = String(repeating: "a", count: length)
    let body: [UInt8]? = hasBody ? Array("{}".utf8) : nil
    let requests = [
      RestRequest(.POST, "/x?" + long, body: body), RestRequest(.POST, "/x", query: [("q", long)], body: body),
      RestRequest(.POST, "/x", headers: [("X-A", long)], body: body),
      RestRequest(.POST, "/x", headers: [(long, "a")], body: body),
    ]
    for request in requests {
      let error = try await failure { try await withClient(server) { try await $0.send(request) } }
      #expect(error.code == .requestTooLarge && error.outcome == .notSent && !error.isRetryable)
      #expect(error.message.contains("at most 49152") && error.message.utf8.count < 400, "\(error.message.prefix(400))")
    }
    #expect(server.requests.isEmpty)
  }

  /// What counts is what is sent: three bytes for each of these characters.
  @Test(arguments: ["%", "<", "^", "`", "\\"])
  func send_urlTooLongWhenEscaped_isRequestTooLarge(_ character: String) async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") }), long = String(repeating: character, count: 30_000)
    for url in ["/x/" + long, "/x?q=" + long] {
      let error = try await failure {
        try await withClient(server) { try await $0.send(RestRequest(.PUT, url, body: Array("{}".utf8))) }
      }
      #expect(error.code == .requestTooLarge && error.outcome == .notSent && error.message.contains("at most 49152"))
    }
    #expect(server.requests.isEmpty)
  }

  @Test func send_headersInSumTooLong_isRequestTooLarge() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    let headers = (0..<100).map { (name: "X-\($0)", value: String(repeating: "v", count: 500)) }
    let error = try await failure {
      try await withClient(server) { try await $0.send(RestRequest(.GET, "/x", headers: headers)) }
    }
    #expect(error.code == .requestTooLarge)
  }

  @Test func send_hostTwice_isInvalidHeader() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    let headers = [(name: "Host", value: "a.example"), (name: "HOST", value: "b.example")]
    let error = try await failure {
      try await withClient(server) { try await $0.send(RestRequest(.GET, "/x", headers: headers)) }
    }
    #expect(error.code == .invalidHeader && error.message.contains("'Host' is given twice") && server.requests.isEmpty)
    _ = try await withClient(server) { try await $0.send(RestRequest(.GET, "/x", headers: [headers[0]])) }
    #expect(server.requests.map { $0.header("Host") } == ["a.example"])
  }

  @Test func send_headBelowTheLimit_isSent() async throws {
    let server = try ScriptedServer(.json("{}"), .json("{}")), long = String(repeating: "a", count: 47_000)
    for request in [
      RestRequest(.POST, "/x?" + long, body: [0x7b, 0x7d]), RestRequest(.POST, "/x", headers: [("X-A", long)], body: []),
    ] {
      #expect(try await withClient(server) { try await $0.send(request) }.status == 200)
    }
  }

  @Test(arguments: [
    ("X-A", "secret\r\nX-B: c"), ("X-A", "secret\n"), ("X-A", "secret\0"), ("X-A", "secret\u{1b}"), ("X-A", "secret\u{7f}"),
    ("X A", "secret"), ("X-A\r\nX-B", "secret"), ("", "secret"), ("X-Ä", "secret"), ("X:", "secret"),
  ])
  func send_headerThatCannotBeSent_isInvalidHeader(name: String, value: String) async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    let request = RestRequest(.GET, "/x", headers: [(name, value)])
    let error = try await failure { try await withClient(server) { try await $0.send(request) } }
    #expect(error.code == .invalidHeader && error.outcome == .notSent && !error.message.contains("secret"), "\(error)")
  }

  @Test func send_tokenWithALineBreak_isInvalidHeaderAndNotShown() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    let broken = session(server, token: "secret\r\nX-Injected: yes")
    let error = try await failure {
      try await withClient(server, session: broken) { try await $0.send(RestRequest(.GET, "/x")) }
    }
    #expect(error.code == .invalidHeader && !error.message.contains("secret") && server.requests.isEmpty)
  }
}
