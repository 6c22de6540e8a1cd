import TestSupport
import Testing

@testable import Tureen

/// What is read as a browser's request: no sockets.
struct LoopbackRequestReaderTests {
  private func step(_ text: String, limit: Int = 16_384) -> LoopbackRequestReader.Step {
    var reader = LoopbackRequestReader(limit: limit)
    return reader.take(Array(text.utf8))
  }

  @Test func request_isReadWhateverItsParts() {
    let text = "GET /a?code=x%3D HTTP/1.1\r\nHost: localhost:1717\r\nORIGIN: https://a.example\r\nX: \r\n\r\n"
    let headers = [("host", "localhost:1717"), ("origin", "https://a.example"), ("x", "")]
    let whole = LoopbackRequestReader.Step.request(
      LoopbackRequest(
        method: "GET", target: "/a?code=x%3D", headers: headers.map { LoopbackRequest.Header(name: $0.0, value: $0.1) }))
    #expect(step(text) == whole)
    for size in 1...text.utf8.count {
      var reader = LoopbackRequestReader(limit: 16_384), rest = Array(text.utf8)[...], last = LoopbackRequestReader.Step.more
      while !rest.isEmpty {
        #expect(last == .more)
        last = reader.take(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
      #expect(last == whole)
    }
  }

  @Test func body_isWaitedFor() {
    var reader = LoopbackRequestReader(limit: 200)
    #expect(reader.take(Array("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\na".utf8)) == .more)
    #expect(
      reader.take(Array("bc".utf8))
        == .request(
          LoopbackRequest(
            method: "POST", target: "/", headers: [LoopbackRequest.Header(name: "content-length", value: "3")],
            body: Array("abc".utf8))))
  }

  @Test(arguments: [
    "GET / HTTP/2\r\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", " GET / HTTP/1.1\r\n\r\n", "\r\n\r\n",
    "GET / HTTP/1.1 x\r\n\r\n",
    "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    "GET / HTTP/1.1\r\n: a\r\n\r\n", "G(T / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "\u{16}\u{3}\u{1}hello", "GET / HTTP/1.1\r\nX: \u{0}\r\n",
  ])
  func request_thatIsNotHTTP_isRefused(text: String) { #expect(step(text) == .refused) }

  @Test func request_overTheLimit_isTooLong() {
    let text = "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 100))\r\n\r\n"
    #expect(step(text, limit: text.utf8.count) != .tooLong && step(text, limit: text.utf8.count - 1) == .tooLong)
    #expect(step("GET / HTTP/1.1\r\nContent-Length: 101\r\n\r\n", limit: 100) == .tooLong)
  }

  @Test func hosts_areAllKept() {
    #expect(
      step("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\nAccess-Control-Request-Private-Network: true\r\n\r\n")
        == .request(LoopbackRequest(method: "GET", target: "/", hosts: ["a", "b"], asksForPrivateNetwork: true)))
  }

  @Test func bytes_ofAnyKind_neverCrash() {
    var random = SeededGenerator(state: 1717)
    let pool = Array("GET / HTTP/1.1\r\n:Content-Length12 \u{0}é\n".utf8)
    for _ in 0..<5_000 {
      var reader = LoopbackRequestReader(limit: 300)
      for _ in 0..<4 {
        _ = reader.take((0..<Int.random(in: 0...60, using: &random)).map { _ in pool.randomElement(using: &random)! })
      }
    }
  }
}

extension LoopbackRequest {
  /// A request with these headers, in this order.
  init(method: String, target: String, hosts: [String], origin: String? = nil, asksForPrivateNetwork: Bool = false) {
    var headers = hosts.map { Header(name: "host", value: $0) }
    if let origin { headers.append(Header(name: "origin", value: origin)) }
    if asksForPrivateNetwork { headers.append(Header(name: "access-control-request-private-network", value: "true")) }
    self.init(method: method, target: target, headers: headers)
  }
}
