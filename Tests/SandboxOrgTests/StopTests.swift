import Foundation
import JSON
import SandboxOrg
import Synchronization
import Testing

@Suite struct StopTests {
  private func start() async throws -> SandboxServer {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    return try await SandboxServer.start(configuration)
  }

  @Test func stop_idleKeepAliveConnection_isClosed() async throws {
    let server = try await start()
    let client = WireClient(port: server.port)
    // The answer only comes back once the server has closed the connection.
    async let answer = client.exchange(Array("GET /services/data HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
    try await until { !server.requests().isEmpty }
    await server.stop()
    #expect(try await answer.status == 200)
  }

  /// A client that connects at the moment of the stop is served or refused; swift-nio used to end
  /// the process.
  @Test(arguments: [false, true]) func stop_whileClientsConnect_endsInOrder(isTLS: Bool) async throws {
    // Only this case, in this process, listens on this address, so a released port is not taken again.
    let host = "127.83.\(getpid() & 0xFF).\(isTLS ? 2 : 1)"
    for _ in 0..<(isTLS ? 20 : 100) {
      var configuration = SandboxConfiguration()
      configuration.seed = .none
      configuration.tls = isTLS ? .generated(folder: nil) : nil
      configuration.host = host
      configuration.allowsRemote = true
      let server = try await SandboxServer.start(configuration)
      let port = server.port
      let connecting = Connector(host: host, port: port, clients: 4)
      await connecting.hasConnected()
      await server.stop()
      connecting.stop()
      // A child process of another test has a copy of the socket from its fork to its exec, so this can still succeed.
      while let descriptor = try? Loopback.connect(port: port, host: host) { close(descriptor) }
    }
  }

  @Test func stop_whileARequestIsHeldBack_doesNotWaitForIt() async throws {
    let server = try await start()
    let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
    server.setInterceptor { _ in
      continuation.yield()
      return .delay(.seconds(3_600))
    }
    let client = WireClient(port: server.port)
    async let answer = try? client.send("GET", "/services/data")
    for await _ in arrivals { break }
    await server.stop()
    _ = await answer
  }

  @Test func changes_afterStop_areRefused() async throws {
    let server = try await start()
    await server.stop()
    let query = #expect(throws: SandboxError.self) { try server.query("SELECT Id FROM User") }
    #expect(query?.code == "SERVER_UNAVAILABLE")
    #expect(throws: SandboxError.self) { try server.create("Account", fields: ["Name": "A"]) }
    #expect(throws: SandboxError.self) { try server.expireSessions() }
  }
}

/// Threads that repeatedly connect to a port and hang up, until nothing listens or the test ends
/// them.
private final class Connector: Sendable {
  private let isOver = Mutex(false)
  private let connected: AsyncStream<Void>

  init(host: String, port: Int, clients: Int) {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    connected = stream
    for _ in 0..<clients {
      Thread.detachNewThread { [weak self] in
        while let self, !self.isOver.withLock({ $0 }), let descriptor = try? Loopback.connect(port: port, host: host) {
          continuation.yield()
          let hello = Array("GET / HTTP/1.1\r\n".utf8)
          _ = send(descriptor, hello, hello.count, Int32(MSG_NOSIGNAL))
          close(descriptor)
        }
        continuation.finish()
      }
    }
  }

  /// Returns once several connections have been made; more are in progress.
  func hasConnected() async {
    var count = 0
    for await _ in connected {
      count += 1
      if count == 20 { return }
    }
  }

  func stop() { isOver.withLock { $0 = true } }
}
