import TestSupport
import Testing

@testable import RestClient

/// What is known about a request that got no response, and the connections between requests.
@Suite(.timeLimit(.minutes(60))) struct WireOutcomeTests {
  enum Ending: CaseIterable { case fin, rst }

  /// libcurl sends a request again, whatever its method, when a kept connection breaks before the first byte of the response.
  /// A POST would then create two records.
  @Test(arguments: [HTTPMethod.POST, .GET, .PATCH, .DELETE], Ending.allCases)
  func keptConnection_thatBreaksAfterTheRequest_isNotUsedTwice(_ method: HTTPMethod, _ ending: Ending) async throws {
    let server = try WireServer { connection in
      while connection.request() != nil {
        guard connection.number == 1, connection.served > 1 else {
          connection.answer("\(connection.served)")
          continue
        }
        return ending == .rst ? connection.reset() : connection.close()
      }
    }
    let body: [UInt8]? = method == .POST || method == .PATCH ? [1, 2] : nil
    try await withTransport { transport in
      _ = try await transport.exchange(method, url: server.url, headers: [], body: body)
      let error = await transport.failure(method, server.url, body: body)
      #expect(error?.summary == "noResponse unknown: the connection was closed before the response was complete")
      #expect(server.requests.count == 2)
      _ = try await transport.exchange(method, url: server.url, headers: [], body: body)
    }
    #expect(server.requests.count == 3)
  }

  /// With a body of several buffers, of which the server reads all before it closes.
  @Test func keptConnection_thatBreaksAfterALongBody_isNotUsedTwice() async throws {
    let server = try WireServer { connection in
      while connection.request() != nil {
        guard connection.served == 1 else { return }
        connection.answer()
      }
    }
    let body = [UInt8](repeating: 1, count: 3_000_000)
    try await withTransport { transport in
      _ = try await transport.exchange(.POST, url: server.url, headers: [], body: body)
      let error = await transport.failure(.POST, server.url, body: body)
      #expect(error?.code == .noResponse && error?.outcome == .unknown)
    }
    #expect(server.requests.count == 2)
  }

  @Test(arguments: [false, true], Ending.allCases)
  func request_readHalfReadOrAll_isToldApart(isEncrypted: Bool, ending: Ending) async throws {
    let authority = try TestAuthority()
    let server = try WireServer(isEncrypted ? authority.identity() : nil) { connection in
      guard let head = connection.head() else { return }
      if !head.contains("/none") { _ = connection.bytes(head.contains("/all") ? 30_000_000 : 1_000) }
      if ending == .rst { connection.reset() }
    }
    let body = [UInt8](repeating: 1, count: 30_000_000)
    try await withTransport({ $0.authorities = authority.trusted }) { transport in
      let half = await transport.failure(.POST, server.url + "/half", body: body)
      #expect(half?.code == .noResponse && half?.outcome == .notSent, "\(String(describing: half))")
      let all = await transport.failure(.POST, server.url + "/all", body: body)
      #expect(all?.code == .noResponse && all?.outcome == .unknown, "\(String(describing: all))")
      let none = await transport.failure(.DELETE, server.url + "/none")
      #expect(none?.code == .noResponse && none?.outcome == .unknown, "\(String(describing: none))")
      try await Task.sleep(nanoseconds: 0)
    }
  }

  @Test func connection_closedBeforeTheRequest_isNotSent() async throws {
    let server = try WireServer { $0.reset() }
    let error = try await withTransport { transport in
      try await Task.sleep(nanoseconds: 0)
      return await transport.failure(.POST, server.url, body: [UInt8](repeating: 1, count: 30_000_000))
    }
    #expect(error?.code == .noResponse && error?.outcome == .notSent, "\(String(describing: error))")
  }

  @Test func response_beforeTheBodyIsWritten_isAResponse() async throws {
    let server = try WireServer { connection in
      guard connection.head() != nil else { return }
      connection.answer("too big", status: "413 Too Large", fields: "Connection: close\r\n")
      connection.waitForEnd()
    }
    let response = try await withTransport {
      try await $0.exchange(.POST, url: server.url, headers: [], body: [UInt8](repeating: 1, count: 30_000_000))
    }
    #expect(response.status == 413 && response.body.text == "too big")
  }

  // MARK: Connections

  @Test func connection_isKept() async throws {
    let server = try WireServer { connection in while connection.request() != nil { connection.answer("\(connection.served)") } }
    try await withTransport { transport in
      for i in 1...5 {
        let response = try await transport.get(server.url)
        #expect(response.body.text == "\(i)")
      }
    }
  }

  @Test(arguments: ["", "Connection: close\r\n", "Keep-Alive: timeout=0\r\n"])
  func connection_closedByTheServerWhileItIsKept_isNotUsed(_ fields: String) async throws {
    let server = try WireServer { connection in
      guard connection.request() != nil else { return }
      connection.answer("ok", fields: fields)
    }
    try await withTransport { transport in
      for i in 1...5 {
        let response = try await transport.exchange(.POST, url: server.url, headers: [], body: [1])
        #expect(response.body.text == "ok" && server.connections == i)
        // Until the FIN has arrived.
        while await !server.hasNoConnection { await Task.yield() }
      }
    }
  }

  @Test func connection_unusedForLong_isClosed() async throws {
    let server = try WireServer { connection in while connection.request() != nil { connection.answer("\(connection.served)") } }
    try await withTransport({ $0.keepAliveMs = 50 }) { transport in
      _ = try await transport.get(server.url)
      while await !server.hasNoConnection { await Task.yield() }
      let response = try await transport.get(server.url)
      #expect(response.body.text == "1" && server.connections == 2)
    }
  }

  @Test func requests_64AtOnce_use8ConnectionsInOrder() async throws {
    let server = try WireServer { connection in while connection.request() != nil { connection.answer() } }
    try await withTransport { transport in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for i in 0..<64 { group.addTask { try await transport.get("\(server.url)/\(i)").status } }
        for try await status in group { #expect(status == 200) }
      }
    }
    #expect(server.requests.count == 64 && server.connections <= 8)
  }

  @Test func requests_ofManyTasks_getTheirOwnResponses() async throws {
    let server = try WireServer { connection in
      while let (head, _) = connection.request() {
        let count = Int(head.split(separator: "/")[1].split(separator: " ")[0]) ?? 0
        connection.answer(String(repeating: "x", count: count))
      }
    }
    let total = try await withTransport({ $0.connectionsPerHost = 64 }) { transport in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for i in 0..<64 {
          group.addTask {
            var sum = 0
            for j in 0..<20 { sum += try await transport.get("\(server.url)/\(i * j)").body.count }
            return sum
          }
        }
        return try await group.reduce(0, +)
      }
    }
    #expect(total == (0..<64).reduce(0, +) * (0..<20).reduce(0, +))
  }
}
