import Glibc

/// A port that nothing else gets while this lives, for servers that must be told theirs.
///
/// A socket that does not listen is bound to it: the system gives the port to no other socket, and connections are refused. A
/// server that sets `SO_REUSEADDR`, as those do that can be restarted at once, may listen on it, also more than once.
package final class HeldPort: Sendable {
  package let number: Int
  private let socket: Int32

  package init() {
    guard let (socket, number) = HeldPort.hold(AF_INET6) ?? HeldPort.hold(AF_INET) else {
      preconditionFailure("no port: \(String(cString: strerror(errno)))")
    }
    (self.socket, self.number) = (socket, number)
  }

  deinit { close(socket) }

  /// Binds to a port of all addresses; an IPv6 socket has those of IPv4 too.
  private static func hold(_ family: Int32) -> (socket: Int32, number: Int)? {
    let socket = Glibc.socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var no: Int32 = 0, yes: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size), port: Int?
    if family == AF_INET {
      port = Loopback.bind(socket, to: 0, host: 0)
    } else {
      setsockopt(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &no, size)
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      port = Loopback.bind(socket, &address, \.sin6_port)
    }
    // Not before: two sockets that both permit it could be bound to the same port.
    guard let port, setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, size) == 0 else {
      close(socket)
      return nil
    }
    return (socket, port)
  }
}

/// Sockets on 127.0.0.1.
package enum Loopback {
  /// Binds to a port and returns it; 0 is any free one.
  /// - Returns: nil if the port is in use.
  package static func bind(_ descriptor: Int32, to port: Int = 0, host: UInt32 = 0x7f00_0001) -> Int? {
    var address = address(port, host)
    return bind(descriptor, &address, \.sin_port)
  }

  fileprivate static func bind<Address>(
    _ descriptor: Int32, _ address: inout Address, _ port: KeyPath<Address, in_port_t>
  ) -> Int? {
    var length = socklen_t(MemoryLayout<Address>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    return isBound ? Int(UInt16(bigEndian: address[keyPath: port])) : nil
  }

  package static func connect(_ port: Int) -> Int32? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = address(port, 0x7f00_0001)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if status == 0 { return descriptor }
    close(descriptor)
    return nil
  }

  private static func address(_ port: Int, _ host: UInt32) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = host.bigEndian
    address.sin_port = in_port_t(port).bigEndian
    return address
  }
}
