import Salesforce
import Support

/// Listens on this machine for the redirect of a browser sign-in, until ``close()``.
///
/// Binds only 127.0.0.1 and ::1, and both before the sign-in's URL is shown: another program that listened on one of them would
/// receive the code.
final class LoopbackListener: LoopbackService, @unchecked Sendable {  // what varies is touched on the server's thread only
  /// The limits, in bytes, counts and milliseconds. Tests use smaller ones.
  struct Limits: Sendable {
    var requestBytes = Tuning.loginRequestBytes
    var connections = Tuning.loginConnections
    var requestMs = Tuning.loginRequestMs
    var holdMs = Tuning.loginHoldMs
    var pageMs = Tuning.loginPageMs
  }

  private let limits: Limits
  private let onAnswer: @Sendable (AuthorizationRequest.Answer) -> Void
  /// Set once, before anything else is called.
  private var server: LoopbackServer?

  private var responder: LoopbackResponder
  /// The connection that waits for the end of the sign-in, and until when.
  private var held: (connection: LoopbackConnection, deadline: Int64)?
  /// The connections that get the final page.
  private var pages: [LoopbackConnection] = []
  private var waitingForPage: [CheckedContinuation<Void, Never>] = []
  private var isPageShown = false
  /// When to wait no longer for the browser to fetch the final page.
  private var pageDeadline = Int64.max

  private init(
    _ responder: LoopbackResponder, _ limits: Limits, onAnswer: @escaping @Sendable (AuthorizationRequest.Answer) -> Void
  ) {
    self.responder = responder
    self.limits = limits
    self.onAnswer = onAnswer
  }

  /// - Parameter onAnswer: Called once, on the listener's thread, with the org's answer to this sign-in.
  /// - Throws: ``HostError`` `.portInUse`. Nothing is left open then.
  static func start(
    _ request: AuthorizationRequest, at redirect: LoopbackRedirect, limits: Limits = Limits(),
    onAnswer: @escaping @Sendable (AuthorizationRequest.Answer) -> Void
  ) async throws(HostError) -> LoopbackListener {
    let listener = LoopbackListener(LoopbackResponder(request, redirect), limits, onAnswer: onAnswer)
    listener.server = try LoopbackServer.start(
      listener, port: redirect.port,
      limits: LoopbackServer.Limits(
        requestBytes: limits.requestBytes, connections: limits.connections, requestMs: limits.requestMs),
      remedy: "end the program that has it, or give the app another redirect, such as http://localhost:1718/OauthRedirect, and "
        + "name it with --redirect or redirectUri")
    return listener
  }

  // MARK: Any thread

  /// Redirects the waiting browser to the final page. Returns once the browser has the page, or after a short timeout.
  func end(_ page: LoginPage) async {
    await withCheckedContinuation { continuation in
      let isOpen = server?.perform { self.takeEnd(page, continuation) } ?? false
      if !isOpen { continuation.resume() }
    }
  }

  /// Frees the port. May be called twice.
  func close() async { await server?.close() }

  // MARK: The server's thread

  private func takeEnd(_ page: LoginPage, _ shown: CheckedContinuation<Void, Never>) {
    responder.end(page)
    guard let browser = held?.connection, !isPageShown else { return shown.resume() }
    held = nil
    waitingForPage.append(shown)
    pageDeadline = SystemClock.monotonicMilliseconds() + Int64(limits.pageMs)
    browser.answer(responder.ending)
  }

  func take(_ request: LoopbackRequest, on connection: LoopbackConnection) {
    let isEnding = responder.isForEnding(request)
    switch responder.reply(to: request) {
    case .answer(let answer):
      if isEnding { pages.append(connection) }
      connection.answer(answer)
    case .hold(let answer):
      held = (connection, SystemClock.monotonicMilliseconds() + Int64(limits.holdMs))
      onAnswer(answer)
    }
  }

  func ended(_ connection: LoopbackConnection) {
    if held?.connection === connection { held = nil }
    guard pages.contains(where: { $0 === connection }) else { return }
    // The browser has the page, or will not ask again.
    pages.removeAll { $0 === connection }
    pageShown()
  }

  func wake(_ now: Int64) -> Int64 {
    if pageDeadline <= now { pageShown() }
    if let late = held, late.deadline <= now {
      held = nil
      late.connection.answer(responder.ending)
    }
    return min(pageDeadline, held?.deadline ?? .max)
  }

  func closed() { pageShown() }

  private func pageShown() {
    isPageShown = isPageShown || !waitingForPage.isEmpty
    pageDeadline = .max
    for waiter in waitingForPage { waiter.resume() }
    waitingForPage = []
  }
}
