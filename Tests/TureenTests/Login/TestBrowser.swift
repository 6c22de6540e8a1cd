import Glibc
import Testing

/// Exchanges raw bytes with the listener of a sign-in.
struct TestBrowser: Sendable {
  struct Answer: Sendable {
    /// The status; 0 if the connection was closed without a response.
    let status: Int
    let text: String

    func header(_ name: String) -> String? {
      text.components(until: "\r\n\r\n").split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
        .map { String($0.dropFirst(name.count + 2)) }
    }
  }

  let port: Int
  var isIPv6 = false
  /// The IPv4 address.
  var host: UInt32 = 0x7F00_0001

  static let hasIPv6: Bool = {
    let socket = Glibc.socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    return socket >= 0 && withAddress(0, nil) { bind(socket, $0, $1) } == 0
  }()

  func get(_ target: String, host: String? = "localhost", method: String = "GET", headers: [String] = []) async -> Answer {
    let lines = ["\(method) \(target) HTTP/1.1"] + (host.map { ["Host: \($0)"] } ?? []) + headers
    return await send(lines.joined(separator: "\r\n") + "\r\n\r\n")
  }

  /// Sends a text and reads to the end of the connection.
  func send(_ text: String) async -> Answer {
    guard let socket = connected() else { return Answer(status: -1, text: "not connected") }
    return await TestBrowser.exchange(text, socket)
  }

  static func exchange(_ text: String, _ socket: Int32) async -> Answer {
    await withCheckedContinuation { continuation in
      Thread.start {
        let bytes = Array(text.utf8)
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        var all: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
          let count = recv(socket, &chunk, chunk.count, 0)
          guard count > 0 else { break }
          all += chunk[..<count]
        }
        close(socket)
        let answer = String(decoding: all, as: UTF8.self)
        continuation.resume(
          returning: Answer(status: Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0, text: answer))
      }
    }
  }

  /// Opens an idle connection; returns nil if it is refused.
  func connected() -> Int32? { opened { connect($0, $1, $2) } }

  /// Returns a socket that is bound to the port; nil if the port is in use.
  func bound() -> Int32? {
    let socket = opened { bind($0, $1, $2) }
    if let socket { listen(socket, 1) }
    return socket
  }

  private func opened(_ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32? {
    let socket = Glibc.socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var on: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    guard TestBrowser.withAddress(port, isIPv6 ? nil : host, { body(socket, $0, $1) }) == 0 else {
      close(socket)
      return nil
    }
    return socket
  }

  /// - Parameter host: The IPv4 address; nil for ::1.
  private static func withAddress(
    _ port: Int, _ host: UInt32?, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    func call<Address>(_ address: Address) -> Int32 {
      withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Address>.size)) }
      }
    }
    let number = in_port_t(port).bigEndian
    guard let host else {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = number
      address.sin6_addr = in6addr_loopback
      return call(address)
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = number
    address.sin_addr.s_addr = host.bigEndian
    return call(address)
  }
}

extension String {
  /// Returns the text before the first occurrence of `mark`.
  fileprivate func components(until mark: String) -> Substring {
    var end = startIndex
    while end < endIndex, !self[end...].hasPrefix(mark) { end = index(after: end) }
    return self[..<end]
  }
}
