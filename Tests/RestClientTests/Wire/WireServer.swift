import COpenSSL
import Foundation
import Support

/// A server on this machine whose connections run a closure with raw bytes: for what a `ScriptedServer` cannot say.
///
/// Each connection has a thread. The server ends with its last reference.
final class WireServer: @unchecked Sendable {  // all mutable state is touched only with `lock` held
  typealias Serve = @Sendable (WireConnection) -> Void

  /// A certificate with its key, PEM.
  struct Identity: Sendable {
    let chain: String, key: String
  }

  let port: Int
  let url: String
  private let listener: Int32
  private let lock = Lock()
  private var heads: [String] = []
  private var sockets: Set<Int32> = []
  private var accepted = 0, isStopped = false
  private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

  /// - Parameters:
  ///   - host: A numeric address of this machine.
  ///   - backlog: Of connections that are not yet accepted.
  init(
    _ identity: Identity? = nil, host: String = "127.0.0.1", backlog: Int32 = 256, accepts: Bool = true, _ serve: @escaping Serve
  )
    throws
  {
    (listener, port) = try WireServer.listening(host, backlog)
    url = "\(identity == nil ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    guard accepts else { return }
    let context = try identity.map { identity in
      try OpenSSLProblem.ifNil { tureen_tls_context_make(identity.chain, identity.key, $0, $1) }
    }
    let shared = SharedContext(context: context), listener = listener
    Thread.detachNewThread { [weak self] in
      while true {
        let socket = accept(listener, nil, nil)
        guard socket >= 0 else { break }
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        guard let server = self, let number = server.enter(socket) else {
          close(socket)
          break
        }
        Thread.detachNewThread { [weak server] in
          let connection = WireConnection(socket, number: number, tls: shared.context.flatMap { tureen_tls_make($0) }) {
            server?.note($0)
          }
          serve(connection)
          connection.close()
          server?.leave(socket)
        }
      }
      close(listener)
    }
  }

  deinit { stop() }

  private struct SharedContext: @unchecked Sendable {
    let context: OpaquePointer?
  }

  private static func listening(_ host: String, _ backlog: Int32) throws -> (Int32, Int) {
    let isIPv6 = host.contains(":")
    let socket = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var storage = sockaddr_storage(),
      length = socklen_t(isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &storage) { pointer -> Bool in
      if isIPv6 {
        pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
          $0.pointee.sin6_family = sa_family_t(AF_INET6)
          inet_pton(AF_INET6, host, &$0.pointee.sin6_addr)
        }
      } else {
        pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          $0.pointee.sin_family = sa_family_t(AF_INET)
          inet_pton(AF_INET, host, &$0.pointee.sin_addr)
        }
      }
      return pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, length) == 0 && listen(socket, backlog) == 0 && getsockname(socket, $0, &length) == 0
      }
    }
    guard isBound else {
      defer { close(socket) }
      throw Unavailable(host: host, errno: errno)
    }
    let port = withUnsafePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Int(UInt16(bigEndian: $0.pointee.sin_port)) }
    }
    return (socket, port)
  }

  struct Unavailable: Error {
    let host: String, errno: Int32
  }

  /// The heads of all requests so far.
  var requests: [String] { lock.withLock { heads } }
  /// The request lines so far, without the version.
  var lines: [String] {
    requests.map { $0.split(separator: "\r\n").first.map { String($0.dropLast(" HTTP/1.1".count)) } ?? "" }
  }
  /// The number of connections so far.
  var connections: Int { lock.withLock { accepted } }

  /// Whether all connections so far have ended.
  var hasNoConnection: Bool {
    get async { lock.withLock { sockets.isEmpty } }
  }

  /// Waits for a number of requests.
  func received(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = lock.withLock { () -> Bool in
        if heads.count < count { waiting.append((count, continuation)) }
        return heads.count >= count
      }
      if isThere { continuation.resume() }
    }
  }

  /// Closes all connections and accepts no more.
  func stop() {
    let open = lock.withLock { () -> Set<Int32>? in
      defer { isStopped = true }
      return isStopped ? nil : sockets
    }
    guard let open else { return }
    shutdown(listener, Int32(SHUT_RDWR))
    for socket in open { shutdown(socket, Int32(SHUT_RDWR)) }
  }

  private func enter(_ socket: Int32) -> Int? {
    lock.withLock { () -> Int? in
      guard !isStopped else { return nil }
      sockets.insert(socket)
      accepted += 1
      return accepted
    }
  }

  private func leave(_ socket: Int32) { _ = lock.withLock { sockets.remove(socket) } }

  private func note(_ head: String) {
    let ready = lock.withLock { () -> [CheckedContinuation<Void, Never>] in
      heads.append(head)
      defer { waiting.removeAll { $0.count <= heads.count } }
      return waiting.filter { $0.count <= heads.count }.map(\.continuation)
    }
    for continuation in ready { continuation.resume() }
  }
}

/// One connection of a ``WireServer``. Used by its thread.
final class WireConnection {
  /// Counts from 1.
  let number: Int
  /// The requests of this connection so far.
  private(set) var served = 0
  private let socket: Int32
  private let tls: OpaquePointer?
  private let note: (String) -> Void
  private var buffer: [UInt8] = []
  private var isClosed = false

  fileprivate init(_ socket: Int32, number: Int, tls: OpaquePointer?, note: @escaping (String) -> Void) {
    self.socket = socket
    self.number = number
    self.tls = tls
    self.note = note
    var on: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Reads a head; nil at the end of the connection.
  func head() -> String? {
    let mark = Array("\r\n\r\n".utf8)
    while true {
      if let end = buffer.indices.first(where: { buffer[$0...].starts(with: mark) }) {
        let text = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeFirst(end + mark.count)
        served += 1
        note(text)
        return text
      }
      guard receive() else { return nil }
    }
  }

  /// Reads a number of bytes; nil at the end of the connection.
  func bytes(_ count: Int) -> [UInt8]? {
    while buffer.count < count { guard receive() else { return nil } }
    defer { buffer.removeFirst(count) }
    return Array(buffer[..<count])
  }

  /// Reads a head and the body that belongs to it.
  func request() -> (head: String, body: [UInt8])? {
    guard let head = head() else { return nil }
    let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
    return bytes(length.flatMap { Int($0.drop { $0 != ":" }.dropFirst(2)) } ?? 0).map { (head, $0) }
  }

  /// Waits until the client closes the connection.
  func waitForEnd() { while receive() {} }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    guard let tls else { return write(bytes) }
    _ = tureen_tls_write(tls, bytes, bytes.count)
    flush()
  }

  /// Passes all bytes on to another server of this machine, in both directions, until one side ends.
  func relay(toPort port: Int) {
    let other = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(other, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
    }
    guard isConnected else { return }
    let socket = socket
    let back = DispatchGroup()
    back.enter()
    Thread.detachNewThread {
      WireConnection.copy(from: other, to: socket)
      back.leave()
    }
    WireConnection.copy(from: socket, to: other)
    back.wait()
    Foundation.close(other)
  }

  private static func copy(from source: Int32, to sink: Int32) {
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while case let count = recv(source, &chunk, chunk.count, 0), count > 0 {
      var sent = 0
      while sent < count {
        let part = chunk.withUnsafeBytes { Foundation.send(sink, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL)) }
        guard part > 0 else { break }
        sent += part
      }
      if sent < count { break }
    }
    shutdown(sink, Int32(SHUT_RDWR))
    shutdown(source, Int32(SHUT_RDWR))
  }

  /// Sends a response with a length.
  func answer(_ body: String = "", status: String = "200 OK", fields: String = "") {
    send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    if let tls {
      tureen_tls_close(tls)
      flush()
      tureen_tls_free(tls)
    }
    Foundation.close(socket)
  }

  /// Ends the connection with a RST.
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Foundation.linger>.size))
    isClosed = true
    Foundation.close(socket)
  }

  private func receive() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    if let tls {
      let count = tureen_tls_read(tls, &chunk, chunk.count)
      flush()
      if count > 0 {
        buffer += chunk[..<count]
        return true
      }
      guard count == Int(TUREEN_TLS_NEEDS_MORE) else { return false }
    }
    let count = recv(socket, &chunk, chunk.count, 0)
    guard count > 0 else { return false }
    guard let tls else {
      buffer += chunk[..<count]
      return true
    }
    return tureen_tls_feed(tls, chunk, count) == 1 && receive()
  }

  private func flush() {
    guard let tls else { return }
    while case let waiting = tureen_tls_waiting(tls), waiting > 0 {
      var bytes = [UInt8](repeating: 0, count: waiting)
      bytes.removeLast(waiting - tureen_tls_take(tls, &bytes, waiting))
      write(bytes)
    }
  }

  private func write(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Foundation.send(socket, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      sent += count
    }
  }
}
