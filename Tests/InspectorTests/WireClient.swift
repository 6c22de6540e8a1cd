import Glibc
import Support
import Synchronization

/// Exchanges raw bytes with a server on this machine.
struct WireClient: Sendable {
  struct Answer: Sendable {
    /// 0 if the connection was closed without a response.
    let status: Int
    let headers: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    init(_ bytes: [UInt8]) {
      let mark = Array("\r\n\r\n".utf8)
      let end = bytes.indices.first { bytes[$0...].starts(with: mark) } ?? bytes.count
      let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n").map(String.init)
      status = Int(lines.first?.split(separator: " ").dropFirst().first ?? "") ?? 0
      headers = Dictionary(
        lines.dropFirst().compactMap { line in
          line.firstIndex(of: ":").map { (line[..<$0].lowercased(), String(line[line.index($0, offsetBy: 2)...])) }
        }, uniquingKeysWith: { first, _ in first })
      body = Array(bytes.dropFirst(end + mark.count))
    }
  }

  let port: Int

  /// Sends a text and reads to the end of the connection.
  func send(_ text: String) async -> Answer {
    await withCheckedContinuation { continuation in
      Thread.start { continuation.resume(returning: Answer(exchange(text))) }
    }
  }

  private func exchange(_ text: String) -> [UInt8] {
    guard let socket = open(text) else { return [] }
    defer { close(socket) }
    var all: [UInt8] = []
    while let more = WireClient.read(socket) { all += more }
    return all
  }

  /// Connects and sends a text. - Returns: The socket; nil if the connection is refused.
  func open(_ text: String) -> Int32? {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
    guard status == 0 else {
      close(socket)
      return nil
    }
    let bytes = Array(text.utf8)
    _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    return socket
  }

  /// Returns what comes next; nil at the end.
  static func read(_ socket: Int32) -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = recv(socket, &chunk, chunk.count, 0)
    return count > 0 ? Array(chunk[..<count]) : nil
  }
}

/// A stream of events that is read until an event of interest comes.
final class WireStream: Sendable {
  let socket: Int32
  private let text = Mutex("")

  init?(_ client: WireClient, _ request: String) {
    guard let socket = client.open(request) else { return nil }
    self.socket = socket
  }

  /// Reads until the text of the stream contains `part`, and returns all of it; nil if the stream ends before.
  func wait(for part: String) async -> String? {
    await withCheckedContinuation { continuation in
      Thread.start {
        while true {
          let all = self.text.withLock { $0 }
          if all.contains(part) { return continuation.resume(returning: all) }
          guard let more = WireClient.read(self.socket) else { return continuation.resume(returning: nil) }
          self.text.withLock { $0 += String(decoding: more, as: UTF8.self) }
        }
      }
    }
  }

  func end() { close(socket) }
}

/// A thread for calls that block.
enum Thread {
  static func start(_ body: @escaping @Sendable () -> Void) {
    let (thread, error) = SignalFreeThread.start(body)
    precondition(error == 0)
    SignalFreeThread.detach(thread)
  }
}
