import Foundation
import JSON
import SandboxParse

/// A plain HTTP/1.1 client with one socket per request, which sends exactly what it is given.
struct ParseClient: Sendable {
  struct Answer: Sendable {
    let status: Int
    let lines: [(name: String, value: String)]
    let body: [UInt8]

    func header(_ name: String) -> String? { lines.first { $0.name.lowercased() == name.lowercased() }?.value }
    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    var code: Int? { json["code"]?.integerValue.map { Int($0) } }
    var error: String? { json["error"]?.stringValue }
    var results: [JSONValue] { json["results"]?.arrayValue ?? [] }
    var id: String { json["objectId"]?.stringValue ?? "" }
    var items: [JSONValue] { json.arrayValue ?? [] }

    /// Returns one column of every result.
    func column(_ name: String) -> [String] { results.compactMap { $0[name]?.stringValue } }
  }
  struct NoAnswer: Error { let text: String }

  let port: Int
  let keys: ParseKeys
  var mount = "/parse"
  var token: String?
  var isMaster = false
  var installationId: String?

  /// The same client with the master key.
  var master: ParseClient {
    var other = self
    other.isMaster = true
    return other
  }

  func signedIn(_ token: String?) -> ParseClient {
    var other = self
    other.token = token
    return other
  }

  private var headers: [(String, String)] {
    var headers = [("X-Parse-Application-Id", keys.applicationId), ("X-Parse-REST-API-Key", keys.restAPIKey)]
    if isMaster { headers.append(("X-Parse-Master-Key", keys.masterKey)) }
    if let token { headers.append(("X-Parse-Session-Token", token)) }
    if let installationId { headers.append(("X-Parse-Installation-Id", installationId)) }
    return headers
  }

  // MARK: REST

  func get(_ path: String) async throws -> Answer { try await send("GET", mount + path, headers) }

  /// Queries a list; encodes the parameters.
  func find(_ path: String, _ parameters: [String: JSONValue]) async throws -> Answer {
    let query = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.encoded($0.value.stringValue ?? $0.value.text))" }
    return try await get(path + "?" + query.joined(separator: "&"))
  }

  func find(_ className: String, where condition: JSONValue) async throws -> Answer {
    try await find("/classes/" + className, ["where": condition])
  }

  func post(_ path: String, _ body: JSONValue) async throws -> Answer { try await json("POST", path, body) }
  func put(_ path: String, _ body: JSONValue) async throws -> Answer { try await json("PUT", path, body) }
  func delete(_ path: String) async throws -> Answer { try await send("DELETE", mount + path, headers) }

  func json(_ method: String, _ path: String, _ body: JSONValue, _ more: [(String, String)] = []) async throws -> Answer {
    try await send(method, mount + path, headers + more + [("Content-Type", "application/json")], body.serialized())
  }

  /// - Returns: The id.
  @discardableResult
  func create(_ className: String, _ body: JSONValue) async throws -> String { try await post("/classes/" + className, body).id }

  static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  // MARK: Like the JavaScript SDK

  /// Sends everything in the body, as text.
  func sdk(_ path: String, _ body: JSONObject, method: String? = nil) async throws -> Answer {
    var whole = body
    if let method { whole["_method"] = .string(method) }
    whole["_ApplicationId"] = .string(keys.applicationId)
    whole["_JavaScriptKey"] = .string(keys.javascriptKey)
    whole["_ClientVersion"] = "js5.3.0"
    if isMaster { whole["_MasterKey"] = .string(keys.masterKey) }
    whole["_InstallationId"] = .string(installationId ?? "7a8b9c00-1111-4222-8333-444455556666")
    if let token { whole["_SessionToken"] = .string(token) }
    return try await send("POST", mount + path, [("Content-Type", "text/plain")], whole.serialized())
  }

  // MARK: Bytes

  func send(_ method: String, _ target: String, _ headers: [(String, String)] = [], _ body: [UInt8]? = nil) async throws -> Answer
  {
    var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"]
    lines += headers.map { "\($0.0): \($0.1)" }
    if let body { lines.append("Content-Length: \(body.count)") }
    return try await exchange(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? []))
  }

  /// Sends a complete request.
  func exchange(_ bytes: [UInt8]) async throws -> Answer {
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
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
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
    guard let end = Data(bytes).range(of: Data("\r\n\r\n".utf8)) else {
      throw NoAnswer(text: String(decoding: bytes, as: UTF8.self))
    }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let headers = lines.dropFirst().map { line -> (name: String, value: String) in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (String(parts[0]), parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
    }
    return Answer(
      status: lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0, lines: headers,
      body: Array(bytes[end.upperBound...]))
  }
}

/// Runs `body` with an empty server whose clock stands at 2026-03-02 09:00:00 until it is moved,
/// and a client with the REST key; then stops the server.
func withParse(
  _ settings: ParseSettings = .init(), isSeeded: Bool = false,
  _ body: (ParseServer, ParseClient, ManualSandboxClock) async throws -> Void
) async throws {
  let clock = ManualSandboxClock()
  var configuration = ParseConfiguration()
  configuration.clock = clock
  configuration.settings = settings
  configuration.isSeeded = isSeeded
  let server = try await ParseServer.start(configuration)
  do {
    try await body(server, ParseClient(port: server.port, keys: server.keys), clock)
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}

func pointer(_ className: String, _ id: String) -> JSONValue {
  ["__type": "Pointer", "className": .string(className), "objectId": .string(id)]
}
