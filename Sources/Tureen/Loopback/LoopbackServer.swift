import Glibc
import Support

/// The answers of a ``LoopbackServer``. The server calls it on its own thread, which it must not block.
package protocol LoopbackService: AnyObject, Sendable {
  /// Answers a request, or keeps the connection and answers it later; see ``LoopbackServer/perform(_:)``.
  func take(_ request: LoopbackRequest, on connection: LoopbackConnection)

  /// The client has the whole response, or is gone. May be called twice.
  func ended(_ connection: LoopbackConnection)

  /// Does what is due.
  /// - Parameter now: Monotonic milliseconds.
  /// - Returns: When to call again at the latest; `.max` for never.
  func wake(_ now: Int64) -> Int64

  /// Everything is closed; nothing is called afterwards.
  func closed()
}

extension LoopbackService {
  package func closed() {}
}

/// Serves HTTP to this machine: on 127.0.0.1 and ::1 and on no other address. Owns one thread and its sockets; ``close()`` ends
/// both.
package final class LoopbackServer: @unchecked Sendable {  // `inbox` is touched only with `lock` held; the rest as said below
  /// The limits, in bytes, counts and milliseconds.
  package struct Limits: Sendable {
    package var requestBytes: Int
    package var connections: Int
    /// The time until a request must be complete.
    package var requestMs: Int
    /// The time until a client must have read a response.
    package var answerMs = Tuning.loopbackAnswerMs

    package init(requestBytes: Int, connections: Int, requestMs: Int) {
      (self.requestBytes, self.connections, self.requestMs) = (requestBytes, connections, requestMs)
    }
  }

  private struct Inbox {
    var work: [@Sendable () -> Void] = []
    var isClosing = false
    /// Resumed once everything is closed.
    var closing: [CheckedContinuation<Void, Never>] = []
    var isClosed = false
  }

  package let port: Int
  private let lock = Lock()
  private var inbox = Inbox()
  private let limits: Limits
  private let signal: WakeUp

  // On the server's thread only.
  /// nil once everything is closed.
  private var service: (any LoopbackService)?
  private var listeners: [Int32]
  /// The open connections, oldest first.
  private var connections: [LoopbackConnection] = []
  /// No connection is accepted before, because the process has too many files open.
  private var acceptsFrom: Int64 = 0

  private init(_ service: any LoopbackService, _ limits: Limits, _ listeners: [Int32], port: Int, _ signal: WakeUp) {
    self.service = service
    self.limits = limits
    self.listeners = listeners
    self.port = port
    self.signal = signal
  }

  deinit { for listener in listeners { Glibc.close(listener) } }

  /// - Parameters:
  ///   - port: 0 for one that is free.
  ///   - remedy: The way out for a person if the port is in use, for the error's message.
  /// - Throws: ``HostError`` `.portInUse`. Nothing is left open then.
  package static func start(
    _ service: any LoopbackService, port: Int, limits: Limits, remedy: String
  ) throws(HostError) -> LoopbackServer {
    let (sockets, port) = try LoopbackPort.listen(port, remedy: remedy)
    var status: Int32
    if let signal = try? WakeUp() {
      let server = LoopbackServer(service, limits, sockets, port: port, signal)
      status = server.startThread()
      if status == 0 { return server }
    } else {
      status = errno
      for socket in sockets { Glibc.close(socket) }
    }
    throw HostError(.portInUse, "port \(port) cannot be listened on: \(String(cString: strerror(status)))")
  }

  /// Starts the thread, with all signals blocked: they are for the program's own threads.
  private func startThread() -> Int32 {
    let (thread, status) = SignalFreeThread.start { self.run() }
    if status == 0 { pthread_detach(thread) }
    return status
  }

  // MARK: Any thread

  /// Runs `work` on the server's thread, as soon as possible.
  /// - Returns: False if the server is closed, and `work` is not run.
  @discardableResult
  package func perform(_ work: @escaping @Sendable () -> Void) -> Bool {
    let isOpen = lock.withLock { () -> Bool in
      guard !inbox.isClosed else { return false }
      inbox.work.append(work)
      return true
    }
    signal.signal()
    return isOpen
  }

  /// Frees the port. May be called twice.
  package func close() async {
    await withCheckedContinuation { continuation in
      let isClosed = lock.withLock { () -> Bool in
        inbox.isClosing = true
        if !inbox.isClosed { inbox.closing.append(continuation) }
        return inbox.isClosed
      }
      signal.signal()
      if isClosed { continuation.resume() }
    }
  }

  // MARK: The server's thread

  private func run() {
    while true {
      let (work, isClosing) = lock.withLock { () -> ([@Sendable () -> Void], Bool) in
        defer { inbox.work = [] }
        return (inbox.work, inbox.isClosing)
      }
      for one in work { one() }
      if isClosing { break }
      let now = SystemClock.monotonicMilliseconds(), due = service?.wake(now) ?? .max
      wait(until: min(due, closeLate(now)), now)
    }
    for listener in listeners { Glibc.close(listener) }
    listeners = []
    for connection in connections { leave(connection) }
    service?.closed()
    let rest = lock.withLock { () -> Inbox in
      inbox.isClosed = true
      defer { (inbox.work, inbox.closing) = ([], []) }
      return inbox
    }
    for one in rest.work { one() }
    service = nil
    for waiter in rest.closing { waiter.resume() }
  }

  /// Ends what has taken too long.
  ///
  /// - Returns: The next deadline.
  private func closeLate(_ now: Int64) -> Int64 {
    for connection in connections where connection.deadline <= now { leave(connection) }
    return connections.reduce(.max) { min($0, $1.deadline) }
  }

  private func wait(until deadline: Int64, _ now: Int64) {
    var next = deadline
    var sockets = [pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0)]
    for connection in connections { sockets.append(pollfd(fd: connection.socket, events: connection.events, revents: 0)) }
    if acceptsFrom <= now {
      for listener in listeners { sockets.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0)) }
    } else {
      next = min(next, acceptsFrom)
    }
    let milliseconds = Int32(clamping: max(0, next - SystemClock.monotonicMilliseconds()))
    // Forever if there is no deadline, which -1 says.
    guard poll(&sockets, nfds_t(sockets.count), next == .max ? -1 : milliseconds) > 0 else { return }
    if sockets[0].revents != 0 { signal.clear() }
    let known = connections
    for (connection, socket) in zip(known, sockets.dropFirst()) where socket.revents != 0 {
      while let event = connection.proceed(), take(event, of: connection) {}
    }
    for socket in sockets.dropFirst(1 + known.count) where socket.revents != 0 { acceptOne(socket.fd) }
  }

  private func acceptOne(_ listener: Int32) {
    let socket = accept(listener, nil, nil)
    guard socket >= 0 else {
      if errno == EMFILE || errno == ENFILE {
        acceptsFrom = SystemClock.monotonicMilliseconds() + Int64(Tuning.loopbackAcceptPauseMs)
      }
      return
    }
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    _ = fcntl(socket, F_SETFL, O_NONBLOCK)
    let deadline = SystemClock.monotonicMilliseconds() + Int64(limits.requestMs)
    connections.append(
      LoopbackConnection(
        socket: socket, requestBytes: limits.requestBytes, deadline: deadline, answerMs: limits.answerMs,
        now: SystemClock.monotonicMilliseconds))
    // Browsers open idle connections in advance.
    guard connections.count > limits.connections, let oldest = connections.first(where: { $0.isIdle }) else { return }
    leave(oldest)
  }

  /// - Returns: False if the connection is gone.
  private func take(_ event: LoopbackConnection.Event, of connection: LoopbackConnection) -> Bool {
    switch event {
    case .request(let request): service?.take(request, on: connection)
    case .refused: connection.answer(LoopbackAnswer(status: 400, headers: []))
    case .answered:
      connection.deadline = SystemClock.monotonicMilliseconds() + Int64(Tuning.loopbackLingerMs)
      service?.ended(connection)
    case .closed:
      leave(connection)
      return false
    }
    return true
  }

  private func leave(_ connection: LoopbackConnection) {
    connections.removeAll { $0 === connection }
    service?.ended(connection)
  }
}
