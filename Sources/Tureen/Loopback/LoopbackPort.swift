import Glibc

/// The sockets that listen on a port of this machine.
enum LoopbackPort {
  /// Connections that the system accepts before we do.
  private static let backlog: Int32 = 16

  /// How often a port of the system's choice is tried that only one of the two addresses has free.
  private static let attempts = 20

  /// Listens on 127.0.0.1 and on ::1, or on the one that the machine has.
  ///
  /// - Parameters:
  ///   - port: 0 for one that is free.
  ///   - remedy: The way out for a person if the port is in use, for the error's message.
  /// - Throws: ``HostError`` `.portInUse`. Nothing is left open then.
  static func listen(_ port: Int, remedy: String) throws(HostError) -> (sockets: [Int32], port: Int) {
    for _ in 1..<attempts where port == 0 {
      if let found = try? listenOnce(0, remedy) { return found }
    }
    return try listenOnce(port, remedy)
  }

  private static func listenOnce(_ wanted: Int, _ remedy: String) throws(HostError) -> (sockets: [Int32], port: Int) {
    var open: [Int32] = [], missing: Int32 = 0, port = wanted
    for host in ["127.0.0.1", "::1"] {
      switch bound(host, port) {
      case .success(let socket):
        open.append(socket)
        if port == 0 { port = number(of: socket) }
      // The machine lacks IPv6 or IPv4, so no other program can listen on this address either.
      case .failure(let failure) where [EADDRNOTAVAIL, EAFNOSUPPORT].contains(failure.code): missing = failure.code
      case .failure(let failure):
        for socket in open { close(socket) }
        throw HostError(
          .portInUse,
          "port \(port) of \(host) cannot be listened on: \(String(cString: strerror(failure.code))); \(remedy)")
      }
    }
    guard !open.isEmpty else {
      throw HostError(.portInUse, "this machine has neither 127.0.0.1 nor ::1: \(String(cString: strerror(missing)))")
    }
    return (open, port)
  }

  /// The port that a socket is bound to.
  private static func number(of socket: Int32) -> Int {
    // The port is at the same place in the addresses of both families.
    var address = sockaddr_in6(), length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
    }
    return status == 0 ? Int(in_port_t(bigEndian: address.sin6_port)) : 0
  }

  private struct Failure: Error {
    let code: Int32
  }

  private static func bound(_ host: String, _ port: Int) -> Result<Int32, Failure> {
    let isIPv6 = host.contains(":")
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let socket = socket(isIPv6 ? AF_INET6 : AF_INET, type, 0)
    guard socket >= 0 else { return .failure(Failure(code: errno)) }
    var on: Int32 = 1
    // Allows binding the port right after the previous program has ended.
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    let isBound = isIPv6 ? bindIPv6(socket, host, port) : bindIPv4(socket, host, port)
    guard isBound, Glibc.listen(socket, backlog) == 0 else {
      let failure = Failure(code: errno)
      close(socket)
      return .failure(failure)
    }
    return .success(socket)
  }

  private static func bindIPv4(_ socket: Int32, _ host: String, _ port: Int) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    inet_pton(AF_INET, host, &address.sin_addr)
    return bind(socket, address)
  }

  private static func bindIPv6(_ socket: Int32, _ host: String, _ port: Int) -> Bool {
    var on: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = in_port_t(port).bigEndian
    inet_pton(AF_INET6, host, &address.sin6_addr)
    return bind(socket, address)
  }

  private static func bind<Address>(_ socket: Int32, _ address: Address) -> Bool {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(socket, $0, socklen_t(MemoryLayout<Address>.size)) == 0
      }
    }
  }
}
