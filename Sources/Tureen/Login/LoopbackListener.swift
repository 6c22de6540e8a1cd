import Glibc
import NIOCore
import NIOPosix
import RestClient
import Salesforce
import Synchronization

/// Listens on this machine for the redirect of a browser sign-in. Owns one thread and its sockets; ``close()`` ends both.
///
/// Binds only 127.0.0.1 and ::1, and both before the sign-in's URL is shown: another program that listened on one of them would
/// receive the code.
final class LoopbackListener: Sendable {
  /// The limits, in bytes, counts and milliseconds. Tests use smaller ones.
  struct Limits: Sendable {
    var requestBytes = Tuning.loginRequestBytes
    var connections = Tuning.loginConnections
    var requestMs = Tuning.loginRequestMs
    var holdMs = Tuning.loginHoldMs
    var pageMs = Tuning.loginPageMs
  }

  private struct State {
    var responder: LoopbackResponder
    /// The open connections, oldest first.
    var connections: [LoopbackConnection.Handle] = []
    /// The connection that waits for the end of the sign-in.
    var held: LoopbackConnection.Handle?
    /// Resumed once the browser has the final page or can no longer get it.
    var shown: CheckedContinuation<Void, Never>?
    var isShown = false
  }

  private let group: MultiThreadedEventLoopGroup
  private let channels = Mutex<[any Channel]>([])
  private let state: Mutex<State>
  private let limits: Limits
  private let onAnswer: @Sendable (AuthorizationRequest.Answer) -> Void

  private init(
    _ responder: LoopbackResponder, _ limits: Limits, onAnswer: @escaping @Sendable (AuthorizationRequest.Answer) -> Void
  ) {
    state = Mutex(State(responder: responder))
    self.limits = limits
    self.onAnswer = onAnswer
    group = ProgramSignals.makeGroup()
  }

  /// - Parameter onAnswer: Called once, on the listener's thread, with the org's answer to this sign-in.
  /// - Throws: ``HostError`` `.portInUse`. Nothing is left open then.
  static func start(
    _ request: AuthorizationRequest, at redirect: LoopbackRedirect, limits: Limits = Limits(),
    onAnswer: @escaping @Sendable (AuthorizationRequest.Answer) -> Void
  ) async throws(HostError) -> LoopbackListener {
    let listener = LoopbackListener(LoopbackResponder(request, redirect), limits, onAnswer: onAnswer)
    do throws(HostError) {
      try await listener.bind(redirect.port)
      return listener
    } catch {
      await listener.close()
      throw error
    }
  }

  private func bind(_ port: Int) async throws(HostError) {
    var missing: IOError?
    for host in ["127.0.0.1", "::1"] {
      do {
        let channel = try await bootstrap().bind(host: host, port: port).get()
        channels.withLock { $0.append(channel) }
      } catch let error as IOError where [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode) {
        // The machine lacks IPv6 or IPv4, so no other program can listen on this address either.
        missing = error
      } catch {
        let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        throw HostError(
          .portInUse,
          "port \(port) of \(host) cannot be listened on: \(reason); end the program that has it, or give the app another "
            + "redirect, such as http://localhost:1718/OauthRedirect, and name it with --redirect or redirectUri")
      }
    }
    if let missing, channels.withLock({ $0.isEmpty }) {
      throw HostError(.portInUse, "this machine has neither 127.0.0.1 nor ::1: \(String(cString: strerror(missing.errnoCode)))")
    }
  }

  private func bootstrap() -> ServerBootstrap {
    let report: @Sendable (LoopbackConnection.Event) -> Void = { [weak self] event in self?.take(event) }
    return ServerBootstrap(group: group)
      // Allows binding the port right after the previous program has ended.
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { [limits] channel in
        channel.eventLoop.makeCompletedFuture { try LoopbackConnection.configure(channel, limits, report: report) }
      }
  }

  /// Redirects the waiting browser to the final page. Returns once the browser has the page, or after a short timeout.
  func end(_ page: LoginPage) async {
    let held = state.withLock { state in
      state.responder.end(page)
      defer { state.held = nil }
      return state.held.map { ($0, state.responder.ending) }
    }
    guard let (browser, answer) = held else { return }
    browser.answer(answer)
    let late = group.next().scheduleTask(in: .milliseconds(Int64(limits.pageMs))) { self.pageShown() }
    await withCheckedContinuation { continuation in
      let isShown = state.withLock { state in
        if !state.isShown { state.shown = continuation }
        return state.isShown
      }
      if isShown { continuation.resume() }
    }
    late.cancel()
  }

  /// Frees the port. May be called twice.
  func close() async {
    let open = channels.withLock { channels in
      defer { channels = [] }
      return channels
    }
    for channel in open { try? await channel.close() }
    for connection in state.withLock({ $0.connections }) { connection.close() }
    pageShown()
    try? await group.shutdownGracefully()
  }

  // MARK: On the listener's thread

  private func take(_ event: LoopbackConnection.Event) {
    switch event {
    case .opened(let connection): makeRoom(for: connection)
    case .request(let request, let connection): answer(request, connection)
    case .heldTooLong(let connection):
      let answer = state.withLock { state -> LoopbackAnswer? in
        guard state.held == connection else { return nil }
        state.held = nil
        return state.responder.ending
      }
      if let answer { connection.answer(answer) }
    case .closed(let connection, let hadPage): leave(connection, hadPage: hadPage)
    }
  }

  /// Closes the oldest connection if there are too many, because browsers open idle connections in advance.
  private func makeRoom(for connection: LoopbackConnection.Handle) {
    let oldest = state.withLock { state -> LoopbackConnection.Handle? in
      state.connections.append(connection)
      guard state.connections.count > limits.connections else { return nil }
      return state.connections.first { $0 != state.held }
    }
    oldest?.close()
  }

  private func answer(_ request: LoopbackRequest, _ connection: LoopbackConnection.Handle) {
    let (reply, isEnding) = state.withLock { state in
      let isEnding = state.responder.isForEnding(request), reply = state.responder.reply(to: request)
      if case .hold = reply { state.held = connection }
      return (reply, isEnding)
    }
    switch reply {
    case .answer(let answer): connection.answer(answer, isEnding: isEnding)
    case .hold(let answer):
      connection.hold()
      onAnswer(answer)
    }
  }

  private func leave(_ connection: LoopbackConnection.Handle, hadPage: Bool) {
    state.withLock { state in
      state.connections.removeAll { $0 == connection }
      if state.held == connection { state.held = nil }
    }
    if hadPage { pageShown() }
  }

  private func pageShown() {
    let waiting = state.withLock { state in
      state.isShown = true
      defer { state.shown = nil }
      return state.shown
    }
    waiting?.resume()
  }
}
