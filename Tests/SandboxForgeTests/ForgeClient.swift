import Foundation
import JSON
import SandboxForge

/// A plain HTTP/1.1 client with one socket per request, which records header lines one by one.
struct ForgeClient: Sendable {
  struct Answer: Sendable {
    let status: Int
    let lines: [(name: String, value: String)]
    let body: [UInt8]
    /// True if the connection ended before the announced length.
    let isTruncated: Bool

    /// The first header with this name; case is ignored.
    func header(_ name: String) -> String? { lines.first { $0.name.lowercased() == name.lowercased() }?.value }
    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    var items: [JSONValue] { json.arrayValue ?? [] }
    var ids: [Int64] { items.compactMap { $0["id"]?.integerValue } }
    var message: String? { json["message"]?.stringValue }
    /// The targets of all `Link` lines by relation, parsed as simply as the default format allows.
    var links: [String: String] {
      var found: [String: String] = [:]
      for line in lines where line.name.lowercased() == "link" {
        for part in line.value.components(separatedBy: ", ") {
          guard let target = part.split(separator: ">").first, let rel = part.components(separatedBy: "rel=").last else {
            continue
          }
          found[rel.replacingOccurrences(of: "\"", with: "")] = String(target.dropFirst())
        }
      }
      return found
    }
    /// A header with a number.
    func number(_ name: String) -> Int? { header(name).flatMap { Int($0) } }
  }
  struct NoAnswer: Error { let text: String }

  let port: Int
  var token: String?
  var agent: String? = "forge-tests"

  func get(_ target: String, _ headers: [(String, String)] = []) async throws -> Answer {
    try await send("GET", target, headers: headers)
  }

  /// Follows a link like a generic client: by its absolute URL.
  func follow(_ url: String) async throws -> Answer {
    let root = "http://127.0.0.1:\(port)"
    guard url.hasPrefix(root) else { throw NoAnswer(text: "\(url) leads elsewhere") }
    return try await get(String(url.dropFirst(root.count)))
  }

  func json(_ method: String, _ target: String, _ body: JSONValue) async throws -> Answer {
    try await send(method, target, headers: [("Content-Type", "application/json")], body: body.serialized())
  }

  func send(
    _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8]? = nil
  ) async throws -> Answer {
    var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"]
    if let agent { lines.append("User-Agent: \(agent)") }
    if let token { lines.append("Authorization: Bearer \(token)") }
    lines += headers.map { "\($0.0): \($0.1)" }
    if let body { lines.append("Content-Length: \(body.count)") }
    let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? [])
    let port = port
    return try await withCheckedThrowingContinuation { continuation in
      // Use a separate thread: the server's work needs the pool's.
      Thread.detachNewThread { continuation.resume(with: Result { try Self.exchange(bytes, port) }) }
    }
  }

  private static func exchange(_ bytes: [UInt8], _ port: Int) throws -> Answer {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
    guard status == 0 else { throw NoAnswer(text: "cannot connect") }
    _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
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
    guard let end = Data(bytes).range(of: Data("\r\n\r\n".utf8)) else {
      throw NoAnswer(text: String(decoding: bytes, as: UTF8.self))
    }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let headers = lines.dropFirst().map { line -> (name: String, value: String) in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (String(parts[0]), parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
    }
    let body = Array(bytes[end.upperBound...])
    let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? body.count
    return Answer(
      status: lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0, lines: headers, body: body,
      isTruncated: body.count < length)
  }
}

/// Runs `body` with a forge whose clock stands at 2026-03-02 09:00:00 until it is moved, and a
/// client of acme's maintainer; then stops the forge.
func withForge(
  _ settings: ForgeSettings = .init(), _ body: (ForgeServer, ForgeClient, ManualSandboxClock) async throws -> Void
) async throws {
  let clock = ManualSandboxClock()
  var configuration = ForgeConfiguration()
  configuration.clock = clock
  configuration.settings = settings
  let server = try await ForgeServer.start(configuration)
  do {
    try await body(server, ForgeClient(port: server.port, token: server.token(of: "ada")), clock)
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}
