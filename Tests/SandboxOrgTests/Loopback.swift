import Glibc

/// Sockets to servers on this machine.
enum Loopback {
  /// Connects to a server.
  ///
  /// - Parameter host: A loopback address. On one that no other test uses, a released port is not
  ///   taken again.
  /// - Returns: A connected descriptor, which the caller closes.
  /// - Throws: ``WireClient/NoAnswer`` if no server listens.
  static func connect(port: Int, host: String = "127.0.0.1") throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr(host)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else {
      close(descriptor)
      throw WireClient.NoAnswer(text: "cannot connect")
    }
    return descriptor
  }
}
