import Support
import TestSupport
import Testing

@testable import RestClient

/// What arrives at the server.
@Suite(.timeLimit(.minutes(60))) struct WireRequestTests {
  /// Answers with the request: its head, an empty line, and its body.
  private func echo(host: String = "127.0.0.1") throws -> WireServer {
    try WireServer(host: host) { connection in
      while let (head, body) = connection.request() {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(head.utf8.count + 4 + body.count)\r\n\r\n\(head)\r\n\r\n")
        connection.send(body)
      }
    }
  }

  @Test(arguments: [
    "/a?q=SELECT%20Id%20FROM%20X%20WHERE%20a%3D'b'", "/%5B1%5D?a=%7Cb", "/[1]?a[]=b|c{d}&in%20progress", "/a|b{c}/[d]",
    "/a/../b/./c", "/%2e%2e/x", "//double", "/?a=b?c=d", "/a;b=c,d", "/caf%C3%A9%E2%82%AC+x", "/a?", "/", "/~!$&'()*+,;=:@",
  ])
  func target_arrivesByteForByte(_ target: String) async throws {
    let server = try echo()
    let url = try WebAddress.url(path: target, query: [], base: server.url)
    _ = try await withTransport { try await $0.get(url) }
    #expect(server.lines == ["GET \(target)"])
  }

  @Test(arguments: [
    ("/100%", "/100%25"), ("/a?b=50%&c=%2g%41", "/a?b=50%25&c=%252g%41"), ("/in%20progress?a[]=%", "/in%20progress?a[]=%25"),
    ("/a\"<b>\\^`", "/a%22%3Cb%3E%5C%5E%60"), ("/a#b", "/a"), ("?a=b", "/?a=b"), ("", "/"),
  ])
  func target_thatCannotBeSent_isEncoded(_ target: String, _ sent: String) async throws {
    let server = try echo()
    let url = try WebAddress.url(path: server.url + target, query: [], base: server.url)
    _ = try await withTransport { try await $0.get(url) }
    #expect(server.lines == ["GET \(sent)"])
  }

  @Test(arguments: [
    "ftp://127.0.0.1/", "file:///etc/passwd", "http://u:p@127.0.0.1/", "http://127.0.0.1%2f@x/", "http://a%41/", "nothing",
    "http:///x", "http://a b/", "http://127.0.0.1/ü", "http://127.0.0.1:0/", "http://127.0.0.1:99999/", "http://a\u{0}b/",
    "http://127.0.0.1\\@evil/", "https://[::1%25lo]/",
  ])
  func url_ofAnotherKind_isRefused(_ url: String) async throws {
    let error = await HTTPTransport().failure(.GET, url)
    #expect(error?.code == .invalidURL && error?.outcome == .notSent, "\(String(describing: error))")
  }

  @Test func head_hasOnlyWhatWasAskedFor() async throws {
    let server = try echo()
    let text = try await withTransport { transport in
      try await transport.exchange(
        .POST, url: server.url + "/x",
        headers: [
          ("Accept", "application/json"), ("X-Empty", ""), ("X-Blank", " a  b "), ("Content-Length", "7"),
          ("Transfer-Encoding", "chunked"),
        ],
        body: Array("{}".utf8)
      ).body.text
    }
    let lines = text.split(separator: "\r\n").dropFirst().sorted()
    #expect(
      lines == [
        "Accept-Encoding: identity", "Accept: application/json", "Content-Length: 2", "Host: 127.0.0.1:\(server.port)",
        "X-Blank:  a  b ", "X-Empty:", "{}",
      ])
    _ = try await withTransport { try await $0.get(server.url) }
    #expect(server.requests.last == "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nAccept-Encoding: identity")
  }

  @Test(arguments: HTTPMethod.allCases, [nil, 0, 5, 3_000_000])
  func methodAndBody_arrive(_ method: HTTPMethod, _ count: Int?) async throws {
    let server = try echo(), body = count.map { [UInt8](repeating: UInt8(ascii: "A"), count: $0) }
    let response = try await withTransport { try await $0.exchange(method, url: server.url, headers: [], body: body) }
    guard method != .HEAD else { return }
    let text = response.body.text, head = server.requests.first ?? ""
    #expect(head.hasPrefix(method.rawValue + " / ") && !head.contains("100-continue") && !head.contains("Content-Type"))
    #expect(text.utf8.count == head.utf8.count + 4 + (count ?? 0))
    if count != nil || [.POST, .PUT, .PATCH].contains(method) { #expect(head.contains("Content-Length: \(count ?? 0)")) }
    #expect(server.connections == 1)
  }

  @Test func host_thatTheCallerGives_replacesOurs() async throws {
    let server = try echo()
    _ = try await withTransport { try await $0.get(server.url, headers: [("Host", "my.org")]) }
    #expect(server.requests.first?.contains("Host: my.org") == true && server.requests.first?.contains("127.0.0.1") == false)
  }

  @Test func address_ofIPv6_isReached() async throws {
    guard let server = try? echo(host: "::1") else { return }
    #expect(try await withTransport { try await $0.get(server.url) }.status == 200)
    #expect(server.requests.first?.contains("Host: [::1]:\(server.port)") == true)
  }

  /// The name or address of a URL says nothing; only the peer of the connection counts.
  @Test func http_toAnotherMachine_isRefusedBeforeAByteIsWritten() async throws {
    let server = try WireServer(host: "0.0.0.0") { connection in while connection.request() != nil { connection.answer() } }
    let port = server.port
    try await withTransport { transport in
      for host in ["127.0.0.1", "localhost"] { _ = try await transport.get("http://\(host):\(port)/") }
      // The machine's own address stands for another machine.
      guard let address = Machine.outerAddress else { return }
      let error = await transport.failure(.GET, "http://\(address):\(port)/", headers: [("Authorization", "Bearer secret")])
      #expect(error?.code == .invalidURL && error?.outcome == .notSent)
      #expect(error?.message == "unencrypted http is allowed only on this machine, and '\(address)' leads to another one")
    }
    #expect(server.requests.count == 2)
  }
}
