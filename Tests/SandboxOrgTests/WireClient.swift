import Foundation
import JSON
import SandboxOrg

/// A plain HTTP/1.1 client with one socket per request, which shows exactly what is sent.
struct WireClient: Sendable {
  struct Answer: Sendable {
    let status: Int
    let headers: [String: String]
    let body: [UInt8]
    /// True if the connection ended before the announced length.
    let isTruncated: Bool

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    /// The `errorCode` of the first error.
    var errorCode: String? { json.arrayValue?.first?["errorCode"]?.stringValue }
    var message: String? { json.arrayValue?.first?["message"]?.stringValue }
  }
  struct NoAnswer: Error { let text: String }

  let port: Int
  var token: String?

  func send(
    _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8]? = nil
  ) async throws -> Answer {
    var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"]
    if let token, !headers.contains(where: { $0.0 == "Authorization" }) { lines.append("Authorization: Bearer \(token)") }
    lines += headers.map { "\($0.0): \($0.1)" }
    if let body { lines.append("Content-Length: \(body.count)") }
    let head = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    return try await exchange(head + (body ?? []))
  }

  func json(_ method: String, _ target: String, _ body: String, headers: [(String, String)] = []) async throws -> Answer {
    try await send(method, target, headers: headers + [("Content-Type", "application/json")], body: Array(body.utf8))
  }

  func form(_ target: String, _ fields: [(String, String)]) async throws -> Answer {
    let body = fields.map { "\($0.0)=\(Self.encoded($0.1))" }.joined(separator: "&")
    return try await send(
      "POST", target, headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array(body.utf8))
  }

  func query(_ soql: String, headers: [(String, String)] = [], resource: String = "query") async throws -> Answer {
    try await send("GET", "/services/data/v66.0/\(resource)?q=\(Self.encoded(soql))", headers: headers)
  }

  static func encoded(_ text: String) -> String {
    let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    return text.utf8.map { unreserved.contains($0) ? String(UnicodeScalar($0)) : String(format: "%%%02X", $0) }.joined()
  }

  /// Sends raw bytes and reads until the server closes.
  func exchange(_ bytes: [UInt8]) async throws -> Answer {
    let port = port
    return try await withCheckedThrowingContinuation { continuation in
      // Use a separate thread: the server's queues need the pool's.
      Thread.detachNewThread { continuation.resume(with: Result { try Self.blocking(bytes, port) }) }
    }
  }

  private static func blocking(_ bytes: [UInt8], _ port: Int) throws -> Answer {
    let descriptor = try Loopback.connect(port: port)
    defer { close(descriptor) }
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { break }
      sent += count
    }
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count <= 0 { break }
      received += buffer[0..<count]
    }
    return try answer(received)
  }

  private static func answer(_ bytes: [UInt8]) throws -> Answer {
    let mark = Array("\r\n\r\n".utf8)
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else {
      throw NoAnswer(text: String(decoding: bytes, as: UTF8.self))
    }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).components(separatedBy: "\r\n")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
    }
    let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    let body = Array(bytes[(end + 4)...])
    let length = headers["content-length"].flatMap { Int($0) } ?? body.count
    return Answer(status: status, headers: headers, body: body, isTruncated: body.count < length)
  }
}

/// Runs `body` with a server and a signed-in client, then stops the server.
func withOrg(
  seed: Seed = .none, pageSize: Int = 2_000, clock: ManualSandboxClock = ManualSandboxClock(),
  _ body: (SandboxServer, WireClient) async throws -> Void
) async throws {
  var configuration = SandboxConfiguration()
  configuration.seed = seed
  configuration.pageSize = pageSize
  configuration.clock = clock
  let server = try await SandboxServer.start(configuration)
  do {
    try await body(server, WireClient(port: server.port, token: try server.issueAccessToken()))
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}
