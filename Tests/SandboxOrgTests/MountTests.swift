import Foundation
import JSON
import SandboxOrg
import Testing

/// A second API on the same port: it shares routing, the log and the faults, but nothing of
/// Salesforce.
private struct EchoService: ServerService {
  let name: String

  func reply(to request: ServerRequest) async -> ServerReply {
    .json(
      200,
      [
        "service": .string(name), "mount": .string(request.mountPath), "origin": .string(request.origin),
        "segments": .array(request.segments.map { .string($0) }), "bytes": .integer(Int64(request.body.count)),
      ])
  }
}

/// A service with its own error format.
private struct PlainService: ServerService {
  func reply(to request: ServerRequest) async -> ServerReply { .text(404, "nothing here") }
  func refusal(_ refusal: ServerRefusal) -> ServerReply { .text(refusal.status, "refused: \(refusal.code)") }
}

@Suite struct MountTests {
  private func withServices(_ body: (SandboxServer, WireClient) async throws -> Void) async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.mounts = [
      Mount(.prefix("/echo"), EchoService(name: "short")), Mount(.prefix("/echo/inner/"), EchoService(name: "long")),
      Mount(.host("api.echo.localhost"), EchoService(name: "host")), Mount(.prefix("plain"), PlainService()),
    ]
    let server = try await SandboxServer.start(configuration)
    try await body(server, WireClient(port: server.port))
    await server.stop()
  }

  @Test(arguments: [
    ("/echo/a/b%20c/?q=1", "x", "short", "/echo", ["a", "b c"]), ("/echo/", "x", "short", "/echo", []),
    ("/echo/inner/z", "x", "long", "/echo/inner", ["z"]), ("/echo/innermost", "x", "short", "/echo", ["innermost"]),
    ("/services/data", "API.Echo.localhost:8080", "host", "", ["services", "data"]),
  ])
  func mounts_byPrefixAndHost_routeTo(
    target: String, host: String, service: String, mount: String, segments: [String]
  ) async throws {
    try await withServices { _, client in
      let answer = try await client.exchange(
        Array("GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8))
      #expect(answer.json["service"] == .string(service) && answer.json["mount"] == .string(mount))
      #expect(answer.json["origin"] == .string("http://\(host)"))
      #expect(answer.json["segments"] == .array(segments.map { .string($0) }))
    }
  }

  @Test func mounts_besideTheOrg_shareLogAndFaultsAndKeepTheirErrors() async throws {
    try await withServices { server, client in
      #expect(try await client.send("GET", "/services/data").json.arrayValue?.isEmpty == false)
      #expect(try await client.send("GET", "/echoes").errorCode == "NOT_FOUND")
      server.setInterceptor { $0.path == "/echo/down" ? .respond(status: 503, body: "later") : nil }
      #expect(try await client.send("GET", "/echo/down").text == "later")
      #expect(try await client.send("PUT", "/echo/up", body: [1, 2, 3]).json["bytes"] == 3)
      #expect(server.requests().map(\.status) == [200, 404, 503, 200])
      let body = [UInt8](repeating: 0x20, count: 17_000_000)
      #expect(try await client.send("POST", "/plain/x", body: body).text == "refused: REQUEST_ENTITY_TOO_LARGE")
      let echo = try await client.send("POST", "/echo/x", body: body)
      #expect(echo.status == 413 && echo.json["code"] == "REQUEST_ENTITY_TOO_LARGE")
    }
  }
}
