import Glibc
import Salesforce
import Support

/// Listens on this machine for the redirect of a browser sign-in. Owns one thread and its sockets; ``close()`` ends both.
///
/// Binds only 127.0.0.1 and ::1, and both before the sign-in's URL is shown: another program that listened on one of them would
/// receive the code.
final class LoopbackListener: @unchecked Sendable {  // `inbox` is touched only with `lock` held; the rest as said below
  /// The limits, in bytes, counts and milliseconds. Tests use smaller ones.
  struct Limits: Sendable {
    var requestBytes = Tuning.loginRequestBytes
    var connections = Tuning.loginConnections
    var requestMs = Tuning.loginRequestMs
    var holdMs = Tuning.loginHoldMs
    var pageMs = Tuning.loginPageMs
  }

  private struct Inbox {
    /// The final page, with what to resume once the browser has it or can no longer get it.
    var ends: [(page: LoginPage, shown: CheckedContinuation<Void, Never>)] = []
    var isClosing = false
    /// Resumed once everything is closed.
    var closing: [CheckedContinuation<Void, Never>] = []
    var isClosed = false
  }

  private let lock = Lock()
  private var inbox = Inbox()
  private let limits: Limits
  private let onAnswer: @Sendable (AuthorizationRequest.Answer) -> Void
  private let wake: WakeUp

  // On the listener's thread only.
  private var listeners: [Int32]
  private var responder: LoopbackResponder
  /// The open connections, oldest first.
  private var connections: [LoopbackConnection] = []
  /// The connection that waits for the end of the sign-in.
  private var held: LoopbackConnection?
  private var waitingForPage: [CheckedContinuation<Void, Never>] = []
  private var isPageShown = false
  /// When to wait no longer for the browser to fetch the final page.
  private var pageDeadline = Int64.max
  /// No connection is accepted before, because the process has too many files open.
  private var acceptsFrom: Int64 = 0

  private init(
    _ responder: LoopbackResponder, _ limits: Limits, _ listeners: [Int32], _ wake: WakeUp,
    onAnswer: @escaping @Sendable (AuthorizationRequest.Answer) -> Void
  ) {
    self.responder = responder
    self.limits = limits
    self.listeners = listeners
    self.onAnswer = onAnswer
    self.wake = wake
  }

  deinit { for listener in listeners { Glibc.close(listener) } }

  /// - Parameter onAnswer: Called once, on the listener's thread, with the org's answer to this sign-in.
  /// - Throws: ``HostError`` `.portInUse`. Nothing is left open then.
  static func start(
    _ request: AuthorizationRequest, at redirect: LoopbackRedirect, limits: Limits = Limits(),
    onAnswer: @escaping @Sendable (AuthorizationRequest.Answer) -> Void
  ) async throws(HostError) -> LoopbackListener {
    let sockets = try LoopbackPort.listen(redirect.port)
    var status: Int32
    if let wake = try? WakeUp() {
      let listener = LoopbackListener(LoopbackResponder(request, redirect), limits, sockets, wake, onAnswer: onAnswer)
      status = listener.startThread()
      if status == 0 { return listener }
    } else {
      status = errno
      for socket in sockets { Glibc.close(socket) }
    }
    throw HostError(.portInUse, "port \(redirect.port) cannot be listened on: \(String(cString: strerror(status)))")
  }

  /// Starts the thread, with all signals blocked: they are for the program's own threads.
  private func startThread() -> Int32 {
    let (thread, status) = SignalFreeThread.start { self.run() }
    if status == 0 { pthread_detach(thread) }
    return status
  }

  // MARK: Any thread

  /// Redirects the waiting browser to the final page. Returns once the browser has the page, or after a short timeout.
  func end(_ page: LoginPage) async {
    await withCheckedContinuation { continuation in
      let isClosed = post { inbox in
        if !inbox.isClosed { inbox.ends.append((page, continuation)) }
        return inbox.isClosed
      }
      if isClosed { continuation.resume() }
    }
  }

  /// Frees the port. May be called twice.
  func close() async {
    await withCheckedContinuation { continuation in
      let isClosed = post { inbox in
        inbox.isClosing = true
        if !inbox.isClosed { inbox.closing.append(continuation) }
        return inbox.isClosed
      }
      if isClosed { continuation.resume() }
    }
  }

  private func post(_ change: (inout Inbox) -> Bool) -> Bool {
    let result = lock.withLock { change(&inbox) }
    wake.signal()
    return result
  }

  // MARK: The listener's thread

  private func run() {
    while true {
      let letters = lock.withLock { () -> Inbox in
        defer { inbox.ends = [] }
        return inbox
      }
      for (page, shown) in letters.ends { takeEnd(page, shown) }
      if letters.isClosing { break }
      let now = SystemClock.monotonicMilliseconds()
      wait(until: closeLate(now), now)
    }
    for listener in listeners { Glibc.close(listener) }
    (listeners, connections, held) = ([], [], nil)
    pageShown()
    let rest = lock.withLock { () -> Inbox in
      inbox.isClosed = true
      defer { (inbox.ends, inbox.closing) = ([], []) }
      return inbox
    }
    for (_, shown) in rest.ends { shown.resume() }
    for waiter in rest.closing { waiter.resume() }
  }

  private func takeEnd(_ page: LoginPage, _ shown: CheckedContinuation<Void, Never>) {
    responder.end(page)
    guard let browser = held, !isPageShown else { return shown.resume() }
    held = nil
    waitingForPage.append(shown)
    pageDeadline = SystemClock.monotonicMilliseconds() + Int64(limits.pageMs)
    take(browser.answer(responder.ending), of: browser)
  }

  /// Ends what has taken too long.
  ///
  /// - Returns: The next deadline.
  private func closeLate(_ now: Int64) -> Int64 {
    if pageDeadline <= now { pageShown() }
    for connection in connections where connection.deadline <= now {
      if connection === held {
        held = nil
        take(connection.answer(responder.ending), of: connection)
      } else {
        leave(connection)
      }
    }
    return connections.reduce(pageDeadline) { min($0, $1.deadline) }
  }

  private func wait(until deadline: Int64, _ now: Int64) {
    var next = deadline
    var sockets = [pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)]
    for connection in connections { sockets.append(pollfd(fd: connection.socket, events: connection.events, revents: 0)) }
    if acceptsFrom <= now {
      for listener in listeners { sockets.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0)) }
    } else {
      next = min(next, acceptsFrom)
    }
    let milliseconds = Int32(clamping: max(0, next - SystemClock.monotonicMilliseconds()))
    // Forever if there is no deadline, which -1 says.
    guard poll(&sockets, nfds_t(sockets.count), next == .max ? -1 : milliseconds) > 0 else { return }
    if sockets[0].revents != 0 { wake.clear() }
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
        acceptsFrom = SystemClock.monotonicMilliseconds() + Int64(Tuning.loginAcceptPauseMs)
      }
      return
    }
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    _ = fcntl(socket, F_SETFL, O_NONBLOCK)
    let deadline = SystemClock.monotonicMilliseconds() + Int64(limits.requestMs)
    connections.append(LoopbackConnection(socket: socket, requestBytes: limits.requestBytes, deadline: deadline))
    // Browsers open idle connections in advance.
    guard connections.count > limits.connections, let oldest = connections.first(where: { $0 !== held }) else { return }
    leave(oldest)
  }

  /// - Returns: False if the connection is gone.
  @discardableResult
  private func take(_ event: LoopbackConnection.Event?, of connection: LoopbackConnection) -> Bool {
    switch event {
    case nil: return true
    case .request(let request): return answer(request, connection)
    case .refused: return take(connection.answer(LoopbackAnswer(status: 400, headers: [], body: "")), of: connection)
    case .answered:
      connection.deadline = SystemClock.monotonicMilliseconds() + Int64(Tuning.loginLingerMs)
      if connection.hasPage { pageShown() }
      return true
    case .closed:
      leave(connection)
      return false
    }
  }

  private func answer(_ request: LoopbackRequest, _ connection: LoopbackConnection) -> Bool {
    let isEnding = responder.isForEnding(request)
    switch responder.reply(to: request) {
    case .answer(let answer): return take(connection.answer(answer, isEnding: isEnding), of: connection)
    case .hold(let answer):
      held = connection
      connection.deadline = SystemClock.monotonicMilliseconds() + Int64(limits.holdMs)
      onAnswer(answer)
      return true
    }
  }

  private func leave(_ connection: LoopbackConnection) {
    connections.removeAll { $0 === connection }
    if held === connection { held = nil }
    // The browser had the page, or will not ask again.
    if connection.hasPage { pageShown() }
  }

  private func pageShown() {
    isPageShown = isPageShown || !waitingForPage.isEmpty
    pageDeadline = .max
    for waiter in waitingForPage { waiter.resume() }
    waitingForPage = []
  }
}
