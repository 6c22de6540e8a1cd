import Foundation
import SandboxOrg

/// One connection, byte by byte, to observe the effects of a fault.
///
/// Only one thread at a time may use it; blocking calls run on a separate thread.
final class FaultWire: @unchecked Sendable {
  /// How a connection ended.
  enum Ending: Equatable { case closed, reset }
  struct Answer: Equatable {
    /// Without the variable parts: the Date and the count of calls.
    var head: [String] = []
    var date = ""
    var body: [UInt8] = []
    var ending = Ending.closed

    var status: Int { head.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 }
    var text: String { String(decoding: body, as: UTF8.self) }
    func header(_ name: String) -> String? {
      head.first { $0.lowercased().hasPrefix(name + ":") }.map {
        $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
      }
    }
    var announced: Int? { header("content-length").flatMap { Int($0) } }

    static func == (a: Answer, b: Answer) -> Bool { a.head == b.head && a.body == b.body && a.ending == b.ending }
  }
  struct Failure: Error { let text: String }

  private let descriptor: Int32

  init(port: Int) throws {
    descriptor = try Loopback.connect(port: port)
  }

  deinit { close(descriptor) }

  func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// - Parameter keepsOpen: Whether the client wants to keep the connection alive.
  func send(
    _ method: String, _ target: String, token: String? = nil, keepsOpen: Bool = true, host: String = "sandbox",
    type: String = "application/json", body: String? = nil
  ) {
    var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)"]
    if let token { lines.append("Authorization: Bearer \(token)") }
    if !keepsOpen { lines.append("Connection: close") }
    if let body { lines += ["Content-Type: \(type)", "Content-Length: \(body.utf8.count)"] }
    let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")).utf8)
    _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  /// Reads until the server ends the connection.
  func rest() async throws -> Answer {
    try await blocking { wire in
      var bytes: [UInt8] = []
      let ending = try wire.receive(into: &bytes) { _ in false }
      return Self.answer(bytes, ending)
    }
  }

  /// Reads a head and this many bytes after it.
  func head(andBytes count: Int) async throws -> Answer {
    try await blocking { wire in
      var bytes: [UInt8] = []
      _ = try wire.receive(into: &bytes) { Self.answer($0, .closed).body.count >= count && Self.hasHead($0) }
      return Self.answer(bytes, .closed)
    }
  }

  /// Reads this many more bytes.
  func more(_ count: Int) async throws -> [UInt8] {
    try await blocking { wire in
      var bytes: [UInt8] = []
      _ = try wire.receive(into: &bytes) { $0.count >= count }
      return bytes
    }
  }

  /// True if there are no unread bytes.
  var isSilent: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN
  }

  private func receive(into bytes: inout [UInt8], until isEnough: ([UInt8]) -> Bool) throws -> Ending {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while !isEnough(bytes) {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count == 0 { return .closed }
      if count < 0 { return .reset }
      bytes += buffer[0..<count]
    }
    return .closed
  }

  private func blocking<T: Sendable>(_ body: @escaping @Sendable (FaultWire) throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try body(self) }) }
    }
  }

  private static func hasHead(_ bytes: [UInt8]) -> Bool { String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n") }

  private static func answer(_ bytes: [UInt8], _ ending: Ending) -> Answer {
    let mark = Array("\r\n\r\n".utf8)
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else { return Answer(ending: ending) }
    var lines = String(decoding: bytes[..<end], as: UTF8.self).components(separatedBy: "\r\n")
    let date = lines.first { $0.lowercased().hasPrefix("date:") } ?? ""
    lines.removeAll { $0.lowercased().hasPrefix("date:") || $0.hasPrefix("Sforce-Limit-Info:") }
    return Answer(head: lines, date: String(date.dropFirst(6)), body: Array(bytes[(end + 4)...]), ending: ending)
  }
}

/// Looks again until something is so that nothing signals, such as what the server has stored.
func until(_ isSo: () throws -> Bool) async throws {
  while try !isSo() { try await Task.sleep(for: .milliseconds(2)) }
}
