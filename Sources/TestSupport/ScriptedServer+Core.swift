import Glibc

/// The state that the threads of a ``ScriptedServer`` share. The threads do not hold the server
/// itself, so that releasing it ends them.
final class ServerCore: @unchecked Sendable {  // all mutable state is touched inside `monitor` only
  private struct Waiter {
    let count: Int
    let matches: @Sendable (RecordedRequest) -> Bool
    let resume: @Sendable ([RecordedRequest]) -> Void
  }

  let monitor = Monitor()
  private(set) var requests: [RecordedRequest] = []
  private(set) var isStopped = false
  private let listener: Int32
  private let handler: ScriptedServer.Handler
  private var answers: [ScriptedAnswer] = []
  private var readLimit: Int?
  private var waiters: [Waiter] = []
  private var connections: Set<Int32> = []
  private var disconnectWaiters: [@Sendable () -> Void] = []
  private var threads: [WorkerThread] = []
  /// Keeps the port of a stopped server bound, so that no later server gets it.
  private var keptPort: Int32 = -1

  deinit { if keptPort >= 0 { close(keptPort) } }

  init(listener: Int32, handler: @escaping ScriptedServer.Handler) {
    self.listener = listener
    self.handler = handler
  }

  static func listen() throws -> (socket: Int32, port: Int) {
    let bound = try bound(to: 0)
    guard Glibc.listen(bound.socket, 128) == 0 else {
      defer { close(bound.socket) }
      throw ScriptedServer.SocketError(call: "listen", errno: errno)
    }
    return bound
  }

  /// - Parameter port: 0 for any free port.
  private static func bound(to port: Int) throws -> (socket: Int32, port: Int) {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw ScriptedServer.SocketError(call: "socket", errno: errno) }
    var on: Int32 = 1
    if port != 0 { setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size)) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(socket, pointer, length) == 0 && getsockname(socket, pointer, &length) == 0
      }
    }
    guard status else {
      defer { close(socket) }
      throw ScriptedServer.SocketError(call: "bind", errno: errno)
    }
    return (socket, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// Keeps the port bound. Call after closing the listener.
  func keep(port: Int) { monitor.change { if keptPort < 0 { keptPort = (try? Self.bound(to: port))?.socket ?? -1 } } }

  func enqueue(_ more: [ScriptedAnswer]) {
    monitor.change { answers += more }
  }

  func limitReading(to bytes: Int) { monitor.change { readLimit = bytes } }

  func whenReceived(
    _ count: Int, _ matches: @escaping @Sendable (RecordedRequest) -> Bool,
    _ resume: @escaping @Sendable ([RecordedRequest]) -> Void
  ) {
    monitor.change { waiters.append(Waiter(count: count, matches: matches, resume: resume)) }
    resumeWaiters()
  }

  func whenDisconnected(_ resume: @escaping @Sendable () -> Void) {
    monitor.change { disconnectWaiters.append(resume) }
    resumeWaiters()
  }

  func acceptConnections() {
    while true {
      let socket = accept(listener, nil, nil)
      guard socket >= 0 else {
        if errno == EINTR || errno == ECONNABORTED { continue }
        break  // the listener was shut down
      }
      var on: Int32 = 1
      setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
      serve(socket)
    }
    close(listener)
  }

  /// - Returns: False if the server has already stopped.
  func stop() -> Bool {
    let isFirst = monitor.change {
      defer { isStopped = true }
      guard !isStopped else { return false }
      for socket in connections { shutdown(socket, Int32(SHUT_RDWR)) }
      return true
    }
    if isFirst { shutdown(listener, Int32(SHUT_RDWR)) }
    resumeWaiters()
    return isFirst
  }

  func joinConnections() {
    for thread in monitor.change({ threads }) { thread.join() }
  }

  private func serve(_ socket: Int32) {
    monitor.change {
      guard !isStopped, let thread = WorkerThread({ self.run(socket) }) else {
        close(socket)
        return
      }
      connections.insert(socket)
      threads.append(thread)
    }
  }

  private func run(_ socket: Int32) {
    var connection = ServerConnection(socket: socket, readLimit: monitor.change { readLimit })
    while let request = connection.nextRequest() {
      let answer = answer(to: request)
      resumeWaiters()
      if answer.delivery == .never { monitor.wait { isStopped } }
      guard let wire = answer.wire(toHead: request.method == "HEAD"), connection.send(wire) else { break }
      guard answer.delivery == .whole else { break }
    }
    monitor.change {
      connections.remove(socket)
      close(socket)
    }
    resumeWaiters()
  }

  private func answer(to request: RecordedRequest) -> ScriptedAnswer {
    let scripted = monitor.change { () -> ScriptedAnswer? in
      requests.append(request)
      return answers.isEmpty ? nil : answers.removeFirst()
    }
    if let scripted { return scripted }
    resumeWaiters()
    return handler(request)
  }

  /// Resumes the waiters whose count is reached, or all once the server has stopped.
  private func resumeWaiters() {
    let ready = monitor.change { () -> [(Waiter, [RecordedRequest])] in
      let counted = waiters.map { waiter in (waiter, requests.filter(waiter.matches)) }
      waiters = counted.filter { !isStopped && $0.1.count < $0.0.count }.map(\.0)
      return counted.filter { isStopped || $0.1.count >= $0.0.count }
    }
    for (waiter, matching) in ready { waiter.resume(matching) }
    let disconnected = monitor.change { () -> [@Sendable () -> Void] in
      guard isStopped || (connections.isEmpty && !threads.isEmpty) else { return [] }
      defer { disconnectWaiters = [] }
      return disconnectWaiters
    }
    for resume in disconnected { resume() }
  }
}
