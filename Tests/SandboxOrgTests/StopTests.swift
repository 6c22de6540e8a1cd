import Foundation
import JSON
import SandboxOrg
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
    // The answer comes back only when the server has closed the connection.
    async let answer = client.exchange(Array("GET /services/data HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
    while server.requests().isEmpty { await Task.yield() }
    await server.stop()
    #expect(try await answer.status == 200)
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
