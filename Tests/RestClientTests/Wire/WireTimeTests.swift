import Foundation
import TestSupport
import Testing

@testable import RestClient

/// Limits of time, cancellation, and the end of a transport.
@Suite(.timeLimit(.minutes(60))) struct WireTimeTests {
  private static let hour = 3_600.0

  /// Answers each request only when the client closes the connection.
  private func silent() throws -> WireServer {
    try WireServer { connection in
      _ = connection.request()
      connection.waitForEnd()
    }
  }

  @Test func idle_silentServer_isUnknown() async throws {
    let server = try silent()
    let error = try await withTransport({ $0.idleTimeoutMs = 50 }) { await $0.failure(.POST, server.url, body: [1]) }
    #expect(error?.summary == "noResponse unknown: it sent no data for too long")
  }

  @Test func idle_watched_endsWithoutWaiting() async throws {
    let server = try silent(), givenUp = GivenUp()
    let error = try await withTransport({ $0.watch = givenUp.watch }) { transport in
      async let failed = transport.failure(.POST, server.url, body: [1])
      await server.received(1)
      givenUp.all()
      return await failed
    }
    #expect(error?.summary == "noResponse unknown: it sent no data for too long")
  }

  /// Every byte counts, of a response and of a request's body. The clock runs while the server waits.
  @Test func idle_slowButSteady_isNoEnd() async throws {
    let clock = ManualClock()
    let server = try WireServer { connection in
      guard connection.head() != nil else { return }
      for _ in 0..<20 {
        clock.advance(by: 20)
        _ = connection.bytes(1_000_000)
      }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n")
      for _ in 0..<20 {
        clock.advance(by: 20)
        connection.send("t")
      }
    }
    let response = try await withTransport({ $0.now = clock.now }) {
      try await $0.exchange(.POST, url: server.url, headers: [], body: [UInt8](repeating: 1, count: 20_000_000))
    }
    #expect(response.body.text == String(repeating: "t", count: 20))
  }

  @Test func idle_serverThatStopsReading_isNotSent() async throws {
    let isOver = DispatchSemaphore(value: 0)
    let server = try WireServer { connection in
      _ = connection.head()
      isOver.wait()
    }
    let error = try await withTransport({ $0.idleTimeoutMs = 200 }) {
      await $0.failure(.POST, server.url, body: [UInt8](repeating: 1, count: 60_000_000))
    }
    #expect(error?.summary == "noResponse notSent: it stopped reading the request")
    isOver.signal()
  }

  @Test func total_endsEvenASteadyResponse() async throws {
    let server = try WireServer { connection in
      guard connection.request() != nil else { return }
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      for _ in 0..<200 {
        usleep(20_000)
        connection.send("t")
      }
    }
    let error = try await withTransport { await $0.failure(.GET, server.url, timeoutS: 0.2) }
    #expect(error?.summary == "noResponse unknown: the response was not complete within the time limit")
  }

  @Test func total_includesTheWaitForAConnection() async throws {
    let server = try silent()
    try await withTransport({ $0.connectionsPerHost = 1 }) { transport in
      let first = Task { await transport.failure(.GET, server.url + "/first") }
      await server.received(1)
      let error = await transport.failure(.POST, server.url + "/second", body: [1], timeoutS: 0.1)
      #expect(error?.summary == "noResponse notSent: the response was not complete within the time limit")
      first.cancel()
      #expect(await first.value?.code == .cancelled)
      try await Task.sleep(nanoseconds: 0)
    }
    #expect(server.lines == ["GET /first"])
  }

  /// The queue of the listener is full, so that a connection never completes.
  @Test func connect_timesOutNotSent() async throws {
    let server = try WireServer(backlog: 0, accepts: false) { _ in }
    let errors = try await withTransport({ $0.connectTimeoutMs = 200 }) { transport in
      await withTaskGroup(of: RestError?.self) { group in
        for _ in 0..<6 { group.addTask { await transport.failure(.POST, server.url, body: [1], timeoutS: 2) } }
        return await group.reduce(into: [RestError]()) { if let error = $1 { $0.append(error) } }
      }
    }
    #expect(errors.contains { $0.summary == "noResponse notSent: connecting timed out" }, "\(errors)")
  }

  @Test func connect_includesTheTLSHandshake() async throws {
    let server = try silent()
    let url = server.url.replacing("http:", with: "https:")
    let error = try await withTransport({ $0.connectTimeoutMs = 100 }) { await $0.failure(.POST, url, body: [1]) }
    #expect(error?.summary == "noResponse notSent: connecting timed out")
  }

  // MARK: Cancellation

  @Test func cancel_underWay_isUnknownAndAtOnce() async throws {
    let server = try silent()
    try await withTransport { transport in
      let call = Task { await transport.failure(.POST, server.url, body: [1]) }
      await server.received(1)
      call.cancel()
      let error = await call.value
      #expect(error?.code == .cancelled && error?.outcome == .unknown)
      while await !server.hasNoConnection { try await Task.sleep(nanoseconds: 1_000_000) }
    }
  }

  @Test func cancel_waitingForAConnection_isNotSent() async throws {
    let server = try silent()
    try await withTransport({ $0.connectionsPerHost = 1 }) { transport in
      let first = Task { await transport.failure(.POST, server.url, body: [1]) }
      await server.received(1)
      let second = Task { await transport.failure(.POST, server.url, body: [1]) }
      try await Task.sleep(nanoseconds: 1_000_000)
      second.cancel()
      let error = await second.value
      #expect(error?.code == .cancelled && error?.outcome == .notSent)
      first.cancel()
      _ = await first.value
    }
    #expect(server.requests.count == 1)
  }

  @Test func cancel_atAnyTime_neverHangsAndLeavesATransportThatWorks() async throws {
    let server = try WireServer { connection in while connection.request() != nil { connection.answer("ok") } }
    try await withTransport { transport in
      await withTaskGroup(of: Void.self) { group in
        for i in 0..<300 {
          group.addTask {
            let call = Task { await transport.failure(.POST, server.url, body: [UInt8](repeating: 1, count: 2_000)) }
            try? await Task.sleep(nanoseconds: UInt64(i % 30) * 300_000)
            call.cancel()
            let error = await call.value
            #expect(error == nil || error?.code == .cancelled, "\(String(describing: error))")
          }
        }
      }
      let response = try await transport.get(server.url)
      #expect(response.body.text == "ok")
    }
  }

  // MARK: The end

  @Test func shutdown_endsAllRequestsAndConnections() async throws {
    let server = try silent()
    try await withTransport { transport in
      let calls = (0..<20).map { _ in Task { await transport.failure(.GET, server.url) } }
      await server.received(8)
      await withTaskGroup { group in for _ in 0..<4 { group.addTask { await transport.shutdown() } } }
      for call in calls { #expect(await call.value?.code == .shutDown) }
      let later = await transport.failure(.GET, server.url)
      #expect(later?.code == .shutDown && later?.outcome == .notSent)
      while await !server.hasNoConnection { try await Task.sleep(nanoseconds: 1_000_000) }
    }
    #expect(server.connections == 8)
  }

  @Test func shutdown_unusedTransport_returns() async throws {
    let transport = HTTPTransport()
    await transport.shutdown()
    await transport.shutdown()
    #expect(await transport.failure(.GET, "http://127.0.0.1:1")?.code == .shutDown)
  }

  @Test func transport_releasedWithoutShutdown_closesItsConnections() async throws {
    let server = try WireServer { connection in while connection.request() != nil { connection.answer() } }
    for _ in 0..<20 { _ = try await HTTPTransport().get(server.url) }
    while await !server.hasNoConnection { try await Task.sleep(nanoseconds: 1_000_000) }
    #expect(server.connections == 20)
  }
}
