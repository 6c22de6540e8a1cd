import Support
import TestSupport
import Testing

@testable import RestClient

/// What comes back: interim responses, lengths, limits, damage.
@Suite(.timeLimit(.minutes(60))) struct WireResponseTests {
  /// A server that sends a text to each request and then closes the connection.
  private func sending(_ text: String, keeps: Bool = false) throws -> WireServer {
    try WireServer { connection in
      repeat {
        guard connection.request() != nil else { return }
        connection.send(text)
      } while keeps
    }
  }

  private func response(_ text: String, keeps: Bool = false, _ change: (inout TransportConfiguration) -> Void = { _ in })
    async throws -> RestResponse
  {
    let server = try sending(text, keeps: keeps)
    return try await withTransport(change) { try await $0.get(server.url) }
  }

  private func failure(_ text: String, _ change: (inout TransportConfiguration) -> Void = { _ in }) async throws -> RestError? {
    let server = try sending(text)
    return try await withTransport(change) { await $0.failure(.GET, server.url) }
  }

  @Test func interim_responsesAreSkipped() async throws {
    let early = try await response(
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-Real: 1\r\nContent-Length: 4\r\n\r\nreal"
    )
    #expect(early.status == 200 && early.header("x-real") == "1" && early.header("link") == nil && early.body.text == "real")
  }

  @Test func redirectsAndCookies_areLeftToTheCaller() async throws {
    let server = try sending(
      "HTTP/1.1 302 Found\r\nLocation: /b\r\nSet-Cookie: a=b\r\nContent-Length: 5\r\n\r\nmoved", keeps: true)
    try await withTransport { transport in
      let moved = try await transport.get(server.url)
      #expect(moved.status == 302 && moved.header("Location") == "/b" && moved.body.text == "moved")
      _ = try await transport.get(server.url)
    }
    #expect(server.lines == ["GET /", "GET /"] && !server.requests.contains { $0.contains("Cookie") })
  }

  @Test func fields_areKeptInOrderAndWhole() async throws {
    let fields = try await response(
      "HTTP/1.1 200 OK\r\nX-A:1\r\nx-a:  2 \t\r\nX-B: a\r\n  b\r\n\tc\r\nEmpty:\r\nContent-Length: 0\r\n\r\n"
    ).headers
    #expect(fields.map { "\($0.name)=\($0.value)" } == ["X-A=1", "x-a=2", "X-B=a b c", "Empty=", "Content-Length=0"])
  }

  @Test func trailers_areDropped() async throws {
    let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nX-Late: 1\r\n\r\n"
    let response = try await response(text)
    #expect(response.body.text == "hello" && response.header("X-Late") == nil)
  }

  @Test func body_untilTheEndOfTheConnection() async throws {
    #expect(try await response("HTTP/1.1 200 OK\r\n\r\nto the end").body.text == "to the end")
    #expect(try await response("HTTP/1.0 200 OK\r\n\r\nto the end").body.text == "to the end")
    #expect(try await response("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok").body.text == "ok")
  }

  @Test(arguments: ["204 No Content", "304 Not Modified"])
  func body_thatTheStatusForbids_isEmpty(_ status: String) async throws {
    let response = try await response("HTTP/1.1 \(status)\r\nContent-Length: 300000000000\r\n\r\n")
    #expect(response.body.count == 0 && response.status == Int(status.prefix(3)))
  }

  /// Such a status line ended the process once.
  @Test(arguments: ["000", "001", "042", "099", "101", "199", "1", "20", "2000", "99999", "abc", "-10", "2 0", ""])
  func status_outOfRange_isNoResponse(_ status: String) async throws {
    let error = try await failure("HTTP/1.1 \(status) Odd\r\nContent-Length: 2\r\n\r\nok")
    #expect(error?.code == .noResponse && error?.outcome == .unknown, "\(String(describing: error))")
  }

  @Test(arguments: [200, 299, 418, 599, 600, 999])
  func status_ofThreeDigits_isPassedOn(_ status: Int) async throws {
    #expect(try await response("HTTP/1.1 \(status) Odd\r\nContent-Length: 2\r\n\r\nok").status == status)
  }

  @Test(arguments: [
    "Content-Length: 2\r\nContent-Length: 3", "Content-Length: 2, 3", "Content-Length: -1", "Content-Length: 0x2",
    "Content-Length: 99999999999999999999", "Content-Length: two", "Content-Length: 2\r\nX: y\r\ncontent-length: 4",
  ])
  func length_thatIsUnclear_isNoResponse(_ fields: String) async throws {
    let error = try await failure("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nokay")
    #expect(error?.code == .noResponse && error?.outcome == .unknown, "\(String(describing: error))")
  }

  @Test func length_givenTwiceAlike_isOne() async throws {
    #expect(try await response("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok").body.text == "ok")
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nxxxxx", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 20", "",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
  ])
  func response_thatIsCutOff_isNoResponse(_ text: String) async throws {
    let error = try await failure(text)
    #expect(
      error?.code == .noResponse && error?.outcome == .unknown && error?.isRetryable == true, "\(String(describing: error))")
  }

  @Test(arguments: [
    "hello\r\n\r\n", "SSH-2.0-OpenSSH\r\n", "HTTP/2 200\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n", "\u{0}\u{0}\u{0}\r\n\r\n",
  ])
  func response_thatIsNotHTTP_isNoResponse(_ text: String) async throws {
    let error = try await failure(text)
    #expect(error?.code == .noResponse && error?.outcome == .unknown, "\(String(describing: error))")
  }

  @Test func head_overTheLimit_isNoResponse() async throws {
    func fields(_ count: Int) -> String { String(repeating: "X-Field: \(String(repeating: "v", count: 989))\r\n", count: count) }
    #expect(try await response("HTTP/1.1 200 OK\r\n\(fields(100))Content-Length: 0\r\n\r\n").headers.count == 101)
    let error = try await failure("HTTP/1.1 200 OK\r\n\(fields(270))Content-Length: 0\r\n\r\n")
    #expect(error?.summary == "noResponse unknown: the headers of its response have more than 262144 bytes")
    let trailers = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\(fields(270))\r\n"
    #expect(try await failure(trailers)?.code == .noResponse)
  }

  @Test func head_withoutEnd_isNoResponse() async throws {
    let server = try WireServer { connection in
      guard connection.request() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\n")
      for _ in 0..<4_000 { connection.send(String(repeating: "x", count: 1_000)) }
    }
    #expect(try await withTransport { await $0.failure(.GET, server.url) }?.code == .noResponse)
  }

  @Test func body_withoutEnd_isTooLarge() async throws {
    let server = try WireServer { connection in
      guard connection.request() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      for _ in 0..<1_000 { connection.send([UInt8](repeating: 0x20, count: 64 * 1024)) }
    }
    let error = try await withTransport({ $0.largestResponse = 1_000_000 }) { await $0.failure(.GET, server.url) }
    #expect(error?.code == .responseTooLarge && error?.outcome == .unknown && error?.isRetryable == false)
  }

  // MARK: Compression

  @Test func gzip_isUnpackedAndLimitedAfterwards() async throws {
    let server = try WireServer { connection in
      while let head = connection.head() {
        let count = Int(head.split(separator: "/")[1].split(separator: " ")[0]) ?? 0
        let packed = Gzip.zeros(count)
        connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
        connection.send(packed)
      }
    }
    try await withTransport({ $0.largestResponse = 1_000_000 }) { transport in
      for count in [0, 1, 900_000, 1_000_000] {
        let response = try await transport.get(server.url + "/\(count)")
        #expect(response.body.count == count)
      }
      let error = await transport.failure(.GET, server.url + "/40000000")
      #expect(error?.code == .responseTooLarge && error?.outcome == .unknown)
      #expect(try await transport.get(server.url + "/5", headers: [("Accept-Encoding", "gzip")]).body.count == 5)
    }
    #expect(server.requests.last?.contains("Accept-Encoding: gzip") == true)
  }

  /// An answer that cannot be read is an answer: the request is not sent again.
  @Test(arguments: ["gzip", "x-gzip", "deflate"]) func gzip_thatIsDamaged_isAnUnreadableBody(coding: String) async throws {
    for body in ["this is not gzip at all", "[1]", String(decoding: [0x1f], as: UTF8.self)] {
      let error = try await failure(
        "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      #expect(error?.code == .invalidBody && error?.status == 200, "\(String(describing: error))")
      #expect(error?.message.contains("'\(coding)'") == true && error?.mayHaveTakenEffect == true)
    }
  }

  @Test func gzip_thatIsCut_isNoResponse() async throws {
    let packed = Gzip.zeros(100_000)
    let server = try WireServer { connection in
      guard connection.request() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n")
      connection.send(Array(packed.prefix(packed.count / 2)))
    }
    let error = try await withTransport { await $0.failure(.GET, server.url) }
    #expect(error?.code == .noResponse && error?.outcome == .unknown, "\(String(describing: error))")
  }
}
