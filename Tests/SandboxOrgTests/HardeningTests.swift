import Foundation
import JSON
import NIOCore
import SandboxOrg
import Synchronization
import Testing

/// Slow, faulty or hostile clients: each gets a clear answer or a closed connection, and the server
/// continues.
@Suite struct HardeningTests {
  private func withLimits(
    _ limits: ConnectionLimits, _ body: (SandboxServer, WireClient) async throws -> Void
  ) async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.limits = limits
    let server = try await SandboxServer.start(configuration)
    let client = WireClient(port: server.port, token: try server.issueAccessToken())
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body(server, client)) } catch { outcome = .failure(error) }
    await server.stop()
    try outcome.get()
  }

  // MARK: Slow clients

  @Test(arguments: ["", "GET /services/data HT", "GET /services/data HTTP/1.1\r\nHost: x\r\nX-Slow: "])
  func head_neverComplete_closesTheConnection(bytes: String) async throws {
    let deadlines = ManualDeadlines()
    try await withLimits(deadlines.limits) { server, client in
      let slow = try RawConnection(port: server.port)
      slow.send(bytes)
      await deadlines.isSet(deadlines.limits.head)
      deadlines.expire(deadlines.limits.head)
      #expect(await slow.readToEnd() == "")
      #expect(server.requests().isEmpty)
      let next = try await client.query("SELECT Id FROM User")
      #expect(next.status == 200)
    }
  }

  @Test(arguments: [
    "Content-Length: 100\r\n\r\n{\"Name\":", "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"Nam", "Content-Length: 1\r\n\r\n",
  ])
  func body_neverComplete_answers408AndCloses(rest: String) async throws {
    let deadlines = ManualDeadlines()
    try await withLimits(deadlines.limits) { _, client in
      let head = "POST /services/data/v66.0/sobjects/Account HTTP/1.1\r\nHost: x\r\n"
      async let late = client.exchange(Array((head + rest).utf8))
      await deadlines.isSet(deadlines.limits.body)
      deadlines.expire(deadlines.limits.body)
      let answer = try await late
      #expect(answer.status == 408 && answer.errorCode == "REQUEST_TIMEOUT" && answer.headers["connection"] == "close")
    }
  }

  @Test func body_thatGoesOn_earnsTimeWithEachStep() async throws {
    let deadlines = ManualDeadlines()
    let limits = deadlines.limits
    try await withLimits(limits) { _, client in
      let slow = try RawConnection(port: client.port)
      slow.send(
        "POST /services/data/v66.0/sobjects/Account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(client.token ?? "")\r\n"
          + "Content-Type: application/json\r\nContent-Length: \(2 * limits.bodyStep + 1)\r\n\r\n")
      for step in 1...3 {
        await deadlines.isSet(limits.body, times: step)
        slow.send(step < 3 ? String(repeating: " ", count: limits.bodyStep) : "x")
      }
      #expect(await slow.read(until: "JSON_PARSER_ERROR").hasPrefix("HTTP/1.1 400 "))
    }
  }

  @Test func connection_idleAfterAnAnswer_isClosed() async throws {
    let deadlines = ManualDeadlines()
    try await withLimits(deadlines.limits) { _, client in
      async let kept = client.exchange(Array("GET /services/data HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
      await deadlines.isSet(deadlines.limits.idle)
      deadlines.expire(deadlines.limits.idle)
      let answer = try await kept
      #expect(answer.status == 200 && !answer.isTruncated)
    }
  }

  // MARK: Too much

  @Test func tooMuch_ofEachKind_isRefusedInTheServicesForm() async throws {
    try await withLimits(.init()) { server, client in
      let account = "/services/data/v66.0/sobjects/Account"
      let longTarget = try await client.send("GET", "/services/data?x=" + String(repeating: "a", count: 20_000))
      let manyHeaders = try await client.send(
        "GET", "/services/data", headers: (0..<150).map { ("X-\($0)", String(repeating: "h", count: 150)) })
      let hugeHeader = try await client.send(
        "GET", "/services/data", headers: [("X-Huge", String(repeating: "h", count: 300_000))])
      let countless = try await client.send("GET", "/services/data", headers: (0..<400).map { ("X-\($0)", "1") })
      let body = [UInt8](repeating: 0x20, count: 17_000_000)
      let announced = try await client.send("POST", account, headers: [("Content-Type", "application/json")], body: body)
      let chunks = Array("POST \(account) HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1036640\r\n".utf8) + body
      let chunked = try await client.exchange(chunks + Array("\r\n0\r\n\r\n".utf8))
      let answers = [
        (longTarget, 414, "URI_TOO_LONG"), (manyHeaders, 431, "REQUEST_HEADER_FIELDS_TOO_LARGE"),
        (hugeHeader, 431, "REQUEST_HEADER_FIELDS_TOO_LARGE"), (countless, 431, "REQUEST_HEADER_FIELDS_TOO_LARGE"),
        (announced, 413, "REQUEST_ENTITY_TOO_LARGE"), (chunked, 413, "REQUEST_ENTITY_TOO_LARGE"),
      ]
      for (answer, status, code) in answers {
        #expect(answer.status == status && answer.errorCode == code, "\(answer.text)")
        #expect(answer.headers["connection"] == "close")
      }
      #expect(try await client.query("SELECT Id FROM User").status == 200)
      #expect(server.requests().last?.status == 200)
    }
  }

  @Test func json_deeperThanTheLimit_answers400() async throws {
    try await withLimits(.init()) { _, client in
      for text in [
        String(repeating: "[", count: 200_000), String(repeating: "{\"a\":", count: 100_000),
        String(repeating: "[", count: 2_000) + String(repeating: "]", count: 2_000),
      ] {
        let answer = try await client.json("POST", "/services/data/v66.0/sobjects/Account", text)
        #expect(answer.status == 400 && answer.errorCode == "JSON_PARSER_ERROR")
      }
    }
  }

  // MARK: Not HTTP

  @Test(arguments: [
    "GARBAGE\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\0\0\0\r\n\r\n", "GET / HTTP/1.1\r\nBad Header: x\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: nine\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnothex\r\nabc\r\n0\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\na\r\n0\r\n\r\n",
  ])
  func bytes_otherThanHTTP_answer400AndClose(text: String) async throws {
    try await withLimits(.init()) { _, client in
      let answer = try await client.exchange(Array(text.utf8))
      #expect(answer.status == 400 && answer.errorCode == "BAD_REQUEST" && answer.headers["connection"] == "close")
      #expect(try await client.query("SELECT Id FROM User").status == 200)
    }
  }

  // MARK: Correct but rare

  @Test func pipelinedRequests_areAnsweredInOrder_alsoBeforeABadOne() async throws {
    try await withLimits(.init()) { server, client in
      let good = (0..<20).map { "GET /services/data/v\($0).0/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer no\r\n\r\n" }
      let answer = try await client.exchange(Array((good.joined() + "NO HTTP\r\n\r\n").utf8))
      let statuses = ("HTTP/1.1 \(answer.status)" + answer.text).components(separatedBy: "HTTP/1.1 ").dropFirst().map {
        $0.prefix(3)
      }
      #expect(statuses.prefix(20) == Array(repeating: "401", count: 20)[...] && statuses.count <= 21)
      #expect(server.requests().map(\.path) == (0..<20).map { "/services/data/v\($0).0/x" })
    }
  }

  /// The bytes after the first bad one, and the end of the connection, take no answer away.
  @Test func pipelinedRequest_beforeABadOneInPieces_isAnswered() async throws {
    try await withLimits(.init()) { server, _ in
      let connection = try RawConnection(port: server.port)
      server.setInterceptor { _ in
        connection.send("more")
        connection.endSending()
        return nil
      }
      connection.send("GET /services/data HTTP/1.1\r\nHost: x\r\n\r\nGET /services/data HTTP/1.1\r\nBad\0")
      let text = await connection.readToEnd()
      #expect(text.components(separatedBy: "HTTP/1.1 ").map { $0.prefix(3) } == ["", "200", "400"])
    }
  }

  /// The connection ends with that answer, so what was sent after it must have no effect.
  @Test func pipelinedRequest_afterARefusedOne_isNotHandled() async throws {
    try await withLimits(.init()) { server, client in
      let long = "GET /x HTTP/1.1\r\nHost: x\r\nX-A: \(String(repeating: "a", count: 20_000))\r\n\r\n"
      let create =
        "POST /services/data/v66.0/sobjects/Account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(client.token ?? "")\r\n"
        + "Content-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"Name\":\"A\"}"
      let connection = try RawConnection(port: server.port)
      connection.send(create + long + create)
      connection.endSending()
      let text = await connection.readToEnd()
      #expect(text.components(separatedBy: "HTTP/1.1 ").map { $0.prefix(3) } == ["", "201", "431"])
      // A request of another connection, so that a third one would have been handled.
      #expect(try await client.query("SELECT Id FROM User").status == 200)
      #expect(server.requests().map(\.status) == [201, 431, 200])
    }
  }

  @Test func expectContinue_isAnsweredBeforeTheBody_unlessItIsTooLarge() async throws {
    try await withLimits(.init()) { server, client in
      let connection = try RawConnection(port: server.port)
      let head =
        "POST /services/data/v66.0/sobjects/Account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(client.token ?? "")\r\n"
      connection.send(head + "Content-Type: application/json\r\nContent-Length: 12\r\nExpect: 100-continue\r\n\r\n")
      #expect(await connection.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
      connection.send("{\"Name\":\"A\"}")
      #expect(await connection.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 201 Created\r\n"))
      let large = try RawConnection(port: server.port)
      large.send(head + "Content-Length: 999999999\r\nExpect: 100-continue\r\n\r\n")
      #expect(await large.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 413 "))
    }
  }

  @Test func halfClosedConnection_isAnswered_andOneCutShortIsNot() async throws {
    try await withLimits(.init()) { server, client in
      let whole = try RawConnection(port: server.port)
      whole.send("GET /services/data HTTP/1.1\r\nHost: x\r\n\r\n")
      whole.endSending()
      #expect(await whole.readToEnd().contains("\"version\":\"66.0\""))
      let cut = try RawConnection(port: server.port)
      cut.send("POST /services/data/v66.0/sobjects/Account HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"Name\"")
      cut.endSending()
      #expect(await cut.readToEnd().hasPrefix("HTTP/1.1 400 "))
      // Disconnected silently in the middle of a body.
      let gone = try RawConnection(port: server.port)
      gone.send("POST /services/data/v66.0/sobjects/Account HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"Name\"")
      gone.end()
      #expect(try await client.query("SELECT COUNT() FROM Account").json["totalSize"] == 0)
    }
  }

  /// More than the system's buffers hold, so the server still has the rest when it could end the connection.
  @Test(arguments: ["", "Connection: close\r\n"])
  func halfClosedConnection_largeAnswer_isComplete(header: String) async throws {
    try await withLimits(.init()) { server, _ in
      server.setInterceptor { _ in .respond(status: 200, body: String(repeating: "a", count: 32_000_000)) }
      let connection = try RawConnection(port: server.port)
      connection.send("GET /services/data HTTP/1.1\r\nHost: x\r\n\(header)\r\n")
      connection.endSending()
      let head = await connection.read(until: "\r\n\r\n")
      #expect(head.contains("Content-Length: 32000000\r\n"))
      #expect(await connection.countToEnd() == 32_000_000)
    }
  }

  /// The body that has arrived is not the request's body.
  @Test func request_refusedAsTooSlow_isNotExecuted() async throws {
    let deadlines = ManualDeadlines()
    try await withLimits(deadlines.limits) { server, client in
      let id = try server.create("Account", fields: ["Name": "A"])
      let slow = try RawConnection(port: server.port)
      slow.send(
        "DELETE /services/data/v66.0/sobjects/Account/\(id) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(client.token ?? "")\r\n"
          + "Content-Length: 5\r\n\r\n{")
      await deadlines.isSet(deadlines.limits.body)
      deadlines.expire(deadlines.limits.body)
      #expect(await slow.readToEnd().hasPrefix("HTTP/1.1 408 "))
      slow.end()
      #expect(try await client.query("SELECT COUNT() FROM Account").json["totalSize"] == 1)
      #expect(server.requests().map(\.method) == ["GET"])
    }
  }

  @Test(arguments: [
    "Content-Length: 100\r\n\r\n{\"Na", "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"N", "Transfer-Encoding: chunked\r\n\r\nx",
  ])
  func request_cutShort_isNotExecuted(rest: String) async throws {
    try await withLimits(.init()) { server, client in
      let id = try server.create("Account", fields: ["Name": "A"])
      let cut = try RawConnection(port: server.port)
      cut.send(
        "DELETE /services/data/v66.0/sobjects/Account/\(id) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(client.token ?? "")\r\n"
          + rest)
      cut.endSending()
      #expect(await cut.readToEnd().hasPrefix("HTTP/1.1 400 "))
      #expect(try await client.query("SELECT COUNT() FROM Account").json["totalSize"] == 1)
      #expect(server.requests().map(\.method) == ["GET"])
    }
  }

  @Test func head_ofEveryGet_hasTheLengthAndNoBody() async throws {
    try await withLimits(.init()) { _, client in
      let targets = ["/services/data", "/services/data/v66.0/limits", "/services/data/v66.0/nowhere", "/__sandbox/requests"]
      for target in targets + ["/services/data?" + String(repeating: "a", count: 20_000)] {
        let get = try await client.send("GET", target)
        let head = try await client.send("HEAD", target)
        #expect(head.status == get.status && head.headers["content-length"] == get.headers["content-length"] && head.body.isEmpty)
      }
      let cut = try RawConnection(port: client.port)
      cut.send("HEAD /services/data HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
      cut.endSending()
      let answer = await cut.readToEnd()
      #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.hasSuffix("\r\n\r\n"))
    }
  }

  @Test func connections_aboveTheLimit_waitUntilOneCloses() async throws {
    var limits = ConnectionLimits()
    limits.connections = 1
    try await withLimits(limits) { server, client in
      let first = try RawConnection(port: server.port)
      let request = "GET /services/data?first HTTP/1.1\r\nHost: x\r\n\r\n"
      first.send(request)
      #expect(await first.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
      async let second = client.send("GET", "/services/data?second")
      first.send(request)
      #expect(await first.read(until: "HTTP/1.1 200").hasSuffix("HTTP/1.1 200"))
      first.end()
      #expect(try await second.status == 200)
      #expect(server.requests().map(\.query) == [["first="], ["first="], ["second="]])
    }
  }

  /// Connections that a client keeps, and silent ones, do not block others.
  @Test(arguments: ["", "GET /services/data?kept HTTP/1.1\r\nHost: x\r\n\r\n"])
  func connections_idle_giveWayToNewOnes(request: String) async throws {
    var limits = ConnectionLimits()
    limits.connections = 16
    try await withLimits(limits) { server, client in
      var kept: [RawConnection] = []
      for _ in 0..<20 {
        kept.append(try RawConnection(port: server.port))
        guard !request.isEmpty else { continue }
        kept.last?.send(request)
        #expect(await kept.last?.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200") == true)
      }
      #expect(try await client.query("SELECT Id FROM User").status == 200)
      guard !request.isEmpty else { return }
      #expect(await kept[0].readToEnd().hasSuffix("]"), "idle for the longest time: closed after its answer")
      kept[19].send(request)
      #expect(await kept[19].read(until: "HTTP/1.1 200").hasSuffix("HTTP/1.1 200"), "the newest is kept")
    }
  }

  @Test func connections_busy_areNotClosedForNewOnes() async throws {
    var limits = ConnectionLimits()
    limits.connections = 3
    try await withLimits(limits) { server, client in
      try server.faults.add(.latency(milliseconds: 5_000, clock: .org), path: "/services/data/v66.0/limits")
      async let busy = client.send("GET", "/services/data/v66.0/limits")
      await server.clock.hasSleepers()
      for _ in 0..<5 { #expect(try await client.query("SELECT Id FROM User").status == 200) }
      server.clock.advance(by: 5)
      #expect(try await busy.status == 200)
    }
  }
}

/// Deadlines that expire when the test says so.
final class ManualDeadlines: ConnectionTimer {
  private struct Entry {
    let time: TimeAmount
    let run: @Sendable () -> Void
  }
  private struct Waiter {
    let time: TimeAmount, count: Int
    let wake: CheckedContinuation<Void, Never>
  }
  private struct State {
    var entries: [Int: Entry] = [:]
    var last = 0
    var set: [TimeAmount: Int] = [:]
    var waiters: [Waiter] = []

    mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
      let counts = set
      defer { waiters.removeAll { $0.count <= counts[$0.time, default: 0] } }
      return waiters.filter { $0.count <= counts[$0.time, default: 0] }.map(\.wake)
    }
  }
  private let state = Mutex(State())

  /// The default limits with this timer.
  var limits: ConnectionLimits {
    var limits = ConnectionLimits()
    limits.timer = self
    return limits
  }

  /// Waits until this many deadlines of this length have been set.
  func isSet(_ time: TimeAmount, times count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let ready = state.withLock { state in
        state.waiters.append(Waiter(time: time, count: count, wake: continuation))
        return state.takeReady()
      }
      for waiter in ready { waiter.resume() }
    }
  }

  func schedule(_ time: TimeAmount, on loop: any EventLoop, _ body: @escaping @Sendable () -> Void) -> Deadline {
    let (number, ready) = state.withLock { state in
      state.last += 1
      state.set[time, default: 0] += 1
      state.entries[state.last] = Entry(time: time) { loop.execute(body) }
      return (state.last, state.takeReady())
    }
    for waiter in ready { waiter.resume() }
    return Deadline { [weak self] in self?.state.withLock { $0.entries[number] = nil } }
  }

  /// Expires all deadlines of this length.
  func expire(_ time: TimeAmount) {
    let due = state.withLock { state in
      let due = state.entries.filter { $0.value.time == time }
      for number in due.keys { state.entries[number] = nil }
      return due
    }
    for entry in due.values { entry.run() }
  }
}

/// A socket controlled by the test. Blocking calls run on a separate thread: the server needs the
/// pool's.
final class RawConnection: Sendable {
  private let descriptor: Int32

  init(port: Int) throws {
    descriptor = try Loopback.connect(port: port)
  }

  deinit { Glibc.close(descriptor) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Reads until the bytes end with `mark` or the peer closes.
  func read(until mark: String) async -> String {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) == 1 {
          bytes.append(byte)
          if bytes.suffix(mark.utf8.count).elementsEqual(mark.utf8) { break }
        }
        continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
      }
    }
  }

  /// Returns how many more bytes come.
  func countToEnd() async -> Int {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in
        var buffer = [UInt8](repeating: 0, count: 65_536), total = 0
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { total += count }
        continuation.resume(returning: total)
      }
    }
  }

  func readToEnd() async -> String { await read(until: "\u{0}never") }
  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
